"use strict";

// Reads what was typed, by the table of commands.

const { didYouMean } = require("./closest.js");
const { COMMANDS } = require("./commands.js");
const { HELP } = require("./options.js");
const { UsageError } = require("./usage-error.js");

/** Words that are not commands of the table. */
const SPECIAL = ["help"];

/**
 * The command with its operands and the values of its options; or what help is wanted of: `{ help: words }`
 * names a command, a group of commands, or nothing; or `{ version: true }`.
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

/** Reads the second word of commands such as `plugins list`. */
function readGroup(group, [second, ...rest]) {
  const members = membersOf(group);
  if (members.length === 0) {
    const known = [...new Set(COMMANDS.map(({ name }) => name.split(" ")[0])), ...SPECIAL];
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

function membersOf(group) {
  return COMMANDS.filter(({ name }) => name.startsWith(`${group} `));
}

function readOptions(command, words) {
  const known = [...command.options, HELP];
  const values = {};
  const operands = [];
  const queue = [...words];
  while (queue.length > 0) {
    const word = queue.shift();
    if (word === "--") {
      operands.push(...queue.splice(0));
    } else if (!word.startsWith("-") || word === "-") {
      operands.push(word);
    } else {
      const { option, attached } = optionOf(command, known, word);
      addValue(values, option, attached, queue, command);
    }
  }
  if (values.help) return { help: command.name.split(" "), operands, values };
  checkCount(command, operands);
  return { command, operands, values };
}

/** The option that a word names, and the value that is part of the word. */
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

function unknown(command, known, typed) {
  const names = known.map(({ name }) => `--${name}`);
  const meant = didYouMean(typed, names) || `; ${seeHelp(command)}`;
  return new UsageError(`\`${command.name}\` has no option \`${typed}\`${meant}`);
}

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
    values[option.name] = [...(values[option.name] ?? []), ...checkedChoices(option, value)];
  } else if (option.name in values) {
    throw new UsageError(`\`${shown}\` is given twice`);
  } else {
    [values[option.name]] = checkedChoices(option, value);
  }
}

/** The value, or several that are separated by commas where an option has choices and takes many. */
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
  if (choices !== undefined && !choices.includes(operands[0])) {
    const meant = didYouMean(operands[0], choices) || `; there are ${listed(choices)}`;
    throw new UsageError(`${shown} cannot be \`${operands[0]}\`${meant}`);
  }
}

function seeHelp(command) {
  return `see \`toolwright ${command.name} --help\``;
}

function listed(names) {
  return names.map((name) => `\`${name}\``).join(", ");
}

module.exports = { membersOf, readCommandLine };
