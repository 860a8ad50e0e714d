"use strict";

const native = require("./native.js");
const { ToolError, abortError, shown } = require("./errors.js");

/** signal → { handle, cancel, users }. All calls with the same signal share one listener on it. */
const watched = new WeakMap();

/**
 * Runs native work that ends when the signal is aborted. `run` gets a handle for the addon, or `undefined`
 * without a signal. Throws at once if the signal is already aborted.
 */
async function withSignal(signal, run) {
  checkSignal(signal);
  if (signal?.aborted) throw abortError(signal.reason);
  return withHandle(signal, run);
}

/** Like `withSignal`, but runs the work even if the signal is already aborted: it has its own answer. */
async function withHandle(signal, run) {
  if (signal === undefined || signal === null) return run(undefined);
  const handle = watch(signal);
  try {
    return await run(handle);
  } finally {
    release(signal);
  }
}

function watch(signal) {
  let entry = watched.get(signal);
  if (entry === undefined) {
    const handle = new native.CancelHandle();
    entry = { handle, cancel: () => handle.cancel(), users: 0 };
    if (signal.aborted) handle.cancel();
    else signal.addEventListener("abort", entry.cancel, { once: true });
    watched.set(signal, entry);
  }
  entry.users += 1;
  return entry.handle;
}

function release(signal) {
  const entry = watched.get(signal);
  entry.users -= 1;
  if (entry.users > 0) return;
  signal.removeEventListener("abort", entry.cancel);
  watched.delete(signal);
}

/** Throws unless the value is an AbortSignal or missing. */
function checkSignal(signal) {
  if (signal === undefined || signal === null || looksLikeSignal(signal)) return;
  throw new ToolError("InvalidOptions", `\`signal\` must be an AbortSignal, got ${shown(signal)}`);
}

function looksLikeSignal(signal) {
  try {
    return (
      typeof signal === "object" &&
      typeof signal.addEventListener === "function" &&
      typeof signal.removeEventListener === "function" &&
      typeof signal.aborted === "boolean"
    );
  } catch {
    return false;
  }
}

module.exports = { checkSignal, withHandle, withSignal };
