"use strict";

const { EventEmitter } = require("node:events");
const native = require("./native.js");
const { withSignal } = require("./abort.js");
const { ToolError, shown, unwrap } = require("./errors.js");
const { encodeInput } = require("./json.js");

/** Longest wait that timers take. */
const MAX_TIMEOUT = 2 ** 31 - 1;

/**
 * Carries confirmation requests to whoever listens and answers back to whoever asked. Emits `request`
 * and, when no answer is needed any more, `settled`. Whatever goes wrong, the answer is no.
 */
class MessageBus extends EventEmitter {
  #native;

  constructor() {
    super();
    this.#native = new native.NativeMessageBus((json) => this.#tell(JSON.parse(json)));
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
    return withSignal(abortSignal, async (handle) => {
      const { approved } = unwrap(
        await this.#native.request(detailsJson, timeout, handle),
        abortSignal,
      );
      return approved;
    });
  }

  respondToConfirmation(response) {
    const { id, ...answer } = response ?? {};
    if (typeof id !== "string") {
      throw new ToolError(
        "InvalidOptions",
        `an answer needs the request's \`id\`, got ${shown(id)}`,
      );
    }
    return this.#native.respond(id, encodeAnswer(answer));
  }

  cancelRequest(id) {
    return this.#native.cancel(String(id));
  }

  /** The addon's end of the bus, for a registry. */
  static nativeOf(bus) {
    return bus.#native;
  }

  static isBus(value) {
    return typeof value === "object" && value !== null && #native in value;
  }

  #tell({ type, ...event }) {
    if (type === "settled") {
      this.#emitSafely(type, event, (error) => warn(error));
      return;
    }
    const fail = (error) =>
      this.#native.fail(event.id, `the listener failed: ${error?.message ?? error}`);
    if (this.listenerCount("request") === 0) {
      this.#native.fail(event.id, "nobody listens");
      return;
    }
    this.#emitSafely(type, event, fail);
  }

  /** One listener's failure is told and does not keep the others from hearing. */
  #emitSafely(type, event, fail) {
    for (const listener of this.rawListeners(type)) {
      try {
        const returned = listener.call(this, { ...event });
        if (typeof returned?.then === "function") returned.then(undefined, fail);
      } catch (error) {
        fail(error);
      }
    }
  }
}

/** What JSON cannot say is no yes. */
function encodeAnswer(answer) {
  try {
    return encodeInput(answer);
  } catch {
    return "{}";
  }
}

function warn(error) {
  process.emitWarning(
    `a "settled" listener of a MessageBus threw: ${error?.message ?? error}`,
    "ToolwrightWarning",
  );
}

module.exports = { MessageBus };
