"use strict";

/** @import { ToolProgress } from "../types/options" */

const { ToolError, shown } = require("../boundary/errors.js");
const { callListener, warningOf } = require("../boundary/listener.js");

/**
 * Runs native work that reports progress. `run` gets a callback for the addon, or `undefined` without
 * `onProgress`. Progress and result arrive over separate queues, so this waits for the last report: the
 * caller gets the result after all of them.
 *
 * @template T
 * @param {((news: ToolProgress) => void) | null | undefined} onProgress
 * @param {(listener: ((json: string) => void) | undefined) => T | Promise<T>} run
 * @returns {Promise<T>}
 */
async function withProgress(onProgress, run) {
  if (onProgress === undefined || onProgress === null) return run(undefined);
  if (typeof onProgress !== "function") {
    throw new ToolError(
      "InvalidOptions",
      `\`onProgress\` must be a function, got ${shown(onProgress)}`,
    );
  }
  /** @type {(() => void) | undefined} */
  let resolveLast;
  /** @type {Promise<void>} */
  const received = new Promise((resolve) => {
    resolveLast = resolve;
  });
  const fail = warningOf("an onProgress callback");
  /** @param {string} json */
  const listener = (json) => {
    if (json === "") resolveLast?.();
    else callListener(onProgress, undefined, JSON.parse(json), fail);
  };
  // The addon's callback does not keep the process alive, which could exit before the last report.
  const alive = setInterval(() => {}, 2 ** 30);
  try {
    const answer = await run(listener);
    await received;
    return answer;
  } finally {
    clearInterval(alive);
  }
}

module.exports = { withProgress };
