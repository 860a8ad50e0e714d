"use strict";

const { ToolError, shown, wordsOf } = require("../boundary/errors.js");
const { encodeInput } = require("../boundary/json.js");

/** The fields of a hook's answer that may also be in `hookSpecificOutput`. */
const SPECIFIC = ["permissionDecision", "permissionDecisionReason", "additionalContext"];
const GENERAL = ["continue", "stopReason", "suppressOutput", "decision", "reason", ...SPECIFIC];

/**
 * Runs a hook and encodes its answer for the addon, as `{ answer }` or `{ failure }`. Never throws.
 *
 * Each field is read once and has to be a plain value, so that no `toJSON` and no boxed string can change
 * its meaning. A field that cannot be read is a failure, which blocks the call: the hook may have meant
 * to object.
 *
 * @param {() => unknown} run
 */
async function hookAnswerOf(run) {
  try {
    return `{"answer":${encodedAnswer(await run())}}`;
  } catch (error) {
    return JSON.stringify({
      __proto__: null,
      failure: wordsOf(error, "it threw a value without a message"),
    });
  }
}

/** @param {unknown} answer */
function encodedAnswer(answer) {
  if (answer === undefined || answer === null) return "null";
  // Passed on as it is: the addon refuses it with its own message.
  if (typeof answer !== "object" || Array.isArray(answer)) return encodedValue("answer", answer);
  const fields = encodedFields(answer, GENERAL);
  const specific = plainField(answer, "hookSpecificOutput");
  if (specific !== undefined && specific !== null) {
    if (typeof specific !== "object") throw unreadable("hookSpecificOutput", "an object", specific);
    fields.push(`"hookSpecificOutput":{${encodedFields(specific, SPECIFIC).join()}}`);
  }
  return `{${fields.join()}}`;
}

/**
 * @param {object} object
 * @param {string[]} names
 */
function encodedFields(object, names) {
  const isBoxed = [Boolean, Number, String].some((box) => object instanceof box);
  if (isBoxed || typeof Reflect.get(object, "toJSON") === "function") {
    throw unreadable("answer", "a plain object without `toJSON`", object);
  }
  const fields = names.flatMap((name) => {
    const value = plainField(object, name);
    return value === undefined ? [] : [`"${name}":${encodedValue(name, value)}`];
  });
  const input = plainField(object, "updatedInput");
  // Only the input may be any JSON value; it is validated and judged like the input of a new call.
  if (input !== undefined) fields.push(`"updatedInput":${encodeInput(input)}`);
  return fields;
}

/**
 * @param {object} object
 * @param {string} name
 * @returns {unknown}
 */
function plainField(object, name) {
  if (Object.prototype.propertyIsEnumerable.call(object, name)) return Reflect.get(object, name);
  if (name in object) throw unreadable(name, "an own property of the answer", object);
  return undefined;
}

/**
 * @param {string} name
 * @param {unknown} value
 */
function encodedValue(name, value) {
  if (typeof value === "string") return JSON.stringify(value.toWellFormed());
  if (value === null || ["boolean", "number"].includes(typeof value)) return JSON.stringify(value);
  if (Array.isArray(value)) return "[]";
  throw unreadable(name, "a plain value", value);
}

/**
 * @param {string} name
 * @param {string} wanted
 * @param {unknown} value
 */
function unreadable(name, wanted, value) {
  return new ToolError(
    "ValidationError",
    `its answer cannot be read: \`${name}\` must be ${wanted}, got ${shown(value)}`,
  );
}

module.exports = { hookAnswerOf };
