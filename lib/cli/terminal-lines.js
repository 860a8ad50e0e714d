"use strict";

const readline = require("node:readline");

/** The lines of standard input, one at a time, for everybody who asks something. */
class TerminalLines {
  #input;
  #reader;
  #lines;
  #ended = false;

  constructor(input) {
    this.#input = input;
  }

  /** The next line; `undefined` at the end of the input, or when the signal is aborted. */
  async next(signal) {
    // Where standard input was read for the call itself, a reader would wait for ever.
    if (this.#ended || this.#input.readableEnded || signal?.aborted) return undefined;
    this.#open();
    let stop;
    const stopped = new Promise((resolve) => {
      stop = () => {
        // A line that is still to come belongs to nobody any more.
        this.close();
        resolve({ done: true });
      };
    });
    signal?.addEventListener("abort", stop, { once: true });
    try {
      const { done, value } = await Promise.race([this.#lines.next(), stopped]);
      this.#ended ||= done && !signal?.aborted;
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
    if (this.#reader !== undefined) return;
    this.#reader = readline.createInterface({ input: this.#input, terminal: false });
    this.#lines = this.#reader[Symbol.asyncIterator]();
  }
}

module.exports = { TerminalLines };
