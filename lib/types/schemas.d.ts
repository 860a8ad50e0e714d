// What a host may give as a tool's input schema, and what its handler then gets.

/** JSON Schema of a tool's input as a host writes it; it has to be of `type: "object"`. */
export type JsonSchema = Record<string, unknown>;

/** JSON Schema of an object, a tool's input above all, as the registry tells it. */
export interface InputSchema {
  type: "object";
  /** The schema of each parameter. */
  properties?: Record<string, object>;
  /** The parameters that must not be missing. */
  required?: string[];
  [keyword: string]: unknown;
}

/** The simple form of an input schema; every key is required. */
export type SimpleSchema = Record<string, "string" | "number" | "boolean" | "object" | "array">;

/** Any schema of Zod, or of another library that follows Standard Schema. */
export interface StandardSchema<Output = unknown> {
  /** What the library says about the schema, and how it checks a value. */
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => unknown;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** What a schema parses to. */
export type SchemaOutput<Schema> = Schema extends {
  readonly "~standard": { readonly types?: { readonly output: infer Output } | undefined };
}
  ? Output
  : unknown;

/** The input a Zod shape parses to; keys that may be `undefined` may be missing. */
export type ShapeOutput<Shape> = Flatten<
  { [K in Exclude<keyof Shape, OptionalKeys<Outputs<Shape>>>]: Outputs<Shape>[K] } & {
    [K in OptionalKeys<Outputs<Shape>> & keyof Shape]?: Outputs<Shape>[K];
  }
>;

/** The input that the simple form describes. */
export type SimpleOutput<Schema> = {
  [K in keyof Schema]: Schema[K] extends "string"
    ? string
    : Schema[K] extends "number"
      ? number
      : Schema[K] extends "boolean"
        ? boolean
        : Schema[K] extends "array"
          ? unknown[]
          : Record<string, unknown>;
};

type Outputs<Shape> = { [K in keyof Shape]: SchemaOutput<Shape[K]> };
type OptionalKeys<T> = { [K in keyof T]: undefined extends T[K] ? K : never }[keyof T];
type Flatten<T> = { [K in keyof T]: T[K] };
