"use strict";

const { ToolError, firstLineOf, isToolError, shown } = require("./errors.js");
const { MAX_INPUT_BYTES, refuseTooLarge, tooLarge } = require("./input-size.js");

/**
 * Encodes a tool's input as JSON. This copies it, so later changes by the caller have no effect. Throws a
 * `ValidationError` for values that JSON cannot express, which would otherwise be lost.
 *
 * @param {unknown} input
 * @returns {string}
 */
function encodeInput(input) {
  refuseTooLarge(input);
  let json;
  try {
    json = JSON.stringify(input);
  } catch (error) {
    const cause = isStackOverflow(error) ? "it nests too deep" : firstLineOf(error);
    throw new ToolError("ValidationError", `input cannot be written as JSON: ${cause}`);
  }
  if (json === undefined) {
    if (input === undefined) return "null";
    throw new ToolError("ValidationError", `expected an object of parameters, got ${shown(input)}`);
  }
  if (json.length > MAX_INPUT_BYTES) throw tooLarge();
  // JSON.stringify writes NaN and Infinity as null, which would pass for "not given".
  if (json.includes("null")) refuseNonFiniteIn(input);
  return json;
}

/** @param {unknown} input */
function refuseNonFiniteIn(input) {
  try {
    refuseNonFinite(input, "");
  } catch (error) {
    if (isToolError(error)) throw error;
    // An object with `toJSON` may have properties that are cyclic or throw.
    throw new ToolError("ValidationError", `input cannot be read: ${firstLineOf(error)}`);
  }
}

/**
 * @param {unknown} value
 * @param {string} path
 */
function refuseNonFinite(value, path) {
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new ToolError(
      "ValidationError",
      `parameter \`${path || "input"}\`: expected a finite number, got \`${value}\``,
    );
  }
  if (value === null || typeof value !== "object") return;
  for (const [key, child] of Object.entries(value)) {
    const place = Array.isArray(value) ? `${path}[${key}]` : path ? `${path}.${key}` : key;
    refuseNonFinite(child, place);
  }
}

const LONE_SURROGATE_ESCAPE = /\\ud[89a-f][0-9a-f]{2}/i;

/**
 * Encodes a handler's answer as JSON. Lone surrogates become U+FFFD: the addon takes only valid text.
 *
 * @param {unknown} answer
 */
function encodeAnswer(answer) {
  const json = JSON.stringify(answer);
  if (typeof json !== "string") throw new TypeError("the answer cannot be written as JSON");
  if (!LONE_SURROGATE_ESCAPE.test(json)) return json;
  return JSON.stringify(answer, (_key, value) =>
    typeof value === "string" ? value.toWellFormed() : value,
  );
}

/** @param {unknown} error */
function isStackOverflow(error) {
  try {
    return error instanceof RangeError;
  } catch {
    return false;
  }
}

module.exports = { encodeAnswer, encodeInput };
