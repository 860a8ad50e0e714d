"use strict";

/**
 * @import { ToolRegistry } from "../types/registry"
 * @import { CommandCall, Values } from "./commands.js"
 * @import { Bed, Finding } from "./doctor-checks.js"
 * @import { InstallationFacts } from "./installation.js"
 * @import { RegistryOptions } from "./opened-registry.js"
 * @import { Output, Style } from "./terminal.js"
 * @typedef {Finding & { name: string }} NamedFinding
 */

const { wordsOf } = require("../boundary/errors.js");
const { CHECKS } = require("./doctor-checks.js");
const { makeRegistry, projectOf } = require("./opened-registry.js");
const { inLine } = require("./terminal.js");
const { padded, wrapped } = require("./text-width.js");

/**
 * `note` is what works as it is and could be more; `problem` is what does not work.
 *
 * @type {Record<Finding["state"], [style: Style, sign: string]>}
 */
const SIGNS = { ok: ["green", "ok"], note: ["yellow", "note"], problem: ["red", "problem"] };

/** @type {RegistryOptions} */
const WITHOUT_RULES = {
  sets: ["claude", "classic", "project"],
  permissionMode: "bypassPermissions",
  userPolicyFile: false,
};

/** @param {CommandCall} call */
async function run({ values, terminal: { out } }) {
  const found = await examine(values);
  const isWell = found.every(({ state }) => state !== "problem");
  if (values.json) {
    out.json({ ok: isWell, checks: found });
  } else {
    for (const check of found) show(check, out);
    out.line();
    out.line(isWell ? "everything works" : "something does not work; see `problem` above");
  }
  return isWell ? 0 : 1;
}

/**
 * Every check, in order. One that fails in an unforeseen way is a problem and stops no other.
 *
 * @param {Values} values
 */
async function examine(values) {
  const bed = new TestBed(values);
  /** @type {NamedFinding[]} */
  const found = [];
  try {
    for (const [name, check] of Object.entries(CHECKS)) {
      const findings = await findingsOf(check, bed);
      for (const one of findings) found.push({ name, ...one });
      // Without the addon and a workspace there is nothing more to look at.
      const isNeeded = ["addon", "project"].includes(name);
      if (isNeeded && findings.some(({ state }) => state === "problem")) break;
    }
  } finally {
    await bed.close();
  }
  return found;
}

/**
 * @param {import("./doctor-checks.js").Check} check
 * @param {Bed} bed
 * @returns {Promise<Finding[]>}
 */
async function findingsOf(check, bed) {
  try {
    return [await check(bed)].flat();
  } catch (error) {
    return [{ state: "problem", found: wordsOf(error) }];
  }
}

/**
 * What the checks look at: the files of this installation, and registries that are made when they are needed.
 *
 * @implements {Bed}
 */
class TestBed {
  /** @type {InstallationFacts | undefined} */
  #facts;
  /** @type {ToolRegistry | undefined} */
  #registry;
  /** @type {ToolRegistry | undefined} */
  #aggregating;
  /** @type {ToolRegistry | undefined} */
  #indexing;

  /** @param {Values} values */
  constructor(values) {
    this.values = values;
    this.project = projectOf(values);
  }

  get facts() {
    this.#facts ??= require("./installation.js").installationFacts(this.project);
    return this.#facts;
  }

  /** A registry without rules and MCP servers, so that their errors are reported by one check only. */
  get registry() {
    this.#registry ??= makeRegistry({ ...this.values, "mcp-config": undefined }, WITHOUT_RULES);
    return this.#registry;
  }

  /** One that builds an index. */
  get indexing() {
    /** @type {Values} */
    const alone = { ...this.values, "mcp-config": undefined, "no-plugins": true };
    this.#indexing ??= makeRegistry(alone, { ...WITHOUT_RULES, index: "on" });
    return this.#indexing;
  }

  /** One with the MCP servers. */
  get aggregating() {
    this.#aggregating ??= makeRegistry(this.values, WITHOUT_RULES);
    return this.#aggregating;
  }

  async close() {
    const registries = [this.#registry, this.#aggregating, this.#indexing];
    await Promise.all(registries.map((it) => it?.close()));
  }
}

/**
 * @param {NamedFinding} finding
 * @param {Output} out
 */
function show({ name, state, found, advice }, out) {
  const [style, sign] = SIGNS[state];
  const indent = " ".repeat(9);
  out.line(`${out.styled(style, padded(sign, 7))}  ${out.styled("bold", name)}: ${inLine(found)}`);
  if (advice === undefined) return;
  const lines = wrapped(inLine(advice), Math.max(20, out.textColumns - indent.length));
  for (const line of lines) out.line(indent + line);
}

module.exports = { run };
