"use strict";

const native = require("./native.js");
const { checkSignal } = require("./abort.js");
const { guardClass } = require("./boundary.js");
const { abortError, unwrap } = require("./errors.js");

let isInvocation;

/**
 * One call that has been described and not yet run. Nothing it says has any effect; `execute` goes the
 * whole path, where the input is judged again.
 */
class ToolInvocation {
  #preview;
  #execute;
  #own;

  static {
    isInvocation = (value) => typeof value === "object" && value !== null && #preview in value;
  }

  /**
   * @param own the invocation of a host's declarative tool, which describes itself better than we can
   */
  constructor({ toolName, params, preview, execute, own }) {
    this.toolName = toolName;
    this.params = params;
    this.#preview = preview;
    this.#execute = execute;
    this.#own = own;
  }

  getDescription() {
    return visible(this.#ask("getDescription")) || this.#look().description;
  }

  toolLocations() {
    const own = this.#ask("toolLocations");
    return (Array.isArray(own) ? own.map(visible) : own) ?? this.#look().locations;
  }

  async shouldConfirmExecute(signal) {
    checkSignal(signal);
    if (signal?.aborted) throw abortError(signal.reason);
    const { decision, error, risk, name } = this.#look();
    if (error || decision === "allow") return false;
    return {
      toolName: name,
      description: this.getDescription(),
      risk,
      locations: this.toolLocations(),
    };
  }

  async execute(signal, updateOutput) {
    const onProgress =
      typeof updateOutput === "function"
        ? (news) => news.type === "output" && updateOutput(news.text)
        : undefined;
    return this.#execute({ signal, onProgress });
  }

  /** The tool's own words; one that cannot say them leaves it to us. */
  #ask(method) {
    try {
      return this.#own?.[method]?.();
    } catch {
      return undefined;
    }
  }

  /** Asked each time: policy and files may have changed since the last look. */
  #look() {
    return unwrap(this.#preview());
  }
}

guardClass(ToolInvocation, isInvocation);

/** A host's own text, which may hold what a model wrote: nothing in it is hidden from a person. */
function visible(text) {
  return typeof text === "string" ? native.formatForDisplay(text) : text;
}

module.exports = { ToolInvocation };
