"use strict";

// Asks a person on the terminal about calls that need a confirmation.

/**
 * @import { ConfirmationResponse, MessageBus, ToolCallConfirmationDetails } from "../types/confirmations"
 * @import { Output } from "./terminal.js"
 * @import { TerminalLines } from "./terminal-lines.js"
 * @typedef {Omit<ConfirmationResponse, "id">} Answer
 */

const { escaped, inLine } = require("./terminal.js");

/** How often a line that is no answer is asked for again. */
const MAX_TRIES = 3;
/** How many lines of a diff are shown. */
const MAX_DIFF_LINES = 200;

/**
 * Answers every request of a message bus with what is typed.
 *
 * @param {MessageBus} bus
 * @param {TerminalLines} lines
 * @param {Output} err
 */
function confirmOnTerminal(bus, lines, err) {
  /** @type {Map<string, AbortController>} */
  const waiting = new Map();
  let turn = Promise.resolve();
  bus.on("settled", ({ id, outcome }) => {
    waiting.get(id)?.abort();
    waiting.delete(id);
    if (outcome === "timeout") err.line("\nThere was no answer in time; the call is refused.");
  });
  bus.on("request", ({ id, details }) => {
    const settled = new AbortController();
    waiting.set(id, settled);
    // One question after the other: there is one terminal.
    turn = answerAfter(turn, bus, id, () => askAbout(details, lines, settled.signal, err));
  });
}

/**
 * @param {Promise<void>} earlier
 * @param {MessageBus} bus
 * @param {string} id
 * @param {() => Promise<Answer>} ask
 */
async function answerAfter(earlier, bus, id, ask) {
  await earlier;
  bus.respondToConfirmation({ id, ...(await ask()) });
}

/**
 * @param {ToolCallConfirmationDetails} details
 * @param {TerminalLines} lines
 * @param {AbortSignal} signal
 * @param {Output} err
 * @returns {Promise<Answer>}
 */
async function askAbout(details, lines, signal, err) {
  if (signal.aborted) return { approved: false };
  err.write(`\n${question(details, err)}\n`);
  const canGrant = (details.suggestedRules ?? []).length > 0;
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    err.write(`${err.styled("bold", "Run it?")} [y]es, [n]o${canGrant ? ", [a]lways" : ""} > `);
    const line = await lines.next(signal);
    if (line === undefined) return { approved: false };
    const answer = ANSWERS.get(line.trim().toLowerCase());
    if (answer !== undefined && (canGrant || !answer.alwaysAllow)) return answer;
  }
  return { approved: false };
}

const YES = { approved: true };
const NO = { approved: false };
const ALWAYS = { approved: true, alwaysAllow: true };
/** @type {Map<string, Answer>} */
const ANSWERS = new Map([
  ["y", YES],
  ["yes", YES],
  ["n", NO],
  ["no", NO],
  ["a", ALWAYS],
  ["always", ALWAYS],
]);

/** @type {Record<ToolCallConfirmationDetails["risk"], import("./terminal.js").Style>} */
const RISK_STYLES = { high: "red", medium: "yellow", low: "dim" };

/**
 * What the call would do, and why it needs a confirmation.
 *
 * @param {ToolCallConfirmationDetails} details
 * @param {Output} err
 */
function question({ toolName, description, risk, reason, message, diff, suggestedRules }, err) {
  const parts = [
    `${err.styled("bold", inLine(toolName))} (${err.styled(RISK_STYLES[risk], `${risk} risk`)}): ${inLine(description)}`,
  ];
  if (message) parts.push(`  ${inLine(message)}`);
  if (reason) parts.push(err.styled("dim", `  ${inLine(reason)}`));
  if (diff) parts.push(err.diff(shortened(escaped(diff))));
  if (suggestedRules !== undefined && suggestedRules.length > 0) {
    const rules = suggestedRules.map((rule) => `\`${inLine(rule)}\``).join(", ");
    parts.push(err.styled("dim", `  always: allows ${rules} in this project from now on`));
  }
  return parts.join("\n");
}

/** @param {string} diff */
function shortened(diff) {
  const lines = diff.trimEnd().split("\n");
  if (lines.length <= MAX_DIFF_LINES) return lines.join("\n");
  const left = lines.length - MAX_DIFF_LINES;
  return [...lines.slice(0, MAX_DIFF_LINES), `… ${left} more lines`].join("\n");
}

module.exports = { confirmOnTerminal };
