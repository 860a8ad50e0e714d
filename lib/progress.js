"use strict";

const { ToolError, shown } = require("./errors.js");

/**
 * A listener for the addon, and a promise that settles when the last piece of news has been heard:
 * news and result come over separate queues, and a caller expects the result last.
 */
function listenTo(onProgress) {
  if (onProgress === undefined || onProgress === null)
    return { listener: undefined, heard: undefined };
  if (typeof onProgress !== "function") {
    throw new ToolError(
      "InvalidOptions",
      `\`onProgress\` must be a function, got ${shown(onProgress)}`,
    );
  }
  let done;
  const heard = new Promise((resolve) => {
    // The addon's listener is weak: with much to hear, the loop would end before all of it is heard.
    const alive = setInterval(() => {}, 2 ** 30);
    done = () => {
      clearInterval(alive);
      resolve();
    };
  });
  const listener = (json) => {
    if (json === "") return done();
    try {
      onProgress(JSON.parse(json));
    } catch (error) {
      // It is called from the event loop: what it throws could only end the process.
      process.emitWarning(
        `an onProgress callback threw: ${error?.message ?? error}`,
        "ToolwrightWarning",
      );
    }
  };
  return { listener, heard };
}

module.exports = { listenTo };
