// The forms of a tool's input schema, and the type of the input for each.

/** A JSON Schema that a host wrote for a tool's input. It has to be of `type: "object"`. */
export type JsonSchema = Record<string, unknown>;

/** A JSON Schema of an object, such as a tool's input, as the registry returns it. */
export interface InputSchema {
  type: "object";
  /** The schema of each parameter. */
  properties?: Record<string, object>;
  /** The names of the parameters that must not be missing. */
  required?: string[];
  [keyword: string]: unknown;
}

/** The simple form of an input schema: the type of each parameter. All of them are required. */
export type SimpleSchema = Record<string, "string" | "number" | "boolean" | "object" | "array">;

/** A schema of Zod, or of another library that implements Standard Schema. */
export interface StandardSchema<Output = unknown> {
  /** The interface that Standard Schema defines: who made the schema, and how it checks a value. */
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => unknown;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** The type that a schema parses its input to. */
export type SchemaOutput<Schema> = Schema extends {
  readonly "~standard": { readonly types?: { readonly output: infer Output } | undefined };
}
  ? Output
  : unknown;

/** The type that a Zod shape parses its input to. Keys that may be `undefined` may be missing. */
export type ShapeOutput<Shape> = Flatten<
  { [K in Exclude<keyof Shape, OptionalKeys<Outputs<Shape>>>]: Outputs<Shape>[K] } & {
    [K in OptionalKeys<Outputs<Shape>> & keyof Shape]?: Outputs<Shape>[K];
  }
>;

/** The type of the input that a simple form describes. */
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
