"use strict";

const { ToolError, shown } = require("./errors.js");
const { weakly } = require("./lifetime.js");
const { callListener, warningOf } = require("./listener.js");

/** The events of what lasts. None is kept for a listener that comes late: the state itself can be read. */
const STATE_EVENTS = ["todos", "config", "grant", "plugins", "mcpServer"];

/** The listeners of these events. The first one subscribes to the addon. */
class StateEvents {
  /** `undefined` once the registry is closed. */
  #native;
  #listening = false;
  #listeners = new Map(STATE_EVENTS.map((name) => [name, new Set()]));

  constructor(native) {
    this.#native = native;
  }

  add(name, listener) {
    if (typeof listener !== "function") {
      throw new ToolError(
        "InvalidOptions",
        `a listener must be a function, got ${shown(listener)}`,
      );
    }
    if (this.#native === undefined) return;
    this.#listeners.get(name).add(listener);
    this.listen();
  }

  remove(name, listener) {
    this.#listeners.get(name).delete(listener);
  }

  /** Hears from the addon, which warns of what could not be kept even if nobody listens. */
  listen() {
    if (this.#listening) return;
    this.#listening = true;
    this.#native.onStateEvent(weakly(this, StateEvents.#hear));
  }

  close() {
    this.#native = undefined;
    for (const listeners of this.#listeners.values()) listeners.clear();
  }

  static #hear = (events, json) => {
    const { event, data } = JSON.parse(json);
    if (event === "warning") {
      process.emitWarning(data, "ToolwrightWarning");
      return;
    }
    for (const listener of events.#listeners.get(event)) {
      // Each has its own copy, so that none can change what the next one sees.
      callListener(listener, undefined, structuredClone(data), WARNINGS[event]);
    }
  };
}

const WARNINGS = Object.fromEntries(
  STATE_EVENTS.map((name) => [name, warningOf(`a listener of \`${name}\``)]),
);

module.exports = { STATE_EVENTS, StateEvents };
