"use strict";

// What an invocation of a host says of itself, where that is what it should be. One that throws, or says
// something else, leaves it to us.

/** Its text, or nothing. */
function ownText(invocation, method) {
  const text = said(invocation, method);
  return typeof text === "string" && text !== "" ? text.toWellFormed() : undefined;
}

/** Its texts, or nothing. */
function ownTexts(invocation, method) {
  const texts = said(invocation, method);
  const isTexts = Array.isArray(texts) && texts.every((text) => typeof text === "string");
  return isTexts ? texts.map((text) => text.toWellFormed()) : undefined;
}

/** What a host's function gives. A promise is no use to somebody who cannot wait, and must not be missed
 * when it is rejected: that would end the process. */
function settledNow(run) {
  try {
    const given = run();
    if (typeof given?.then !== "function") return given;
    given.then(undefined, () => {});
  } catch {
    // Told when the call runs.
  }
  return undefined;
}

function said(invocation, method) {
  return settledNow(() => invocation?.[method]?.());
}

module.exports = { ownText, ownTexts, settledNow };
