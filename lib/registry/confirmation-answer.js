"use strict";

const { ToolError, shown } = require("../boundary/errors.js");
const { encodeInput } = require("../boundary/json.js");

/** An answer that refuses without a message. */
const REFUSAL = "{}";

/**
 * Reads the answer to a confirmation request and encodes it for the addon. Each field is read once, and
 * only if it is the object's own property. Only the boolean `true` approves: `toJSON` or a boxed value
 * cannot. An answer that cannot be read counts as a refusal.
 *
 * @param {unknown} response
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

/** @param {object} response */
function encodedAnswer(response) {
  try {
    const message = ownField(response, "message") ?? undefined;
    if (message !== undefined && typeof message !== "string") return REFUSAL;
    const answer = {
      // Without this, JSON.stringify would call a `toJSON` that was added to Object.prototype.
      __proto__: null,
      approved: ownField(response, "approved") === true,
      alwaysAllow: ownField(response, "alwaysAllow") === true,
      interrupt: ownField(response, "interrupt") === true,
      message: message?.toWellFormed(),
    };
    const updatedInput = ownField(response, "updatedInput");
    if (updatedInput === undefined || updatedInput === null) return JSON.stringify(answer);
    // Only the input may be any JSON value; it is validated and judged like the input of a new call.
    return `${JSON.stringify(answer).slice(0, -1)},"updatedInput":${encodeInput(updatedInput)}}`;
  } catch {
    return REFUSAL;
  }
}

/**
 * The value of a property that JSON.stringify would write: an own, enumerable one.
 *
 * @param {object} object
 * @param {string} name
 * @returns {unknown}
 */
function ownField(object, name) {
  const isOwn = Object.prototype.propertyIsEnumerable.call(object, name);
  return isOwn ? Reflect.get(object, name) : undefined;
}

module.exports = { ownField, readAnswer };
