"use strict";

const { ToolError, shown, wordsOf } = require("./errors.js");
const { refuseTooLarge } = require("./input-size.js");
const { encodeInput } = require("./json.js");

/** How many blocks a turn may have: far more than a model makes, and far fewer than an array may hold. */
const MAX_BLOCKS = 10_000;

/** The types under which providers give us a call. Under any other they tell something else. */
const CALL_TYPES = new Set(["tool_use", "function", "function_call", "tool_call"]);

/** What makes an object without a type a call, or the attempt of one. */
const CALL_FIELDS = [
  "functionCall",
  "function",
  "name",
  "id",
  "call_id",
  "input",
  "arguments",
  "args",
];

/** What Gemini's parts hold beside calls; such a part has no type that says so. */
const PART_FIELDS = [
  "text",
  "thought",
  "thoughtSignature",
  "inlineData",
  "fileData",
  "functionResponse",
  "executableCode",
  "codeExecutionResult",
  "toolCall",
  "toolResponse",
  "audioTranscription",
  "videoMetadata",
  "mediaResolution",
  "mediaProcessing",
  "partMetadata",
  "speechMetadata",
];

/**
 * The calls of a model's turn as the addon takes them. Whatever else a model answers with is left out:
 * text, thinking, what the provider runs by itself. An answer without any content is a turn without calls.
 */
function readTurn(blocks) {
  if (blocks === undefined || blocks === null) return [];
  if (!Array.isArray(blocks) || blocks.length > MAX_BLOCKS) {
    throw new ToolError(
      "InvalidOptions",
      `executeTools() takes an array of up to ${MAX_BLOCKS} blocks, such as \`message.content\`, ` +
        `\`message.tool_calls\` or \`response.output\`, got ${shown(blocks)}`,
    );
  }
  // Not by `map`, which would leave a hole in the array without an answer.
  const turn = Array.from({ length: blocks.length }, (_hole, index) =>
    readBlock(() => blocks[index], index),
  );
  return turn.filter((call) => call !== undefined);
}

/**
 * One call of a model's turn as the addon takes it: an Anthropic `tool_use` block, a tool call of
 * OpenAI's chat, an item of its responses, or a Gemini function call; nothing for a block that is no call.
 * Whatever is wrong with it is a problem of that call alone, which has an answer in its place; so this
 * never throws.
 */
function readBlock(look, index) {
  // What the answer bears where a block says none.
  let id = `call_${index}`;
  let name = "";
  try {
    const block = look();
    if (isNoCall(block)) return undefined;
    const given = fields(block, id) ?? {};
    if (typeof given.id === "string") id = given.id.toWellFormed();
    if (typeof given.name === "string") name = given.name.toWellFormed();
    if (id !== given.id || name !== given.name) throw unreadable(block, index);
    return { id, name, input: readInput(given.input) };
  } catch (error) {
    return { id, name, problem: wordsOf(error) };
  }
}

/** What says of itself that it is something else than a call. Nonsense does not: it is answered. */
function isNoCall(block) {
  if (block === null || typeof block !== "object") return false;
  const { type } = block;
  if (typeof type === "string") return !CALL_TYPES.has(type);
  // Servers that write every field have null where there is nothing.
  const has = (field) => (block[field] ?? undefined) !== undefined;
  return type === undefined && !CALL_FIELDS.some(has) && PART_FIELDS.some(has);
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

module.exports = { readTurn };
