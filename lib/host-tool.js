"use strict";

// What a host registers, brought into the one shape the addon takes: a spec and a handler.

const { ToolError, shown } = require("./errors.js");
const { encodeAnswer } = require("./json.js");
const { tool } = require("./tool.js");

/** The spec and the function of a registered object, whichever of the known shapes it has. */
function readHostTool(object) {
  if (object === null || typeof object !== "object") {
    throw new ToolError("InvalidTool", `register() takes a tool, got ${shown(object)}`);
  }
  const made = isDeclarative(object) ? tool(fromDeclarative(object)) : tool(object);
  const { handler, ...spec } = made;
  return { spec, handler };
}

/** A tool with `createInvocation` instead of a handler. */
function isDeclarative(object) {
  return typeof object.createInvocation === "function" && typeof object.handler !== "function";
}

function fromDeclarative(object) {
  return {
    name: object.name,
    title: object.displayName,
    description: object.schema?.description ?? object.description,
    inputSchema: object.schema?.parameters ?? object.inputSchema,
    annotations: object.annotations,
    sideEffect: object.sideEffect,
    timeoutMs: object.timeoutMs,
    handler: async (args, { signal, updateOutput }) => {
      const invocation = await object.createInvocation(args);
      return invocation.execute(signal, updateOutput);
    },
  };
}

/** The calls of host tools that are running, so that they can be told when their call ends early. */
class RunningHandlers {
  /** key → how to tell the handler. */
  #aborts = new Map();
  /** The keys of calls that ended before they were handed to their handler. */
  #endedEarly = new Set();

  abort(key) {
    const abort = this.#aborts.get(key);
    this.#aborts.delete(key);
    if (abort === undefined) this.#endedEarly.add(key);
    else abort(new ToolError("Cancelled", "the call ended before its handler did"));
  }

  /** The function the addon calls for a tool: never throws, answers whatever happens. */
  wrap(handler, native) {
    return this.#serve(
      (input, context) => answerOf(() => handler(input, context)),
      () => native,
    );
  }

  /** The function the addon calls for hooks, which are known by their numbers. */
  wrapHooks(callbacks, nativeOf) {
    return this.#serve(
      (event, context) => hookAnswerOf(() => runHook(callbacks, event, context)),
      nativeOf,
    );
  }

  /** `answer` gives JSON and never throws; it goes back through `hostAnswer`. */
  #serve(answer, nativeOf) {
    const serve = async (key, inputJson, context) => {
      const json = await answer(JSON.parse(inputJson), context);
      // An answer nobody waits for means that the abort is on its way.
      if (nativeOf().hostAnswer(key, json)) this.#aborts.delete(key);
    };
    return (key, inputJson, contextJson) => {
      if (this.#endedEarly.delete(key)) return;
      const { context, abort } = handlerCall(JSON.parse(contextJson), (news) =>
        nativeOf().hostProgress(key, JSON.stringify(news)),
      );
      this.#aborts.set(key, abort);
      serve(key, inputJson, context);
    };
  }
}

/** What a handler gets beside its input, and the means to tell it that its call has ended. */
function handlerCall({ toolUseId, sessionId, watched, callback }, send) {
  let controller;
  let ended;
  const context = {
    callback,
    toolUseId,
    sessionId,
    // Made when it is asked for: few handlers do, and a controller costs more than the rest of this.
    get signal() {
      if (controller === undefined) {
        controller = new AbortController();
        if (ended !== undefined) controller.abort(ended);
      }
      return controller.signal;
    },
    updateOutput(output) {
      if (watched) send({ type: "output", text: String(output).toWellFormed() });
    },
    reportProgress({ progress, total, message }) {
      if (watched) send({ type: "step", progress, total, message });
    },
  };
  const abort = (reason) => {
    ended = reason;
    controller?.abort(reason);
  };
  return { context, abort };
}

async function answerOf(run) {
  try {
    return encodeAnswer(resultOf(await run()));
  } catch (error) {
    return encodeAnswer(resultOfThrown(error));
  }
}

/** A hook is called as the Claude Agent SDK calls one. */
async function runHook(callbacks, event, context) {
  const { signal, toolUseId } = context;
  return callbacks[context.callback](event, toolUseId, { signal });
}

async function hookAnswerOf(run) {
  try {
    return encodeAnswer({ answer: (await run()) ?? null });
  } catch (error) {
    return encodeAnswer({ failure: resultOfThrown(error).error.message });
  }
}

const NO_ANSWER = "[the tool answered nothing]";

function resultOf(answer) {
  if (answer === undefined || answer === null) return text(NO_ANSWER);
  if (typeof answer !== "object") return text(String(answer));
  if (Array.isArray(answer.content)) return answer;
  if (typeof answer.content === "string")
    return { ...answer, content: text(answer.content).content };
  if (typeof answer.llmContent === "string") {
    const { llmContent, returnDisplay, error } = answer;
    const display = typeof returnDisplay === "string" ? returnDisplay : undefined;
    const failure = error ? errorOf(error) : undefined;
    return { ...text(llmContent || (failure?.message ?? "")), display, error: failure };
  }
  return text(JSON.stringify(answer, null, 2) ?? NO_ANSWER);
}

function errorOf({ type, message }) {
  return {
    type: typeof type === "string" ? type : undefined,
    message: String(message) || "the tool failed without a message",
  };
}

function resultOfThrown(thrown) {
  const message =
    wordsOf(() => thrown?.message ?? thrown) || "the tool threw something without a message";
  const type = wordsOf(() => (thrown instanceof ToolError ? thrown.type : "")) || "ToolFailed";
  return { ...text(message), isError: true, error: { type, message } };
}

/** What is thrown may be anything, also something that throws when it is looked at. */
function wordsOf(look) {
  try {
    return String(look()).slice(0, 10_000);
  } catch {
    return "";
  }
}

function text(words) {
  return { content: [{ type: "text", text: words }] };
}

module.exports = { RunningHandlers, isDeclarative, readHostTool };
