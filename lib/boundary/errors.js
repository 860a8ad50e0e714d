"use strict";

/** @import { ErrorType, ToolError as DeclaredToolError } from "../types/errors" */

const { parseWire } = require("../native/wire.js");

/** How many characters of a thrown value's message are kept. */
const MAX_WORDS = 10_000;

/**
 * All ToolErrors. A lookup here runs no code, while `instanceof` runs code of a proxy.
 *
 * @type {WeakSet<object>}
 */
const known = new WeakSet();

/**
 * The only class of errors that this package throws. `type` is stable; the message says what to do.
 *
 * @implements {DeclaredToolError}
 */
class ToolError extends Error {
  /**
   * @param {ErrorType} type
   * @param {string} message
   * @param {ErrorOptions} [options]
   */
  constructor(type, message, options) {
    super(isText(message) ? message : wordsOf(message), plainCause(options));
    this.type = type;
    this.code = type;
    known.add(this);
  }

  /** @override */
  get name() {
    // The name that `fetch` and Node's APIs use, so that one check of the caller covers all of them.
    return this.type === "Cancelled" ? "AbortError" : "ToolError";
  }
}

/**
 * @param {unknown} message
 * @returns {message is string | undefined}
 */
function isText(message) {
  return message === undefined || typeof message === "string";
}

/**
 * @param {unknown} value
 * @returns {value is DeclaredToolError}
 */
function isToolError(value) {
  return typeof value === "object" && value !== null && known.has(value);
}

/**
 * @param {unknown} options
 * @returns {ErrorOptions | undefined}
 */
function plainCause(options) {
  try {
    return options !== null && typeof options === "object" && "cause" in options
      ? { cause: options.cause }
      : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The error that an aborted call rejects with; its cause is the signal's reason.
 *
 * @param {unknown} reason
 */
function abortError(reason) {
  return new ToolError("Cancelled", "the call was cancelled", { cause: reason });
}

/**
 * Parses an answer of the addon. If the answer reports a misuse of the API, it is thrown.
 *
 * @template T
 * @param {string} json
 * @param {AbortSignal | null} [signal]
 * @returns {T}
 */
function unwrap(json, signal) {
  const value = parseWire(json);
  // No result has a key `misuse`, so reading this one property is enough.
  if (value.misuse !== undefined) {
    const { type, message, details } = value.misuse;
    if (type === "Cancelled") throw abortError(signal?.reason);
    throw withDetails(new ToolError(type, message), details);
  }
  return /** @type {T} */ (value);
}

/**
 * Adds the details of a refusal to an error, if there are some.
 *
 * @param {ToolError} error
 * @param {import("../types/results").RefusalDetails | undefined} details
 * @returns {DeclaredToolError}
 */
function withDetails(error, details) {
  return details === undefined ? error : Object.assign(error, { details });
}

/**
 * A short text about a value for error messages: its type, and the beginning of its content.
 *
 * @param {unknown} value
 */
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
 *
 * @param {unknown} thrown
 */
function wordsOf(thrown, otherwise = "a value without a readable message") {
  try {
    return (
      String(/** @type {{ message?: unknown } | null | undefined} */ (thrown)?.message ?? thrown)
        .slice(0, MAX_WORDS)
        .toWellFormed() || otherwise
    );
  } catch {
    return otherwise;
  }
}

/**
 * The first line of a thrown value's message.
 *
 * @param {unknown} thrown
 */
function firstLineOf(thrown) {
  return wordsOf(thrown).split("\n", 1)[0] ?? "";
}

/**
 * Reads an error that a constructor of the addon threw. Its message is what a method would return.
 *
 * @template T
 * @param {T} error
 * @returns {T | DeclaredToolError}
 */
function asToolError(error) {
  try {
    unwrap(/** @type {Error} */ (error).message);
  } catch (thrown) {
    if (isToolError(thrown)) return thrown;
  }
  return error;
}

exports.ToolError = ToolError;
exports.abortError = abortError;
exports.asToolError = asToolError;
exports.firstLineOf = firstLineOf;
exports.isToolError = isToolError;
exports.shown = shown;
exports.unwrap = unwrap;
exports.withDetails = withDetails;
exports.wordsOf = wordsOf;
