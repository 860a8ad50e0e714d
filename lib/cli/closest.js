"use strict";

/** The longest word that is compared. */
const MAX_LENGTH = 64;

/**
 * The name that was probably meant, or `undefined` if none is near.
 *
 * @param {string} word
 * @param {readonly string[]} names
 */
function closest(word, names) {
  if (word.length > MAX_LENGTH) return undefined;
  const typed = word.toLowerCase();
  /** @type {{ name: string, distance: number } | undefined} */
  let best;
  for (const name of names) {
    const distance = distanceBetween(typed, name.toLowerCase());
    if (distance < (best?.distance ?? Infinity)) best = { name, distance };
  }
  // A beginning of a name is near to it, however much is missing.
  const begun = names.filter((name) => typed.length >= 2 && name.toLowerCase().startsWith(typed));
  if (begun.length === 1) return begun[0];
  const near = Math.max(1, Math.floor(word.length / 3));
  return best !== undefined && best.distance <= near ? best.name : undefined;
}

/**
 * `; did you mean …?`, or nothing.
 *
 * @param {string} word
 * @param {readonly string[]} names
 */
function didYouMean(word, names) {
  const name = closest(word, names);
  return name === undefined ? "" : `; did you mean \`${name}\`?`;
}

/**
 * @param {number[]} distances
 * @param {number} index
 */
function at(distances, index) {
  return distances[index] ?? Infinity;
}

/**
 * How many letters have to be added, removed, replaced or swapped to make one word into the other.
 *
 * @param {string} one
 * @param {string} other
 */
function distanceBetween(one, other) {
  /** @type {number[]} */
  let before = [];
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const replaced = at(row, j - 1) + (one[i - 1] === other[j - 1] ? 0 : 1);
      const isSwapped = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swapped = isSwapped ? at(before, j - 2) + 1 : Infinity;
      next[j] = Math.min(replaced, at(row, j) + 1, at(next, j - 1) + 1, swapped);
    }
    [before, row] = [row, next];
  }
  return at(row, other.length);
}

module.exports = { closest, didYouMean };
