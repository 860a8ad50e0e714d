"use strict";

const { ToolError, shown } = require("./errors.js");
const { encodeInput } = require("./json.js");

/**
 * One call of a model's turn as the addon takes it, from an Anthropic `tool_use` block or an OpenAI
 * tool call. Input that cannot be read is a problem of that call alone.
 */
function readBlock(block, index) {
  const { id, name, input } = fields(block);
  if (typeof id !== "string" || typeof name !== "string") {
    throw new ToolError(
      "InvalidOptions",
      `blocks[${index}] must be { id, name, input } or { id, function: { name, arguments } }, got ${shown(block)}`,
    );
  }
  try {
    return { id, name, input: readInput(input) };
  } catch (error) {
    return { id, name, problem: error.message };
  }
}

function fields(block) {
  if (block === null || typeof block !== "object") return {};
  if (block.function === undefined) return block;
  return { id: block.id, name: block.function?.name, input: block.function?.arguments };
}

function readInput(input) {
  if (typeof input !== "string") return encodeInput(input);
  // OpenAI sends arguments as text, which is empty for a call without any.
  if (input === "") return "{}";
  try {
    return JSON.stringify(JSON.parse(input));
  } catch {
    throw new ToolError(
      "ValidationError",
      `the arguments are not JSON, got ${shown(input.toWellFormed())}`,
    );
  }
}

module.exports = { readBlock };
