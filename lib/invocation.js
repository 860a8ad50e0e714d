"use strict";

const native = require("./native.js");
const { withSignal } = require("./abort.js");
const { guardClass } = require("./boundary.js");
const { unwrap } = require("./errors.js");
const { ownText, ownTexts } = require("./invocation-text.js");

let isInvocation;

/**
 * A call that can be described before it runs. Describing it has no effect, and works for a call that will
 * be refused too. `execute` takes the path of every other call and judges the input again.
 */
class ToolInvocation {
  #describe;
  #question;
  #execute;
  #own;

  static {
    isInvocation = (value) => typeof value === "object" && value !== null && #describe in value;
  }

  /** @param own the invocation of a host's declarative tool, whose descriptions are preferred */
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

  /** Not cached, because files may have changed in between. */
  #look() {
    return unwrap(this.#describe());
  }
}

guardClass(ToolInvocation, isInvocation);

/** Escapes invisible characters in a host's text, because it may contain what a model wrote. */
function visible(text) {
  return text === undefined ? undefined : native.formatForDisplay(text);
}

module.exports = { ToolInvocation };
