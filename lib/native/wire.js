"use strict";

/**
 * @import { ErrorType } from "../types/errors"
 * @import { RefusalDetails } from "../types/results"
 * @typedef {object} Answer the fields that are read from an answer, which may have others
 * @property {{ type: ErrorType, message: string, details?: RefusalDetails }} [misuse]
 * @property {string | number} [llmContent]
 * @property {{ type: string, text?: string | number }[]} [content]
 */

/**
 * Parses an answer of the addon. Long texts follow the JSON instead of being part of it, which saves
 * escaping and parsing them. See src/wire.rs for the format.
 *
 * @param {string} wire
 * @returns {Answer}
 */
function parseWire(wire) {
  if (!wire.startsWith("@")) return JSON.parse(wire);
  const begin = wire.indexOf(";") + 1;
  let at = begin + Number(wire.slice(1, begin - 1));
  /** @param {number} length */
  const take = (length) => wire.slice(at, (at += length));
  /** @type {Answer} */
  const answer = JSON.parse(wire.slice(begin, at));
  if (typeof answer.llmContent === "number") answer.llmContent = take(answer.llmContent);
  for (const block of answer.content ?? []) {
    // Only the text of text blocks is moved out; a number in its place is the length.
    if (block.type === "text" && typeof block.text === "number") block.text = take(block.text);
  }
  return answer;
}

module.exports = { parseWire };
