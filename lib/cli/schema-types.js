"use strict";

// Looks into JSON Schemas: which types a value may have, and the schemas of members.

/** How deep references are followed. */
const MAX_DEPTH = 16;

/** The schema and its alternatives, with references followed. */
function branchesOf(schema, root, depth = 0) {
  if (typeof schema !== "object" || schema === null || depth > MAX_DEPTH) return [];
  const { $ref: reference, anyOf = [], oneOf = [], allOf = [] } = schema;
  const target = typeof reference === "string" ? referenced(reference, root) : undefined;
  return [
    schema,
    ...[target, ...anyOf, ...oneOf, ...allOf].flatMap((it) => branchesOf(it, root, depth + 1)),
  ];
}

function referenced(reference, root) {
  if (!reference.startsWith("#")) return undefined;
  const names = reference.slice(1).split("/").filter(Boolean);
  return names.reduce(
    (place, name) => place?.[name.replaceAll("~1", "/").replaceAll("~0", "~")],
    root,
  );
}

/** The types that a value may have; empty if the schema does not say. */
function typesOf(schema, root) {
  const types = branchesOf(schema, root).flatMap(({ type, enum: values, const: only }) => {
    if (type !== undefined) return [type].flat();
    const known = values ?? (only === undefined ? [] : [only]);
    return known.map((it) => (it === null ? "null" : typeof it));
  });
  return new Set(types);
}

/** The schema of a property that is listed by name. */
function propertyOf(schema, root, name) {
  for (const { properties } of branchesOf(schema, root)) {
    if (properties !== undefined && Object.hasOwn(properties, name)) return properties[name];
  }
  return undefined;
}

/** The schema of the items of a list. */
function itemsOf(schema, root) {
  return branchesOf(schema, root).find(({ items }) => items !== undefined)?.items ?? {};
}

/** The names that an object has to have. */
function requiredOf(schema, root) {
  return new Set(branchesOf(schema, root).flatMap(({ required }) => required ?? []));
}

module.exports = { branchesOf, itemsOf, propertyOf, requiredOf, typesOf };
