"use strict";

const native = require("./native.js");
const { ToolError, abortError, shown } = require("./errors.js");

/**
 * Runs native work that ends when the signal is aborted: `run` gets a handle to give to the addon, or
 * nothing. The caller's `onabort` stays the caller's.
 */
async function withSignal(signal, run) {
  if (signal === undefined || signal === null) return run(undefined);
  if (typeof signal.addEventListener !== "function" || typeof signal.aborted !== "boolean") {
    throw new ToolError("InvalidOptions", `\`signal\` must be an AbortSignal, got ${shown(signal)}`);
  }
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

module.exports = { withSignal };
