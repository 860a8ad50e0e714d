"use strict";

const { wordsOf } = require("./errors.js");

/**
 * Calls a listener of the host. If it throws, or its promise rejects, `fail` gets the error. We run
 * directly on the event loop, where an uncaught error would end the process.
 *
 * @param {Function} listener
 * @param {unknown} self the `this` of the listener
 * @param {unknown} news its only argument
 * @param {(error: unknown) => void} fail
 */
function callListener(listener, self, news, fail) {
  try {
    const returned = Reflect.apply(listener, self, [news]);
    if (typeof returned?.then === "function") returned.then(undefined, fail);
  } catch (error) {
    fail(error);
  }
}

/**
 * A `fail` for `callListener` that emits a process warning.
 *
 * @param {string} who
 * @returns {(error: unknown) => void}
 */
function warningOf(who) {
  return (error) => process.emitWarning(`${who} threw: ${wordsOf(error)}`, "ToolwrightWarning");
}

module.exports = { callListener, warningOf };
