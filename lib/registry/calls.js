"use strict";

/**
 * @import { AnswerView as View, NativeRegistry } from "../../native/binding"
 * @import { MessageBus as DeclaredMessageBus } from "../types/confirmations"
 * @import { DeclaredInvocation, ToolResult } from "../types/invocations"
 * @import { CallOptions, TurnOptions } from "../types/options"
 * @import { TurnBlock, TurnResults } from "../types/provider-formats"
 * @import { CallFailure, CallResult } from "../types/results"
 * @import { UndoneChange, ToolRegistry } from "../types/registry"
 * @import { CallIds } from "./encoding.js"
 * @import { MessageBus } from "./message-bus.js"
 * @import { ToolObjects } from "./tool-objects.js"
 * @typedef {CallIds & Pick<CallOptions, "signal" | "onProgress"> & { bus?: MessageBus | undefined }} RunOptions
 */

const { AnswerView } = require("../native/addon.js");
const { checkSignal, withHandle, withSignal } = require("../native/abort.js");
const { optionalText } = require("../boundary/guards.js");
const { ToolError, shown, unwrap } = require("../boundary/errors.js");
const { failureOf } = require("../host/answer.js");
const { isDeclarative } = require("../host/read-tool.js");
const { ToolInvocation } = require("./invocation.js");
const { settledNow } = require("../host/invocation-text.js");
const { encodeInput } = require("../boundary/json.js");
const { WorkUnderWay } = require("../native/lifetime.js");
const { withBus } = require("./message-bus.js");
const { withProgress } = require("../native/progress.js");
const { factsOf } = require("./encoding.js");
const { readTurn } = require("./turn.js");

/** The calls of one registry: single calls, described invocations and the calls of a model's turn. */
class RegistryCalls {
  #native;
  #objects;
  #bus;
  #running;
  #isClosing = false;

  /**
   * `bus` is the registry's own bus, which declarative tools may ask over.
   *
   * @param {ToolRegistry} registry kept from garbage collection while a call runs
   * @param {{ native: NativeRegistry, objects: ToolObjects, bus: DeclaredMessageBus }} parts
   */
  constructor(registry, { native, objects, bus }) {
    this.#native = native;
    this.#objects = objects;
    this.#bus = bus;
    this.#running = new WorkUnderWay(registry);
  }

  /**
   * @template T
   * @param {string} name
   * @param {unknown} input
   * @param {View} view the shape of the answer, one of `AnswerView`
   * @param {RunOptions} options
   * @returns {Promise<CallResult<T>>}
   */
  async call(name, input, view, options) {
    let inputJson;
    try {
      inputJson = encodeInput(input);
    } catch (error) {
      return callFailure(error);
    }
    return this.#run(name, inputJson, view, options);
  }

