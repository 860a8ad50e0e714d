"use strict";

// Asks the questions of `AskUserQuestion` on the terminal, or over pipes, one line for each answer.

/**
 * @import { HostHandlers, UserQuestion } from "../types/handlers"
 * @import { Output } from "./terminal.js"
 * @import { TerminalLines } from "./terminal-lines.js"
 * @typedef {string | string[]} Answer
 */

const { inLine } = require("./terminal.js");

/** How often a line that is no answer is asked for again. */
const MAX_TRIES = 3;
/** The longest answer, in characters. */
const MAX_ANSWER = 10_000;

/**
 * Makes `handlers.askUser`. Questions go to standard error, so that standard output has nothing but the
 * result.
 *
 * @param {TerminalLines} lines where answers come from
 * @param {Output} output where the questions are written
 * @returns {NonNullable<HostHandlers["askUser"]>}
 */
function askOnTerminal(lines, output) {
  return async (questions, { signal }) => {
    /** @type {Record<string, Answer>} */
    const answers = {};
    for (const question of questions) {
      // Defined, because an assignment could call a setter such as `__proto__`.
      const value = await answerTo(question, () => lines.next(signal), output);
      Object.defineProperty(answers, question.question, { value, enumerable: true });
    }
    return { answers };
  };
}

/**
 * @param {UserQuestion} question
 * @param {() => Promise<string | undefined>} nextLine
 * @param {Output} output
 * @returns {Promise<Answer>}
 */
async function answerTo(question, nextLine, output) {
  output.write(describe(question));
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    output.write("> ");
    const line = await nextLine();
    if (line === undefined) {
      throw new Error("the questions were not answered: standard input has ended");
    }
    const { answer, problem } = readAnswer(question, line);
    if (answer !== undefined) return answer;
    output.write(`${problem}\n`);
  }
  throw new Error(`the questions were not answered: ${MAX_TRIES} lines were no answer`);
}

/** @param {UserQuestion} question */
function describe({ header, question, options, multiSelect }) {
  const listed = options.map(
    ({ label, description }, at) => `  ${at + 1}. ${inLine(label)}: ${inLine(description)}`,
  );
  const how = multiSelect
    ? "Numbers with commas between them; other words are an answer of your own."
    : "A number, or an answer of your own.";
  return `\n[${inLine(header)}] ${inLine(question)}\n${listed.join("\n")}\n${how}\n`;
}

/**
 * Reads a line as an answer, or returns what is wrong with it.
 *
 * @param {UserQuestion} question
 * @param {string} line
 * @returns {{ answer?: Answer, problem?: string }}
 */
function readAnswer({ options, multiSelect }, line) {
  if (line.length > MAX_ANSWER) return { problem: `At most ${MAX_ANSWER} characters, please.` };
  // A label may itself have commas.
  const isSplit = multiSelect && !options.some(({ label }) => isSame(label, line));
  const parts = (isSplit ? line.split(",") : [line])
    .map((part) => part.trim())
    .filter((part) => part !== "");
  if (parts.length === 0) return { problem: "Please answer the question." };
  /** @type {string[]} */
  const chosen = [];
  for (const part of parts) {
    const number = /^\d+$/.test(part) ? Number(part) : undefined;
    const option = number === undefined ? undefined : options[number - 1];
    if (number !== undefined && option === undefined) {
      return { problem: `There is no option ${part}; there are 1 to ${options.length}.` };
    }
    const answer = option?.label ?? labelOf(options, part);
    if (!chosen.includes(answer)) chosen.push(answer);
  }
  return { answer: multiSelect ? chosen : chosen[0] };
}

/**
 * The label that a person has typed in another case; else what was typed.
 *
 * @param {UserQuestion["options"]} options
 * @param {string} typed
 * @returns {string}
 */
function labelOf(options, typed) {
  return options.find(({ label }) => isSame(label, typed))?.label ?? typed;
}

/**
 * @param {string} label
 * @param {string} typed
 */
function isSame(label, typed) {
  return inLine(label).toLowerCase() === inLine(typed).toLowerCase();
}

module.exports = { askOnTerminal };
