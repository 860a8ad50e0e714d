"use strict";

/**
 * Compares two texts by their bytes in UTF-8, which is how servers sort keys; JavaScript sorts by UTF-16.
 *
 * @param {string} one
 * @param {string} other
 */
function compareBytes(one, other) {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

/**
 * The first text behind all that begin with `prefix`; none if the prefix ends at the end of Unicode.
 *
 * @param {string} prefix
 */
function endOfPrefix(prefix) {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === 0x10ffff) continue;
    // No text has the code points of surrogates.
    points.push(last === 0xd7ff ? 0xe000 : last + 1);
    return points.map((point) => String.fromCodePoint(point)).join("");
  }
  return undefined;
}

/**
 * Where a page of a listing begins and ends: `from` itself only if `includesFrom`, and never `end`.
 *
 * @param {string} prefix
 * @param {string | undefined} after
 */
function keyRange(prefix, after) {
  const isBehind = after !== undefined && compareBytes(after, prefix) >= 0;
  return {
    from: isBehind ? after : prefix,
    includesFrom: !isBehind,
    end: endOfPrefix(prefix),
  };
}

module.exports = { keyRange };
