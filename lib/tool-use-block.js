"use strict";

const { ToolError, shown } = require("./errors.js");
const { encodeInput } = require("./json.js");

/**
 * One call of a model's turn as the addon takes it, from an Anthropic `tool_use` block or an OpenAI
 * tool call. Input that cannot be read becomes an error of that call alone.
 */
function readBlock(block, index) {
  const { id, name, input } = fields(block);
  if (typeof id !== "string" || typeof name !== "string") {
    throw new ToolError(
      "InvalidOptions",
      `blocks[${index}] must be { id, name, input } or { id, function: { name, arguments } }, got ${shown(block)}`,
    );
  }
  return `{"id":${JSON.stringify(id)},"name":${JSON.stringify(name)},"input":${readInput(input)}}`;
}

function fields(block) {
  if (block === null || typeof block !== "object") return {};
  if (block.function === undefined) return block;
  return { id: block.id, name: block.function?.name, input: block.function?.arguments };
}

function readInput(input) {
  try {
    // OpenAI sends arguments as text, which is empty for a call without any.
    if (typeof input === "string") return JSON.stringify(JSON.parse(input || "{}"));
    return encodeInput(input);
  } catch {
    // What is not JSON stays text, and validation says what it expected instead.
    return JSON.stringify(String(input).toWellFormed());
  }
}

module.exports = { readBlock };
