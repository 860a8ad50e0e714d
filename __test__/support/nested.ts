/** A value inside this many arrays. */
export function nestedArrays(levels: number, innermost: unknown = 1): unknown {
  let value = innermost;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

/** A value inside this many objects. */
export function nestedObjects(levels: number, innermost: unknown = 1): unknown {
  let value = innermost;
  for (let level = 0; level < levels; level += 1) value = { value };
  return value;
}
