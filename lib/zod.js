"use strict";

// Reads the host's schemas of Zod 3 and 4 without depending on Zod.

const { ToolError, wordsOf } = require("./errors.js");

/** True for schemas of Zod and of other libraries that implement Standard Schema. */
function isStandardSchema(value) {
  return (
    value !== null &&
    (typeof value === "object" || typeof value === "function") &&
    typeof value["~standard"]?.validate === "function"
  );
}

/** True if a field may be left out, which is when its schema accepts `undefined`. */
function isOptionalField(field) {
  const result = field["~standard"].validate(undefined);
  return !(result instanceof Promise) && result.issues === undefined;
}

/** Parses one value and applies defaults, transforms and refinements. */
async function parseField(field, value, name) {
  const result = await field["~standard"].validate(value);
  if (result.issues === undefined) return result.value;
  const causes = result.issues.slice(0, 5).map((issue) => {
    const steps = (issue.path ?? []).map((step) => (typeof step === "object" ? step.key : step));
    const path = [...(name === "input" ? [] : [name]), ...steps].join(".");
    return `parameter \`${path || name}\`: ${issue.message}`;
  });
  throw new ToolError("ValidationError", causes.join("; "));
}

/** The JSON Schema of a field's input. */
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

function fromStandard(field) {
  return field["~standard"].jsonSchema?.input({ target: "draft-2020-12" });
}

function fromZod4(field) {
  if (field._zod === undefined) return undefined;
  if (typeof field.toJSONSchema === "function") return field.toJSONSchema({ io: "input" });
  // Before Zod 4.1 schemas have no such method, but the package has a function.
  return zod().toJSONSchema(field, { io: "input" });
}

/** The host's Zod. In a `try`, because bundlers then accept that the package is missing. */
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

/** Zod 3 has no conversion to JSON Schema, so the kinds that tool inputs use are converted here. */
function fromZod3(field) {
  const definition = field?._def;
  if (typeof definition?.typeName !== "string") return undefined;
  const schema = ZOD3_KINDS[definition.typeName]?.(definition);
  if (schema === undefined) return undefined;
  return field.description ? { ...schema, description: field.description } : schema;
}

const inner = (key) => (definition) => fromZod3(definition[key]);

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
  ZodEnum: ({ values }) => ({ type: "string", enum: [...values] }),
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

function bounds(checks, least, most) {
  const found = {};
  for (const { kind, value, inclusive } of checks) {
    if (kind === "min" && inclusive !== false) found[least] = value;
    if (kind === "max" && inclusive !== false) found[most] = value;
  }
  return found;
}

module.exports = { isOptionalField, isStandardSchema, parseField, zodFieldSchema };
