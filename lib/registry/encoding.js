"use strict";

// Encodes what a registry is given as JSON for the addon.

/**
 * @typedef {object} CallIds the ids that belong to a call
 * @property {string | undefined} [toolUseId]
 * @property {string | undefined} [sessionId]
 * @property {number | undefined} [registration] the registration that the caller's tool object stands for
 */

const { ToolError, firstLineOf, shown } = require("../boundary/errors.js");

/**
 * The ids that belong to a call, as JSON; `undefined` if none is given.
 *
 * @param {CallIds} ids
 */
function factsOf({ toolUseId, sessionId, registration }) {
  for (const [key, value] of Object.entries({ toolUseId, sessionId })) {
    if (value !== undefined && typeof value !== "string") {
      throw new ToolError("InvalidOptions", `\`${key}\` must be a string, got ${shown(value)}`);
    }
  }
  const given = [toolUseId, sessionId, registration].some((it) => it !== undefined);
  return given ? JSON.stringify({ toolUseId, sessionId, registration }) : undefined;
}

/**
 * Encodes options as JSON. Values that JSON drops or turns into null become text that the addon refuses.
 *
 * @param {unknown} options
 */
function encodeOptions(options) {
  try {
    return JSON.stringify(options, (_key, value) => (isLostInJson(value) ? shown(value) : value));
  } catch (error) {
    throw new ToolError(
      "InvalidOptions",
      `options cannot be written as JSON: ${firstLineOf(error)}`,
    );
  }
}

/** @param {unknown} value */
function isLostInJson(value) {
  if (typeof value === "number") return !Number.isFinite(value);
  return typeof value === "function" || typeof value === "symbol";
}

/** @param {import("../host/read-tool.js").ToolSpec} spec */
function encodeSpec(spec) {
  try {
    return JSON.stringify(spec);
  } catch (error) {
    throw new ToolError(
      "InvalidTool",
      `tool \`${spec.name}\`: inputSchema cannot be written as JSON: ${firstLineOf(error)}`,
    );
  }
}

module.exports = { encodeOptions, encodeSpec, factsOf };
