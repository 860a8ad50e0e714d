"use strict";

// What a host's handler answers or throws, brought into the one shape the addon takes.

const { isToolError, wordsOf } = require("./errors.js");
const { encodeAnswer } = require("./json.js");

const NO_ANSWER = "[the tool answered nothing]";

/** The answer of a handler, as JSON. Never throws. */
async function handlerAnswerOf(run) {
  try {
    return encodeAnswer(resultOf(await run()));
  } catch (error) {
    return encodeAnswer(resultOfThrown(error));
  }
}

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

function errorOf({ type, message, details }) {
  return {
    type: typeof type === "string" ? type : undefined,
    message: wordsOf({ message }, "the tool failed without a message"),
    // Of a refusal, where the tool hands on the answer of another.
    details,
  };
}

function resultOfThrown(thrown) {
  const error = failureOf(thrown);
  return { ...text(error.message), isError: true, error };
}

/** What was thrown, as an error of a call. One of ours keeps what it says. */
function failureOf(thrown) {
  const message = wordsOf(thrown, "the tool threw something without a message");
  const ours = isToolError(thrown) && typeof thrown.type === "string";
  return ours
    ? { type: thrown.type, message, details: thrown.details }
    : { type: "ToolFailed", message };
}

function text(words) {
  return { content: [{ type: "text", text: words }] };
}

module.exports = { failureOf, handlerAnswerOf };
