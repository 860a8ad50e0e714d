"use strict";

/**
 * @import { CancelHandle } from "../../native/binding"
 * @import { ToolCallConfirmationDetails } from "../types/confirmations"
 * @import { DeclaredInvocation, ToolInvocation as DeclaredToolInvocation, ToolResult } from "../types/invocations"
 * @import { CallOptions } from "../types/options"
 */

const native = require("../native/addon.js");
const { withSignal } = require("../native/abort.js");
const { guardClass } = require("../boundary/guards.js");
const { unwrap } = require("../boundary/errors.js");
const { ownText, ownTexts } = require("../host/invocation-text.js");

/** @type {(value: unknown) => boolean} */
let isInvocation;

/**
 * A call that can be described before it runs. Describing it has no effect, and works for a call that will
 * be refused too. `execute` takes the path of every other call and judges the input again.
 *
 * @template T the type of the parameters
 * @implements {DeclaredToolInvocation<T>}
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
   * @param {object} parts
   * @param {string} parts.toolName
   * @param {T} parts.params
   * @param {() => string} parts.describe
   * @param {(handle: CancelHandle | undefined) => Promise<string>} parts.question
   * @param {(options: Pick<CallOptions, "signal" | "onProgress">) => Promise<ToolResult>} parts.execute
   * @param {DeclaredInvocation | undefined} parts.own the invocation of a host's declarative tool, whose descriptions are preferred
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
    const own = ownText(this.#own, "getDescription");
    return own === undefined ? this.#look().description : visible(own);
  }

  toolLocations() {
    return ownTexts(this.#own, "toolLocations")?.map(visible) ?? this.#look().locations;
  }

  /** @param {AbortSignal} [signal] */
  async shouldConfirmExecute(signal) {
    /** @type {{ details?: ToolCallConfirmationDetails }} */
    const { details } = await withSignal(signal, async (handle) =>
      unwrap(await this.#question(handle), signal),
    );
    return details ?? /** @type {const} */ (false);
  }

  /**
   * @param {AbortSignal} [signal]
   * @param {(output: string) => void} [updateOutput]
   */
  async execute(signal, updateOutput) {
    /** @type {CallOptions["onProgress"]} */
    const onProgress =
      typeof updateOutput === "function"
        ? (news) => news.type === "output" && updateOutput(news.text)
        : undefined;
    return this.#execute({ signal, onProgress });
  }

  /**
   * Not cached, because files may have changed in between.
   *
   * @returns {{ description: string, locations: string[] }}
   */
  #look() {
    return unwrap(this.#describe());
  }
}

guardClass(ToolInvocation, isInvocation);

/**
 * Escapes invisible characters in a host's text, because it may contain what a model wrote.
 *
 * @param {string} text
 */
function visible(text) {
  return native.formatForDisplay(text);
}

exports.ToolInvocation = ToolInvocation;
