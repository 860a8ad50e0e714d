"use strict";

// Reads what was typed, by the table of commands.

/**
 * @import { Command, Values } from "./commands.js"
 * @import { Option } from "./options.js"
 * @typedef {Record<string, string | true | string[]>} GivenValues
 * @typedef {object} CommandLine
 * @property {Command} [command]
 * @property {string[]} [operands]
 * @property {Values} [values]
 * @property {string[]} [help] the command or group that help is wanted for
 * @property {boolean} [version]
 */

const { didYouMean } = require("./closest.js");
const { COMMANDS } = require("./commands.js");
const { HELP } = require("./options.js");
const { UsageError } = require("./usage-error.js");

/** Words that are not commands of the table. */
const SPECIAL = ["help"];

/**
 * The command with its operands and the values of its options; or `{ help: words }`, which names a command,
 * a group of commands, or nothing; or `{ version: true }`.
 *
 * @param {string[]} words
 * @returns {CommandLine}
 */
function readCommandLine(words) {
  const [first, ...rest] = words;
  if (first === undefined) return { help: [] };
  if (["--help", "-h"].includes(first)) return { help: [] };
  if (["--version", "-V"].includes(first)) return { version: true };
  if (first === "help") return { help: rest };
  if (first.startsWith("-")) {
    throw new UsageError(
      `a command comes first, and \`${first}\` is an option; see \`toolwright --help\``,
    );
  }
  const found = COMMANDS.find(({ name }) => name === first);
  if (found !== undefined) return readOptions(found, rest);
  return readGroup(first, rest);
}

/**
 * Reads the second word of commands such as `plugins list`.
 *
 * @param {string} group
 * @param {string[]} words
 * @returns {CommandLine}
 */
function readGroup(group, [second, ...rest]) {
  const members = membersOf(group);
  if (members.length === 0) {
    const known = [...new Set(COMMANDS.flatMap(({ name }) => name.split(" ", 1))), ...SPECIAL];
    throw new UsageError(
      `there is no command \`${group}\`${didYouMean(group, known) || "; see `toolwright --help`"}`,
    );
  }
  if (second === undefined || ["--help", "-h"].includes(second)) return { help: [group] };
  const found = members.find(({ name }) => name === `${group} ${second}`);
  if (found !== undefined) return readOptions(found, rest);
  const names = members.map(({ name }) => name.slice(group.length + 1));
  const meant = didYouMean(second, names) || `; there are ${listed(names)}`;
  throw new UsageError(`there is no command \`${group} ${second}\`${meant}`);
}

/** @param {string} group */
function membersOf(group) {
  return COMMANDS.filter(({ name }) => name.startsWith(`${group} `));
}

/**
 * @param {Command} command
 * @param {string[]} words
 * @returns {CommandLine}
 */
function readOptions(command, words) {
  const known = [...command.options, HELP];
  /** @type {GivenValues} */
  const given = {};
  /** @type {string[]} */
  const operands = [];
  const queue = [...words];
  for (let word = queue.shift(); word !== undefined; word = queue.shift()) {
    if (word === "--") {
      operands.push(...queue.splice(0));
    } else if (!word.startsWith("-") || word === "-") {
      operands.push(word);
    } else {
      const { option, attached } = optionOf(command, known, word);
      addValue(given, option, attached, queue, command);
    }
  }
  // Each value was checked by its option, which has the same type in `Values`.
  const values = /** @type {Values} */ (given);
  if (values.help) return { help: command.name.split(" "), operands, values };
  checkCount(command, operands);
  return { command, operands, values };
}

/**
 * The option that a word names, and the value that is part of the word.
 *
 * @param {Command} command
 * @param {Option[]} known
 * @param {string} word
 * @returns {{ option: Option, attached?: string | undefined }}
 */
function optionOf(command, known, word) {
  if (word.startsWith("--")) {
    const at = word.indexOf("=");
    const name = word.slice(2, at === -1 ? undefined : at);
    const option = known.find((it) => it.name === name);
    if (option !== undefined)
      return { option, attached: at === -1 ? undefined : word.slice(at + 1) };
    throw unknown(command, known, `--${name}`);
  }
  const option = known.find(({ short }) => short !== undefined && short === word[1]);
  if (option === undefined) throw unknown(command, known, word);
  if (word.length === 2) return { option };
  if (option.value === undefined) {
    throw new UsageError(`\`${word}\`: write short options one by one; ${seeHelp(command)}`);
  }
  return { option, attached: word.slice(2) };
}

/**
 * @param {Command} command
 * @param {Option[]} known
 * @param {string} typed
 */
function unknown(command, known, typed) {
  const names = known.map(({ name }) => `--${name}`);
  const meant = didYouMean(typed, names) || `; ${seeHelp(command)}`;
  return new UsageError(`\`${command.name}\` has no option \`${typed}\`${meant}`);
}

/**
 * @param {GivenValues} values
 * @param {Option} option
 * @param {string | undefined} attached
 * @param {string[]} queue
 * @param {Command} command
 */
function addValue(values, option, attached, queue, command) {
  const shown = `--${option.name}`;
  if (option.value === undefined) {
    if (attached !== undefined) throw new UsageError(`\`${shown}\` takes no value`);
    values[option.name] = true;
    return;
  }
  const value = attached ?? queue.shift();
  if (value === undefined) {
    throw new UsageError(`\`${shown}\` needs a value, ${option.value}; ${seeHelp(command)}`);
  }
  if (option.many) {
    const before = values[option.name];
    const list = Array.isArray(before) ? before : [];
    values[option.name] = [...list, ...checkedChoices(option, value)];
  } else if (option.name in values) {
    throw new UsageError(`\`${shown}\` is given twice`);
  } else {
    const [only = value] = checkedChoices(option, value);
    values[option.name] = only;
  }
}

/**
 * The value, or several that are separated by commas where an option has choices and takes many.
 *
 * @param {Option} option
 * @param {string} value
 */
function checkedChoices({ name, choices, many }, value) {
  if (choices === undefined) return [value];
  const parts = many ? value.split(",").filter(Boolean) : [value];
  for (const part of parts) {
    if (choices.includes(part)) continue;
    const meant = didYouMean(part, choices) || `; there are ${listed(choices)}`;
    throw new UsageError(`\`--${name}\` cannot be \`${part}\`${meant}`);
  }
  return parts;
}

/**
 * @param {Command} command
 * @param {string[]} operands
 */
function checkCount(command, operands) {
  const { operands: shown = "", choices } = command;
  const [least, most] = command.count ?? (shown === "" ? [0, 0] : [0, Infinity]);
  if (operands.length < least) {
    throw new UsageError(`\`${command.name}\` needs ${shown}; ${seeHelp(command)}`);
  }
  if (operands.length > most) {
    const extra = operands[most];
    throw new UsageError(`\`${extra}\` is one operand too many; ${seeHelp(command)}`);
  }
  const [first = ""] = operands;
  if (choices !== undefined && !choices.includes(first)) {
    const meant = didYouMean(first, choices) || `; there are ${listed(choices)}`;
    throw new UsageError(`${shown} cannot be \`${first}\`${meant}`);
  }
}

/** @param {Command} command */
function seeHelp(command) {
  return `see \`toolwright ${command.name} --help\``;
}

/** @param {string[]} names */
function listed(names) {
  return names.map((name) => `\`${name}\``).join(", ");
}

module.exports = { membersOf, readCommandLine };
