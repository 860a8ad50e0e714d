"use strict";

// Asks the questions of `AskUserQuestion` on the terminal, or over pipes, one line for each answer.

const { inLine } = require("./terminal.js");

/** How often a line that is no answer is asked for again. */
const MAX_TRIES = 3;
/** The longest answer, in characters. */
const MAX_ANSWER = 10_000;

/**
 * Makes `handlers.askUser`. Questions go to standard error, so that standard output has nothing but the
 * result.
 *
 * @param lines where answers come from, a `TerminalLines`
 * @param output what the questions are written to
 */
function askOnTerminal(lines, output) {
  return async (questions, { signal }) => {
    const answers = {};
    for (const question of questions) {
      // Never a setter of Object.prototype, whatever the question is called.
      const value = await answerTo(question, () => lines.next(signal), output);
      Object.defineProperty(answers, question.question, { value, enumerable: true });
    }
    return { answers };
  };
}

async function answerTo(question, nextLine, output) {
  output.write(describe(question));
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    output.write("> ");
    const line = await nextLine();
    if (line === undefined) {
      throw new Error("the questions were not answered: standard input has ended");
    }
    const { answer, problem } = readAnswer(question, line);
    if (problem === undefined) return answer;
    output.write(`${problem}\n`);
  }
  throw new Error(`the questions were not answered: ${MAX_TRIES} lines were no answer`);
}

function describe({ header, question, options, multiSelect }) {
  const listed = options.map(
    ({ label, description }, at) => `  ${at + 1}. ${inLine(label)}: ${inLine(description)}`,
  );
  const how = multiSelect
    ? "Numbers with commas between them; other words are an answer of your own."
    : "A number, or an answer of your own.";
  return `\n[${inLine(header)}] ${inLine(question)}\n${listed.join("\n")}\n${how}\n`;
}

/** Reads a line as an answer, or says what is wrong with it. */
function readAnswer({ options, multiSelect }, line) {
  if (line.length > MAX_ANSWER) return { problem: `At most ${MAX_ANSWER} characters, please.` };
  // A label may itself have commas.
  const isSplit = multiSelect && !options.some(({ label }) => isSame(label, line));
  const parts = (isSplit ? line.split(",") : [line])
    .map((part) => part.trim())
    .filter((part) => part !== "");
  if (parts.length === 0) return { problem: "Please answer the question." };
  const chosen = [];
  for (const part of parts) {
    const number = /^\d+$/.test(part) ? Number(part) : undefined;
    if (number !== undefined && (number < 1 || number > options.length)) {
      return { problem: `There is no option ${part}; there are 1 to ${options.length}.` };
    }
    const answer = number === undefined ? labelOf(options, part) : options[number - 1].label;
    if (!chosen.includes(answer)) chosen.push(answer);
  }
  return { answer: multiSelect ? chosen : chosen[0] };
}

/** The label that a person has typed in another case; else what was typed. */
function labelOf(options, typed) {
  return options.find(({ label }) => isSame(label, typed))?.label ?? typed;
}

function isSame(label, typed) {
  return inLine(label).toLowerCase() === inLine(typed).toLowerCase();
}

module.exports = { askOnTerminal };
