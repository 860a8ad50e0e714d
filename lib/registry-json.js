"use strict";

// What a registry is given, as the JSON that the addon takes.

const { ToolError, firstLineOf, shown } = require("./errors.js");

/** What comes with a call, as JSON; nothing where nothing was given. */
function factsOf({ toolUseId, sessionId, registration }) {
  for (const [key, value] of Object.entries({ toolUseId, sessionId })) {
    if (value !== undefined && typeof value !== "string") {
      throw new ToolError("InvalidOptions", `\`${key}\` must be a string, got ${shown(value)}`);
    }
  }
  const given = [toolUseId, sessionId, registration].some((it) => it !== undefined);
  return given ? JSON.stringify({ toolUseId, sessionId, registration }) : undefined;
}

/** Options as JSON. What JSON would leave out is written in words, so that the addon refuses it. */
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

function isLostInJson(value) {
  if (typeof value === "number") return !Number.isFinite(value);
  return typeof value === "function" || typeof value === "symbol";
}

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
