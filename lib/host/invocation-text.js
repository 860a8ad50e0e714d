"use strict";

// Texts from a host's invocation. A method that throws, or returns something else, gives `undefined`, and
// the registry's own description is used.

/**
 * @import { DeclaredInvocation } from "../types/invocations"
 * @typedef {"getDescription" | "toolLocations"} Method
 */

/**
 * The non-empty string that a method of the invocation returns.
 *
 * @param {DeclaredInvocation | undefined} invocation
 * @param {Method} method
 */
function ownText(invocation, method) {
  const text = said(invocation, method);
  return typeof text === "string" && text !== "" ? text.toWellFormed() : undefined;
}

/**
 * The array of strings that a method of the invocation returns.
 *
 * @param {DeclaredInvocation | undefined} invocation
 * @param {Method} method
 */
function ownTexts(invocation, method) {
  const texts = said(invocation, method);
  const isTexts = Array.isArray(texts) && texts.every((text) => typeof text === "string");
  return isTexts ? texts.map((text) => text.toWellFormed()) : undefined;
}

/**
 * What a host's function returns. A promise gives `undefined`, because the caller cannot wait. Its
 * rejection is still handled: an unhandled one would end the process.
 *
 * @template T
 * @param {() => T | Promise<T>} run
 * @returns {T | undefined}
 */
function settledNow(run) {
  try {
    const given = run();
    if (!isPromise(given)) return given;
    given.then(undefined, () => {});
  } catch {
    // The error shows when the call runs.
  }
  return undefined;
}

/**
 * @template T
 * @param {T | Promise<T>} value
 * @returns {value is Promise<T>}
 */
function isPromise(value) {
  return typeof (/** @type {{ then?: unknown } | null | undefined} */ (value)?.then) === "function";
}

/**
 * @param {DeclaredInvocation | undefined} invocation
 * @param {Method} method
 * @returns {unknown}
 */
function said(invocation, method) {
  return settledNow(() => invocation?.[method]?.());
}

module.exports = { ownText, ownTexts, settledNow };
