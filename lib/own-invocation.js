"use strict";

// The invocations that a host's declarative tool makes of its calls. The addon knows each by a key, asks it
// for its word on the call, tells it how a person answered, and runs it.

const { ownText, ownTexts } = require("./own-words.js");
const { shown, wordsOf } = require("./errors.js");
const { failureOf } = require("./host-answer.js");
const { encodeAnswer } = require("./json.js");
const { callListener, warningOf } = require("./listener.js");

const RISKS = new Set(["low", "medium", "high"]);

/** The invocations of one tool whose calls are not over. */
class OwnInvocations {
  #tool;
  #bus;
  /** key → { invocation, onConfirm, isTold } */
  #kept = new Map();

  constructor(tool, bus) {
    this.#tool = tool;
    this.#bus = bus;
  }

  /** The steps of a call that are given its input: first the invocation's own word, then its work. */
  async take(input, { step, invocation: key, signal, updateOutput }) {
    if (step === "statement") return this.#statement(key, input, signal);
    const { invocation } = this.#kept.get(key) ?? (await this.#make(key, input));
    return invocation.execute(signal, updateOutput);
  }

  /** Tells an invocation that a person agreed to it, and waits until it has heard. */
  async agreed(key) {
    const kept = this.#kept.get(key);
    if (kept?.onConfirm !== undefined) {
      kept.isTold = true;
      await kept.onConfirm("approved");
    }
    return { said: {} };
  }

  /**
   * Lets go of an invocation.
   *
   * @param outcome how the question about it ended, or nothing where nobody was asked
   */
  letGo(key, outcome) {
    const kept = this.#kept.get(key);
    this.#kept.delete(key);
    if (outcome === "" || kept?.onConfirm === undefined || kept.isTold) return;
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
    const { onConfirm, ...word } = await wordOn(kept.invocation, signal);
    kept.onConfirm = onConfirm;
    return word;
  }
}

/** What an invocation says, as JSON for the addon. Never throws. */
async function encodedWord(run) {
  try {
    return encodeAnswer(await run());
  } catch (error) {
    return encodeAnswer({ failed: failureOf(error) });
  }
}

/** Asks an invocation whether somebody has to confirm it. Only `false` is a no, and only an object details. */
async function wordOn(invocation, signal) {
  const description = ownText(invocation, "getDescription");
  const locations = ownTexts(invocation, "toolLocations");
  let answer;
  try {
    if (typeof invocation?.shouldConfirmExecute !== "function") {
      return { said: { description, locations } };
    }
    answer = await invocation.shouldConfirmExecute(signal);
  } catch (error) {
    return { refused: wordsOf(error, "it threw something without a message") };
  }
  if (answer === false) return { said: { description, locations } };
  try {
    const { onConfirm, ...details } = readDetails(answer);
    const said = { description, locations, ...details };
    // Here, where it may still throw, and not when all is sent.
    encodeAnswer(said);
    return { said, onConfirm };
  } catch (error) {
    return { unclear: wordsOf(error) };
  }
}

/** The details that a tool wants to be confirmed. The names it does not share with us are handed on. */
function readDetails(answer) {
  if (answer === null || typeof answer !== "object" || Array.isArray(answer)) {
    throw new TypeError(`it answered ${shown(answer)}`);
  }
  // The tool's name is not for the tool to say.
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

module.exports = { OwnInvocations, encodedWord };
