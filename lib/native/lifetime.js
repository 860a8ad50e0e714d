"use strict";

// Keeps objects from garbage collection while they are needed. A callback that the addon holds is a root of the
// collector, so callbacks refer to our objects weakly. Objects with unfinished work are kept here instead.

/**
 * Objects that must not be collected, because a caller waits for their work.
 *
 * @type {Set<object>}
 */
const kept = new Set();

/** Counts unfinished work and keeps its owner from being collected until the count is zero. */
class WorkUnderWay {
  #owner;
  #count = 0;
  /** @type {(() => void)[]} */
  #waiting = [];

  /** @param {object} owner */
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

  /**
   * @template T
   * @param {() => T | Promise<T>} work
   * @returns {Promise<T>}
   */
  async during(work) {
    this.begin();
    try {
      return await work();
    } finally {
      this.end();
    }
  }

  /** Resolves when no work is left. */
  async over() {
    if (this.#count === 0) return;
    /** @type {Promise<void>} */
    const over = new Promise((resolve) => this.#waiting.push(resolve));
    await over;
  }
}

/**
 * Makes a callback for the addon that calls `receive(object, ...news)` as long as the object exists.
 *
 * @template {object} T
 * @template {unknown[]} News
 * @param {T} object
 * @param {(object: T, ...news: News) => void} receive must not refer to the object itself, which would keep it alive
 * @returns {(...news: News) => void}
 */
function weakly(object, receive) {
  const reference = new WeakRef(object);
  return (...news) => {
    const there = reference.deref();
    if (there !== undefined) receive(there, ...news);
  };
}

exports.WorkUnderWay = WorkUnderWay;
exports.weakly = weakly;
