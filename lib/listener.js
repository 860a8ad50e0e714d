"use strict";

const { wordsOf } = require("./errors.js");

/**
 * Calls a listener of the host. We are called from the event loop ourselves, where what a listener throws,
 * or what its promise is rejected with, could only end the process: `fail` is told instead.
 */
function callListener(listener, self, news, fail) {
  try {
    const returned = Reflect.apply(listener, self, [news]);
    if (typeof returned?.then === "function") returned.then(undefined, fail);
  } catch (error) {
    fail(error);
  }
}

/** A way to fail that leaves a warning and nothing else. */
function warningOf(who) {
  return (error) => process.emitWarning(`${who} threw: ${wordsOf(error)}`, "ToolwrightWarning");
}

module.exports = { callListener, warningOf };
