"use strict";

/** @import { Terminal } from "./terminal.js" */

const { version } = require("../../package.json");
const { readCommandLine } = require("./command-line.js");
const { helpFor } = require("./help.js");
const { escaped, openTerminal } = require("./terminal.js");
const { CommandError, UsageError } = require("./usage-error.js");

/**
 * Runs the command line. Sets the exit code instead of exiting, so that all output is written before the
 * process ends.
 *
 * @param {string[]} words
 */
async function main(words) {
  const terminal = openTerminal(process);
  try {
    process.exitCode = await run(words, terminal);
  } catch (error) {
    terminal.err.line(`${terminal.err.styled("red", "toolwright:")} ${escaped(messageOf(error))}`);
    const isKnown = error instanceof UsageError || error instanceof CommandError;
    process.exitCode = isKnown ? error.exitCode : 1;
  }
}

/**
 * @param {string[]} words
 * @param {Terminal} terminal
 * @returns {Promise<number>}
 */
async function run(words, terminal) {
  const {
    command,
    operands = [],
    values = {},
    help,
    version: wantsVersion,
  } = readCommandLine(words);
  if (wantsVersion) {
    terminal.out.line(version);
    return 0;
  }
  if (help !== undefined) {
    const [tool] = help[0] === "call" ? operands : [];
    const text =
      tool === undefined
        ? helpFor(help, terminal.out)
        : await require("./tool-help.js").toolHelp(tool, values, terminal);
    terminal.out.line(text);
    return 0;
  }
  // Loaded here, so that help and version work even if the addon does not load.
  return (await command?.run().run({ values, operands, terminal })) ?? 0;
}

/** @param {unknown} error */
function messageOf(error) {
  const text = error instanceof Error ? error.message : `${error}`;
  return text.trim();
}

module.exports = { main };
