// Checked by tsc, never run: no export of the package accepts or returns `any`. Lints find the word in the
// declarations; this finds types that become `any` without it, such as a name that is not resolved.
import type * as toolwright from "../../index.js";

type IsAny<T> = 0 extends 1 & T ? true : false;

/** Types of the language and of the MCP SDK, which are not inspected. */
type Foreign = AbortSignal | Error | Request | Response | { readonly server: never };

type Primitive = string | number | boolean | bigint | symbol | null | undefined;

/** The depth of the search: an option of a parameter's option of a method of what a function returns. */
type Deepest = 7;

/** The positions of `any`, such as `.createToolRegistry().list()[]`. */
type AnyIn<
  T,
  Place extends string = "",
  Depth extends unknown[] = [],
> = Depth["length"] extends Deepest
  ? never
  : IsAny<T> extends true
    ? Place
    : T extends Primitive
      ? never
      : T extends Foreign
        ? never
        : T extends readonly (infer Item)[]
          ? AnyIn<Item, `${Place}[]`, Depth>
          : T extends Promise<infer Value>
            ? AnyIn<Value, Place, Depth>
            : AnyInSignatures<T, Place, [...Depth, 0]> | AnyInMembers<T, Place, [...Depth, 0]>;

type AnyInMembers<T, Place extends string, Depth extends unknown[]> = {
  [Key in OwnKeys<T>]-?: AnyIn<T[Key], `${Place}.${Key}`, Depth>;
}[OwnKeys<T>];

/** Without the members that every error class inherits. */
type OwnKeys<T> = Exclude<keyof T & (string | number), keyof ErrorConstructor>;

/** `infer` would see only the last of several signatures. */
type AnyInSignatures<T, Place extends string, Depth extends unknown[]> = T extends {
  (...args: infer A1): infer R1;
  (...args: infer A2): infer R2;
  (...args: infer A3): infer R3;
  (...args: infer A4): infer R4;
  (...args: infer A5): infer R5;
}
  ?
      | AnyIn<A1 | A2 | A3 | A4 | A5, `${Place}(arguments)`, Depth>
      | AnyIn<R1 | R2 | R3 | R4 | R5, `${Place}()`, Depth>
  : T extends abstract new (...args: infer A) => infer Instance
    ? AnyIn<A, `${Place} new(arguments)`, Depth> | AnyIn<Instance, `${Place} new()`, Depth>
    : never;

/** The positions in all exports of the package. */
type Found = AnyIn<typeof toolwright>;
export const nothing: [Found] extends [never] ? true : Found = true;

// The search itself finds `any` in every kind of position.
// oxlint-disable typescript/no-explicit-any
type Hidden = {
  member: any;
  list(): any[];
  later: () => Promise<{ value: any }>;
  overloaded: { (text: string): any; (number: number): string };
  takes: (options?: { listener?: (news: any) => void }) => void;
  Made: new (options: any) => { method(): any };
  fine: (options?: { text?: string }) => Promise<unknown>;
};
export const found: Record<AnyIn<Hidden>, true> = {
  ".member": true,
  ".list()[]": true,
  ".later().value": true,
  ".overloaded()": true,
  ".takes(arguments)[].listener(arguments)[]": true,
  ".Made new(arguments)[]": true,
  ".Made new().method()": true,
};
