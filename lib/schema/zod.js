"use strict";

// Reads the host's schemas of Zod 3 and 4 without depending on Zod.

/**
 * @import { StandardSchema } from "../types/schemas"
 * @typedef {{ path?: (PropertyKey | { key: PropertyKey })[], message: string }} Issue
 * @typedef {{ issues?: undefined, value: unknown } | { issues: Issue[] }} Validation
 * @typedef {StandardSchema & ZodInternals} Field a schema of Zod or of another library
 * @typedef {object} ZodInternals the parts of Zod's schemas that are read
 * @property {unknown} [_zod] present in Zod 4
 * @property {(options: { io: "input" }) => Schema} [toJSONSchema]
 * @property {Zod3Definition} [_def] present in Zod 3
 * @property {string} [description]
 * @typedef {Record<string, unknown>} Schema
 * @typedef {{ kind?: string, value?: unknown, inclusive?: boolean }} Zod3Check
 * @typedef {object} Zod3Definition
 * @property {string} [typeName]
 * @property {Zod3Check[]} checks
 * @property {unknown} value
 * @property {unknown[] | object} values
 * @property {Field} type
 * @property {Field} valueType
 * @property {Field} innerType
 * @property {Field} schema
 * @property {Field[]} options
 * @property {() => Record<string, Field>} shape
 */

const { ToolError, wordsOf } = require("../boundary/errors.js");

/**
 * True for schemas of Zod and of other libraries that implement Standard Schema.
 *
 * @param {unknown} value
 * @returns {value is Field}
 */
function isStandardSchema(value) {
  return (
    value !== null &&
    (typeof value === "object" || typeof value === "function") &&
    typeof (/** @type {Partial<Field>} */ (value)["~standard"]?.validate) === "function"
  );
}

/**
 * True if a field may be left out, which is when its schema accepts `undefined`.
 *
 * @param {Field} field
 */
function isOptionalField(field) {
  const result = /** @type {Validation | Promise<Validation>} */ (
    field["~standard"].validate(undefined)
  );
  return !(result instanceof Promise) && result.issues === undefined;
}

/**
 * Parses one value and applies defaults, transforms and refinements.
 *
 * @param {Field} field
 * @param {unknown} value
 * @param {string} name
 */
async function parseField(field, value, name) {
  const result = /** @type {Validation} */ (await field["~standard"].validate(value));
  if (result.issues === undefined) return result.value;
  const causes = result.issues.slice(0, 5).map((issue) => {
    const steps = (issue.path ?? []).map((step) => (typeof step === "object" ? step.key : step));
    const path = [...(name === "input" ? [] : [name]), ...steps].join(".");
    return `parameter \`${path || name}\`: ${issue.message}`;
  });
  throw new ToolError("ValidationError", causes.join("; "));
}

/**
 * The JSON Schema of a field's input.
 *
 * @param {Field} field
 * @param {string} toolName
 * @returns {Schema}
 */
function zodFieldSchema(field, toolName) {
  let schema;
  try {
    schema = fromStandard(field) ?? fromZod4(field) ?? fromZod3(field);
  } catch (error) {
    throw new ToolError("InvalidTool", `tool \`${toolName}\`: ${wordsOf(error)}`, { cause: error });
  }
  if (schema === undefined) {
    throw new ToolError(
      "InvalidTool",
      `tool \`${toolName}\`: a ${field["~standard"].vendor} schema cannot be converted to JSON Schema; ` +
        `use Zod 4 or give inputSchema as JSON Schema`,
    );
  }
  delete schema.$schema;
  return schema;
}

/**
 * @param {Field} field
 * @returns {Schema | undefined}
 */
function fromStandard(field) {
  /** @type {Field["~standard"] & { jsonSchema?: { input(options: { target: string }): Schema } }} */
  const standard = field["~standard"];
  return standard.jsonSchema?.input({ target: "draft-2020-12" });
}

/**
 * @param {Field} field
 * @returns {Schema | undefined}
 */
function fromZod4(field) {
  if (field._zod === undefined) return undefined;
  if (typeof field.toJSONSchema === "function") return field.toJSONSchema({ io: "input" });
  // Before Zod 4.1 schemas have no such method, but the package has a function.
  return zod().toJSONSchema(field, { io: "input" });
}

/**
 * The host's Zod. In a `try`, because bundlers then accept that the package is missing.
 *
 * @returns {{ toJSONSchema(field: Field, options: { io: "input" }): Schema }}
 */
function zod() {
  try {
    return require("zod");
  } catch (error) {
    throw new Error(
      "schemas of Zod before 4.1 need the package `zod`, which cannot be loaded; install it beside toolwright",
      { cause: error },
    );
  }
}

/**
 * Zod 3 has no conversion to JSON Schema, so the kinds that tool inputs use are converted here.
 *
 * @param {Field} field
 * @returns {Schema | undefined}
 */
function fromZod3(field) {
  const definition = field?._def;
  if (typeof definition?.typeName !== "string") return undefined;
  const schema = ZOD3_KINDS[definition.typeName]?.(definition);
  if (schema === undefined) return undefined;
  return field.description ? { ...schema, description: field.description } : schema;
}

/**
 * @param {"innerType" | "type" | "schema"} key
 * @returns {(definition: Zod3Definition) => Schema | undefined}
 */
const inner = (key) => (definition) => fromZod3(definition[key]);

/** @type {Record<string, (definition: Zod3Definition) => Schema | undefined>} */
const ZOD3_KINDS = {
  ZodString: ({ checks }) => ({ type: "string", ...bounds(checks, "minLength", "maxLength") }),
  ZodNumber: ({ checks }) => ({
    type: checks.some(({ kind }) => kind === "int") ? "integer" : "number",
    ...bounds(checks, "minimum", "maximum"),
  }),
  ZodBoolean: () => ({ type: "boolean" }),
  ZodNull: () => ({ type: "null" }),
  ZodAny: () => ({}),
  ZodUnknown: () => ({}),
  ZodLiteral: ({ value }) => ({ const: value }),
  ZodEnum: ({ values }) => ({ type: "string", enum: Object.values(values) }),
  ZodNativeEnum: ({ values }) => ({ enum: Object.values(values) }),
  ZodArray: ({ type }) => ({ type: "array", items: fromZod3(type) }),
  ZodRecord: ({ valueType }) => ({ type: "object", additionalProperties: fromZod3(valueType) }),
  ZodUnion: ({ options }) => ({ anyOf: options.map(fromZod3) }),
  ZodNullable: ({ innerType }) => ({ anyOf: [fromZod3(innerType), { type: "null" }] }),
  ZodOptional: inner("innerType"),
  ZodDefault: inner("innerType"),
  ZodReadonly: inner("innerType"),
  ZodBranded: inner("type"),
  ZodEffects: inner("schema"),
  ZodObject: ({ shape }) => {
    const fields = Object.entries(shape());
    const required = fields.filter(([, field]) => !isOptionalField(field)).map(([key]) => key);
    return {
      type: "object",
      properties: Object.fromEntries(fields.map(([key, field]) => [key, fromZod3(field)])),
      ...(required.length > 0 ? { required } : {}),
    };
  },
};

/**
 * @param {Zod3Check[]} checks
 * @param {string} least
 * @param {string} most
 */
function bounds(checks, least, most) {
  /** @type {Schema} */
  const found = {};
  for (const { kind, value, inclusive } of checks) {
    if (kind === "min" && inclusive !== false) found[least] = value;
    if (kind === "max" && inclusive !== false) found[most] = value;
  }
  return found;
}

module.exports = { isOptionalField, isStandardSchema, parseField, zodFieldSchema };
