"use strict";

/**
 * @import { RegisteredToolInfo } from "../types/tools"
 * @import { ToolRegistry } from "../types/registry"
 * @import { CommandCall, Values } from "./commands.js"
 * @import { RegistryOptions } from "./opened-registry.js"
 * @import { Output, Terminal } from "./terminal.js"
 */

const { callInput } = require("./call-input.js");
const { CallProgress } = require("./call-progress.js");
const { printResult } = require("./call-result.js");
const { didYouMean } = require("./closest.js");
const { interruptible } = require("./interrupts.js");
const { withRegistry } = require("./opened-registry.js");
const { standardInput } = require("./standard-input.js");
const { confirmOnTerminal } = require("./terminal-confirmations.js");
const { TerminalLines } = require("./terminal-lines.js");
const { askOnTerminal } = require("./terminal-questions.js");
const { ALL_SETS } = require("./tools.js");
const { UsageError } = require("./usage-error.js");

/** How long a person has to confirm a call. */
const PATIENCE_MS = 600_000;

/** @param {CommandCall} call */
function run({ values, operands: [name = "", operand], terminal }) {
  const typed = typedInput(values, operand);
  const lines = new TerminalLines(process.stdin);
  /** @type {RegistryOptions} */
  const options = {
    sets: ALL_SETS,
    // A person who types a call wants it to run. Ask rules and protected places still ask.
    permissionMode: "bypassPermissions",
    // A person who types a call need not read the file first.
    readBeforeWrite: false,
    rememberGrants: "project",
    limits: { confirmationTimeoutMs: PATIENCE_MS },
    handlers: { askUser: askOnTerminal(lines, terminal.err) },
  };
  return interruptible((signal) =>
    withRegistry(values, terminal, options, async (registry) => {
      const tool = knownTool(registry, name);
      const input = await callInput(typed, tool.inputSchema, standardInput(signal));
      if (values["dry-run"]) return terminal.out.json(input);
      // Only a person may approve a call, so the answer is never read from a pipe.
      if (terminal.hasPerson) confirmOnTerminal(registry.messageBus, lines, terminal.err);
      try {
        return await call(registry, name, input, { values, terminal, signal });
      } finally {
        lines.close();
      }
    }),
  );
}

/**
 * @param {ToolRegistry} registry
 * @param {string} name
 * @param {unknown} input
 * @param {{ values: Values, terminal: Terminal, signal: AbortSignal }} context
 */
async function call(registry, name, input, { values, terminal, signal }) {
  const progress = values.quiet ? undefined : new CallProgress(terminal.err);
  const onProgress =
    progress &&
    ((/** @type {import("../types/options").ToolProgress} */ news) => progress.show(news));
  const result = await registry.call(name, input, { signal, onProgress });
  if (values.output === "json") terminal.out.json(result);
  else printResult(result, terminal, progress);
  printTaskEvents(registry, terminal.err);
  return result.isError ? 1 : 0;
}

/**
 * A background task cannot outlive the process that looks after it.
 *
 * @param {ToolRegistry} registry
 * @param {Output} err
 */
function printTaskEvents(registry, err) {
  const running = registry.tasks().filter(({ state }) => state === "running");
  if (running.length === 0) return;
  const what = running.map(({ id }) => id).join(", ");
  err.line(
    `${err.styled("yellow", "note:")} background work ends with this command (${what}); call it in the foreground, or use \`toolwright serve\``,
  );
}

/**
 * The input as it was typed; it can be given in one way, and `--arg` adds to it.
 *
 * @param {Values} values
 * @param {string | undefined} operand
 */
function typedInput({ json, arg }, operand) {
  if (json !== undefined && operand !== undefined) {
    throw new UsageError("the input is given twice: after the tool's name, and by `--json`");
  }
  return { json: typeof json === "string" ? json : operand, args: arg };
}

/**
 * @param {ToolRegistry} registry
 * @param {string} name
 * @returns {RegisteredToolInfo}
 */
function knownTool(registry, name) {
  const tool = registry.getToolInfo(name);
  if (tool !== undefined) return tool;
  const meant = didYouMean(name, registry.names()) || "; see `toolwright tools`";
  throw new UsageError(`there is no tool \`${name}\`${meant}`);
}

module.exports = { knownTool, run, typedInput };
