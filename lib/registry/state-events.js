"use strict";

/**
 * @import { NativeRegistry } from "../../native/binding"
 * @import { StateEvents as Events } from "../types/state"
 * @typedef {keyof Events} EventName
 */

const { ToolError, shown } = require("../boundary/errors.js");
const { weakly } = require("../native/lifetime.js");
const { callListener, warningOf } = require("../boundary/listener.js");

/**
 * The events of lasting state. None is kept for a listener that comes late: the state itself can be read.
 *
 * @type {readonly EventName[]}
 */
const STATE_EVENTS = ["todos", "config", "grant", "plugins", "mcpServer"];

/** The listeners of these events. The first one subscribes to the addon. */
class StateEvents {
  /**
   * `undefined` once the registry is closed.
   *
   * @type {NativeRegistry | undefined}
   */
  #native;
  #listening = false;
  /** @type {Map<EventName, Set<Function>>} */
  #listeners = new Map(STATE_EVENTS.map((name) => [name, new Set()]));

  /** @param {NativeRegistry} native */
  constructor(native) {
    this.#native = native;
  }

  /**
   * @param {EventName} name
   * @param {Function} listener
   */
  add(name, listener) {
    if (typeof listener !== "function") {
      throw new ToolError(
        "InvalidOptions",
        `a listener must be a function, got ${shown(listener)}`,
      );
    }
    if (this.#native === undefined) return;
    this.#listeners.get(name)?.add(listener);
    this.listen();
  }

  /**
   * @param {EventName} name
   * @param {Function} listener
   */
  remove(name, listener) {
    this.#listeners.get(name)?.delete(listener);
  }

  /** Subscribes to the addon, which also warns when a value could not be stored. */
  listen() {
    if (this.#listening) return;
    this.#listening = true;
    this.#native?.onStateEvent(weakly(this, StateEvents.#receive));
  }

  close() {
    this.#native = undefined;
    for (const listeners of this.#listeners.values()) listeners.clear();
  }

  /**
   * @param {StateEvents} events
   * @param {string} json
   */
  static #receive = (events, json) => {
    /** @type {{ event: EventName, data: object } | { event: "warning", data: string }} */
    const { event, data } = JSON.parse(json);
    if (event === "warning") {
      process.emitWarning(data, "ToolwrightWarning");
      return;
    }
    for (const listener of events.#listeners.get(event) ?? []) {
      // Each has its own copy, so that none can change what the next one sees.
      callListener(listener, undefined, structuredClone(data), warnings[event]);
    }
  };
}

const warnings = {
  todos: warningOf("a listener of `todos`"),
  config: warningOf("a listener of `config`"),
  grant: warningOf("a listener of `grant`"),
  plugins: warningOf("a listener of `plugins`"),
  mcpServer: warningOf("a listener of `mcpServer`"),
};

exports.STATE_EVENTS = STATE_EVENTS;
exports.StateEvents = StateEvents;
