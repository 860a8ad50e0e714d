"use strict";

/** The longest word that is compared. */
const MAX_LENGTH = 64;

/** The name that was probably meant, or `undefined` if none is near. */
function closest(word, names) {
  if (word.length > MAX_LENGTH) return undefined;
  const typed = word.toLowerCase();
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

/** `; did you mean …?`, or nothing. */
function didYouMean(word, names) {
  const name = closest(word, names);
  return name === undefined ? "" : `; did you mean \`${name}\`?`;
}

/** How many letters have to be added, removed, replaced or swapped to make one word of the other. */
function distanceBetween(one, other) {
  let before = [];
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const replaced = row[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1);
      next[j] = Math.min(replaced, row[j] + 1, next[j - 1] + 1);
      const isSwapped = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      if (isSwapped) next[j] = Math.min(next[j], before[j - 2] + 1);
    }
    [before, row] = [row, next];
  }
  return row[other.length];
}

module.exports = { closest, didYouMean };
