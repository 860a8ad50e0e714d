"use strict";

// The invocations that a host's declarative tool creates for its calls. The addon knows each by a key. It
// asks the invocation what to confirm, reports what the person answered, and runs it.

/**
 * @import { ConfirmationSettled } from "../types/confirmations"
 * @import { DeclarativeTool, DeclaredInvocation } from "../types/invocations"
 * @import { MessageBus } from "../types/confirmations"
 * @import { CallContext } from "./functions.js"
 * @typedef {ConfirmationSettled["outcome"]} Outcome
 * @typedef {(outcome: Outcome) => unknown} OnConfirm
 * @typedef {{ invocation: DeclaredInvocation, onConfirm?: OnConfirm, isConfirmed?: boolean }} Kept
 */

const { ownText, ownTexts } = require("./invocation-text.js");
const { shown, wordsOf } = require("../boundary/errors.js");
const { failureOf } = require("./answer.js");
const { encodeAnswer } = require("../boundary/json.js");
const { callListener, warningOf } = require("../boundary/listener.js");

const RISKS = new Set(["low", "medium", "high"]);

/** The invocations of one tool for calls that have not ended. */
class OwnInvocations {
  #tool;
  #bus;
  /**
   * By the key that the addon gave the invocation.
   *
   * @type {Map<number, Kept>}
   */
  #kept = new Map();

  /**
   * @param {DeclarativeTool} tool
   * @param {MessageBus} bus
   */
  constructor(tool, bus) {
    this.#tool = tool;
    this.#bus = bus;
  }

  /**
   * Runs a step of a call: first the statement about what to confirm, then the work.
   *
   * @param {unknown} input
   * @param {CallContext} context
   */
  async take(input, { step, invocation: key, signal, updateOutput }) {
    if (step === "own_confirmation") return this.#statement(key, input, signal);
    const { invocation } = this.#kept.get(key) ?? (await this.#make(key, input));
    return invocation.execute(signal, updateOutput);
  }

  /**
   * Calls the `onConfirm` of an invocation that a person approved, and waits for it.
   *
   * @param {number} key
   */
  async approved(key) {
    const kept = this.#kept.get(key);
    if (kept?.onConfirm !== undefined) {
      kept.isConfirmed = true;
      await kept.onConfirm("approved");
    }
    return { said: {} };
  }

  /**
   * Forgets an invocation, and calls its `onConfirm` with the outcome unless `approved` has.
   *
   * @param {number} key
   * @param {Outcome | ""} outcome how the confirmation request ended; empty if there was no request
   */
  release(key, outcome) {
    const kept = this.#kept.get(key);
    this.#kept.delete(key);
    if (outcome === "" || kept?.onConfirm === undefined || kept.isConfirmed) return;
    callListener(kept.onConfirm, undefined, outcome, warningOf("the `onConfirm` of a tool"));
  }

  /**
   * @param {number} key
   * @param {unknown} input
   */
  async #make(key, input) {
    // The invocation follows in the next lines.
    const kept = /** @type {Kept} */ ({});
    this.#kept.set(key, kept);
    kept.invocation = await this.#tool.createInvocation(input, this.#bus);
    return kept;
  }

  /**
   * @param {number} key
   * @param {unknown} input
   * @param {AbortSignal} signal
   */
  async #statement(key, input, signal) {
    const kept = await this.#make(key, input);
    const { onConfirm, ...statement } = await statementOf(kept.invocation, signal);
    kept.onConfirm = onConfirm;
    return statement;
  }
}

/**
 * Encodes what an invocation states as JSON for the addon. Never throws.
 *
 * @param {() => unknown} run
 */
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
 *
 * @param {DeclaredInvocation} invocation
 * @param {AbortSignal} signal
 * @returns {Promise<{ said?: object, refused?: string, unclear?: string, onConfirm?: OnConfirm }>}
 */
async function statementOf(invocation, signal) {
  const description = ownText(invocation, "getDescription");
  const locations = ownTexts(invocation, "toolLocations");
  /** @type {unknown} */
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

/**
 * Checks the details that a tool wants to have confirmed. Unknown fields are passed on in `more`.
 *
 * @param {unknown} answer
 */
function readDetails(answer) {
  if (answer === null || typeof answer !== "object" || Array.isArray(answer)) {
    throw new TypeError(`it answered ${shown(answer)}`);
  }
  // The name comes from the registry, so the tool cannot change it.
  /** @type {{ [name: string]: unknown }} */
  const given = { ...answer };
  const { toolName: _toolName, description, locations, risk, onConfirm, ...more } = given;
  /**
   * @param {string} name
   * @param {boolean} isRight
   * @param {string} wanted
   */
  const check = (name, isRight, wanted) => {
    if (!isRight) throw new TypeError(`\`${name}\` must be ${wanted}, got ${shown(given[name])}`);
  };
  check("description", isAbsent(description) || typeof description === "string", "a string");
  check("locations", isAbsent(locations) || isTexts(locations), "an array of strings");
  const isRisk = typeof risk === "string" && RISKS.has(risk);
  check("risk", isAbsent(risk) || isRisk, '"low", "medium" or "high"');
  check("onConfirm", isAbsent(onConfirm) || typeof onConfirm === "function", "a function");
  return {
    ...(description ? { description } : {}),
    ...(isAbsent(locations) ? {} : { locations }),
    ...(isAbsent(risk) ? {} : { risk }),
    more,
    onConfirm: typeof onConfirm === "function" ? confirming(onConfirm, answer) : undefined,
  };
}

/**
 * @param {Function} onConfirm
 * @param {object} self the object that the function is a method of
 * @returns {OnConfirm}
 */
function confirming(onConfirm, self) {
  return (outcome) => Reflect.apply(onConfirm, self, [outcome]);
}

/** @param {unknown} value */
function isAbsent(value) {
  return value === undefined || value === null;
}

/** @param {unknown} value */
function isTexts(value) {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

exports.OwnInvocations = OwnInvocations;
exports.encodedStatement = encodedStatement;
