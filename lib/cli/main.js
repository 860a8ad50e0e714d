"use strict";

const { version } = require("../../package.json");
const { readCommandLine } = require("./command-line.js");
const { helpFor } = require("./help.js");
const { escaped, openTerminal } = require("./terminal.js");

/**
 * Runs the command line. Sets the exit code and lets the process end by itself, so that everything that was
 * written arrives.
 */
async function main(words) {
  const terminal = openTerminal(process);
  try {
    process.exitCode = await run(words, terminal);
  } catch (error) {
    terminal.err.line(`${terminal.err.styled("red", "toolwright:")} ${escaped(messageOf(error))}`);
    process.exitCode = error?.exitCode ?? 1;
  }
}

async function run(words, terminal) {
  const { command, operands, values, help, version: wantsVersion } = readCommandLine(words);
  if (wantsVersion) {
    terminal.out.line(version);
    return 0;
  }
  if (help !== undefined) {
    const isAboutTool = help[0] === "call" && operands?.length > 0;
    const text = isAboutTool
      ? await require("./tool-help.js").toolHelp(operands[0], values, terminal)
      : helpFor(help, terminal.out);
    terminal.out.line(text);
    return 0;
  }
  // Loaded here, so that help and version work even if the addon does not load.
  return (await command.run().run({ values, operands, terminal })) ?? 0;
}

function messageOf(error) {
  const text = error instanceof Error ? error.message : `${error}`;
  return text.trim();
}

module.exports = { main };
