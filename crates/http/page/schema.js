// Interprets the parts of JSON Schema that forms need. Values of other schemas are edited as JSON.

/** Follows references within the schema, and reduces a nullable type to the type itself. */
export function resolved(schema, root, depth = 0) {
  if (typeof schema !== "object" || schema === null || depth > 20) return {};
  if (typeof schema.$ref === "string" && schema.$ref.startsWith("#/")) {
    const { $ref, ...own } = schema;
    const target = $ref
      .slice(2)
      .split("/")
      .reduce((at, key) => at?.[unescaped(key)], root);
    return { ...resolved(target, root, depth + 1), ...own };
  }
  for (const word of ["anyOf", "oneOf", "allOf"]) {
    const choices = schema[word]?.filter?.((it) => it?.type !== "null");
    if (choices?.length === 1) {
      const { [word]: _, ...own } = schema;
      return { ...resolved(choices[0], root, depth + 1), ...own };
    }
  }
  if (Array.isArray(schema.type)) {
    const types = schema.type.filter((type) => type !== "null");
    return { ...schema, type: types.length === 1 ? types[0] : undefined };
  }
  return schema;
}

/** The kind of form field for a resolved schema. */
export function kindOf(schema) {
  if (choicesOf(schema) !== undefined) return "choice";
  if (["string", "boolean", "number", "integer"].includes(schema.type)) return schema.type;
  if (schema.type === "array" && schema.items !== undefined && !Array.isArray(schema.items))
    return "array";
  if (schema.type === "object" && Object.keys(schema.properties ?? {}).length > 0) return "object";
  return "json";
}

/** The values that a schema enumerates, or `undefined`. */
export function choicesOf(schema) {
  if (Array.isArray(schema.enum)) return schema.enum;
  if ("const" in schema) return [schema.const];
  const each = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(each) && each.every((it) => "const" in (it ?? {})))
    return each.map((it) => it.const);
  return undefined;
}

/** The limits of a value in words, such as `1 to 600000`. */
export function limitsOf({ minimum, maximum, default: preset }) {
  const limits = [];
  if (minimum !== undefined && maximum !== undefined) limits.push(`${minimum} to ${maximum}`);
  else if (minimum !== undefined) limits.push(`at least ${minimum}`);
  else if (maximum !== undefined) limits.push(`at most ${maximum}`);
  if (preset !== undefined) limits.push(`default ${JSON.stringify(preset)}`);
  return limits.join(", ");
}

function unescaped(key) {
  return decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~");
}
