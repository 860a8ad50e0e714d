"use strict";

const { ToolError, shown } = require("./errors.js");
const { callListener, warningOf } = require("./listener.js");

/**
 * Runs native work that tells of its progress: `run` gets a listener for the addon, or nothing. Settles
 * when the last piece of news has been heard as well: news and result come over separate queues, and a
 * caller expects the result last.
 */
async function withProgress(onProgress, run) {
  if (onProgress === undefined || onProgress === null) return run(undefined);
  if (typeof onProgress !== "function") {
    throw new ToolError(
      "InvalidOptions",
      `\`onProgress\` must be a function, got ${shown(onProgress)}`,
    );
  }
  let hearLast;
  const heard = new Promise((resolve) => {
    hearLast = resolve;
  });
  const fail = warningOf("an onProgress callback");
  const listener = (json) => {
    if (json === "") hearLast();
    else callListener(onProgress, undefined, JSON.parse(json), fail);
  };
  // The addon's listener is weak: with much to hear, the loop would end before all of it is heard.
  const alive = setInterval(() => {}, 2 ** 30);
  try {
    const answer = await run(listener);
    await heard;
    return answer;
  } finally {
    clearInterval(alive);
  }
}

module.exports = { withProgress };
