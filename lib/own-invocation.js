"use strict";

// The invocations that a host's declarative tool creates for its calls. The addon knows each by a key. It
// asks the invocation what to confirm, reports what the person answered, and runs it.

const { ownText, ownTexts } = require("./invocation-text.js");
const { shown, wordsOf } = require("./errors.js");
const { failureOf } = require("./host-answer.js");
const { encodeAnswer } = require("./json.js");
const { callListener, warningOf } = require("./listener.js");

const RISKS = new Set(["low", "medium", "high"]);

/** The invocations of one tool for calls that have not ended. */
class OwnInvocations {
  #tool;
  #bus;
  /** key → { invocation, onConfirm, isConfirmed } */
  #kept = new Map();

  constructor(tool, bus) {
    this.#tool = tool;
    this.#bus = bus;
  }

  /** Runs a step of a call: first the statement about what to confirm, then the work. */
  async take(input, { step, invocation: key, signal, updateOutput }) {
    if (step === "statement") return this.#statement(key, input, signal);
    const { invocation } = this.#kept.get(key) ?? (await this.#make(key, input));
    return invocation.execute(signal, updateOutput);
  }

  /** Tells an invocation that a person approved it, and waits for its `onConfirm`. */
  async approved(key) {
    const kept = this.#kept.get(key);
    if (kept?.onConfirm !== undefined) {
      kept.isConfirmed = true;
      await kept.onConfirm("approved");
    }
    return { said: {} };
  }

  /**
   * Forgets an invocation, and tells it the outcome unless `approved` has.
   *
   * @param outcome how the confirmation request ended; empty if nobody was asked
   */
  release(key, outcome) {
    const kept = this.#kept.get(key);
    this.#kept.delete(key);
    if (outcome === "" || kept?.onConfirm === undefined || kept.isConfirmed) return;
    callListener(kept.onConfirm, undefined, outcome, warningOf("the `onConfirm` of a tool"));
  }

  async #make(key, input) {
    const kept = {};
    this.#kept.set(key, kept);
    kept.invocation = await this.#tool.createInvocation(input, this.#bus);
    return kept;
  }

  async #statement(key, input, signal) {
    const kept = await this.#make(key, input);
    const { onConfirm, ...statement } = await statementOf(kept.invocation, signal);
    kept.onConfirm = onConfirm;
    return statement;
  }
}

/** Encodes what an invocation states as JSON for the addon. Never throws. */
async function encodedStatement(run) {
  try {
    return encodeAnswer(await run());
  } catch (error) {
    return encodeAnswer({ failed: failureOf(error) });
  }
}

/**
 * Asks an invocation what a person has to confirm: `false` for nothing, or an object with details. Any
 * other answer is `unclear`, and an exception is `refused`; both keep the call from running.
 */
async function statementOf(invocation, signal) {
  const description = ownText(invocation, "getDescription");
  const locations = ownTexts(invocation, "toolLocations");
  let answer;
  try {
    if (typeof invocation?.shouldConfirmExecute !== "function") {
      return { said: { description, locations } };
    }
    answer = await invocation.shouldConfirmExecute(signal);
  } catch (error) {
    return { refused: wordsOf(error, "it threw a value without a message") };
  }
  if (answer === false) return { said: { description, locations } };
  try {
    const { onConfirm, ...details } = readDetails(answer);
    const said = { description, locations, ...details };
    // Encoded here once to find out whether it can be, so that a failure counts as `unclear`.
    encodeAnswer(said);
    return { said, onConfirm };
  } catch (error) {
    return { unclear: wordsOf(error) };
  }
}

/** Checks the details that a tool wants to have confirmed. Unknown fields are passed on in `more`. */
function readDetails(answer) {
  if (answer === null || typeof answer !== "object" || Array.isArray(answer)) {
    throw new TypeError(`it answered ${shown(answer)}`);
  }
  // The name comes from the registry, so the tool cannot change it.
  const { toolName: _toolName, description, locations, risk, onConfirm, ...more } = answer;
  const check = (name, isRight, wanted) => {
    if (!isRight) throw new TypeError(`\`${name}\` must be ${wanted}, got ${shown(answer[name])}`);
  };
  check("description", isAbsent(description) || typeof description === "string", "a string");
  check("locations", isAbsent(locations) || isTexts(locations), "an array of strings");
  check("risk", isAbsent(risk) || RISKS.has(risk), '"low", "medium" or "high"');
  check("onConfirm", isAbsent(onConfirm) || typeof onConfirm === "function", "a function");
  return {
    ...(description ? { description } : {}),
    ...(isAbsent(locations) ? {} : { locations }),
    ...(isAbsent(risk) ? {} : { risk }),
    more,
    onConfirm: isAbsent(onConfirm) ? undefined : (outcome) => onConfirm.call(answer, outcome),
  };
}

function isAbsent(value) {
  return value === undefined || value === null;
}

function isTexts(value) {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

module.exports = { OwnInvocations, encodedStatement };
