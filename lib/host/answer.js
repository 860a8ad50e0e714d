"use strict";

// Turns what a host's handler returns or throws into a result for the addon.

const { isToolError, wordsOf } = require("../boundary/errors.js");
const { encodeAnswer } = require("../boundary/json.js");

const NO_ANSWER = "[the tool returned nothing]";

/**
 * Runs a handler and encodes its result as JSON. Never throws: an exception becomes an error result.
 *
 * @param {() => unknown} run
 */
async function handlerAnswerOf(run) {
  try {
    return encodeAnswer(resultOf(await run()));
  } catch (error) {
    return encodeAnswer(resultOfThrown(error));
  }
}

/**
 * Runs a function of the host that answers with data, and encodes the data or what it threw as JSON.
 *
 * @param {() => unknown} run
 */
async function serviceAnswerOf(run) {
  try {
    return encodeAnswer({ answer: (await run()) ?? null });
  } catch (error) {
    return encodeAnswer({ failure: failureOf(error) });
  }
}

/** @param {unknown} answer */
function resultOf(answer) {
  if (answer === undefined || answer === null) return text(NO_ANSWER);
  if (typeof answer !== "object") return text(String(answer));
  /** @type {{ content?: unknown, llmContent?: unknown, returnDisplay?: unknown, error?: unknown }} */
  const { content, llmContent, returnDisplay, error } = answer;
  if (Array.isArray(content)) return answer;
  if (typeof content === "string") return { ...answer, content: text(content).content };
  if (typeof llmContent === "string") {
    const display = typeof returnDisplay === "string" ? returnDisplay : undefined;
    const failure = error ? errorOf(Object(error)) : undefined;
    return { ...text(llmContent || (failure?.message ?? "")), display, error: failure };
  }
  return text(JSON.stringify(answer, null, 2) ?? NO_ANSWER);
}

/** @param {{ type?: unknown, message?: unknown, details?: unknown }} error */
function errorOf({ type, message, details }) {
  return {
    type: typeof type === "string" ? type : undefined,
    message: wordsOf({ message }, "the tool failed without a message"),
    // Set when the tool passes on the refusal of another tool.
    details,
  };
}

/** @param {unknown} thrown */
function resultOfThrown(thrown) {
  const error = failureOf(thrown);
  return { ...text(error.message), isError: true, error };
}

/**
 * Turns a thrown value into the error of a call. A ToolError keeps its type and details.
 *
 * @param {unknown} thrown
 * @returns {import("../types/results").CallError}
 */
function failureOf(thrown) {
  const message = wordsOf(thrown, "the tool threw a value without a message");
  const ours = isToolError(thrown) && typeof thrown.type === "string";
  return ours
    ? { type: thrown.type, message, details: thrown.details }
    : { type: "ToolFailed", message };
}

/** @param {string} words */
function text(words) {
  return { content: [{ type: "text", text: words }] };
}

module.exports = { failureOf, handlerAnswerOf, serviceAnswerOf };
