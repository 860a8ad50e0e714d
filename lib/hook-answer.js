"use strict";

const { ToolError, shown, wordsOf } = require("./errors.js");
const { encodeInput } = require("./json.js");

/** What a hook may say of the event it was asked about. */
const SPECIFIC = ["permissionDecision", "permissionDecisionReason", "additionalContext"];
const GENERAL = ["continue", "stopReason", "suppressOutput", "decision", "reason", ...SPECIFIC];

/**
 * What a hook answered, as the addon takes it: `{ answer }` or `{ failure }`. Never throws.
 *
 * Each field is read once and has to be a plain value: neither `toJSON` nor a boxed string can say
 * something else than what stands there. What stands where it cannot be read is a failure, which blocks
 * the call, because it may have been meant as an objection.
 */
async function hookAnswerOf(run) {
  try {
    return `{"answer":${encodedAnswer(await run())}}`;
  } catch (error) {
    return JSON.stringify({ __proto__: null, failure: wordsOf(error, "it threw something") });
  }
}

function encodedAnswer(answer) {
  if (answer === undefined || answer === null) return "null";
  // Refused by the addon, in its own words.
  if (typeof answer !== "object" || Array.isArray(answer)) return encodedValue("answer", answer);
  const fields = encodedFields(answer, GENERAL);
  const specific = plainField(answer, "hookSpecificOutput");
  if (specific !== undefined && specific !== null) {
    if (typeof specific !== "object") throw unreadable("hookSpecificOutput", "an object", specific);
    fields.push(`"hookSpecificOutput":{${encodedFields(specific, SPECIFIC).join()}}`);
  }
  return `{${fields.join()}}`;
}

function encodedFields(object, names) {
  const isBoxed = [Boolean, Number, String].some((box) => object instanceof box);
  if (isBoxed || typeof object.toJSON === "function") {
    throw unreadable("answer", "a plain object without `toJSON`", object);
  }
  const fields = names.flatMap((name) => {
    const value = plainField(object, name);
    return value === undefined ? [] : [`"${name}":${encodedValue(name, value)}`];
  });
  const input = plainField(object, "updatedInput");
  // The input alone may be anything that JSON can say; it is validated and judged like any other.
  if (input !== undefined) fields.push(`"updatedInput":${encodeInput(input)}`);
  return fields;
}

function plainField(object, name) {
  if (Object.prototype.propertyIsEnumerable.call(object, name)) return object[name];
  if (name in object) throw unreadable(name, "an own property of the answer", object);
  return undefined;
}

function encodedValue(name, value) {
  if (typeof value === "string") return JSON.stringify(value.toWellFormed());
  if (value === null || ["boolean", "number"].includes(typeof value)) return JSON.stringify(value);
  if (Array.isArray(value)) return "[]";
  throw unreadable(name, "a plain value", value);
}

function unreadable(name, wanted, value) {
  return new ToolError(
    "ValidationError",
    `its answer cannot be read: \`${name}\` must be ${wanted}, got ${shown(value)}`,
  );
}

module.exports = { hookAnswerOf };
