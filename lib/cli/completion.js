"use strict";

// Scripts that complete commands in a shell, made from the table of commands.

/**
 * @import { Command, CommandCall } from "./commands.js"
 * @import { Option } from "./options.js"
 * @typedef {Pick<Option, "choices" | "completes">} Completed an option or a command
 * @typedef {{ summary: string, members?: [name: string, summary: string][] }} FirstWord
 */

const { COMMANDS, GROUPS } = require("./commands.js");
const { HELP } = require("./options.js");

/** @param {CommandCall} call */
function run({ operands: [shell = ""], terminal }) {
  const script = SCRIPTS[shell];
  if (script !== undefined) terminal.out.write(script());
}

/** @type {Record<string, () => string>} */
const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

/**
 * The first words, and for groups the second ones.
 *
 * @returns {[first: string, about: FirstWord][]}
 */
function words() {
  /** @type {Map<string, FirstWord>} */
  const firsts = new Map();
  for (const { name, summary } of COMMANDS) {
    const [first = name, second] = name.split(" ");
    const members = firsts.get(first)?.members ?? [];
    if (second === undefined) firsts.set(first, { summary });
    else {
      const about = GROUPS[first] ?? "";
      firsts.set(first, { summary: about, members: [...members, [second, summary]] });
    }
  }
  return [...firsts];
}

/** @param {Command} command */
function optionsOf(command) {
  return [...command.options, HELP];
}

/**
 * `--name` and `-n` of an option.
 *
 * @param {Option} option
 */
function flagsOf({ name, short }) {
  return short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`];
}

/**
 * What an operand or a value may be, in words of the script.
 *
 * @param {Completed} completed
 */
function kindOf({ choices, completes }) {
  if (choices !== undefined) return choices.join(" ");
  return completes === undefined ? "" : `@${completes}`;
}

function bashScript() {
  const firsts = words().map(([first]) => first);
  const seconds = words().flatMap(([first, { members }]) =>
    members === undefined
      ? []
      : [`    ${first}) words="${members.map(([name]) => name).join(" ")}" ;;`],
  );
  const commands = COMMANDS.map((command) => {
    const flags = optionsOf(command).flatMap(flagsOf).join(" ");
    return `    "${command.name}") flags="${flags}"; operands="${kindOf(command)}" ;;`;
  });
  const values = COMMANDS.flatMap((command) =>
    command.options
      .filter(({ value }) => value !== undefined)
      .map((option) => {
        const cases = flagsOf(option).map((flag) => `"${command.name} ${flag}"`);
        return `    ${cases.join("|")}) operands="${kindOf(option)}"; flags="" ;;`;
      }),
  );
  return `# Completion of toolwright for bash: source <(toolwright completion bash)
_toolwright_paths() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen "$1" -- "$2"))
  compopt -o filenames 2>/dev/null
}
_toolwright() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  local first="\${COMP_WORDS[1]}" command="\${COMP_WORDS[1]}" words="" flags="" operands=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${firsts.join(" ")} help --help --version" -- "$word"))
    return
  fi
  case "$first" in
${seconds.join("\n")}
  esac
  if [ -n "$words" ]; then
    if [ "$COMP_CWORD" -eq 2 ]; then
      COMPREPLY=($(compgen -W "$words" -- "$word"))
      return
    fi
    command="$first \${COMP_WORDS[2]}"
  fi
  case "$command" in
${commands.join("\n")}
  esac
  case "$command $before" in
${values.join("\n")}
  esac
  case "$operands" in
    @files) operands=""; _toolwright_paths -f "$word" ;;
    @directories) operands=""; _toolwright_paths -d "$word" ;;
    @tools) operands="$("\${COMP_WORDS[0]}" tools --names 2>/dev/null)" ;;
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$word")) ;;
    *) [ -n "$operands" ] && COMPREPLY=($(compgen -W "$operands" -- "$word")) ;;
  esac
}
complete -F _toolwright toolwright
`;
}

function zshScript() {
  const firsts = words().map(([first, { summary }]) => zshPair(first, summary));
  const cases = words().map(([first, { members }]) => {
    if (members === undefined) return `    ${first})\n${zshArguments(first, 6)}\n      ;;`;
    const pairs = members.map(([name, summary]) => zshPair(name, summary)).join(" ");
    const inner = members.map(
      ([name]) => `        ${name})\n${zshArguments(`${first} ${name}`, 10)}\n          ;;`,
    );
    return `    ${first})
      if (( CURRENT == 2 )); then
        local -a members=(${pairs})
        _describe command members
        return
      fi
      shift words; (( CURRENT-- ))
      case "$words[1]" in
