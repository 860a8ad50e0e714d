"use strict";

/** @import { CancelHandle } from "../../native/binding" */

const native = require("./addon.js");
const { ToolError, abortError, shown } = require("../boundary/errors.js");

/**
 * signal → { handle, cancel, users }. All calls with the same signal share one listener on it.
 *
 * @type {WeakMap<AbortSignal, { handle: CancelHandle, cancel: () => void, users: number }>}
 */
const watched = new WeakMap();

/**
 * Runs native work that ends when the signal is aborted. `run` gets a handle for the addon, or `undefined`
 * without a signal. Throws at once if the signal is already aborted.
 *
 * @template T
 * @param {AbortSignal | null | undefined} signal
 * @param {(handle: CancelHandle | undefined) => T | Promise<T>} run
 * @returns {Promise<T>}
 */
async function withSignal(signal, run) {
  checkSignal(signal);
  if (signal?.aborted) throw abortError(signal.reason);
  return withHandle(signal, run);
}

/**
 * Like `withSignal`, but also runs the work if the signal is already aborted. The work answers that itself.
 *
 * @template T
 * @param {AbortSignal | null | undefined} signal
 * @param {(handle: CancelHandle | undefined) => T | Promise<T>} run
 * @returns {Promise<T>}
 */
async function withHandle(signal, run) {
  if (signal === undefined || signal === null) return run(undefined);
  const handle = watch(signal);
  try {
    return await run(handle);
  } finally {
    release(signal);
  }
}

/** @param {AbortSignal} signal */
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

/** @param {AbortSignal} signal */
function release(signal) {
  const entry = watched.get(signal);
  if (entry === undefined) return;
  entry.users -= 1;
  if (entry.users > 0) return;
  signal.removeEventListener("abort", entry.cancel);
  watched.delete(signal);
}

/**
 * Throws unless the value is an AbortSignal or missing.
 *
 * @param {unknown} signal
 */
function checkSignal(signal) {
  if (signal === undefined || signal === null || looksLikeSignal(signal)) return;
  throw new ToolError("InvalidOptions", `\`signal\` must be an AbortSignal, got ${shown(signal)}`);
}

/**
 * @param {unknown} signal
 * @returns {signal is AbortSignal}
 */
function looksLikeSignal(signal) {
  try {
    return (
      typeof signal === "object" &&
      signal !== null &&
      "addEventListener" in signal &&
      typeof signal.addEventListener === "function" &&
      "removeEventListener" in signal &&
      typeof signal.removeEventListener === "function" &&
      "aborted" in signal &&
      typeof signal.aborted === "boolean"
    );
  } catch {
    return false;
  }
}

module.exports = { checkSignal, withHandle, withSignal };
