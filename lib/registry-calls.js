"use strict";

const { AnswerView } = require("./native.js");
const { checkSignal, withHandle, withSignal } = require("./abort.js");
const { optionalText } = require("./boundary.js");
const { unwrap } = require("./errors.js");
const { isDeclarative } = require("./host-tool.js");
const { ToolInvocation } = require("./invocation.js");
const { settledNow } = require("./invocation-text.js");
const { encodeInput } = require("./json.js");
const { WorkUnderWay } = require("./lifetime.js");
const { withBus } = require("./message-bus.js");
const { withProgress } = require("./progress.js");
const { factsOf } = require("./registry-json.js");
const { readTurn } = require("./tool-use-block.js");

/** The calls of one registry: single calls, described invocations and the calls of a model's turn. */
class RegistryCalls {
  #native;
  #objects;
  #bus;
  #running;
  #isClosing = false;

  /**
   * @param registry kept from garbage collection while a call runs
   * @param bus the registry's own, which declarative tools may ask over
   */
  constructor(registry, { native, objects, bus }) {
    this.#native = native;
    this.#objects = objects;
    this.#bus = bus;
    this.#running = new WorkUnderWay(registry);
  }

  /** @param view the shape of the answer, one of `AnswerView` */
  async call(name, input, view, options) {
    let inputJson;
    try {
      inputJson = encodeInput(input);
    } catch (error) {
      return callFailure(error);
    }
    return this.#run(name, inputJson, view, options);
  }

  /** @param bus where people are asked about the call, if not on the registry's own bus */
  invocation(name, params, facts, bus) {
    const factsJson = factsOf(facts);
    let inputJson;
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
      execute: (options) =>
        problem
          ? invocationFailure(problem)
          : this.#execute(name, inputJson, { ...options, ...facts, bus }),
    });
  }

  /** The invocation of a host's declarative tool. It only describes the call; `execute` makes another. */
  #ownInvocation(name, id, params, { registration }) {
    const object = registration === undefined ? this.#objects.registered(name, id) : undefined;
    if (object === undefined || !isDeclarative(object)) return undefined;
    return settledNow(() => object.createInvocation(params, this.#bus));
  }

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

  async undo(toolUseId, sessionId) {
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

  async #execute(name, inputJson, options) {
    const result = await this.#run(name, inputJson, AnswerView.Invocation, options);
    // The addon leaves it out when it is the same text.
    result.returnDisplay ??= result.llmContent;
    return result;
  }

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

function callFailure({ type, message }) {
  return { content: [{ type: "text", text: message }], isError: true, error: { type, message } };
}

function invocationFailure({ type, message }) {
  return { llmContent: `Error: ${message}`, returnDisplay: message, error: { type, message } };
}

module.exports = { RegistryCalls };
