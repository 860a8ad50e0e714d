"use strict";

const { ToolError, shown, wordsOf } = require("./errors.js");
const { encodeInput } = require("./json.js");

/**
 * One call of a model's turn as the addon takes it: an Anthropic `tool_use` block, a tool call of
 * OpenAI's chat, an item of its responses, or a Gemini function call. Whatever is wrong with it is a
 * problem of that call alone, which has an answer in its place; so this never throws.
 */
function readBlock(block, index) {
  // What the answer bears where a block says none.
  let id = `call_${index}`;
  let name = "";
  try {
    const given = fields(block, id) ?? {};
    if (typeof given.id === "string") id = given.id.toWellFormed();
    if (typeof given.name === "string") name = given.name.toWellFormed();
    if (id !== given.id || name !== given.name) throw unreadable(block, index);
    return { id, name, input: readInput(given.input) };
  } catch (error) {
    return { id, name, problem: wordsOf(error) };
  }
}

function unreadable(block, index) {
  return new ToolError(
    "ValidationError",
    `blocks[${index}] must be { id, name, input }, { id, function: { name, arguments } }, ` +
      `{ call_id, name, arguments } or { functionCall: { name, args } }, got ${shown(block)}`,
  );
}

function fields(block, ownId) {
  if (block === null || typeof block !== "object") return undefined;
  if (block.function) {
    return { id: block.id, name: block.function.name, input: block.function.arguments };
  }
  if ("arguments" in block) {
    return { id: block.call_id ?? block.id, name: block.name, input: block.arguments };
  }
  const gemini = block.functionCall ?? ("args" in block ? block : undefined);
  // Gemini gives ids to some calls only; results go back by name and order.
  if (gemini) return { id: gemini.id ?? ownId, name: gemini.name, input: gemini.args };
  const { id, name, input } = block;
  return { id, name, input };
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
