"use strict";

/**
 * @import { NativeRegistry } from "../../native/binding"
 * @import { TaskEventOptions } from "../types/tasks"
 * @import { StateEvents } from "./state-events.js"
 */

const { ToolError, shown } = require("../boundary/errors.js");
const { STATE_EVENTS } = require("./state-events.js");
const { TaskEvents } = require("./task-events.js");

/** The events that a registry's `on` names: those of tasks, and those of lasting state. */
class RegistryEvents {
  #tasks;
  #state;

  /**
   * @param {NativeRegistry} native
   * @param {StateEvents} state
   */
  constructor(native, state) {
    this.#tasks = new TaskEvents(native);
    this.#state = state;
  }

  /**
   * @param {string} name
   * @param {Function} listener
   * @param {TaskEventOptions} [options]
   */
  add(name, listener, options) {
    if (name === "task") this.#tasks.add(listener, options);
    else this.#state.add(checkedEvent(name), listener);
  }

  /**
   * @param {string} name
   * @param {Function} listener
   */
  remove(name, listener) {
    if (name === "task") this.#tasks.remove(listener);
    else this.#state.remove(checkedEvent(name), listener);
  }

  /** @param {TaskEventOptions} [options] */
  iterateTasks(options) {
    return this.#tasks.iterate(options);
  }

  close() {
    this.#tasks.close();
    this.#state.close();
  }
}

/**
 * Returns the name of an event of lasting state, or throws when there is no such event.
 *
 * @param {string} name
 */
function checkedEvent(name) {
  const event = STATE_EVENTS.find((it) => it === name);
  if (event !== undefined) return event;
  const known = ["task", ...STATE_EVENTS].map((it) => `\`"${it}"\``).join(", ");
  throw new ToolError("InvalidOptions", `the events are ${known}, got ${shown(name)}`);
}

exports.RegistryEvents = RegistryEvents;
