"use strict";

const native = require("./native.js");
const { withSignal } = require("./abort.js");
const { guardClass } = require("./boundary.js");
const { unwrap } = require("./errors.js");
const { ownText, ownTexts } = require("./own-words.js");

let isInvocation;

/**
 * One call that has been described and not yet run. Nothing it says has any effect; `execute` goes the
 * whole path, where the input is judged again. What it is about, it says whether or not it may run.
 */
class ToolInvocation {
  #describe;
  #question;
  #execute;
  #own;

  static {
    isInvocation = (value) => typeof value === "object" && value !== null && #describe in value;
  }

  /**
   * @param own the invocation of a host's declarative tool, which describes itself better than we can
   */
  constructor({ toolName, params, describe, question, execute, own }) {
    this.toolName = toolName;
    this.params = params;
    this.#describe = describe;
    this.#question = question;
    this.#execute = execute;
    this.#own = own;
  }

  getDescription() {
    return visible(ownText(this.#own, "getDescription")) ?? this.#look().description;
  }

  toolLocations() {
    return ownTexts(this.#own, "toolLocations")?.map(visible) ?? this.#look().locations;
  }

  async shouldConfirmExecute(signal) {
    const { details } = await withSignal(signal, async (handle) =>
      unwrap(await this.#question(handle), signal),
    );
    return details ?? false;
  }

  async execute(signal, updateOutput) {
    const onProgress =
      typeof updateOutput === "function"
        ? (news) => news.type === "output" && updateOutput(news.text)
        : undefined;
    return this.#execute({ signal, onProgress });
  }

  /** Asked each time: files may have changed since the last look. */
  #look() {
    return unwrap(this.#describe());
  }
}

guardClass(ToolInvocation, isInvocation);

/** A host's own text, which may hold what a model wrote: nothing in it is hidden from a person. */
function visible(text) {
  return text === undefined ? undefined : native.formatForDisplay(text);
}

module.exports = { ToolInvocation };
