"use strict";

// Where plugin files are.

/** @import { Values } from "./commands.js" */

const fs = require("node:fs");
const path = require("node:path");
const { installationFacts } = require("./installation.js");
const { CommandError } = require("./usage-error.js");

/**
 * The plugin directory that a registry would use.
 *
 * @param {Values} values
 */
function pluginDirectory(values) {
  const folder = values["plugin-dir"];
  if (folder !== undefined) return path.resolve(folder);
  const { pluginDir } = installationFacts(process.cwd());
  if (pluginDir !== undefined) return pluginDir;
  throw new CommandError("this user has no home directory; name a directory with `--plugin-dir`");
}

/**
 * The plugin files of a directory, by name; none if it does not exist.
 *
 * @param {string} folder
 */
function filesIn(folder) {
  /** @type {string[]} */
  let names;
  try {
    names = fs.readdirSync(folder);
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
    if (code === "ENOENT") return [];
    throw new CommandError(`\`${folder}\` cannot be read: ${message}`);
  }
  const files = names.filter((name) => name.endsWith(".json")).sort();
  return files.map((name) => path.join(folder, name));
}

module.exports = { filesIn, pluginDirectory };
