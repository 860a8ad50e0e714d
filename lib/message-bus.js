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

/** Longest wait that timers take. */
const MAX_TIMEOUT = 2 ** 31 - 1;

/** True for a MessageBus. */
let isBus;

/** Somebody may ask over a bus from now on: gives the addon's end of it. */
let joinBus;

/** Somebody will not ask over a bus any more; what is on its way is still heard. */
let leaveBus;

/**
 * Carries confirmation requests to whoever listens and answers back to whoever asked. Emits `request`
 * and, when no answer is needed any more, `settled`. Whatever goes wrong, the answer is no.
 */
class MessageBus extends EventEmitter {
  #native;
  /** How many may ask at this moment: open registries and requests. The addon can reach us while it is not 0. */
  #askers = 0;
  #requests = new WorkUnderWay(this);

  constructor() {
    // Node's options of emitters are not ours.
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
      this.#native.fail(event.id, "nobody listens");
      return;
    }
    this.#tellAll(type, event, (error) =>
      this.#native.fail(event.id, `the listener failed: ${wordsOf(error)}`),
    );
  }

  /** One listener's failure is told and does not keep the others from hearing. */
  #tellAll(type, event, fail) {
    for (const listener of this.rawListeners(type))
      callListener(listener, this, { ...event }, fail);
  }
}

/** Runs work that may ask over a bus, if there is one: `run` gets the addon's end of it, or nothing. */
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
// Node's own methods throw its own errors for what is no listener. `emit` throws what listeners throw,
// which is for whoever calls it.
const inherited = Object.getOwnPropertyNames(EventEmitter.prototype)
  .filter((name) => name !== "constructor" && name !== "emit")
  .filter((name) => typeof EventEmitter.prototype[name] === "function")
  .map((name) => [name, EventEmitter.prototype[name]]);
guardClass(MessageBus, isBus, inherited);

module.exports = { MessageBus, isBus, joinBus, leaveBus, withBus };
