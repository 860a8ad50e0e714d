"use strict";

const { ToolError, wordsOf } = require("./errors.js");
const { handlerAnswerOf } = require("./host-answer.js");
const { hookAnswerOf } = require("./hook-answer.js");
const { encodedWord } = require("./own-invocation.js");
const { weakly } = require("./lifetime.js");

/**
 * The functions of a host that the addon calls by number: its tools' handlers and its hooks. They are
 * kept here and not in the addon, which would keep with them whatever they refer to, the registry above
 * all, for as long as the addon itself lives.
 */
class HostFunctions {
  #native;
  #last = 0;
  /** number → how to get its answer as JSON; never throws. */
  #functions = new Map();
  /** number → the invocations that a function keeps between its calls. */
  #invocations = new Map();
  /** key → how to tell the function that its call has ended early. */
  #aborts = new Map();

  /** The function that the addon reaches all others through. */
  listener() {
    return weakly(this, HostFunctions.#hear);
  }

  /** The addon's end, where answers go. */
  answerTo(native) {
    this.#native = native;
  }

  addHandler(handler, invocations) {
    const number = this.#add((input, context) => {
      if (context.step === "statement") return encodedWord(() => handler(input, context));
      if (context.step === "agreed") {
        return encodedWord(() => invocations.agreed(context.invocation));
      }
      return handlerAnswerOf(() => handler(input, context));
    });
    if (invocations !== undefined) this.#invocations.set(number, invocations);
    return number;
  }

  /** A hook is called as the Claude Agent SDK calls one. */
  addHook(hook) {
    return this.#add((event, context) =>
      hookAnswerOf(() => hook(event, context.toolUseId, { signal: context.signal })),
    );
  }

  /** Tells every function that still runs, and lets go of all. */
  close() {
    this.#functions.clear();
    this.#invocations.clear();
    for (const key of this.#aborts.keys()) this.#abort(key);
  }

  #add(answer) {
    this.#last += 1;
    this.#functions.set(this.#last, answer);
    return this.#last;
  }

  static #hear = (functions, what, key, number, inputJson, contextJson) => {
    if (what === "call") functions.#call(key, number, inputJson, contextJson);
    else if (what === "abort") functions.#abort(key);
    else if (what === "letGo") functions.#invocations.get(number)?.letGo(key, inputJson);
    else functions.#forget(number);
  };

  #forget(number) {
    this.#functions.delete(number);
    this.#invocations.delete(number);
  }

  async #call(key, number, inputJson, contextJson) {
    const answer = this.#functions.get(number);
    // The registry was closed while this was on its way.
    if (answer === undefined) return;
    const { context, abort } = handlerCall(JSON.parse(contextJson), (news) =>
      this.#native.hostProgress(key, JSON.stringify(news)),
    );
    this.#aborts.set(key, abort);
    const json = await answer(JSON.parse(inputJson), context);
    // An answer nobody waits for means that the abort is on its way.
    if (this.#native.hostAnswer(key, json)) this.#aborts.delete(key);
  }

  #abort(key) {
    const abort = this.#aborts.get(key);
    this.#aborts.delete(key);
    abort?.(new ToolError("Cancelled", "the call ended before its handler did"));
  }
}

/** What a handler gets beside its input, and the means to tell it that its call has ended. */
function handlerCall({ watched, ...facts }, send) {
  let controller;
  let ended;
  const context = {
    ...facts,
    // Made when it is asked for: few handlers do, and a controller costs more than the rest of this.
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
  const abort = (reason) => {
    ended = reason;
    controller?.abort(reason);
  };
  return { context, abort };
}

function outputText(output) {
  return typeof output === "string" ? output.toWellFormed() : wordsOf(output, "");
}

/** A handler that reports nonsense is no reason to end its call. */
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

module.exports = { HostFunctions };
