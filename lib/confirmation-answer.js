"use strict";

const { ToolError, shown } = require("./errors.js");
const { encodeInput } = require("./json.js");

/** What the addon takes for a no without a word. */
const NO = "{}";

/**
 * What somebody answered to a request, as the addon takes it. Each field is read once, from the object
 * itself and not from what it inherits, and a yes is the boolean `true` at that moment: neither `toJSON`
 * nor a boxed value can make one. What cannot be read is a no.
 */
function readAnswer(response) {
  if (response === null || typeof response !== "object") {
    throw new ToolError(
      "InvalidOptions",
      `respondToConfirmation() takes { id, approved }, got ${shown(response)}`,
    );
  }
  const id = ownField(response, "id");
  if (typeof id !== "string") {
    throw new ToolError("InvalidOptions", `an answer needs the request's \`id\`, got ${shown(id)}`);
  }
  return { id, answerJson: encodedAnswer(response) };
}

function encodedAnswer(response) {
  try {
    const message = ownField(response, "message") ?? undefined;
    if (message !== undefined && typeof message !== "string") return NO;
    const answer = {
      // JSON.stringify would call a `toJSON` of Object.prototype.
      __proto__: null,
      approved: ownField(response, "approved") === true,
      alwaysAllow: ownField(response, "alwaysAllow") === true,
      interrupt: ownField(response, "interrupt") === true,
      message: message?.toWellFormed(),
    };
    const updatedInput = ownField(response, "updatedInput");
    if (updatedInput === undefined || updatedInput === null) return JSON.stringify(answer);
    // The input alone may be anything that JSON can say; it is validated and judged like any other.
    return `${JSON.stringify(answer).slice(0, -1)},"updatedInput":${encodeInput(updatedInput)}}`;
  } catch {
    return NO;
  }
}

/** A property that JSON would write. */
function ownField(object, name) {
  const isOwn = Object.prototype.propertyIsEnumerable.call(object, name);
  return isOwn ? object[name] : undefined;
}

module.exports = { ownField, readAnswer };
