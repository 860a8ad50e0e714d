"use strict";

const native = require("./native.js");
const { ToolError, abortError, shown } = require("./errors.js");

/** signal → its native handle, the listener and how many calls use it: one listener serves them all. */
const watched = new WeakMap();

/**
 * Runs native work that ends when the signal is aborted: `run` gets a handle to give to the addon, or
 * nothing. The caller's `onabort` stays the caller's.
 */
async function withSignal(signal, run) {
  checkSignal(signal);
  if (signal?.aborted) throw abortError(signal.reason);
  return withHandle(signal, run);
}

/** The same for work that answers for itself when the signal has been aborted before. */
async function withHandle(signal, run) {
  if (signal === undefined || signal === null) return run(undefined);
  try {
    return await run(watch(signal));
  } finally {
    release(signal);
  }
}

function watch(signal) {
  let entry = watched.get(signal);
  if (entry === undefined) {
    const handle = new native.CancelHandle();
    entry = { handle, cancel: () => handle.cancel(), users: 0 };
    watched.set(signal, entry);
    if (signal.aborted) handle.cancel();
    else signal.addEventListener("abort", entry.cancel, { once: true });
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

/** Refuses what is given as a signal and is none. */
function checkSignal(signal) {
  if (signal === undefined || signal === null) return;
  if (typeof signal.addEventListener !== "function" || typeof signal.aborted !== "boolean") {
    throw new ToolError(
      "InvalidOptions",
      `\`signal\` must be an AbortSignal, got ${shown(signal)}`,
    );
  }
}

module.exports = { checkSignal, withHandle, withSignal };
