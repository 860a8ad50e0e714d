"use strict";

/**
 * @import { NativeRegistry } from "../../native/binding"
 * @import { TaskEvent, TaskEventIterator, TaskEventOptions } from "../types/tasks"
 * @typedef {{ last: number }} Position the sequence number of the last event that was delivered
 * @typedef {IteratorResult<TaskEvent, undefined>} Step
 * @typedef {object} Iteration the state of one iterator
 * @property {number} last
 * @property {TaskEvent[]} events
 * @property {number} given events that were not asked for yet begin at this index
 * @property {number | undefined} lost the sequence number of the first event that did not fit
 * @property {{ resolve: (step: Step) => void, reject: (error: unknown) => void }[]} waiting
 * @property {boolean} ended
 * @property {ReturnType<typeof setInterval> | undefined} alive
 */

const { optionsOf } = require("../boundary/guards.js");
const { ToolError, shown } = require("../boundary/errors.js");
const { WorkUnderWay, weakly } = require("../native/lifetime.js");
const { callListener, warningOf } = require("../boundary/listener.js");

/** How many past events are kept for listeners that ask for them. The addon keeps as many. */
const KEPT = 1024;

/** How many events may wait for one iterator. Later ones are lost to it, and it throws. */
const MAX_WAITING = 16 * 1024;

/**
 * The events of background tasks. The first listener or iterator subscribes to the addon, which then sends
 * the events that it has kept. Each listener and iterator gets each event once, starting with the first or
 * after a given sequence number.
 */
class TaskEvents {
  /**
   * `undefined` once the registry is closed.
   *
   * @type {NativeRegistry | undefined}
   */
  #native;
  /** @type {TaskEvent[]} */
  #kept = [];
  #listening = false;
  /** @type {Map<Function, Position>} */
  #listeners = new Map();
  /** @type {Set<Iteration>} */
  #iterators = new Set();
  /** Counts iterators that wait for a running task. */
  #waits = new WorkUnderWay(this);

  /** @param {NativeRegistry} native */
  constructor(native) {
    this.#native = native;
  }

  /**
   * @param {Function} listener
   * @param {TaskEventOptions} [options]
   */
  add(listener, options) {
    const { after } = optionsOf(options, "on");
    if (typeof listener !== "function") {
      throw new ToolError(
        "InvalidOptions",
        `a listener must be a function, got ${shown(listener)}`,
      );
    }
    this.#listeners.set(listener, { last: checkedAfter(after) });
    this.#listen();
    queueMicrotask(() => this.#deliver());
  }

  /** @param {Function} listener */
  remove(listener) {
    this.#listeners.delete(listener);
  }

  /**
   * An async iterator over the events after a sequence number. It ends when the registry is closed.
   *
   * @param {TaskEventOptions} [options]
   * @returns {TaskEventIterator}
   */
  iterate(options) {
    const { after } = optionsOf(options, "taskEvents");
    /** @type {Iteration} */
    const state = {
      last: checkedAfter(after),
      events: [],
      given: 0,
      lost: undefined,
      waiting: [],
      ended: this.#native === undefined,
      alive: undefined,
    };
    this.#collect(state);
    this.#iterators.add(state);
    this.#listen();
    const end = () => {
      state.ended = true;
      state.events = [];
      state.given = 0;
      state.lost = undefined;
      this.#iterators.delete(state);
      this.#serve(state);
    };
    return {
      next: () =>
        new Promise((resolve, reject) => {
          state.waiting.push({ resolve, reject });
          this.#serve(state);
        }),
      /** @returns {Promise<IteratorReturnResult<undefined>>} */
      return: async (value = undefined) => {
        end();
        return { done: true, value };
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  close() {
    this.#native = undefined;
    this.#listeners.clear();
    for (const state of this.#iterators) {
      state.ended = true;
      this.#serve(state);
    }
    this.#iterators.clear();
  }

  #last() {
    return this.#kept.at(-1)?.sequence ?? 0;
  }

  #listen() {
    if (this.#listening || this.#native === undefined) return;
    this.#listening = true;
    this.#native.onTaskEvent(weakly(this, TaskEvents.#receive));
  }

  /**
   * @param {TaskEvents} events
   * @param {string} json
   */
  static #receive = (events, json) => {
    events.#kept.push(JSON.parse(json));
    if (events.#kept.length > KEPT) events.#kept.shift();
    events.#deliver();
  };

  #deliver() {
    for (const [listener, state] of this.#listeners) {
      for (const event of this.#after(state)) callListener(listener, undefined, event, warn);
    }
    for (const state of this.#iterators) {
      this.#collect(state);
      this.#serve(state);
    }
  }

  /**
   * Copies new events to an iterator, because it may ask for them after `#kept` has dropped them.
   *
   * @param {Iteration} state
   */
  #collect(state) {
    for (const event of this.#after(state)) {
      const isBehind = state.events.length - state.given >= MAX_WAITING;
      if (isBehind) state.lost ??= event.sequence;
      if (state.lost === undefined) state.events.push(event);
    }
  }

  /**
   * Returns the events that a listener or iterator has not had yet, and marks them as delivered.
   *
   * @param {Position} state
   */
  #after(state) {
    const events = this.#kept.filter(({ sequence }) => sequence > state.last);
    state.last = Math.max(state.last, this.#last());
    return events;
  }

  /** @param {Iteration} state */
  #serve(state) {
    for (let [next] = state.waiting; next !== undefined; [next] = state.waiting) {
      const event = state.events[state.given];
      if (event !== undefined) {
        state.given += 1;
        next.resolve({ done: false, value: event });
      } else if (state.lost !== undefined) {
        next.reject(leftBehind(state));
        state.lost = undefined;
        state.ended = true;
        this.#iterators.delete(state);
      } else if (state.ended) {
        next.resolve({ done: true, value: undefined });
      } else {
        break;
      }
      state.waiting.shift();
    }
    // Delivered events are dropped in batches: dropping each would move all others every time.
    if (state.given > KEPT || state.given === state.events.length) {
      state.events.splice(0, state.given);
      state.given = 0;
    }
    const isWanted = state.waiting.length > 0 && (this.#native?.runningTasks() ?? 0) > 0;
    if (isWanted) this.#keepAlive(state);
    else this.#stopKeepingAlive(state);
  }

  /**
   * Keeps the process alive for an iterator that waits for a running task; the addon's callback does not.
   *
   * @param {Iteration} state
   */
  #keepAlive(state) {
    if (state.alive !== undefined) return;
    state.alive = setInterval(() => {}, 2 ** 30);
    this.#waits.begin();
  }

  /** @param {Iteration} state */
  #stopKeepingAlive(state) {
    if (state.alive === undefined) return;
    clearInterval(state.alive);
    state.alive = undefined;
    this.#waits.end();
  }
}

/** @param {Iteration} state */
function leftBehind({ lost, last }) {
  return new ToolError(
    "InternalError",
    `the iterator is too far behind: ${MAX_WAITING} events waited for it, and it missed those from ${lost} to ${last}; read events faster, or call tasks() for the current state`,
  );
}

function checkedAfter(after = 0) {
  if (Number.isSafeInteger(after) && after >= 0) return after;
  throw new ToolError("InvalidOptions", `\`after\` must be a sequence number, got ${shown(after)}`);
}

const warn = warningOf("a listener of tasks");

exports.TaskEvents = TaskEvents;
