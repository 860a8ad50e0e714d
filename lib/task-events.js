"use strict";

const { ToolError, shown } = require("./errors.js");

/** How many events are kept for those who ask for earlier ones; the addon keeps as many. */
const KEPT = 1024;

/**
 * What happened to tasks. The addon is listened to from the first time that somebody wants to know, and
 * hands over what it has kept. Each listener and iterator is given each event once, from the first on or
 * from behind a number.
 */
class TaskEvents {
  #native;
  #kept = [];
  #listening = false;
  #listeners = new Map();
  #iterators = new Set();
  #closed = false;

  constructor(native) {
    this.#native = native;
  }

  add(_name, listener, { after } = {}) {
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

  remove(_name, listener) {
    this.#listeners.delete(listener);
  }

  /** Every event after a number, one after the other; ends when the registry is closed. */
  iterate({ after } = {}) {
    const state = {
      last: checkedAfter(after),
      waiting: [],
      ended: this.#closed,
      alive: undefined,
    };
    this.#iterators.add(state);
    this.#listen();
    const end = () => {
      state.ended = true;
      this.#iterators.delete(state);
      this.#serve(state);
    };
    return {
      next: () =>
        new Promise((resolve) => {
          state.waiting.push(resolve);
          this.#serve(state);
        }),
      return: async (value) => {
        end();
        return { done: true, value };
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  close() {
    this.#closed = true;
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
    if (this.#listening || this.#closed) return;
    this.#listening = true;
    this.#native.onTaskEvent((json) => {
      this.#kept.push(JSON.parse(json));
      if (this.#kept.length > KEPT) this.#kept.shift();
      this.#deliver();
    });
  }

  #deliver() {
    for (const [listener, state] of this.#listeners) {
      for (const event of this.#after(state)) call(listener, event);
    }
    for (const state of this.#iterators) this.#serve(state);
  }

  /** The events that somebody has not been given, who is then taken to have been given them. */
  #after(state) {
    const events = this.#kept.filter(({ sequence }) => sequence > state.last);
    state.last = Math.max(state.last, this.#last());
    return events;
  }

  #serve(state) {
    while (state.waiting.length > 0) {
      const event = this.#kept.find(({ sequence }) => sequence > state.last);
      if (event !== undefined) {
        state.last = event.sequence;
        state.waiting.shift()({ done: false, value: event });
      } else if (state.ended) {
        state.waiting.shift()({ done: true, value: undefined });
      } else {
        break;
      }
    }
    // The addon's listener keeps no process alive. Somebody who waits for a running task must be.
    const wanted = state.waiting.length > 0 && this.#native.runningTasks() > 0;
    if (wanted) state.alive ??= setInterval(() => {}, 2 ** 30);
    else state.alive = void clearInterval(state.alive);
  }
}

function checkedAfter(after = 0) {
  if (Number.isSafeInteger(after) && after >= 0) return after;
  throw new ToolError("InvalidOptions", `\`after\` must be a sequence number, got ${shown(after)}`);
}

function call(listener, event) {
  try {
    listener(event);
  } catch (error) {
    // It is called from the event loop: what it throws could only end the process.
    process.emitWarning(
      `a listener of tasks threw: ${error?.message ?? error}`,
      "ToolwrightWarning",
    );
  }
}

module.exports = { TaskEvents };
