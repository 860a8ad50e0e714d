"use strict";

/** @import { CommandCall } from "./commands.js" */

const { knownTool } = require("./call.js");
const { withRegistry } = require("./opened-registry.js");
const { ALL_SETS } = require("./tools.js");
const { UsageError } = require("./usage-error.js");

/** @param {CommandCall} call */
function run({ values, operands: [name], terminal }) {
  const wanted = [name !== undefined, values.plugin, values.policy].filter(Boolean);
  if (wanted.length !== 1) {
    throw new UsageError("`schema` needs one of: the name of a tool, `--plugin`, `--policy`");
  }
  if (values.plugin) return terminal.out.json(require("../../schema/plugin.schema.json"));
  if (values.policy) return terminal.out.json(require("../../index.js").PolicyEngine.schema);
  return withRegistry(values, terminal, { sets: ALL_SETS }, (registry) =>
    terminal.out.json(knownTool(registry, name ?? "").inputSchema),
  );
}

module.exports = { run };
