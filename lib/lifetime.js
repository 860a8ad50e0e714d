"use strict";

// Who lives how long. The addon's callbacks are roots of the garbage collector for as long as the addon
// has them. So they refer to our objects weakly, and an object with work under way is kept here.

/** Objects that must not be collected: somebody waits for what they do. */
const kept = new Set();

/** Counts the work that somebody waits for, and keeps its owner until the last of it is over. */
class WorkUnderWay {
  #owner;
  #count = 0;
  #waiting = [];

  constructor(owner) {
    this.#owner = owner;
  }

  begin() {
    if (this.#count === 0) kept.add(this.#owner);
    this.#count += 1;
  }

  end() {
    this.#count -= 1;
    if (this.#count > 0) return;
    kept.delete(this.#owner);
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  async during(work) {
    this.begin();
    try {
      return await work();
    } finally {
      this.end();
    }
  }

  /** Resolves when there is no work. */
  async over() {
    if (this.#count > 0) await new Promise((resolve) => this.#waiting.push(resolve));
  }
}

/**
 * A function for the addon that hands what it is given to an object, if that still is there.
 *
 * @param hear takes the object first; it must not refer to the object in any other way
 */
function weakly(object, hear) {
  const reference = new WeakRef(object);
  return (...news) => {
    const there = reference.deref();
    if (there !== undefined) hear(there, ...news);
  };
}

module.exports = { WorkUnderWay, weakly };
