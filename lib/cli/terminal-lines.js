"use strict";

const readline = require("node:readline");

/** The lines of standard input, one at a time, for confirmations and questions. */
class TerminalLines {
  #input;
  /** @type {readline.Interface | undefined} */
  #reader;
  /** @type {AsyncIterator<string> | undefined} */
  #lines;
  #ended = false;

  /** @param {NodeJS.ReadStream} input */
  constructor(input) {
    this.#input = input;
  }

  /**
   * The next line; `undefined` at the end of the input, or when the signal is aborted.
   *
   * @param {AbortSignal} [signal]
   * @returns {Promise<string | undefined>}
   */
  async next(signal) {
    // If standard input was read for the call itself, a reader would wait for ever.
    if (this.#ended || this.#input.readableEnded || signal?.aborted) return undefined;
    const lines = this.#open();
    /** @type {() => void} */
    let stopWaiting;
    /** @type {Promise<IteratorReturnResult<undefined>>} */
    const stopped = new Promise((resolve) => {
      stopWaiting = () => resolve({ done: true, value: undefined });
    });
    const stop = () => {
      // A line that comes later is not an answer to this question.
      this.close();
      stopWaiting();
    };
    signal?.addEventListener("abort", stop, { once: true });
    try {
      const { done, value } = await Promise.race([lines.next(), stopped]);
      this.#ended ||= done === true && !signal?.aborted;
      return done ? undefined : value;
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }

  /** Stops reading, so that the process can end. */
  close() {
    this.#reader?.close();
    this.#reader = undefined;
  }

  #open() {
    if (this.#reader !== undefined && this.#lines !== undefined) return this.#lines;
    this.#reader = readline.createInterface({ input: this.#input, terminal: false });
    this.#lines = this.#reader[Symbol.asyncIterator]();
    return this.#lines;
  }
}

exports.TerminalLines = TerminalLines;
