"use strict";

const { ToolError, shown } = require("./errors.js");
const { refuseTooLarge } = require("./input-size.js");
const { encodeInput } = require("./json.js");

/**
 * One call of a model's turn as the addon takes it: an Anthropic `tool_use` block, a tool call of
 * OpenAI's chat, an item of its responses, or a Gemini function call. Input that cannot be read is a
 * problem of that call alone.
 */
function readBlock(block, index) {
  const { id, name, input } = fields(block, index) ?? {};
  if (typeof id !== "string" || typeof name !== "string") {
    throw new ToolError(
      "InvalidOptions",
      `blocks[${index}] must be { id, name, input }, { id, function: { name, arguments } }, ` +
        `{ call_id, name, arguments } or { functionCall: { name, args } }, got ${shown(block)}`,
    );
  }
  try {
    return { id, name, input: readInput(input) };
  } catch (error) {
    return { id, name, problem: error.message };
  }
}

function fields(block, index) {
  if (block === null || typeof block !== "object") return undefined;
  if (block.function) {
    return { id: block.id, name: block.function.name, input: block.function.arguments };
  }
  if ("arguments" in block) {
    return { id: block.call_id ?? block.id, name: block.name, input: block.arguments };
  }
  const gemini = block.functionCall ?? ("args" in block ? block : undefined);
  // Gemini gives ids to some calls only; results go back by name and order.
  if (gemini) return { id: gemini.id ?? `call_${index}`, name: gemini.name, input: gemini.args };
  return block;
}

function readInput(input) {
  if (typeof input !== "string") return encodeInput(input);
  // OpenAI sends arguments as text, which is empty for a call without any.
  if (input === "") return "{}";
  refuseTooLarge(input);
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
