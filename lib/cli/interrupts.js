"use strict";

/**
 * The exit codes of signals, as shells give them.
 *
 * @type {[signal: NodeJS.Signals, exitCode: number][]}
 */
const SIGNALS = [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
];

/**
 * Runs something that Ctrl-C and the like end: the first signal aborts, a second one ends the process at
 * once. Returns the exit code of the signal if there was one, and otherwise what the action returns.
 *
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} action
 * @returns {Promise<T | number>}
 */
async function interruptible(action) {
  const controller = new AbortController();
  /** @type {number | undefined} */
  let code;
  const listeners = SIGNALS.map(([signal, exitCode]) => {
    const listener = () => {
      if (code !== undefined) process.exit(exitCode);
      code = exitCode;
      controller.abort(new Error("interrupted"));
    };
    process.on(signal, listener);
    return { signal, listener };
  });
  try {
    const answer = await action(controller.signal);
    return code ?? answer;
  } catch (error) {
    if (code === undefined) throw error;
    return code;
  } finally {
    for (const { signal, listener } of listeners) process.off(signal, listener);
  }
}

module.exports = { interruptible };
