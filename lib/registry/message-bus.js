"use strict";

/**
 * @import { NativeMessageBus } from "../../native/binding"
 * @import { ConfirmationRequest, ConfirmationResponse, ConfirmationSettled } from "../types/confirmations"
 * @import { MessageBus as DeclaredMessageBus, ToolCallConfirmationDetails } from "../types/confirmations"
 */

const { EventEmitter } = require("node:events");
const native = require("../native/addon.js");
const { withSignal } = require("../native/abort.js");
const { guardClass } = require("../boundary/guards.js");
const { readAnswer } = require("./confirmation-answer.js");
const { ToolError, shown, unwrap, wordsOf } = require("../boundary/errors.js");
const { encodeInput } = require("../boundary/json.js");
const { WorkUnderWay, weakly } = require("../native/lifetime.js");
const { callListener, warningOf } = require("../boundary/listener.js");

/** The longest timeout that JavaScript's timers support, in milliseconds. */
const MAX_TIMEOUT = 2 ** 31 - 1;

/**
 * True for a MessageBus.
 *
 * @type {(value: unknown) => value is MessageBus}
 */
let isBus;

/**
 * Counts one more user of a bus and returns the addon's side of it, for sending requests.
 *
 * @type {(bus: MessageBus) => NativeMessageBus}
 */
let joinBus;

/**
 * Counts one user less. Events that the addon has already sent still arrive.
 *
 * @type {(bus: MessageBus) => void}
 */
let leaveBus;

/**
 * Carries confirmation requests to listeners, and their answers back. Emits `request`, and `settled` when
 * a request no longer needs an answer. Every failure counts as a refusal.
 *
 * @implements {DeclaredMessageBus}
 */
class MessageBus extends EventEmitter {
  #native;
  /** How many open registries and requests use the bus. The addon has a callback while it is not 0. */
  #askers = 0;
  #requests = new WorkUnderWay(this);

  constructor() {
    // No arguments: the options of Node's emitters are not part of this API.
    super();
    this.#native = new native.NativeMessageBus();
  }

  static {
    isBus = (value) => typeof value === "object" && value !== null && #native in value;
    joinBus = (bus) => {
      if (bus.#askers === 0) bus.#native.listen(weakly(bus, MessageBus.#receive));
      bus.#askers += 1;
      return bus.#native;
    };
    leaveBus = (bus) => {
      bus.#askers -= 1;
      if (bus.#askers === 0) bus.#native.listen();
    };
  }

  /**
   * @param {ToolCallConfirmationDetails} details
   * @param {AbortSignal} [abortSignal]
   * @returns {Promise<boolean>}
   */
  async requestConfirmation(details, abortSignal, timeout = 60_000) {
    if (details === null || typeof details !== "object") {
      throw new ToolError(
        "InvalidOptions",
        `requestConfirmation() takes the details of a call, got ${shown(details)}`,
      );
    }
    if (typeof timeout !== "number" || !(timeout > 0 && timeout <= MAX_TIMEOUT)) {
      throw new ToolError(
        "InvalidOptions",
        `\`timeout\` must be a number of milliseconds from 1 to ${MAX_TIMEOUT}, got ${shown(timeout)}`,
      );
    }
    const detailsJson = encodeInput(details);
    return withSignal(abortSignal, (handle) =>
      this.#requests.during(() =>
        withBus(this, async (end = this.#native) => {
          const answer = await end.request(detailsJson, timeout, handle);
          /** @type {{ approved: boolean }} */
          const { approved } = unwrap(answer, abortSignal);
          return approved;
        }),
      ),
    );
  }

  /** @param {ConfirmationResponse} response */
  respondToConfirmation(response) {
    const { id, answerJson } = readAnswer(response);
    return this.#native.respond(id, answerJson);
  }

  /** @param {string} id */
  cancelRequest(id) {
    return typeof id === "string" && this.#native.cancel(id);
  }

  /**
   * @param {MessageBus} bus
   * @param {string} json
   */
  static #receive = (bus, json) => bus.#dispatch(JSON.parse(json));

  /** @param {({ type: "request" } & ConfirmationRequest) | ({ type: "settled" } & ConfirmationSettled)} news */
  #dispatch({ type, ...event }) {
    if (type === "settled") {
      this.#emit(type, event, warningOf('a "settled" listener of a MessageBus'));
      return;
    }
    if (this.listenerCount("request") === 0) {
      // A responder elsewhere may see it, such as the page of the local server.
      this.#native.noListener(event.id);
      return;
    }
    this.#emit(type, event, (error) =>
      this.#native.fail(event.id, `the listener failed: ${wordsOf(error)}`),
    );
  }

  /**
   * Calls all listeners, also after one of them has failed.
   *
   * @param {"request" | "settled"} type
   * @param {object} event
   * @param {(error: unknown) => void} fail
   */
  #emit(type, event, fail) {
    for (const listener of this.rawListeners(type))
      callListener(listener, this, { ...event }, fail);
  }
}

/**
 * Runs work that may ask over a bus. `run` gets the addon's side of it, or `undefined` without a bus.
 *
 * @template T
 * @param {MessageBus | undefined} bus
 * @param {(end: NativeMessageBus | undefined) => T | Promise<T>} run
 * @returns {Promise<T>}
 */
async function withBus(bus, run) {
  if (bus === undefined) return run(undefined);
  const end = joinBus(bus);
  try {
    return await run(end);
  } finally {
    leaveBus(bus);
  }
}

guardClass(MessageBus, isBus);
// The inherited methods are guarded too, because Node throws its own errors for a wrong listener. Not
// `emit`: it throws what listeners throw, and that belongs to its caller.
/** @type {[name: string, method: Function][]} */
const inherited = Object.getOwnPropertyNames(EventEmitter.prototype)
  .filter((name) => name !== "constructor" && name !== "emit")
  .flatMap((name) => {
    const method = Reflect.get(EventEmitter.prototype, name);
    return typeof method === "function" ? [[name, method]] : [];
  });
guardClass(MessageBus, isBus, inherited);

exports.MessageBus = MessageBus;
exports.isBus = isBus;
exports.joinBus = joinBus;
exports.leaveBus = leaveBus;
exports.withBus = withBus;
