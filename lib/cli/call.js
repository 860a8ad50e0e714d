"use strict";

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

function run({ values, operands: [name, operand], terminal }) {
  const typed = typedInput(values, operand);
  const lines = new TerminalLines(process.stdin);
  const options = {
    sets: ALL_SETS,
    // Whoever types a call wants it to run. What rules ask about, and protected places, still ask.
    permissionMode: "bypassPermissions",
    // The person knows the file, or does not mind.
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
      // A yes has to be a person's, so it is never read from a pipe.
      if (terminal.hasPerson) confirmOnTerminal(registry.messageBus, lines, terminal.err);
      try {
        return await call(registry, name, input, { values, terminal, signal });
      } finally {
        lines.close();
      }
    }),
  );
}

async function call(registry, name, input, { values, terminal, signal }) {
  const progress = values.quiet ? undefined : new CallProgress(terminal.err);
  const onProgress = progress && ((news) => progress.hear(news));
  const result = await registry.call(name, input, { signal, onProgress });
  if (values.output === "json") terminal.out.json(result);
  else printResult(result, terminal, progress);
  tellTasks(registry, terminal.err);
  return result.isError ? 1 : 0;
}

/** A background task cannot outlive the process that looks after it. */
function tellTasks(registry, err) {
  const running = registry.tasks().filter(({ state }) => state === "running");
  if (running.length === 0) return;
  const what = running.map(({ id }) => id).join(", ");
  err.line(
    `${err.styled("yellow", "note:")} background work ends with this command (${what}); call it in the foreground, or use \`toolwright serve\``,
  );
}

/** The input as it was typed; it can be given in one way, and `--arg` adds to it. */
function typedInput({ json, arg }, operand) {
  if (json !== undefined && operand !== undefined) {
    throw new UsageError("the input is given twice: after the tool's name, and by `--json`");
  }
  return { json: json ?? operand, args: arg };
}

function knownTool(registry, name) {
  const tool = registry.getToolInfo(name);
  if (tool !== undefined) return tool;
  const meant = didYouMean(name, registry.names()) || "; see `toolwright tools`";
  throw new UsageError(`there is no tool \`${name}\`${meant}`);
}

module.exports = { knownTool, run, typedInput };
