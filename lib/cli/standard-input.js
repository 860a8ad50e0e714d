"use strict";

const { MAX_INPUT_BYTES } = require("../boundary/input-size.js");
const { UsageError } = require("./usage-error.js");

/**
 * Makes a function that reads all of standard input once, and returns the same text again later.
 *
 * @param {AbortSignal} [signal] ends the reading
 * @returns {() => Promise<string>}
 */
function standardInput(signal) {
  /** @type {Promise<string> | undefined} */
  let text;
  return () => (text ??= readAll(process.stdin, signal));
}

/**
 * @param {NodeJS.ReadStream} input
 * @param {AbortSignal | undefined} signal
 */
async function readAll(input, signal) {
  const stop = () => input.destroy(new Error("interrupted"));
  signal?.addEventListener("abort", stop, { once: true });
  if (input.isTTY)
    process.stderr.write("Type the input, and end it with Ctrl-D on a separate line.\n");
  try {
    /** @type {Buffer[]} */
    const chunks = [];
    let size = 0;
    for await (const chunk of input) {
      size += chunk.length;
      if (size > MAX_INPUT_BYTES) {
        throw new UsageError(`standard input has more than ${MAX_INPUT_BYTES} bytes`);
      }
      chunks.push(chunk);
    }
    return decoded(Buffer.concat(chunks), "standard input");
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

/**
 * The text of bytes, which have to be UTF-8.
 *
 * @param {Uint8Array} bytes
 * @param {string} source
 */
function decoded(bytes, source) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new UsageError(`\`${source}\` is not UTF-8 text; parameters are text`);
  }
}

module.exports = { decoded, standardInput };
