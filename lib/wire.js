"use strict";

/**
 * An answer of the addon. Long texts are not part of its JSON, which would be escaped and parsed for
 * nothing, but follow it: see src/binding/wire.rs.
 */
function parseWire(wire) {
  if (!wire.startsWith("@")) return JSON.parse(wire);
  const begin = wire.indexOf(";") + 1;
  let at = begin + Number(wire.slice(1, begin - 1));
  const take = (length) => wire.slice(at, (at += length));
  const answer = JSON.parse(wire.slice(begin, at));
  if (typeof answer.llmContent === "number") answer.llmContent = take(answer.llmContent);
  for (const block of answer.content ?? []) {
    // Of all blocks only text can be cut out, and the addon never has a number for it.
    if (block.type === "text" && typeof block.text === "number") block.text = take(block.text);
  }
  return answer;
}

module.exports = { parseWire };
