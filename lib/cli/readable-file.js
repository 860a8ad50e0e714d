"use strict";

const fs = require("node:fs");
const { wordsOf } = require("../boundary/errors.js");
const { CommandError } = require("./usage-error.js");

/** The largest file that the commands read, as for plugin and policy files in a registry. */
const MAX_BYTES = 1024 * 1024;

/**
 * Throws if a file that the user named does not exist, is not a regular file, or is too large.
 *
 * @param {string} file
 */
function checkReadable(file) {
  let found;
  try {
    found = fs.statSync(file);
    fs.accessSync(file, fs.constants.R_OK);
  } catch (error) {
    throw new CommandError(`\`${file}\` cannot be read: ${wordsOf(error)}`);
  }
  if (!found.isFile() || found.size > MAX_BYTES) {
    throw new CommandError(`\`${file}\` has to be a file of at most ${MAX_BYTES} bytes`);
  }
}

/**
 * The JSON in a file.
 *
 * @param {string} file
 * @returns {unknown}
 */
function readJsonFile(file) {
  checkReadable(file);
  const text = fs.readFileSync(file, "utf8");
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CommandError(`\`${file}\` is not JSON: ${wordsOf(error)}`);
  }
}

module.exports = { checkReadable, readJsonFile };
