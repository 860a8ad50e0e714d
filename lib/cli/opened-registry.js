"use strict";

// Makes a registry as the options of a command say.

/**
 * @import { ToolRegistryOptions, ToolsetName } from "../types/options"
 * @import { ToolRegistrationError, ToolRegistry } from "../types/registry"
 * @import { McpServerConfig } from "../types/mcp-servers"
 * @import { Values } from "./commands.js"
 * @import { Output, Terminal } from "./terminal.js"
 * @typedef {ToolRegistryOptions & { sets?: ToolsetName[] }} RegistryOptions options that a command sets; `sets` is the default of `--set`
 */

const path = require("node:path");
const { readJsonFile } = require("./readable-file.js");
const { inLine } = require("./terminal.js");
const { CommandError } = require("./usage-error.js");

/**
 * Makes a registry and loads its plugins. Errors in plugins and rules are printed to standard error. The other
 * tools work.
 *
 * @param {Values} values
 * @param {Terminal} terminal
 * @param {RegistryOptions} more options of the registry that the command sets
 */
async function openRegistry(values, terminal, more = {}) {
  const registry = makeRegistry(values, more);
  try {
    const { errors } = await registry.initialize();
    for (const error of errors) terminal.err.line(noteOf(error, terminal.err));
    return registry;
  } catch (error) {
    await registry.close();
    throw error;
  }
}

/**
 * Runs something with a registry, and closes it.
 *
 * @template T
 * @param {Values} values
 * @param {Terminal} terminal
 * @param {RegistryOptions} more
 * @param {(registry: ToolRegistry) => T | Promise<T>} action
 */
async function withRegistry(values, terminal, more, action) {
  const registry = await openRegistry(values, terminal, more);
  try {
    return await action(registry);
  } finally {
    await registry.close();
  }
}

/**
 * @param {Values} values
 * @param {RegistryOptions} options
 * @returns {ToolRegistry}
 */
function makeRegistry(values, { sets = ["claude"], permissionMode, ...more }) {
  const { createToolRegistry } = require("../../index.js");
  const servers = values["mcp-config"];
  return createToolRegistry({
    projectPath: projectOf(values),
    additionalDirectories: (values["add-dir"] ?? []).map((folder) => path.resolve(folder)),
    toolsets: values.set ?? sets,
    ...pluginsOf(values),
    ...(values.sandbox === undefined ? {} : { sandbox: values.sandbox }),
    ...(servers === undefined ? {} : { mcpServers: readServers(servers) }),
    permissionMode: values["permission-mode"] ?? permissionMode,
    allowedTools: values.allow ?? [],
    disallowedTools: values.disallow ?? [],
    trustProject: values["trust-project"] ?? false,
    ...more,
  });
}

/** @param {Values} values */
function projectOf({ project }) {
  return path.resolve(project ?? ".");
}

/**
 * @param {Values} values
 * @returns {Pick<ToolRegistryOptions, "pluginDir">}
 */
function pluginsOf(values) {
  if (values["no-plugins"]) return { pluginDir: false };
  const folder = values["plugin-dir"];
  return folder === undefined ? {} : { pluginDir: path.resolve(folder) };
}

/**
 * @param {ToolRegistrationError} error
 * @param {Output} err
 */
function noteOf({ source, toolName, message }, err) {
  const where = toolName === undefined ? source : `${source}, \`${toolName}\``;
  return `${err.styled("yellow", "note:")} ${inLine(`${where}: ${message}`)}`;
}

/**
 * The MCP servers of a file, in the form that Claude's hosts use.
 *
 * @param {string} file
 * @returns {Record<string, McpServerConfig>}
 */
function readServers(file) {
  const content = /** @type {{ mcpServers?: unknown } | null} */ (readJsonFile(file));
  const servers = content?.mcpServers;
  if (typeof servers !== "object" || servers === null || Array.isArray(servers)) {
    throw new CommandError(
      `\`${file}\` has no object \`mcpServers\`, as in {"mcpServers": {"name": {"command": "…"}}}`,
    );
  }
  // The registry checks each of them.
  return /** @type {Record<string, McpServerConfig>} */ (servers);
}

module.exports = { makeRegistry, openRegistry, projectOf, withRegistry };
