"use strict";

/**
 * @import { NativeRegistry } from "../../native/binding"
 * @import { HandlerContext } from "../types/handlers"
 * @import { HookFunction } from "../types/hooks"
 * @import { Outcome, OwnInvocations } from "./own-invocation.js"
 * @typedef {{ toolUseId: string, sessionId: string, step?: "own_confirmation" | "confirmed", invocation: number }} CallFacts
 * @typedef {HandlerContext & CallFacts} CallContext
 * @typedef {{ call(input: unknown, context: CallContext): unknown }["call"]} HostFunction
 * @typedef {(input: unknown, context: CallContext) => Promise<string>} EncodedFunction
 */

const { ToolError, wordsOf } = require("../boundary/errors.js");
const { handlerAnswerOf, serviceAnswerOf } = require("./answer.js");
const { hookAnswerOf } = require("./hook-answer.js");
const { encodedStatement } = require("./own-invocation.js");
const { weakly } = require("../native/lifetime.js");

/**
 * The host's functions that the addon calls by number: handlers of tools, and hooks. The functions stay
 * here because the addon would keep alive everything they refer to, including the registry itself.
 */
class HostFunctions {
  /** @type {NativeRegistry | undefined} */
  #native;
  #last = 0;
  /**
   * number → a function that runs the host's function and returns the answer as JSON; it never throws.
   *
   * @type {Map<number, EncodedFunction>}
   */
  #functions = new Map();
  /**
   * number → the invocations of a declarative tool, which are kept from one step of a call to the next.
   *
   * @type {Map<number, OwnInvocations>}
   */
  #invocations = new Map();
  /**
   * key of a running call → a function that aborts the signal its handler got.
   *
   * @type {Map<number, (reason: unknown) => void>}
   */
  #aborts = new Map();

  /** The one callback that the addon holds; all other functions are called through it. */
  listener() {
    return weakly(this, HostFunctions.#receive);
  }

  /**
   * Sets the addon's registry that answers are sent to.
   *
   * @param {NativeRegistry} native
   */
  answerTo(native) {
    this.#native = native;
  }

  /**
   * @param {HostFunction} handler
   * @param {OwnInvocations} [invocations]
   */
  addHandler(handler, invocations) {
    const number = this.#add((input, context) => {
      if (context.step === "own_confirmation")
        return encodedStatement(() => handler(input, context));
      if (context.step === "confirmed") {
        return encodedStatement(() => invocations?.approved(context.invocation));
      }
      return handlerAnswerOf(() => handler(input, context));
    });
    if (invocations !== undefined) this.#invocations.set(number, invocations);
    return number;
  }

  /**
   * Adds a hook. It is called with the same arguments as by the Claude Agent SDK.
   *
   * @param {HookFunction<unknown>} hook
   */
  addHook(hook) {
    return this.#add((event, context) =>
      hookAnswerOf(() => hook(event, context.toolUseId, { signal: context.signal })),
    );
  }

  /**
   * Adds a function that built-in tools or the store call: one of `handlers`, or a method of a store.
   *
   * @param {HostFunction} service
   */
  addService(service) {
    return this.#add((input, context) => serviceAnswerOf(() => service(input, context)));
  }

  /** Aborts the signal of every running function and drops all functions. */
  close() {
    this.#functions.clear();
    this.#invocations.clear();
    for (const key of this.#aborts.keys()) this.#abort(key);
  }

  /** @param {EncodedFunction} answer */
  #add(answer) {
    this.#last += 1;
    this.#functions.set(this.#last, answer);
    return this.#last;
  }

  /**
   * @param {HostFunctions} functions
   * @param {"call" | "abort" | "release" | "forget"} what
   * @param {number} key
   * @param {number} number
   * @param {string} inputJson
   * @param {string} contextJson
   */
  static #receive = (functions, what, key, number, inputJson, contextJson) => {
    if (what === "call") functions.#call(key, number, inputJson, contextJson);
    else if (what === "abort") functions.#abort(key);
    else if (what === "release")
      functions.#invocations.get(number)?.release(key, /** @type {Outcome | ""} */ (inputJson));
    else functions.#forget(number);
  };

  /** @param {number} number */
  #forget(number) {
    this.#functions.delete(number);
    this.#invocations.delete(number);
  }

  /**
   * @param {number} key
   * @param {number} number
   * @param {string} inputJson
   * @param {string} contextJson
   */
  async #call(key, number, inputJson, contextJson) {
    const answer = this.#functions.get(number);
    const native = this.#native;
    // The registry was closed after the addon had sent this.
    if (answer === undefined || native === undefined) return;
    const { context, abort } = handlerCall(JSON.parse(contextJson), (news) =>
      native.hostProgress(key, JSON.stringify(news)),
    );
    this.#aborts.set(key, abort);
    const json = await answer(JSON.parse(inputJson), context);
    // `false` means that the call has already ended. Its abort will follow.
    if (native.hostAnswer(key, json)) this.#aborts.delete(key);
  }

  /** @param {number} key */
  #abort(key) {
    const abort = this.#aborts.get(key);
    this.#aborts.delete(key);
    abort?.(new ToolError("Cancelled", "the call ended before its handler did"));
  }
}

/**
 * Makes the second argument of a handler, and the function that aborts its signal.
 *
 * @param {CallFacts & { watched: boolean }} facts
 * @param {(news: object) => void} send
 */
function handlerCall({ watched, ...facts }, send) {
  /** @type {AbortController | undefined} */
  let controller;
  /** @type {unknown} */
  let ended;
  /** @type {CallContext} */
  const context = {
    ...facts,
    // Made on first use: few handlers need it, and a controller costs more than the rest of the context.
    get signal() {
      if (controller === undefined) {
        controller = new AbortController();
        if (ended !== undefined) controller.abort(ended);
      }
      return controller.signal;
    },
    updateOutput(output) {
      if (watched) send({ type: "output", text: outputText(output) });
    },
    reportProgress(step) {
      const news = watched ? stepOf(step) : undefined;
      if (news !== undefined) send(news);
    },
  };
  /** @param {unknown} reason */
  const abort = (reason) => {
    ended = reason;
    controller?.abort(reason);
  };
  return { context, abort };
}

/** @param {unknown} output */
function outputText(output) {
  return typeof output === "string" ? output.toWellFormed() : wordsOf(output, "");
}

/**
 * A progress report as the addon takes it; `undefined` for a malformed one, which is ignored.
 *
 * @param {Parameters<HandlerContext["reportProgress"]>[0]} step
 */
function stepOf(step) {
  try {
    const { progress, total, message } = step;
    const isStep =
      Number.isFinite(progress) &&
      (total === undefined || Number.isFinite(total)) &&
      (message === undefined || typeof message === "string");
    return isStep ? { type: "step", progress, total, message: message?.toWellFormed() } : undefined;
  } catch {
    return undefined;
  }
}

exports.HostFunctions = HostFunctions;
