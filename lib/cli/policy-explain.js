"use strict";

/**
 * @import { ExplainedCall, PolicyAction, PolicyRuleRef, SandboxExplanation } from "../types/policy"
 * @import { CommandCall } from "./commands.js"
 * @import { Output, Style } from "./terminal.js"
 * @import { RegistryOptions } from "./opened-registry.js"
 */

const { knownTool, typedInput } = require("./call.js");
const { allowing } = require("./call-result.js");
const { callInput } = require("./call-input.js");
const { withRegistry } = require("./opened-registry.js");
const { standardInput } = require("./standard-input.js");
const { inLine } = require("./terminal.js");
const { ALL_SETS } = require("./tools.js");

/** @param {CommandCall} call */
function run({ values, operands: [name = "", operand], terminal }) {
  const typed = typedInput(values, operand);
  /** @type {RegistryOptions} */
  const options = { sets: ALL_SETS, rememberGrants: "project" };
  return withRegistry(values, terminal, options, async (registry) => {
    const { inputSchema } = knownTool(registry, name);
    const input = await callInput(typed, inputSchema, standardInput());
    const verdict = registry.explain(name, input);
    if (values.output === "json") terminal.out.json(verdict);
    else show(verdict, terminal.out);
  });
}

/** @type {Record<PolicyAction, Style>} */
const STYLES = { allow: "green", ask: "yellow", deny: "red" };

/**
 * @param {ExplainedCall} explained
 * @param {Output} out
 */
function show(explained, out) {
  const {
    action,
    reason,
    basis,
    rule,
    risk,
    message,
    parts,
    suggestedRules = [],
    sandbox,
  } = explained;
  out.line(`${out.styled(STYLES[action], action)}: ${inLine(reason)}`);
  if (message !== undefined) out.line(`  says: ${inLine(message)}`);
  if (rule !== undefined) out.line(`  rule: ${shownRule(rule)}`);
  out.line(`  decided by: ${basis.replace("-", " ")}; risk: ${risk}`);
  // A single part repeats the whole.
  if (parts.length > 1) out.line("  parts:");
  for (const { part, action: word, reason: why } of parts.length > 1 ? parts : []) {
    out.line(`    ${out.styled(STYLES[word], word)}  ${inLine(part)}: ${inLine(why)}`);
  }
  if (suggestedRules.length > 0) {
    out.line(`  to allow it: ${inLine(suggestedRules.map(allowing).join(" "))}`);
  }
  if (sandbox !== undefined) showSandbox(sandbox, out);
}

/**
 * @param {SandboxExplanation} explanation
 * @param {Output} out
 */
function showSandbox({ level, holds, doesNotHold, hidden }, out) {
  out.line(`  sandbox: ${level}`);
  for (const words of holds) out.line(`    holds: ${inLine(words)}`);
  for (const path of hidden.slice(0, 10)) out.line(`      cannot be read: ${inLine(path)}`);
  if (hidden.length > 10) out.line(`      and ${hidden.length - 10} more`);
  for (const words of doesNotHold) out.line(`    does not hold: ${inLine(words)}`);
}

/** @param {PolicyRuleRef} rule */
function shownRule({ layer, place, text, action }) {
  return inLine(`${action} \`${text}\` (${place}, ${layer})`);
}

module.exports = { run, shownRule };
