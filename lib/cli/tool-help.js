"use strict";

// Describes a tool and its parameters, for `call TOOL --help`.

/**
 * @import { InputSchema } from "../types/schemas"
 * @import { Values } from "./commands.js"
 * @import { Pair } from "./help.js"
 * @import { Schema } from "./schema-types.js"
 * @import { Output, Terminal } from "./terminal.js"
 */

const { knownTool } = require("./call.js");
const { rows } = require("./help.js");
const { withRegistry } = require("./opened-registry.js");
const { branchesOf, itemsOf, requiredOf, typesOf } = require("./schema-types.js");
const { inLine } = require("./terminal.js");
const { wrapped } = require("./text-width.js");
const { ALL_SETS, firstSentence } = require("./tools.js");

/** How many values of a choice are listed. */
const MAX_CHOICES = 12;

/**
 * @param {string} name
 * @param {Values} values
 * @param {Terminal} terminal
 * @returns {Promise<string>}
 */
function toolHelp(name, values, terminal) {
  const { out } = terminal;
  return withRegistry(values, terminal, { sets: ALL_SETS }, (registry) => {
    const { name: own, description, inputSchema, sideEffect, risk } = knownTool(registry, name);
    const about = `${firstSentence(description)} Side effect: ${sideEffect}. Risk: ${risk}.`;
    const parameters = parameterRows(inputSchema, out);
    return [
      ...wrapped(inLine(`${own}: ${about}`), out.textColumns),
      "",
      out.styled("bold", "Usage"),
      `  ${inLine(`toolwright call ${own} --arg NAME=VALUE…`)}`,
      "",
      out.styled("bold", "Parameters"),
      ...(parameters.length > 0 ? parameters : ["  none"]),
      "",
      "See `toolwright call --help` for how values are written, and for all options.",
    ].join("\n");
  });
}

/**
 * @param {Schema} schema
 * @param {Output} out
 */
function parameterRows(schema, out) {
  const required = requiredOf(schema, schema);
  const properties = branchesOf(schema, schema).flatMap((it) =>
    Object.entries(it.properties ?? {}),
  );
  /** @type {Pair[]} */
  const pairs = properties.map(([name, property]) => [
    inLine(`${name}=${kindOf(property, schema)}`),
    inLine(`${required.has(name) ? "(required) " : ""}${property.description ?? ""}`),
  ]);
  return rows(pairs, out);
}

/**
 * The type of a parameter in one word, or its values.
 *
 * @param {Schema} schema
 * @param {Schema} root
 * @returns {string}
 */
function kindOf(schema, root) {
  const choices = branchesOf(schema, root).flatMap((it) => it.enum ?? []);
  if (choices.length > 0) {
    const shown = choices.slice(0, MAX_CHOICES).join("|");
    return choices.length > MAX_CHOICES ? `${shown}|…` : shown;
  }
  const types = [...typesOf(schema, root)].filter((type) => type !== "null");
  if (types.includes("array")) return `${kindOf(itemsOf(schema, root), root)}…`;
  return types.join("|") || "value";
}

module.exports = { toolHelp };
