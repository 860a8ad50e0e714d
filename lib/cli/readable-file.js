"use strict";

const fs = require("node:fs");
const { CommandError } = require("./usage-error.js");

/** The largest file that the commands read, as for plugin and policy files in a registry. */
const MAX_BYTES = 1024 * 1024;

/** Throws if a file that somebody named is not there, is something else, or is too large. */
function checkReadable(file) {
  let found;
  try {
    found = fs.statSync(file);
    fs.accessSync(file, fs.constants.R_OK);
  } catch (error) {
    throw new CommandError(`\`${file}\` cannot be read: ${error.message}`);
  }
  if (!found.isFile() || found.size > MAX_BYTES) {
    throw new CommandError(`\`${file}\` has to be a file of at most ${MAX_BYTES} bytes`);
  }
}

/** The JSON in a file. */
function readJsonFile(file) {
  checkReadable(file);
  const text = fs.readFileSync(file, "utf8");
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CommandError(`\`${file}\` is not JSON: ${error.message}`);
  }
}

module.exports = { checkReadable, readJsonFile };
