"use strict";

const { ToolError } = require("./errors.js");
const { WorkUnderWay } = require("./lifetime.js");

/**
 * Serves the MCP client at the other end of the standard streams until it goes away. Rust reads and writes them;
 * this keeps the process and the registry alive meanwhile.
 */
async function serveStdio(registry, native) {
  const alive = setInterval(() => {}, 2 ** 30);
  try {
    await new WorkUnderWay(registry).during(() => native.serveStdio());
  } catch (error) {
    throw new ToolError("InternalError", error.message, { cause: error });
  } finally {
    clearInterval(alive);
  }
}

module.exports = { serveStdio };
