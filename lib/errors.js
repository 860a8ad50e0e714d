"use strict";

const { parseWire } = require("./wire.js");

/** How many characters of a thrown value's message are kept. */
const MAX_WORDS = 10_000;

/** All ToolErrors. A lookup here is safe, while `instanceof` runs code of a proxy. */
const known = new WeakSet();

/** The only class of errors that this package throws. `type` is stable; the message says what to do. */
class ToolError extends Error {
  constructor(type, message, options) {
    super(isText(message) ? message : wordsOf(message), plainCause(options));
    this.type = type;
    this.code = type;
    known.add(this);
  }

  get name() {
    // The name that `fetch` and Node's APIs use, so that one check of the caller covers all of them.
    return this.type === "Cancelled" ? "AbortError" : "ToolError";
  }
}

function isText(message) {
  return message === undefined || typeof message === "string";
}

function isToolError(value) {
  return known.has(value);
}

function plainCause(options) {
  try {
    return options !== null && typeof options === "object" && "cause" in options
      ? { cause: options.cause }
      : undefined;
  } catch {
    return undefined;
  }
}

/** The error that an aborted call rejects with; its cause is the signal's reason. */
function abortError(reason) {
  return new ToolError("Cancelled", "the call was cancelled", { cause: reason });
}

/** Parses an answer of the addon. If the answer reports a misuse of the API, it is thrown. */
function unwrap(json, signal) {
  const value = parseWire(json);
  // No result has a key `misuse`, so this one property read tells them apart.
  if (value.misuse !== undefined) {
    const { type, message, details } = value.misuse;
    if (type === "Cancelled") throw abortError(signal?.reason);
    const error = new ToolError(type, message);
    if (details !== undefined) error.details = details;
    throw error;
  }
  return value;
}

/** A short text about a value for error messages: its type, and the beginning of its content. */
function shown(value) {
  try {
    if (value === null) return "null";
    if (typeof value === "string") return `the string \`${value.slice(0, 60)}\``;
    if (typeof value === "object") return Array.isArray(value) ? "an array" : "an object";
    return typeof value === "undefined"
      ? "undefined"
      : `${typeof value} \`${String(value).slice(0, 60)}\``;
  } catch {
    // A revoked proxy, or a function whose `toString` throws.
    return `a value of type ${typeof value}`;
  }
}

/**
 * The message of a thrown value. The value may be anything: a symbol, an object that cannot be converted
 * to a string, one whose `message` throws, or one of many megabytes. This function never throws, because
 * some callers run where an exception would end the process.
 */
function wordsOf(thrown, otherwise = "a value without a readable message") {
  try {
    return (
      String(thrown?.message ?? thrown)
        .slice(0, MAX_WORDS)
        .toWellFormed() || otherwise
    );
  } catch {
    return otherwise;
  }
}

/** The first line of a thrown value's message. */
function firstLineOf(thrown) {
  return wordsOf(thrown).split("\n", 1)[0];
}

/** Reads an error that a constructor of the addon threw. Its message is what a method would return. */
function asToolError(error) {
  try {
    unwrap(error.message);
  } catch (thrown) {
    if (isToolError(thrown)) return thrown;
  }
  return error;
}

module.exports = {
  ToolError,
  abortError,
  asToolError,
  firstLineOf,
  isToolError,
  shown,
  unwrap,
  wordsOf,
};
