"use strict";

// Makes a registry as the options of a command say.

const path = require("node:path");
const { readJsonFile } = require("./readable-file.js");
const { inLine } = require("./terminal.js");
const { CommandError } = require("./usage-error.js");

/**
 * Makes a registry and loads its plugins. What is wrong with plugins and rules is told on standard error: the
 * other tools work.
 *
 * @param more options of the registry that the command sets
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

/** Runs something with a registry, and closes it. */
async function withRegistry(values, terminal, more, action) {
  const registry = await openRegistry(values, terminal, more);
  try {
    return await action(registry);
  } finally {
    await registry.close();
  }
}

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

function projectOf({ project }) {
  return path.resolve(project ?? ".");
}

function pluginsOf(values) {
  if (values["no-plugins"]) return { pluginDir: false };
  const folder = values["plugin-dir"];
  return folder === undefined ? {} : { pluginDir: path.resolve(folder) };
}

function noteOf({ source, toolName, message }, err) {
  const where = toolName === undefined ? source : `${source}, \`${toolName}\``;
  return `${err.styled("yellow", "note:")} ${inLine(`${where}: ${message}`)}`;
}

/** The MCP servers of a file, in the form that Claude's hosts use. */
function readServers(file) {
  const servers = readJsonFile(file)?.mcpServers;
  if (servers === null || typeof servers !== "object" || Array.isArray(servers)) {
    throw new CommandError(
      `\`${file}\` has no object \`mcpServers\`, as in {"mcpServers": {"name": {"command": "…"}}}`,
    );
  }
  return servers;
}

module.exports = { makeRegistry, openRegistry, projectOf, withRegistry };
