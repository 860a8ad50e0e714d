"use strict";

const { parseWire } = require("./wire.js");

/** The longest words that are taken over from something that was thrown. */
const MAX_WORDS = 10_000;

/** Every ToolError there is: known without a look at it, which could throw. */
const known = new WeakSet();

/** What this package throws: `type` is stable, the message says what to do. */
class ToolError extends Error {
  constructor(type, message, options) {
    super(isText(message) ? message : wordsOf(message), plainCause(options));
    this.type = type;
    this.code = type;
    known.add(this);
  }

  get name() {
    // What `fetch` and Node's own APIs call it, so that one check covers all.
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
 * What was thrown, in words. It may be anything: a symbol, an object that cannot be made a string, one
 * whose `message` throws, one of many megabytes. This never throws, because it is called where an error
 * would end the process.
 */
function wordsOf(thrown, otherwise = "something that cannot be put into words") {
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

/** The same, without what follows the first line. */
function firstLineOf(thrown) {
  return wordsOf(thrown).split("\n", 1)[0];
}

/** The constructors of the addon can only throw; their message is the same envelope others return. */
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
