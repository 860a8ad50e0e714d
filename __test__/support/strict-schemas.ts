// The form of a schema that strict modes of providers require: no object allows other properties, all are
// required, optional ones allow null instead, and nothing has a default.

/** The parts of a JSON Schema that matter for strict modes. */
export interface Schema {
  type?: string | string[];
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: unknown;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  default?: unknown;
}

/** The differences between a schema and the strict form of another, by their position. */
export function faultsOf(strict: Schema, usual: Schema, place: string): string[] {
  const faults: string[] = [];
  const same = (key: string, one: unknown, other: unknown) => {
    const [is, shouldBe] = [JSON.stringify(one), JSON.stringify(other)];
    if (is !== shouldBe) faults.push(`${place}: \`${key}\` is ${is}, not ${shouldBe}`);
  };
  const { properties, required, additionalProperties, items, anyOf, oneOf, allOf, ...own } = strict;
  const { default: _default, ...expected } = usual;
  for (const key of new Set([...Object.keys(own), ...Object.keys(expected)])) {
    const isAboutParts = ["properties", "required", "additionalProperties", "items"].includes(key);
    if (isAboutParts || ["anyOf", "oneOf", "allOf"].includes(key)) continue;
    same(key, own[key as keyof typeof own], expected[key as keyof typeof expected]);
  }
  if (usual.type === "object") {
    same("additionalProperties", additionalProperties, false);
    same("required", required?.toSorted(), Object.keys(usual.properties ?? {}).toSorted());
  } else {
    same("additionalProperties", additionalProperties, usual.additionalProperties);
    same("required", required, usual.required);
  }
  const names = Object.keys(usual.properties ?? {});
  same("properties", Object.keys(properties ?? {}).toSorted(), names.toSorted());
  for (const [name, property] of Object.entries(properties ?? {})) {
    const before = usual.properties?.[name] ?? {};
    const at = `${place}.${name}`;
    if (usual.required?.includes(name)) faults.push(...faultsOf(property, before, at));
    else if (isNullable(property)) faults.push(...faultsOf(notNull(property), notNull(before), at));
    else faults.push(`${at}: is optional and takes no null: ${JSON.stringify(property)}`);
  }
  if (items && usual.items) faults.push(...faultsOf(items, usual.items, `${place}[]`));
  else same("items", items, usual.items);
  for (const [key, choices] of Object.entries({ anyOf, oneOf, allOf })) {
    const before = usual[key as "anyOf"] ?? [];
    same(`number of ${key}`, choices?.length ?? 0, before.length);
    for (const [index, choice] of (choices ?? []).entries()) {
      faults.push(...faultsOf(choice, before[index] ?? {}, `${place}.${key}[${index}]`));
    }
  }
  return faults;
}

function isNullable({ type, enum: values, anyOf }: Schema): boolean {
  if (type === undefined) return anyOf?.some((it) => it.type === "null") ?? false;
  return Array.isArray(type) && type.includes("null") && (values?.includes(null) ?? true);
}

/** The types of a property besides null. */
function notNull(property: Schema): Schema {
  const { type, enum: values, anyOf } = property;
  if (type === undefined) {
    const [only, ...others] = anyOf?.filter((it) => it.type !== "null") ?? [];
    return only !== undefined && others.length === 0 ? only : property;
  }
  const kinds = [type].flat().filter((it) => it !== "null");
  return {
    ...property,
    type: kinds.length === 1 ? kinds[0] : kinds,
    ...(values && { enum: values.filter((it) => it !== null) }),
  };
}
