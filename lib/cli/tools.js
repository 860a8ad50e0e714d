"use strict";

/**
 * @import { ToolsetName } from "../types/options"
 * @import { RegisteredToolInfo } from "../types/tools"
 * @import { CommandCall } from "./commands.js"
 * @import { Output, Style } from "./terminal.js"
 */

const { withRegistry } = require("./opened-registry.js");
const { inLine } = require("./terminal.js");
const { fitted, padded, widthOf } = require("./text-width.js");

/**
 * The sets whose tools are listed, and can be called, if none is named.
 *
 * @type {ToolsetName[]}
 */
const ALL_SETS = ["claude", "classic", "project"];

/** Descriptions narrower than this say nothing. */
const NARROWEST = 20;

/** @param {CommandCall} call */
function run({ values, operands, terminal }) {
  return withRegistry(values, terminal, { sets: ALL_SETS }, (registry) => {
    const words = operands.map((word) => word.toLowerCase());
    const tools = registry.listTools().filter((tool) => hasAll(tool, words));
    if (values.json) return terminal.out.json(tools);
    if (values.names) return tools.forEach(({ name }) => terminal.out.line(name));
    if (tools.length === 0) {
      terminal.err.line(`no tool has \`${inLine(operands.join(" "))}\` in its name or description`);
      return 1;
    }
    showTools(tools, terminal.out);
  });
}

/**
 * @param {RegisteredToolInfo} tool
 * @param {string[]} words
 */
function hasAll({ name, title, description }, words) {
  const text = `${name} ${title} ${description}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

/**
 * @param {RegisteredToolInfo[]} tools
 * @param {Output} out
 */
function showTools(tools, out) {
  const width = Math.max(...tools.map(({ name }) => widthOf(inLine(name))));
  const groups = groupedBy(tools, groupOf);
  let isFirst = true;
  for (const [group, members] of groups) {
    if (!isFirst) out.line();
    isFirst = false;
    out.line(out.styled("bold", group));
    for (const tool of members) out.line(row(tool, width, out));
  }
}

/**
 * @template T
 * @param {T[]} items
 * @param {(item: T) => string} key
 */
function groupedBy(items, key) {
  /** @type {Map<string, T[]>} */
  const groups = new Map();
  for (const item of items) {
    const group = key(item);
    groups.set(group, [...(groups.get(group) ?? []), item]);
  }
  return groups;
}

/** @param {RegisteredToolInfo} tool */
function groupOf({ source, toolset, pluginName, serverName }) {
  if (source === "builtin") return toolset ?? source;
  if (source === "plugin") return inLine(`plugin ${pluginName}`);
  if (source === "mcp") return inLine(`MCP server ${serverName}`);
  return source;
}

/** @type {Record<RegisteredToolInfo["risk"], Style>} */
const RISK_STYLES = { none: "dim", low: "dim", medium: "yellow", high: "red", critical: "red" };

/**
 * @param {RegisteredToolInfo} tool
 * @param {number} width
 * @param {Output} out
 */
function row({ name, description, risk, disabled }, width, out) {
  const mark = padded(disabled ? "off" : risk, 8);
  const room = Math.max(NARROWEST, out.columns - width - 14);
  const text = fitted(inLine(firstSentence(description)), room);
  return `  ${padded(inLine(name), width)}  ${out.styled(disabled ? "dim" : RISK_STYLES[risk], mark)}  ${text}`;
}

/** @param {string} description */
function firstSentence(description) {
  return description.split(/(?<=\.)\s/, 1)[0] ?? "";
}

module.exports = { ALL_SETS, firstSentence, run, showTools };
