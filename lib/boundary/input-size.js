"use strict";

const { ToolError } = require("./errors.js");

/** The most bytes of JSON that an input may have. The addon has the same limit. */
const MAX_INPUT_BYTES = 64 * 1024 * 1024;
/** How many values are counted before the input is encoded. The encoded size is checked in any case. */
const MAX_VALUES = 10_000;

/**
 * Throws if an input has more text than the addon accepts, before any of it is copied. Runs no code of the
 * caller: getters are skipped.
 *
 * @param {unknown} input
 */
function refuseTooLarge(input) {
  let size = 0;
  const open = [input];
  for (let looked = 0; open.length > 0 && looked < MAX_VALUES; looked += 1) {
    const value = open.pop();
    if (typeof value === "string") {
      size += value.length;
      if (size > MAX_INPUT_BYTES) throw tooLarge();
    } else if (typeof value === "object" && value !== null) {
      for (const child of plainValuesOf(value)) {
        open.push(child);
        if (open.length > MAX_VALUES) return;
      }
    }
  }
}

/**
 * The values of an object's own properties, without those of getters. Stops at a proxy that throws.
 *
 * @param {object} object
 * @returns {Generator<unknown, void>}
 */
function* plainValuesOf(object) {
  try {
    for (const key of Object.keys(object)) {
      const property = Reflect.getOwnPropertyDescriptor(object, key);
      if (property !== undefined && "value" in property) yield property.value;
    }
  } catch {
    // Its size is checked once it is encoded as JSON.
  }
}

function tooLarge() {
  return new ToolError(
    "ValidationError",
    `the input has more than \`${MAX_INPUT_BYTES}\` bytes of JSON, the most a call accepts; pass large content in several calls, or let a command write it`,
  );
}

module.exports = { MAX_INPUT_BYTES, refuseTooLarge, tooLarge };
