"use strict";

/**
 * @import { ToolRegistrationError } from "../types/registry"
 * @import { CommandCall } from "./commands.js"
 * @import { Output } from "./terminal.js"
 */

const { makeRegistry } = require("./opened-registry.js");
const { pluginDirectory } = require("./plugin-files.js");
const { inLine } = require("./terminal.js");
const { showTools } = require("./tools.js");

/** @param {CommandCall} call */
async function run({ values, terminal: { out, err } }) {
  const directory = pluginDirectory(values);
  const registry = makeRegistry(values, { sets: ["claude", "classic", "project"] });
  try {
    const { errors } = await registry.reloadPlugins();
    const tools = registry.listTools().filter(({ source }) => source === "plugin");
    if (values.json) out.json({ directory, tools, errors });
    else if (tools.length > 0) showTools(tools, out);
    else
      err.line(
        inLine(`no plugin tools in \`${directory}\`; \`toolwright plugins new NAME\` writes one`),
      );
    if (!values.json) for (const error of errors) err.line(problem(error, err));
    return errors.length === 0 ? 0 : 1;
  } finally {
    await registry.close();
  }
}

/**
 * @param {ToolRegistrationError} error
 * @param {Output} err
 */
function problem({ source, toolName, message }, err) {
  const where = toolName === undefined ? source : `${source}, \`${toolName}\``;
  return `${err.styled("red", "wrong")}  ${inLine(`${where}: ${message}`)}`;
}

module.exports = { run };
