"use strict";

/**
 * @import { PluginToolDefinition } from "../types/plugins"
 * @import { CommandCall } from "./commands.js"
 */

const fs = require("node:fs");
const path = require("node:path");
const { pluginDirectory } = require("./plugin-files.js");
const { inLine } = require("./terminal.js");
const { CommandError, UsageError } = require("./usage-error.js");

/** The names that tools may have. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * A tool of each kind that works, to be changed.
 *
 * @type {Record<string, Omit<PluginToolDefinition, "name">>}
 */
const TOOLS = {
  shell: {
    description: "Shows the last commits of the project.",
    inputSchema: object({ count: { type: "integer", minimum: 1, maximum: 100, default: 10 } }),
    handler: { type: "shell", command: "git log --oneline -n {{count}}", timeout: 10_000 },
  },
  http: {
    description: "Looks up a page of an encyclopedia by its title.",
    inputSchema: object({ title: { type: "string", description: "The title of the page." } }, [
      "title",
    ]),
    handler: {
      type: "http",
      method: "GET",
      url: "https://en.wikipedia.org/api/rest_v1/page/summary/{{title}}",
    },
  },
  "file-read": {
    description: "Reads a file of the documentation.",
    inputSchema: object(
      { path: { type: "string", description: "The file, relative to the documentation." } },
      ["path"],
    ),
    handler: { type: "file-read", basePath: "docs" },
  },
};

/**
 * @param {object} properties
 * @param {string[]} [required]
 */
function object(properties, required = []) {
  return { type: "object", properties, required };
}

/** @param {CommandCall} call */
function run({ values, operands: [name = ""], terminal: { out, err } }) {
  if (!NAME.test(name)) {
    throw new UsageError(`a plugin's name has letters, digits, \`_\` and \`-\`, got \`${name}\``);
  }
  const folder = pluginDirectory(values);
  const file = path.join(folder, `${name}.json`);
  const plugin = {
    $schema: "https://unpkg.com/toolwright/schema/plugin.schema.json",
    name,
    version: "1.0.0",
    tools: [{ name, ...TOOLS[values.handler ?? "shell"] }],
  };
  write(file, `${JSON.stringify(plugin, null, 2)}\n`);
  out.line(file);
  err.line(inLine(`change it, check it with \`toolwright plugins validate ${file}\``));
  err.line(inLine(`then \`toolwright call ${name} --help\` shows its parameters`));
}

/**
 * @param {string} file
 * @param {string} text
 */
function write(file, text) {
  try {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text, { flag: "wx" });
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
    const advice = code === "EEXIST" ? "; choose another name, or remove it first" : "";
    throw new CommandError(`\`${file}\` cannot be written: ${message}${advice}`);
  }
}

module.exports = { TOOLS, run };
