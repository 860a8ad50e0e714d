"use strict";

// Help, made from the table of commands.

/**
 * @import { Command } from "./commands.js"
 * @import { Option } from "./options.js"
 * @import { Output } from "./terminal.js"
 * @typedef {[term: string, text: string]} Pair
 */

const { version } = require("../../package.json");
const { didYouMean } = require("./closest.js");
const { COMMANDS, GROUPS } = require("./commands.js");
const { HELP, POLICY, REGISTRY } = require("./options.js");
const { padded, widthOf, wrapped } = require("./text-width.js");
const { EXIT_CODES, UsageError } = require("./usage-error.js");

/** The widest first column. A longer term has its own line. */
const WIDEST_TERM = 26;

/**
 * The help for the words after `help`: a command, a group, or everything.
 *
 * @param {string[]} words
 * @param {Output} out
 */
function helpFor(words, out) {
  const name = words.join(" ");
  if (name === "") return generalHelp(out);
  const command = COMMANDS.find((it) => it.name === name);
  if (command !== undefined) return commandHelp(command, out);
  const members = COMMANDS.filter((it) => it.name.startsWith(`${name} `));
  if (members.length > 0) return groupHelp(name, members, out);
  const names = COMMANDS.map((it) => it.name);
  throw new UsageError(
    `there is no command \`${name}\`${didYouMean(name, names) || "; see `toolwright --help`"}`,
  );
}

/** @param {Output} out */
function generalHelp(out) {
  /** @type {Pair[]} */
  const options = [
    ["-h, --help", "help, also of a command"],
    ["-V, --version", "the version"],
  ];
  /** @type {Pair[]} */
  const codes = EXIT_CODES.map(([code, text]) => [`${code}`, text]);
  return page([
    [`toolwright ${version}: the tools of an agent`],
    section(out, "Begin with", examples(FIRST_STEPS)),
    section(out, "Commands", commandRows(COMMANDS, out)),
    section(out, "Options", rows(options, out)),
    section(out, "Exit codes", rows(codes, out)),
    wrapped(COLOURS, out.textColumns),
  ]);
}

const COLOURS =
  "NO_COLOR=1 turns colours off, FORCE_COLOR=1 turns them on where there is no terminal.";

const FIRST_STEPS = [
  "toolwright serve        # open the printed address: all tools on a page",
  "toolwright tools        # or list them here",
  "toolwright call Read --help",
  "toolwright doctor       # if something does not work",
];

/**
 * @param {string} name
 * @param {Command[]} members
 * @param {Output} out
 */
function groupHelp(name, members, out) {
  return page([
    [`toolwright ${name}: ${GROUPS[name]}`],
    section(out, "Commands", commandRows(members, out)),
    [`See \`toolwright ${members[0]?.name} --help\` and so on.`],
  ]);
}

/**
 * @param {Command} command
 * @param {Output} out
 */
function commandHelp(command, out) {
  const { name, summary, operands = "", about = [], options } = command;
  const shared = (/** @type {Option[]} */ list) => options.filter((it) => list.includes(it));
  const own = options.filter((it) => !REGISTRY.includes(it) && !POLICY.includes(it));
  const usage = ["toolwright", name, operands, "[options]"].filter(Boolean).join(" ");
  return page([
    wrapped(`toolwright ${name}: ${summary}`, out.textColumns),
    section(out, "Usage", [`  ${usage}`]),
    ...paragraphs(about, out),
    section(out, "Options", optionRows([...own, HELP], out)),
    section(out, "Which tools there are", optionRows(shared(REGISTRY), out)),
    section(out, "Which calls may run", optionRows(shared(POLICY), out)),
    section(out, "Examples", examples(command.examples)),
  ]);
}

/**
 * Each text is a paragraph; one that begins with blanks belongs to that before it.
 *
 * @param {string[]} texts
 * @param {Output} out
 */
function paragraphs(texts, out) {
  /** @type {string[][]} */
  const parts = [];
  for (const text of texts) {
    if (text.startsWith("  ")) parts.at(-1)?.push(text);
    else parts.push(wrapped(text, out.textColumns));
  }
  return parts;
}

/**
 * Lines below a heading; nothing where there are none.
 *
 * @param {Output} out
 * @param {string} heading
 * @param {string[]} lines
 */
function section(out, heading, lines) {
  return lines.length === 0 ? [] : [out.styled("bold", heading), ...lines];
}

/**
 * Parts with an empty line between them.
 *
 * @param {string[][]} parts
 */
function page(parts) {
  return parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

/**
 * @param {Command[]} commands
 * @param {Output} out
 */
function commandRows(commands, out) {
  return rows(
    commands.map(({ name, summary }) => [name, summary]),
    out,
  );
}

/**
 * @param {Option[]} options
 * @param {Output} out
 */
function optionRows(options, out) {
  return rows(
    options.map((option) => [term(option), textOf(option)]),
    out,
  );
}

/** @param {Option} option */
function term({ name, short, value }) {
  const names = short === undefined ? `    --${name}` : `-${short}, --${name}`;
  return value === undefined ? names : `${names} ${value}`;
}

/** @param {Option} option */
function textOf({ text, choices }) {
  return choices === undefined ? text : `${text}: ${choices.join(", ")}`;
}

/** @param {string[]} lines */
function examples(lines) {
  return lines.map((line) => `  ${line}`);
}

/**
 * Two columns, the second one wrapped.
 *
 * @param {Pair[]} pairs
 * @param {Output} out
 */
function rows(pairs, out) {
  const widths = pairs.map(([first]) => widthOf(first)).filter((it) => it <= WIDEST_TERM);
  const left = Math.max(...widths, 0) + 4;
  const indent = " ".repeat(left);
  return pairs.flatMap(([first, second]) => {
    const lines = wrapped(second, Math.max(20, out.textColumns - left));
    const begun = `  ${first}`;
    if (widthOf(first) > WIDEST_TERM) return [begun, ...lines.map((line) => indent + line)];
    const [head = "", ...rest] = lines;
    return [padded(begun, left) + head, ...rest.map((line) => indent + line)];
  });
}

module.exports = { helpFor, rows };
