"use strict";

/**
 * @import { InputSchema, JsonSchema } from "../types/schemas"
 * @import { HostTool } from "../types/tools"
 * @import { Field } from "./zod.js"
 * @typedef {(input: unknown) => Promise<unknown>} Parse
 */

const { ToolError, shown, wordsOf } = require("../boundary/errors.js");
const { zodFieldSchema, isOptionalField, isStandardSchema, parseField } = require("./zod.js");

/** @type {Set<unknown>} */
const SIMPLE_TYPES = new Set(["string", "number", "boolean", "object", "array"]);

/**
 * Turns a host's input schema, in any accepted form, into JSON Schema of `type: "object"`. For Zod schemas
 * the result also has `parse`, which applies defaults, transforms and refinements.
 *
 * @param {string} toolName for error messages
 * @param {HostTool["inputSchema"] | null} inputSchema
 * @returns {{ schema: InputSchema, parse?: Parse }}
 */
function readInputSchema(inputSchema, toolName) {
  if (inputSchema === undefined || inputSchema === null) return { schema: objectSchema({}, []) };
  if (typeof inputSchema !== "object" || Array.isArray(inputSchema)) {
    throw badSchema(toolName, `got ${shown(inputSchema)}`);
  }
  if (isStandardSchema(inputSchema)) return wholeZodSchema(inputSchema, toolName);
  const values = Object.values(inputSchema);
  if (values.length > 0 && values.every(isStandardSchema)) {
    return zodShape(/** @type {Record<string, Field>} */ (inputSchema), toolName);
  }
  if (!isSimpleForm(inputSchema) && ("type" in inputSchema || "properties" in inputSchema)) {
    return { schema: { type: "object", ...inputSchema, ...withoutBooleans(inputSchema) } };
  }
  if (values.every((value) => SIMPLE_TYPES.has(value))) {
    const properties = mapValues(/** @type {JsonSchema} */ (inputSchema), (type) => ({ type }));
    return { schema: objectSchema(properties, Object.keys(inputSchema)) };
  }
  const [key, value] = Object.entries(inputSchema).find(
    ([, it]) => !SIMPLE_TYPES.has(it) && !isStandardSchema(it),
  ) ?? [Object.keys(inputSchema)[0], values[0]];
  throw badSchema(toolName, `\`${key}\` is ${shown(value)}`);
}

/**
 * Replaces `true` and `false`, which JSON Schema allows as schemas: MCP requires objects.
 *
 * @param {JsonSchema} schema
 * @returns {Pick<InputSchema, "properties">}
 */
function withoutBooleans({ properties }) {
  const schemas = /** @type {Record<string, object | boolean>} */ (properties ?? {});
  if (!Object.values(schemas).some((it) => typeof it === "boolean")) return {};
  return { properties: mapValues(schemas, asObject) };
}

/** @param {object | boolean} schema */
function asObject(schema) {
  if (typeof schema !== "boolean") return schema;
  return schema ? {} : { not: {} };
}

/**
 * True for the simple form, where a parameter may be called `type`. `{ type }` alone is JSON Schema.
 *
 * @param {object} inputSchema
 */
function isSimpleForm(inputSchema) {
  const values = Object.values(inputSchema);
  const isTypeAlone = values.length === 1 && "type" in inputSchema;
  return !isTypeAlone && values.every((value) => SIMPLE_TYPES.has(value));
}

/**
 * @param {JsonSchema} schema
 * @returns {schema is InputSchema}
 */
function isOfObject(schema) {
  return schema.type === "object";
}

/**
 * @param {string} toolName
 * @param {string} cause
 */
function badSchema(toolName, cause) {
  return new ToolError(
    "InvalidTool",
    `tool \`${toolName}\`: inputSchema must be JSON Schema (with \`type: "object"\`), ` +
      `{ key: "string" | "number" | "boolean" | "object" | "array" }, or a Zod shape; ${cause}`,
  );
}

/**
 * @param {Field} zodSchema
 * @param {string} toolName
 * @returns {{ schema: InputSchema, parse: Parse }}
 */
function wholeZodSchema(zodSchema, toolName) {
  const schema = zodFieldSchema(zodSchema, toolName);
  if (!isOfObject(schema)) throw badSchema(toolName, `the Zod schema is not an object`);
  return { schema, parse: (input) => parseField(zodSchema, input, "input") };
}

/**
 * @param {Record<string, Field>} shape
 * @param {string} toolName
 */
function zodShape(shape, toolName) {
  const properties = Object.fromEntries(
    Object.entries(shape).map(([key, field]) => [
      key,
      /** @type {object} */ (
        movedBelow(zodFieldSchema(field, toolName), `#/properties/${pointerStep(key)}`)
      ),
    ]),
  );
  const required = Object.entries(shape)
    .filter(([, field]) => !isOptionalField(field))
    .map(([key]) => key);
  /** @param {unknown} input */
  const parse = async (input) => {
    if (input === null || typeof input !== "object") {
      throw new ToolError(
        "ValidationError",
        `expected an object of parameters, got ${shown(input)}`,
      );
    }
    /** @type {Record<string, unknown>} */
    const parsed = {};
    for (const [key, field] of Object.entries(shape)) {
      const { isGiven, given } = readField(input, key);
      const value = await parseField(field, given, key);
      if (value !== undefined || isGiven) parsed[key] = value;
    }
    return parsed;
  };
  return { schema: objectSchema(properties, required), parse };
}

/**
 * Reads a field of the input. Input from a registry is plain, but a direct caller may pass a proxy.
 *
 * @param {object} input
 * @param {string} key
 */
function readField(input, key) {
  try {
    return { isGiven: key in input, given: Reflect.get(input, key) };
  } catch (error) {
    const message = `parameter \`${key}\` cannot be read: ${wordsOf(error)}`;
    throw new ToolError("ValidationError", message, { cause: error });
  }
}

/**
 * Corrects the references inside a field's schema: `#` was the field and is now the whole input.
 *
 * @param {unknown} schema
 * @param {string} place
 * @returns {unknown}
 */
function movedBelow(schema, place) {
  if (Array.isArray(schema)) return schema.map((it) => movedBelow(it, place));
  if (schema === null || typeof schema !== "object") return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) =>
      key === "$ref" && typeof value === "string" && value.startsWith("#")
        ? [key, place + value.slice(1)]
        : [key, movedBelow(value, place)],
    ),
  );
}

/** @param {string} key */
function pointerStep(key) {
  return encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1"));
}

/**
 * @param {Record<string, object>} properties
 * @param {string[]} required
 * @returns {InputSchema}
 */
function objectSchema(properties, required) {
  return {
    type: "object",
    properties,
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
}

/**
 * @template T, U
 * @param {Record<string, U>} object
 * @param {(value: U) => T} map
 * @returns {Record<string, T>}
 */
function mapValues(object, map) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]));
}

module.exports = { readInputSchema };
