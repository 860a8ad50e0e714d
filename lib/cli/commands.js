"use strict";

// The table of commands: parsing, help and completion are made from it.
// `Command` and `Option` are the forms of its entries. A value that is not one of the `choices` is refused.

/**
 * @import { SandboxMode } from "../types/sandbox"
 * @import { ToolsetName } from "../types/options"
 * @import { PermissionMode } from "../types/policy"
 * @import { Option } from "./options.js"
 * @import { Terminal } from "./terminal.js"
 * @typedef {{
 *   "add-dir"?: string[],
 *   allow?: string[],
 *   "allow-host"?: string[],
 *   arg?: string[],
 *   config?: string,
 *   disallow?: string[],
 *   "dry-run"?: true,
 *   handler?: string,
 *   help?: true,
 *   host?: string,
 *   http?: true,
 *   json?: string | true,
 *   mcp?: true,
 *   "mcp-config"?: string,
 *   names?: true,
 *   "no-plugins"?: true,
 *   output?: string,
 *   "permission-mode"?: PermissionMode,
 *   plugin?: true,
 *   "plugin-dir"?: string,
 *   policy?: true,
 *   port?: string,
 *   project?: string,
 *   quiet?: true,
 *   sandbox?: SandboxMode,
 *   set?: ToolsetName[],
 *   token?: string,
 *   "trust-project"?: true,
 *   url?: string,
 * }} Values the values of the options that were given, by name
 * @typedef {{ values: Values, operands: string[], terminal: Terminal }} CommandCall
 * @typedef {number | void | Promise<number | void>} ExitCode the exit code, or nothing for 0
 * @typedef {object} Command
 * @property {string} name one or two words
 * @property {string} summary
 * @property {string} [operands] the operands as help shows them
 * @property {[least: number, most: number]} [count] how many operands there may be
 * @property {string[]} [choices] the only values of the first operand
 * @property {"files" | "directories" | "tools"} [completes] how a shell completes the operands
 * @property {string[]} [about]
 * @property {Option[]} options
 * @property {string[]} examples
 * @property {() => { run(call: CommandCall): ExitCode }} run loads the module of the command
 */

const { CLIENTS } = require("./mcp-clients.js");
const { INPUT, JSON_OUTPUT, OUTPUT, POLICY, PROJECT, REGISTRY } = require("./options.js");

/** Text that begins with blanks is shown as it is. */
const ARGUMENTS = [
  "--arg NAME=VALUE reads the value by the tool's schema, as a number, true or false, or a text.",
  "  tags=a --arg tags=b       a list, by repeating it",
  "  options.depth=2           inside an object; edits.0.oldText=x inside a list",
  "  content=@notes.txt        the content of a file; @- is standard input",
  "  content=@@home            the text @home",
  "  options:='{\"depth\": 2}'   any value as JSON, also from a file (:=@FILE)",
  "  recursive                 true",
];

/** Which calls run, for commands where a person types the call. */
const TYPED_CALLS =
  "A call that you type runs without a question, also when it changes files. The rules of the policy still apply: a call that they deny is refused. A call that they ask about, or that changes protected places such as .git, needs a confirmation on the terminal; without a terminal it is refused, with the rule that would allow it. With --permission-mode default, every call that does more than read needs a confirmation.";

