"use strict";

const { parseWire } = require("./wire.js");

/** What this package throws: `type` is stable, the message says what to do. */
class ToolError extends Error {
  constructor(type, message, options) {
    super(message, options);
    this.type = type;
    this.code = type;
  }

  get name() {
    // What `fetch` and Node's own APIs call it, so that one check covers all.
    return this.type === "Cancelled" ? "AbortError" : "ToolError";
  }
}

/** The error of an aborted call, with the signal's reason as its cause. */
function abortError(reason) {
  return new ToolError("Cancelled", "the call was cancelled", { cause: reason });
}

/** Parses what the addon answered; a misuse it reports is thrown. */
function unwrap(json, signal) {
  const value = parseWire(json);
  // Results never have this key; the test is one property read.
  if (value.misuse !== undefined) {
    const { type, message, details } = value.misuse;
    if (type === "Cancelled") throw abortError(signal?.reason);
    const error = new ToolError(type, message);
    if (details !== undefined) error.details = details;
    throw error;
  }
  return value;
}

/** A few words that show a value without its whole content. */
function shown(value) {
  if (value === null) return "null";
  if (typeof value === "string") return `the string \`${value.slice(0, 60)}\``;
  if (typeof value === "object") return Array.isArray(value) ? "an array" : "an object";
  return typeof value === "undefined"
    ? "undefined"
    : `${typeof value} \`${String(value).slice(0, 60)}\``;
}

/** The constructors of the addon can only throw; their message is the same envelope others return. */
function asToolError(error) {
  try {
    unwrap(error.message);
  } catch (thrown) {
    if (thrown instanceof ToolError) return thrown;
  }
  return error;
}

module.exports = { ToolError, abortError, asToolError, shown, unwrap };