${inner.join("\n")}
      esac
      ;;`;
  });
  return `#compdef toolwright
# Completion of toolwright for zsh: toolwright completion zsh > "\${fpath[1]}/_toolwright"
_toolwright_tools() {
  local -a tools=(\${(f)"$(toolwright tools --names 2>/dev/null)"})
  _describe tool tools
}
_toolwright() {
  if (( CURRENT == 2 )); then
    local -a commands=(${firsts.join(" ")})
    _describe command commands
    return
  fi
  shift words; (( CURRENT-- ))
  case "$words[1]" in
${cases.join("\n")}
  esac
}
if [ "$funcstack[1]" = "_toolwright" ]; then _toolwright "$@"; else compdef _toolwright toolwright; fi
`;
}

/**
 * @param {string} name
 * @param {string} text
 */
function zshPair(name, text) {
  return quoted(`${name}:${text.replaceAll(":", "\\:")}`);
}

/**
 * @param {string} name
 * @param {number} indent
 */
function zshArguments(name, indent) {
  const command = COMMANDS.find((it) => it.name === name);
  if (command === undefined) return "";
  const options = optionsOf(command).flatMap((option) =>
    flagsOf(option).map((flag) => {
      const text = option.text.replaceAll(/[[\]:]/g, "\\$&");
      const value =
        option.value === undefined ? "" : `:${option.value.replaceAll(":", "")}:${zshKind(option)}`;
      return quoted(`${option.many ? "*" : ""}${flag}[${text}]${value}`);
    }),
  );
  const operands = command.operands === undefined ? [] : [quoted(`*:operand:${zshKind(command)}`)];
  const space = " ".repeat(indent);
  return `${space}_arguments \\\n${[...options, ...operands].map((it) => `${space}  ${it}`).join(" \\\n")}`;
}

/** @param {Completed} completed */
function zshKind({ choices, completes }) {
  if (choices !== undefined) return `(${choices.join(" ")})`;
  if (completes === undefined) return " ";
  return { files: "_files", directories: "_files -/", tools: "_toolwright_tools" }[completes];
}

function fishScript() {
  const lines = ["# Completion of toolwright for fish", "complete -c toolwright -f"];
  for (const [first, { summary, members }] of words()) {
    lines.push(
      `complete -c toolwright -n __fish_use_subcommand -a ${first} -d ${fishText(summary)}`,
    );
    const names = (members ?? []).map(([name]) => name).join(" ");
    for (const [second, text] of members ?? []) {
      const when = `__fish_seen_subcommand_from ${first}; and not __fish_seen_subcommand_from ${names}`;
      lines.push(`complete -c toolwright -n '${when}' -a ${second} -d ${fishText(text)}`);
    }
  }
  for (const command of COMMANDS) {
    const when = command.name
      .split(" ")
      .map((it) => `__fish_seen_subcommand_from ${it}`)
      .join("; and ");
    const begin = `complete -c toolwright -n '${when}'`;
    if (kindOf(command) !== "") lines.push(`${begin} ${fishKind(command)}`);
    for (const option of optionsOf(command)) {
      const short = option.short === undefined ? "" : ` -s ${option.short}`;
      const value = option.value === undefined ? "" : ` ${fishValue(option)}`;
      lines.push(`${begin} -l ${option.name}${short}${value} -d ${fishText(option.text)}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

/** @param {Completed} completed */
function fishKind({ choices, completes }) {
  if (choices !== undefined) return `-a '${choices.join(" ")}'`;
  const kinds = {
    files: "-F",
    directories: "-a '(__fish_complete_directories)'",
    tools: "-a '(toolwright tools --names 2>/dev/null)'",
  };
  return completes === undefined ? "" : kinds[completes];
}

/**
 * A value that is not a file is completed by nothing else.
 *
 * @param {Option} option
 */
function fishValue(option) {
  return option.completes === "files" ? "-r -F" : `-x ${fishKind(option)}`.trimEnd();
}

/**
 * A text for bash and zsh.
 *
 * @param {string} text
 */
function quoted(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/**
 * A text for fish, whose quotes take backslashes.
 *
 * @param {string} text
 */
function fishText(text) {
  return `'${text.replaceAll(/[\\']/g, "\\$&")}'`;
}

module.exports = { run };