/** @type {Command[]} */
const COMMANDS = [
  {
    name: "tools",
    summary: "list the tools",
    operands: "[WORD…]",
    about: ["With words, only the tools that have all of them in their name or description."],
    options: [
      JSON_OUTPUT,
      { name: "names", text: "print the names only, one in each line" },
      ...REGISTRY,
      ...POLICY,
    ],
    examples: [
      "toolwright tools",
      "toolwright tools search --set classic",
      "toolwright tools --json",
    ],
    run: () => require("./tools.js"),
  },
  {
    name: "call",
    summary: "run a tool",
    operands: "TOOL [JSON | -]",
    count: [1, 2],
    completes: "tools",
    about: [
      "Prints the result on standard output; progress, questions and errors go to standard error.",
      TYPED_CALLS,
      ...ARGUMENTS,
    ],
    options: [
      ...INPUT,
      { ...OUTPUT, text: "print the result as text (the default), or as JSON with all its data" },
      { name: "quiet", short: "q", text: "show no progress" },
      { name: "dry-run", text: "print the input as JSON, and run nothing" },
      ...REGISTRY,
      ...POLICY,
    ],
    examples: [
      "toolwright call Grep --arg pattern=TODO --arg path=$PWD/src",
      'toolwright call read_file \'{"path": "README.md", "endLine": 3}\'',
      "toolwright call Read --help",
    ],
    run: () => require("./call.js"),
  },
  {
    name: "serve",
    summary: "serve the tools on this machine: a page, REST and MCP",
    about: [
      "Prints an address to open in a browser, and serves until Ctrl-C. The address contains a secret token: anyone who has it can call the tools. Calls that need a confirmation are asked on the page.",
      "The token can also be given by the variable TOOLWRIGHT_TOKEN, which other users cannot see in the list of processes.",
    ],
    options: [
      { name: "port", value: "NUMBER", text: "the port (default: one that is free)" },
      { name: "host", value: "NAME", text: "the address to listen on (default: 127.0.0.1)" },
      {
        name: "allow-host",
        value: "NAME",
        many: true,
        text: "a further name that browsers and clients may address it by, such as tools.example.com",
      },
      { name: "token", value: "TEXT", text: "the token (default: a new one)" },
      {
        name: "mcp",
        text: "also print the address of the MCP server, and a configuration for clients",
      },
      { name: "json", text: "print address, port and token as JSON, in one line" },
      ...REGISTRY,
      ...POLICY,
    ],
    examples: ["toolwright serve", "toolwright serve --port 8080 --project ~/work/app"],
    run: () => require("./serve.js"),
  },
  {
    name: "mcp",
    summary: "serve the tools as an MCP server on standard input and output",
    about: [
      "An MCP client starts it and ends it. With --config, prints what to put into the client's settings.",
    ],
    options: [
      { name: "config", value: "CLIENT", choices: CLIENTS, text: "print the settings of a client" },
      {
        name: "http",
        text: "with --config: for a server that runs (toolwright serve --port 8642)",
      },
      { name: "url", value: "URL", text: "with --config: its address, ending in /mcp" },
      ...REGISTRY,
      ...POLICY,
    ],
    examples: [
      "toolwright mcp --project ~/work/app --set claude",
      "toolwright mcp --config claude-code",
    ],
    run: () => require("./mcp.js"),
  },
  {
    name: "plugins validate",
    summary: "check plugin files",
    operands: "[FILE | DIR…]",
    completes: "files",
    about: ["Without a file, those of the plugin directory."],
    options: [JSON_OUTPUT, ...plugins()],
    examples: ["toolwright plugins validate tools/*.json"],
    run: () => require("./plugins-validate.js"),
  },
  {
    name: "plugins list",
    summary: "list the plugin tools, and what is wrong with files",
    options: [JSON_OUTPUT, ...plugins()],
    examples: ["toolwright plugins list"],
    run: () => require("./plugins-list.js"),
  },
  {
    name: "plugins new",
    summary: "write a plugin file to begin with",
    operands: "NAME",
    count: [1, 1],
    about: ["Writes NAME.json into the plugin directory, and overwrites nothing."],
    options: [
      {
        name: "handler",
        value: "KIND",
        choices: ["shell", "http", "file-read"],
        text: "what does the work of its tool (default: shell)",
      },
      ...plugins(),
    ],
    examples: ["toolwright plugins new weather --handler http --plugin-dir tools"],
    run: () => require("./plugins-new.js"),
  },
  {
    name: "policy explain",
    summary: "show what policy says about a call, and why; nothing runs",
    operands: "TOOL [JSON | -]",
    count: [1, 2],
    completes: "tools",
    about: [
      "Judges the call as one of an agent. `toolwright call` is a person's, and allows more: see there.",
      ...ARGUMENTS,
    ],
    options: [
      ...INPUT,
      { ...OUTPUT, text: "print the answer as text (the default), or as JSON" },
      ...REGISTRY,
      ...POLICY,
    ],
    examples: ["toolwright policy explain Bash --arg command='git push' --allow 'Bash(git:*)'"],
    run: () => require("./policy-explain.js"),
  },
  {
    name: "policy lint",
    summary: "find rules that have another effect than they seem to have",
    operands: "[FILE]",
    count: [0, 1],
    completes: "files",
    about: ["Without a file, the user's rules, and with --trust-project those of the project."],
    options: [JSON_OUTPUT, ...REGISTRY, ...POLICY.filter(({ name }) => name !== "permission-mode")],
    examples: ["toolwright policy lint .toolwright/policy.json"],
    run: () => require("./policy-lint.js"),
  },
  {
    name: "doctor",
    summary: "check this installation, and say what to do about what is wrong",
    options: [
      JSON_OUTPUT,
      PROJECT,
      ...REGISTRY.filter(({ name }) => ["plugin-dir", "no-plugins", "mcp-config"].includes(name)),
    ],
    examples: ["toolwright doctor"],
    run: () => require("./doctor.js"),
  },
  {
    name: "schema",
    summary: "print the JSON Schema of a tool's input, of plugin files or of policy files",
    operands: "[TOOL]",
    count: [0, 1],
    completes: "tools",
    options: [
      { name: "plugin", text: "the schema of plugin files" },
      { name: "policy", text: "the schema of policy files" },
      ...REGISTRY,
    ],
    examples: ["toolwright schema Edit", "toolwright schema --plugin > plugin.schema.json"],
    run: () => require("./schema.js"),
  },
  {
    name: "completion",
    summary: "print a script that completes commands in your shell",
    operands: "SHELL",
    count: [1, 1],
    choices: ["bash", "zsh", "fish"],
    about: [
      "bash: source <(toolwright completion bash)",
      'zsh:  toolwright completion zsh > "${fpath[1]}/_toolwright"',
      "fish: toolwright completion fish > ~/.config/fish/completions/toolwright.fish",
    ],
    options: [],
    examples: ["toolwright completion bash >> ~/.bashrc"],
    run: () => require("./completion.js"),
  },
];

function plugins() {
  return REGISTRY.filter(({ name }) => name === "plugin-dir");
}

/**
 * What each group of commands with two words is about.
 *
 * @type {Record<string, string>}
 */
const GROUPS = {
  plugins: "tools without code, in JSON files",
  policy: "the rules that allow and deny calls",
};

module.exports = { COMMANDS, GROUPS };
