"use strict";

/**
 * @import { CommandCall, Values } from "./commands.js"
 * @import { Output } from "./terminal.js"
 * @typedef {{ file: string, valid: boolean, errors: string[], tools?: string[] }} CheckedFile
 */

const fs = require("node:fs");
const path = require("node:path");
const { wordsOf } = require("../boundary/errors.js");
const { filesIn, pluginDirectory } = require("./plugin-files.js");
const { readJsonFile } = require("./readable-file.js");
const { inLine } = require("./terminal.js");

/** @param {CommandCall} call */
function run({ values, operands, terminal }) {
  const { out, err } = terminal;
  const files =
    operands.length === 0 ? filesIn(pluginDirectory(values)) : operands.flatMap(filesOf);
  const checked = files.map(check);
  if (values.json) out.json(checked);
  else if (checked.length === 0)
    err.line(inLine(`no plugin files in ${placesOf(operands, values)}`));
  else for (const file of checked) show(file, out);
  return checked.every(({ valid }) => valid) ? 0 : 1;
}

/** @param {string} operand */
function filesOf(operand) {
  return fs.statSync(operand, { throwIfNoEntry: false })?.isDirectory()
    ? filesIn(operand)
    : [operand];
}

/**
 * @param {string[]} operands
 * @param {Values} values
 */
function placesOf(operands, values) {
  const places = operands.length === 0 ? [pluginDirectory(values)] : operands;
  return places.map((place) => `\`${place}\``).join(", ");
}

/**
 * @param {string} file
 * @returns {CheckedFile}
 */
function check(file) {
  const { validatePluginConfigFile } = require("../registry/plugins.js");
  try {
    const { valid, errors, config } = validatePluginConfigFile(readJsonFile(file));
    const tools = config?.tools.map(({ name }) => name);
    return { file: path.resolve(file), valid, errors, ...(tools && { tools }) };
  } catch (error) {
    return { file: path.resolve(file), valid: false, errors: [wordsOf(error)] };
  }
}

/**
 * @param {CheckedFile} checked
 * @param {Output} out
 */
function show({ file, valid, errors, tools }, out) {
  const word = valid ? out.styled("green", "ok") : out.styled("red", "wrong");
  const names = tools === undefined ? "" : `: ${tools.join(", ")}`;
  out.line(`${word}  ${inLine(`${file}${names}`)}`);
  for (const error of errors) out.line(`  ${inLine(error)}`);
}

module.exports = { run };