  /**
   * @template T
   * @param {string} name
   * @param {T} params
   * @param {CallIds} facts
   * @param {MessageBus} [bus] where people are asked about the call, if not on the registry's own bus
   */
  invocation(name, params, facts, bus) {
    const factsJson = factsOf(facts);
    /** @type {string} */
    let inputJson;
    /** @type {unknown} */
    let problem;
    try {
      inputJson = encodeInput(params);
    } catch (error) {
      // Reported by `execute`, like every other error in the input.
      inputJson = "null";
      problem = error;
    }
    const describe = () => this.#native.describe(name, inputJson, factsJson);
    const id = this.#native.lookup(name) ?? undefined;
    // Throws the error that a call would be answered with.
    if (id === undefined || this.#isClosing) unwrap(describe());
    return new ToolInvocation({
      toolName: name,
      params,
      describe,
      question: (handle) =>
        this.#running.during(() => this.#native.question(name, inputJson, factsJson, handle)),
      own: this.#ownInvocation(name, id, params, facts),
      execute: async (options) =>
        problem
          ? invocationFailure(problem)
          : this.#execute(name, inputJson, { ...options, ...facts, bus }),
    });
  }

  /**
   * The invocation of a host's declarative tool. It only describes the call; `execute` makes another.
   *
   * @param {string} name
   * @param {number | undefined} id
   * @param {unknown} params
   * @param {CallIds} facts
   * @returns {DeclaredInvocation | undefined}
   */
  #ownInvocation(name, id, params, { registration }) {
    const object = registration === undefined ? this.#objects.registered(name, id) : undefined;
    if (object === undefined || !isDeclarative(object)) return undefined;
    return settledNow(() => object.createInvocation(params, this.#bus));
  }

  /**
   * @template {keyof TurnResults} Format
   * @param {readonly TurnBlock[] | null | undefined} blocks
   * @param {TurnOptions<Format>} options
   * @returns {Promise<TurnResults[Format]>}
   */
  async turn(blocks, { format, signal, onProgress, sessionId, parallelReads }) {
    const calls = JSON.stringify(readTurn(blocks));
    const facts = factsOf({ sessionId });
    const results = optionalText(format, "format") ?? "anthropic";
    const isParallel = parallelReads === true;
    checkSignal(signal);
    return this.#running.during(() =>
      withHandle(signal, (handle) =>
        withProgress(onProgress, async (listener) =>
          unwrap(await this.#native.callAll(calls, results, isParallel, facts, handle, listener)),
        ),
      ),
    );
  }

  /**
   * @param {string} toolUseId
   * @param {string | undefined} sessionId
   * @returns {Promise<UndoneChange[]>}
   */
  async undo(toolUseId, sessionId) {
    if (typeof toolUseId !== "string") {
      throw new ToolError(
        "InvalidOptions",
        `undo() takes the toolUseId of a call, got ${shown(toolUseId)}`,
      );
    }
    factsOf({ sessionId });
    return this.#running.during(async () => unwrap(await this.#native.undo(toolUseId, sessionId)));
  }

  /** From now on `invocation` throws that the registry is closed. The addon refuses calls by itself. */
  close() {
    this.#isClosing = true;
  }

  /** Resolves when no call is running. */
  async over() {
    await this.#running.over();
  }

  /**
   * @param {string} name
   * @param {string} inputJson
   * @param {RunOptions} options
   * @returns {Promise<ToolResult>}
   */
  async #execute(name, inputJson, options) {
    /** @type {ToolResult} */
    const result = await this.#run(name, inputJson, AnswerView.Invocation, options);
    // The addon leaves it out when it is the same text.
    result.returnDisplay ??= result.llmContent;
    return result;
  }

  /**
   * @template T
   * @param {string} name
   * @param {string} inputJson
   * @param {View} view
   * @param {RunOptions} options
   * @returns {Promise<T>}
   */
  async #run(name, inputJson, view, { signal, onProgress, bus, ...given }) {
    const facts = factsOf(given);
    this.#running.begin();
    try {
      if (signal === undefined && onProgress === undefined && bus === undefined) {
        return unwrap(await this.#native.call(name, inputJson, view, facts));
      }
      return await withSignal(signal, (handle) =>
        withProgress(onProgress, (listener) =>
          withBus(bus, async (nativeBus) => {
            const call = this.#native.call(
              name,
              inputJson,
              view,
              facts,
              handle,
              listener,
              nativeBus,
            );
            return unwrap(await call, signal);
          }),
        ),
      );
    } finally {
      this.#running.end();
    }
  }
}

/**
 * @param {unknown} problem
 * @returns {CallFailure<never>}
 */
function callFailure(problem) {
  const { type, message } = failureOf(problem);
  return { content: [{ type: "text", text: message }], isError: true, error: { type, message } };
}

/**
 * @param {unknown} problem
 * @returns {ToolResult}
 */
function invocationFailure(problem) {
  const { type, message } = failureOf(problem);
  return { llmContent: `Error: ${message}`, returnDisplay: message, error: { type, message } };
}

exports.RegistryCalls = RegistryCalls;
