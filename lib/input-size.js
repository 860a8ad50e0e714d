"use strict";

const { ToolError } = require("./errors.js");

/** As many bytes of JSON an input may have; the addon refuses more as well. */
const MAX_INPUT_BYTES = 64 * 1024 * 1024;
/** As many values are looked at before the input is written; what it became is looked at in any case. */
const MAX_VALUES = 10_000;

/**
 * Throws for an input with more text than may cross to the addon, before any of it is copied. Runs
 * nothing of the caller's: only plain values of objects are looked at, no getter is asked.
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

/** What an object's own fields hold, without asking getters; nothing of a proxy that will not say. */
function* plainValuesOf(object) {
  try {
    for (const key of Object.keys(object)) {
      const property = Reflect.getOwnPropertyDescriptor(object, key);
      if (property !== undefined && "value" in property) yield property.value;
    }
  } catch {
    // What cannot be looked at here is looked at once it is written as JSON.
  }
}

function tooLarge() {
  return new ToolError(
    "ValidationError",
    `the input has more than \`${MAX_INPUT_BYTES}\` bytes of JSON, the most a call accepts; pass large content in several calls, or let a command write it`,
  );
}

module.exports = { MAX_INPUT_BYTES, refuseTooLarge, tooLarge };
