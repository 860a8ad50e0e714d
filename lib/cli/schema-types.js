"use strict";

// Looks into JSON Schemas: which types a value may have, and the schemas of members.

/**
 * @typedef {object} Schema the keywords of a JSON Schema that are read
 * @property {string} [$ref]
 * @property {string | string[]} [type]
 * @property {unknown[]} [enum]
 * @property {unknown} [const]
 * @property {Schema[]} [anyOf]
 * @property {Schema[]} [oneOf]
 * @property {Schema[]} [allOf]
 * @property {Record<string, Schema>} [properties]
 * @property {unknown} [additionalProperties]
 * @property {Schema} [items]
 * @property {string[]} [required]
 * @property {string} [description]
 */

/** How deep references are followed. */
const MAX_DEPTH = 16;

/**
 * The schema and its alternatives, with references followed.
 *
 * @param {Schema | undefined} schema
 * @param {Schema} root
 * @returns {Schema[]}
 */
function branchesOf(schema, root, depth = 0) {
  if (typeof schema !== "object" || schema === null || depth > MAX_DEPTH) return [];
  const { $ref: reference, anyOf = [], oneOf = [], allOf = [] } = schema;
  const target = typeof reference === "string" ? referenced(reference, root) : undefined;
  return [
    schema,
    ...[target, ...anyOf, ...oneOf, ...allOf].flatMap((it) => branchesOf(it, root, depth + 1)),
  ];
}

/**
 * @param {string} reference
 * @param {Schema} root
 * @returns {Schema | undefined}
 */
function referenced(reference, root) {
  if (!reference.startsWith("#")) return undefined;
  const names = reference.slice(1).split("/").filter(Boolean);
  /** @type {unknown} */
  let place = root;
  for (const name of names) {
    if (place === undefined || place === null) return undefined;
    place = Reflect.get(Object(place), name.replaceAll("~1", "/").replaceAll("~0", "~"));
  }
  return /** @type {Schema | undefined} */ (place);
}

/**
 * The types that a value may have; empty if the schema does not say.
 *
 * @param {Schema | undefined} schema
 * @param {Schema} root
 */
function typesOf(schema, root) {
  const types = branchesOf(schema, root).flatMap(({ type, enum: values, const: only }) => {
    if (type !== undefined) return [type].flat();
    const known = values ?? (only === undefined ? [] : [only]);
    return known.map((it) => (it === null ? "null" : typeof it));
  });
  return new Set(types);
}

/**
 * The schema of a property that is listed by name.
 *
 * @param {Schema | undefined} schema
 * @param {Schema} root
 * @param {string} name
 */
function propertyOf(schema, root, name) {
  for (const { properties } of branchesOf(schema, root)) {
    if (properties !== undefined && Object.hasOwn(properties, name)) return properties[name];
  }
  return undefined;
}

/**
 * The schema of the items of a list.
 *
 * @param {Schema | undefined} schema
 * @param {Schema} root
 * @returns {Schema}
 */
function itemsOf(schema, root) {
  return branchesOf(schema, root).find(({ items }) => items !== undefined)?.items ?? {};
}

/**
 * The names that an object has to have.
 *
 * @param {Schema} schema
 * @param {Schema} root
 */
function requiredOf(schema, root) {
  return new Set(branchesOf(schema, root).flatMap(({ required }) => required ?? []));
}

module.exports = { branchesOf, itemsOf, propertyOf, requiredOf, typesOf };
