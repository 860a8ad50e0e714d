"use strict";

/**
 * @import { TurnBlock } from "../types/provider-formats"
 * @typedef {{ id: string, name: string, input?: string, problem?: string }} TurnCall a call as the addon takes it
 * @typedef {Record<string, unknown>} Block a block whose fields are not checked
 */

const { ToolError, shown, wordsOf } = require("../boundary/errors.js");
const { refuseTooLarge } = require("../boundary/input-size.js");
const { encodeInput } = require("../boundary/json.js");

/** The most blocks that a turn may have. Models produce far fewer; an array could hold far more. */
const MAX_BLOCKS = 10_000;

/** The `type` of a block that is a call. A block of any other type is not. */
const CALL_TYPES = new Set(["tool_use", "function", "function_call", "tool_call"]);

/** A block without a type that has one of these fields is a call, or a malformed one. */
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

/** The fields of Gemini's parts that are not calls. Such parts have no type. */
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
 * Reads the calls of a model's turn. Other blocks are left out: text, thinking, and calls that the provider
 * runs itself. A missing list counts as a turn without calls.
 *
 * @param {readonly TurnBlock[] | null | undefined} blocks
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
  // Not `map`, which skips holes in the array: each of them needs an answer too.
  const turn = Array.from({ length: blocks.length }, (_hole, index) =>
    readBlock(() => blocks[index], index),
  );
  return turn.filter((call) => call !== undefined);
}

/**
 * Reads one call: an Anthropic `tool_use` block, a tool call of OpenAI's chat, an item of its responses, or
 * a Gemini function call. Returns `undefined` for a block that is not a call. Never throws: a malformed
 * call has a `problem`, which becomes its answer, and the other calls run.
 *
 * @param {() => unknown} look
 * @param {number} index
 * @returns {TurnCall | undefined}
 */
function readBlock(look, index) {
  // Used in the answer if the block has no id.
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

/**
 * True for a block that is clearly something else than a call. A malformed one is not: it gets an answer.
 *
 * @param {unknown} block
 */
function isNoCall(block) {
  if (block === null || typeof block !== "object") return false;
  const given = /** @type {Block} */ (block);
  const { type } = given;
  if (typeof type === "string") return !CALL_TYPES.has(type);
  // Some servers write every field, with null for those that are missing.
  /** @param {string} field */
  const has = (field) => (given[field] ?? undefined) !== undefined;
  return type === undefined && !CALL_FIELDS.some(has) && PART_FIELDS.some(has);
}

/**
 * @param {unknown} block
 * @param {number} index
 */
function unreadable(block, index) {
  return new ToolError(
    "ValidationError",
    `blocks[${index}] must be { id, name, input }, { id, function: { name, arguments } }, ` +
      `{ call_id, name, arguments } or { functionCall: { name, args } }, got ${shown(block)}`,
  );
}

/**
 * @param {unknown} given
 * @param {string} ownId the id of a call that has none
 * @returns {{ id?: unknown, name?: unknown, input?: unknown } | undefined}
 */
function fields(given, ownId) {
  if (given === null || typeof given !== "object") return undefined;
  const block = /** @type {Block} */ (given);
  if (block.function) {
    const { name, arguments: input } = /** @type {Block} */ (block.function);
    return { id: block.id, name, input };
  }
  if ("arguments" in block) {
    return { id: block.call_id ?? block.id, name: block.name, input: block.arguments };
  }
  const gemini = /** @type {Block | undefined} */ (
    block.functionCall ?? ("args" in block ? block : undefined)
  );
  // Gemini gives ids only to some calls; its results are matched by name and order.
  if (gemini) return { id: gemini.id ?? ownId, name: gemini.name, input: gemini.args };
  const { id, name, input } = block;
  return { id, name, input };
}

/** @param {unknown} input */
function readInput(input) {
  if (typeof input !== "string") return encodeInput(input);
  // OpenAI sends arguments as text, which is empty for a call without arguments.
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
