"use strict";

// Where plugin files are.

const fs = require("node:fs");
const path = require("node:path");
const { installationFacts } = require("./installation.js");
const { CommandError } = require("./usage-error.js");

/** The plugin directory that a registry would use. */
function pluginDirectory(values) {
  const folder = values["plugin-dir"];
  if (folder !== undefined) return path.resolve(folder);
  const { pluginDir } = installationFacts(process.cwd());
  if (pluginDir !== undefined) return pluginDir;
  throw new CommandError("this user has no home directory; name a directory with `--plugin-dir`");
}

/** The plugin files of a directory, by name; none if it does not exist. */
function filesIn(folder) {
  let names;
  try {
    names = fs.readdirSync(folder);
  } catch (error) {
    if (error.code === "ENOENT") return [];
    throw new CommandError(`\`${folder}\` cannot be read: ${error.message}`);
  }
  const files = names.filter((name) => name.endsWith(".json")).sort();
  return files.map((name) => path.join(folder, name));
}

module.exports = { filesIn, pluginDirectory };
