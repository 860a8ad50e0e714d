"use strict";

// The options that several commands have. See `commands.js` for the form.

/**
 * @typedef {object} Option an option of a command
 * @property {string} name
 * @property {string} text what help says about it
 * @property {string} [short] its name of one letter
 * @property {string} [value] what help calls its value; an option without it takes none
 * @property {boolean} [many] true if it can be given several times
 * @property {string[]} [choices] the only values
 * @property {"files" | "directories" | "tools"} [completes] how a shell completes its value
 */

/** @type {Option} */
const HELP = { name: "help", short: "h", text: "show this help" };
/** @type {Option} */
const JSON_OUTPUT = { name: "json", text: "print JSON" };

/**
 * For commands whose `--json` is their input.
 *
 * @type {Omit<Option, "text">}
 */
const OUTPUT = { name: "output", short: "o", value: "FORM", choices: ["text", "json"] };

/** @type {Option} */
const PROJECT = {
  name: "project",
  short: "p",
  value: "DIR",
  completes: "directories",
  text: "the workspace, which file tools stay inside of (default: the current directory)",
};
/** @type {Option} */
const SET = {
  name: "set",
  value: "NAME",
  many: true,
  choices: ["claude", "classic", "project", "diagnostic"],
  text: "a set of built-in tools; repeat it, or separate names with commas",
};

/**
 * Options of every command that makes a registry.
 *
 * @type {Option[]}
 */
const REGISTRY = [
  PROJECT,
  {
    name: "add-dir",
    value: "DIR",
    many: true,
    completes: "directories",
    text: "a further directory that file tools may touch",
  },
  SET,
  {
    name: "plugin-dir",
    value: "DIR",
    completes: "directories",
    text: "the directory of plugin files (default: $TOOLWRIGHT_TOOLS_DIR or ~/.config/toolwright/tools)",
  },
  { name: "no-plugins", text: "load no plugins" },
  {
    name: "sandbox",
    value: "MODE",
    choices: ["auto", "required", "off"],
    text: "whether commands run in a sandbox: in the best there is (the default), not without, or in none",
  },
  {
    name: "mcp-config",
    value: "FILE",
    completes: "files",
    text: 'a JSON file with MCP servers whose tools are added: {"mcpServers": {…}}',
  },
];

/**
 * Options of every command that judges calls.
 *
 * @type {Option[]}
 */
const POLICY = [
  {
    name: "permission-mode",
    value: "MODE",
    choices: ["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"],
    text: "what happens to calls that no rule decides",
  },
  {
    name: "allow",
    value: "RULE",
    many: true,
    text: "a rule that allows, such as 'Bash(git status:*)'",
  },
  { name: "disallow", value: "RULE", many: true, text: "a rule that denies, such as 'Read(.env)'" },
  { name: "trust-project", text: "also use the rules in .toolwright/policy.json of the project" },
];

/**
 * How a call's input is given.
 *
 * @type {Option[]}
 */
const INPUT = [
  {
    name: "arg",
    short: "a",
    value: "NAME=VALUE",
    many: true,
    text: "a parameter, read by its type; see above",
  },
  {
    name: "json",
    value: "JSON",
    text: 'the input as JSON, or "-" to read it from standard input; --arg adds to it',
  },
];

module.exports = { HELP, INPUT, JSON_OUTPUT, OUTPUT, POLICY, PROJECT, REGISTRY, SET };
