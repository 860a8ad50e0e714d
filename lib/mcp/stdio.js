"use strict";

/** @import { NativeRegistry } from "../../native/binding" */

const { ToolError, wordsOf } = require("../boundary/errors.js");
const { WorkUnderWay } = require("../native/lifetime.js");

/**
 * Serves the MCP client at the other end of the standard streams until it disconnects. Rust reads and writes them;
 * this keeps the process and the registry alive meanwhile.
 *
 * @param {object} registry
 * @param {NativeRegistry} native
 */
async function serveStdio(registry, native) {
  const alive = setInterval(() => {}, 2 ** 30);
  try {
    await new WorkUnderWay(registry).during(() => native.serveStdio());
  } catch (error) {
    throw new ToolError("InternalError", wordsOf(error), { cause: error });
  } finally {
    clearInterval(alive);
  }
}

module.exports = { serveStdio };
