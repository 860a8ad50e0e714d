"use strict";

const native = require("./native.js");
const { ToolError, abortError, shown } = require("./errors.js");

/**
 * Runs native work that ends when the signal is aborted: `run` gets a handle to give to the addon, or
 * nothing. The caller's `onabort` stays the caller's.
 */
async function withSignal(signal, run) {
  checkSignal(signal);
  if (signal === undefined || signal === null) return run(undefined);
  if (signal.aborted) throw abortError(signal.reason);
  const handle = new native.CancelHandle();
  const cancel = () => handle.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    return await run(handle);
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

/** Refuses what is given as a signal and is none. */
function checkSignal(signal) {
  if (signal === undefined || signal === null) return;
  if (typeof signal.addEventListener !== "function" || typeof signal.aborted !== "boolean") {
    throw new ToolError("InvalidOptions", `\`signal\` must be an AbortSignal, got ${shown(signal)}`);
  }
}

module.exports = { checkSignal, withSignal };
