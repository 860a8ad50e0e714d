"use strict";

/**
 * @import { PolicyLint } from "../types/policy"
 * @import { CommandCall } from "./commands.js"
 * @import { Output } from "./terminal.js"
 */

const path = require("node:path");
const { withRegistry } = require("./opened-registry.js");
const { shownRule } = require("./policy-explain.js");
const { inLine } = require("./terminal.js");
const { ALL_SETS } = require("./tools.js");

/** @param {CommandCall} call */
function run({ values, operands: [file], terminal }) {
  const rules = file === undefined ? {} : { userPolicyFile: path.resolve(file) };
  if (file !== undefined) require("./readable-file.js").checkReadable(file);
  return withRegistry(values, terminal, { sets: ALL_SETS, ...rules }, (registry) => {
    const found = registry.lintPolicy();
    if (values.json) terminal.out.json(found);
    else show(found, terminal.out);
    return found.length === 0 ? 0 : 1;
  });
}

/**
 * @param {PolicyLint[]} found
 * @param {Output} out
 */
function show(found, out) {
  for (const { kind, rule, message } of found) {
    out.line(`${out.styled("yellow", kind.replace("-", " "))}: ${shownRule(rule)}`);
    out.line(`  ${inLine(message)}`);
  }
  if (found.length === 0) out.line("every rule has the effect that it seems to have");
}

module.exports = { run };
