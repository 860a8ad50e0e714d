"use strict";

const { EventEmitter } = require("node:events");
const native = require("./native.js");
const { withSignal } = require("./abort.js");
const { guardClass } = require("./boundary.js");
const { readAnswer } = require("./confirmation-answer.js");
const { ToolError, shown, unwrap, wordsOf } = require("./errors.js");
const { encodeInput } = require("./json.js");
const { WorkUnderWay, weakly } = require("./lifetime.js");
const { callListener, warningOf } = require("./listener.js");

/** The longest timeout that JavaScript's timers support, in milliseconds. */
const MAX_TIMEOUT = 2 ** 31 - 1;

/** True for a MessageBus. */
let isBus;

/** Counts one more user of a bus and returns the addon's side of it, for sending requests. */
let joinBus;

/** Counts one user less. Events that the addon has already sent still arrive. */
let leaveBus;

/**
 * Carries confirmation requests to listeners, and their answers back. Emits `request`, and `settled` when
 * a request needs no answer any more. Whatever goes wrong counts as a refusal.
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
      if (bus.#askers === 0) bus.#native.listen(weakly(bus, MessageBus.#hear));
      bus.#askers += 1;
      return bus.#native;
    };
    leaveBus = (bus) => {
      bus.#askers -= 1;
      if (bus.#askers === 0) bus.#native.listen();
    };
  }

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
        withBus(this, async (end) => {
          const answer = await end.request(detailsJson, timeout, handle);
          return unwrap(answer, abortSignal).approved;
        }),
      ),
    );
  }

  respondToConfirmation(response) {
    const { id, answerJson } = readAnswer(response);
    return this.#native.respond(id, answerJson);
  }

  cancelRequest(id) {
    return typeof id === "string" && this.#native.cancel(id);
  }

  static #hear = (bus, json) => bus.#tell(JSON.parse(json));

  #tell({ type, ...event }) {
    if (type === "settled") {
      this.#tellAll(type, event, warningOf('a "settled" listener of a MessageBus'));
      return;
    }
    if (this.listenerCount("request") === 0) {
      // Somebody may see it elsewhere: on the page of the local server.
      this.#native.unheard(event.id);
      return;
    }
    this.#tellAll(type, event, (error) =>
      this.#native.fail(event.id, `the listener failed: ${wordsOf(error)}`),
    );
  }

  /** Calls all listeners, also after one of them has failed. */
  #tellAll(type, event, fail) {
    for (const listener of this.rawListeners(type))
      callListener(listener, this, { ...event }, fail);
  }
}

/** Runs work that may ask over a bus. `run` gets the addon's side of it, or `undefined` without a bus. */
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
const inherited = Object.getOwnPropertyNames(EventEmitter.prototype)
  .filter((name) => name !== "constructor" && name !== "emit")
  .filter((name) => typeof EventEmitter.prototype[name] === "function")
  .map((name) => [name, EventEmitter.prototype[name]]);
guardClass(MessageBus, isBus, inherited);

module.exports = { MessageBus, isBus, joinBus, leaveBus, withBus };
