"use strict";

const { CommandError } = require("./usage-error.js");

function run() {
  throw new CommandError("the MCP server on standard input and output is not there yet");
}

module.exports = { run };
