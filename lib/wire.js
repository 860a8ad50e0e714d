"use strict";

/**
 * Parses an answer of the addon. Long texts follow the JSON instead of being part of it, which saves
 * escaping and parsing them. See src/binding/wire.rs for the format.
 */
function parseWire(wire) {
  if (!wire.startsWith("@")) return JSON.parse(wire);
  const begin = wire.indexOf(";") + 1;
  let at = begin + Number(wire.slice(1, begin - 1));
  const take = (length) => wire.slice(at, (at += length));
  const answer = JSON.parse(wire.slice(begin, at));
  if (typeof answer.llmContent === "number") answer.llmContent = take(answer.llmContent);
  for (const block of answer.content ?? []) {
    // Only the text of text blocks is moved out; a number in its place is the length.
    if (block.type === "text" && typeof block.text === "number") block.text = take(block.text);
  }
  return answer;
}

module.exports = { parseWire };
