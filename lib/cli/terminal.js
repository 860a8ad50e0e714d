"use strict";

// What the command line writes to, and how it looks there.

/**
 * @typedef {{ out: Output, err: Output, hasPerson: boolean }} Terminal
 * @typedef {keyof typeof STYLES} Style
 */

const { stripVTControlCharacters } = require("node:util");

const STYLES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};

/** The width that help is set in where there is no terminal. */
const USUAL_WIDTH = 80;
/** Wider lines are hard to read. */
const WIDEST = 100;

/** One of the two streams that are written to. */
class Output {
  #stream;
  #hasColour;

  /**
   * @param {NodeJS.WriteStream} stream
   * @param {NodeJS.ProcessEnv} environment
   */
  constructor(stream, environment) {
    this.#stream = stream;
    this.#hasColour = wantsColour(environment) ?? (this.isTerminal && environment.TERM !== "dumb");
    // The reader may close the stream, as `head` does. That is no error.
    stream.on("error", (/** @type {NodeJS.ErrnoException} */ error) => {
      if (error.code !== "EPIPE") throw error;
      process.exit();
    });
  }

  get isTerminal() {
    return this.#stream.isTTY === true;
  }

  /** The width of the terminal; endless where there is none. */
  get columns() {
    return this.isTerminal ? this.#stream.columns || USUAL_WIDTH : Infinity;
  }

  /** The width for running text. */
  get textColumns() {
    return Math.min(Number.isFinite(this.columns) ? this.columns : USUAL_WIDTH, WIDEST);
  }

  /** @param {string} text */
  write(text) {
    this.#stream.write(text);
  }

  line(text = "") {
    this.write(`${text}\n`);
  }

  /** @param {unknown} value */
  json(value) {
    this.line(JSON.stringify(value, null, 2));
  }

  /**
   * The text in a style, where colours are wanted.
   *
   * @param {Style} style
   * @param {string} text
   */
  styled(style, text) {
    if (!this.#hasColour || text === "") return text;
    const [on, off] = STYLES[style];
    return `\u001B[${on}m${text}\u001B[${off}m`;
  }

  /**
   * A diff, in colours where they are wanted. The text has to be escaped.
   *
   * @param {string} text
   */
  diff(text) {
    return text
      .split("\n")
      .map((line) => this.styled(...styleOfDiff(line)))
      .join("\n");
  }
}

/**
 * @param {string} line
 * @returns {[style: Style, line: string]}
 */
function styleOfDiff(line) {
  if (/^(?:---|\+\+\+) /.test(line)) return ["bold", line];
  if (line.startsWith("@@")) return ["cyan", line];
  if (line.startsWith("+")) return ["green", line];
  if (line.startsWith("-")) return ["red", line];
  return ["dim", line];
}

/**
 * Whether the environment asks for colours, or for none; `undefined` if it says nothing.
 *
 * @param {NodeJS.ProcessEnv} environment
 */
function wantsColour({ FORCE_COLOR, NO_COLOR }) {
  if (FORCE_COLOR !== undefined) return !["0", "false"].includes(FORCE_COLOR);
  return NO_COLOR ? false : undefined;
}

/**
 * Makes a text safe to show: it cannot control a terminal or hide characters. If the addon does not load,
 * escape sequences are removed instead.
 *
 * @param {string} text
 */
function escaped(text) {
  try {
    return require("../registry/output-formatter.js").OutputFormatter.formatForDisplay(text);
  } catch {
    // eslint-disable-next-line no-control-regex
    return stripVTControlCharacters(text).replaceAll(/[\u0000-\u0008\u000B-\u001F\u007F]/g, "");
  }
}

/**
 * The same, in one line.
 *
 * @param {string} text
 */
function inLine(text) {
  return escaped(text.replaceAll(/\s+/g, " ").trim());
}

/**
 * Standard output and standard error, and whether a person can be asked there.
 *
 * @param {NodeJS.Process} process
 * @returns {Terminal}
 */
function openTerminal(process) {
  const out = new Output(process.stdout, process.env);
  const err = new Output(process.stderr, process.env);
  // An answer has to be typed, and the question seen.
  const hasPerson = process.stdin.isTTY === true && err.isTerminal;
  return { out, err, hasPerson };
}

exports.Output = Output;
exports.escaped = escaped;
exports.inLine = inLine;
exports.openTerminal = openTerminal;
