"use strict";

// How many columns a text takes on a terminal, and texts that fit into a number of columns.

const WIDE =
  /[\u{1100}-\u{115F}\u{2E80}-\u{303E}\u{3041}-\u{A4CF}\u{AC00}-\u{D7A3}\u{F900}-\u{FAFF}\u{FE30}-\u{FE6F}\u{FF00}-\u{FF60}\u{FFE0}-\u{FFE6}\u{1F300}-\u{1FAFF}\u{20000}-\u{3FFFD}]/u;
const NARROW = /[\p{Mn}\p{Me}]/u;

/**
 * The columns that a text without escape sequences takes.
 *
 * @param {string} text
 */
function widthOf(text) {
  let width = 0;
  for (const sign of text) width += widthOfSign(sign);
  return width;
}

/** @param {string} sign */
function widthOfSign(sign) {
  if (sign < "\u0300") return 1;
  if (NARROW.test(sign)) return 0;
  return WIDE.test(sign) ? 2 : 1;
}

/**
 * The text, cut so that it takes at most this many columns.
 *
 * @param {string} text
 * @param {number} columns
 */
function fitted(text, columns) {
  if (widthOf(text) <= columns) return text;
  let cut = "";
  let width = 1;
  for (const sign of text) {
    width += widthOfSign(sign);
    if (width > columns) break;
    cut += sign;
  }
  return columns < 1 ? "" : `${cut.trimEnd()}…`;
}

/**
 * The text with blanks behind it, so that it takes this many columns.
 *
 * @param {string} text
 * @param {number} columns
 */
function padded(text, columns) {
  return text + " ".repeat(Math.max(0, columns - widthOf(text)));
}

/**
 * The text in lines of at most this many columns, broken at blanks.
 *
 * @param {string} text
 * @param {number} columns
 */
function wrapped(text, columns) {
  /** @type {string[]} */
  const lines = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && widthOf(longer) > columns) {
      lines.push(line);
      line = word;
    } else {
      line = longer;
    }
  }
  return [...lines, line];
}

module.exports = { fitted, padded, widthOf, wrapped };
