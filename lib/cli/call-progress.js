"use strict";

/**
 * @import { ToolProgress } from "../types/options"
 * @import { Output } from "./terminal.js"
 */

const { escaped, inLine } = require("./terminal.js");

/** No result contains more output than this, so longer output is not remembered. */
const MAX_SHOWN = 4 * 1024 * 1024;

/** Shows on standard error what a running call reports. */
class CallProgress {
  #err;
  /**
   * The output that was shown; nothing once it is too long.
   *
   * @type {string | undefined}
   */
  #shown = "";
  #isInLine = false;

  /** @param {Output} err */
  constructor(err) {
    this.#err = err;
  }

  /** @param {ToolProgress} news */
  show(news) {
    if (news.type === "output") {
      this.#note(news.text);
      this.#err.write(this.#err.isTerminal ? escaped(news.text) : news.text);
    } else if (news.type === "step") {
      this.#err.line(this.#err.styled("dim", stepLine(news)));
    }
  }

  /** True if output was shown that did not end with a line. */
  get isInLine() {
    return this.#isInLine;
  }

  /** @param {string} text */
  #note(text) {
    if (text !== "") this.#isInLine = !text.endsWith("\n");
    if (this.#shown === undefined) return;
    this.#shown += text;
    if (this.#shown.length > MAX_SHOWN) this.#shown = undefined;
  }

  /**
   * The part of a text that was not shown yet. A command's result begins with its output, which a person at
   * the terminal has just seen.
   *
   * @param {string} text
   */
  unseen(text) {
    const seen = this.#shown?.trimEnd() ?? "";
    if (seen === "" || !text.startsWith(seen)) return text;
    return text.slice(seen.length).replace(/^\n+/, "");
  }
}

/** @param {Extract<ToolProgress, { type: "step" }>} step */
function stepLine({ progress, total, message }) {
  const count = total === undefined ? `${progress}` : `${progress}/${total}`;
  return inLine(message === undefined ? count : `${count} ${message}`);
}

exports.CallProgress = CallProgress;
