"use strict";

/**
 * @import { KeyValueStore, StoredValue, StorePage } from "../types/stores"
 * @typedef {object} Operations what a server does; `waiting` is aborted when the caller no longer waits
 * @property {(key: string, waiting: AbortSignal) => Promise<StoredValue | undefined>} get
 * @property {(change: Change, waiting: AbortSignal) => Promise<boolean>} set
 * @property {(request: { key: string, expected: string | undefined }, waiting: AbortSignal) => Promise<boolean>} delete
 * @property {(request: ListRequest, waiting: AbortSignal) => Promise<StorePage>} list
 * @typedef {{ key: string, value: string, version: string, expected: string | undefined }} Change
 * @typedef {{ prefix: string, after: string | undefined, limit: number, keysOnly: boolean }} ListRequest
 */

const { randomUUID } = require("node:crypto");
const { ToolError, abortError, firstLineOf, shown } = require("../boundary/errors.js");

const DEFAULT_TIMEOUT_MS = 5_000;
/** A registry waits a second longer, and ten minutes at most. */
const MAX_TIMEOUT_MS = 599_000;

/** Added to the error of a change: the server may have made the change before the connection was lost. */
const AFTER_CHANGE = "; the change may have been made, look at the value before changing it again";

/**
 * A store over the operations of a server. It checks the arguments, makes the versions, and ends each
 * operation in time. A client alone would queue operations without end while its server is gone.
 *
 * @param {string} server
 * @param {number} timeoutMs
 * @param {Operations} operations
 * @returns {KeyValueStore}
 */
function checkedStore(server, timeoutMs, operations) {
  /**
   * @template T
   * @param {(waiting: AbortSignal) => Promise<T>} work
   * @param {AbortSignal | undefined} signal
   */
  const run = (work, signal, hint = "") => inTime({ server, timeoutMs, hint, work, signal });
  return {
    // A registry waits longer than this store, so that the error names the server that was slow.
    timeoutMs: timeoutMs + 1_000,

    async get(key, options) {
      checkText("the key", key);
      return run((waiting) => operations.get(key, waiting), options?.signal);
    },

    async set(key, value, expected, options) {
      checkText("the key", key);
      checkText("the value", value);
      checkExpected(expected);
      // Not a counter of the server: after a crash, the counter could give the same version again.
      const version = randomUUID();
      const change = { key, value, version, expected: expected ?? undefined };
      const isStored = await run(
        (waiting) => operations.set(change, waiting),
        options?.signal,
        AFTER_CHANGE,
      );
      return isStored ? version : undefined;
    },

    async delete(key, expected, options) {
      checkText("the key", key);
      checkExpected(expected);
      return run(
        (waiting) => operations.delete({ key, expected: expected ?? undefined }, waiting),
        options?.signal,
        AFTER_CHANGE,
      );
    },

    async list(prefix, options) {
      checkText("the prefix", prefix);
      /** @type {Partial<import("../types/stores").StoreListOptions>} */
      const { after, limit, keysOnly = false, signal } = options ?? {};
      if (after !== undefined && after !== null) checkText("`after`", after);
      if (limit === undefined || !Number.isSafeInteger(limit) || limit < 1) {
        throw invalid(`\`limit\` must be a whole number from 1, got ${shown(limit)}`);
      }
      const request = { prefix, after: after ?? undefined, limit, keysOnly };
      return run((waiting) => operations.list(request, waiting), signal);
    },
  };
}

/** The time limit of the options of a store. */
function readTimeout(timeoutMs = DEFAULT_TIMEOUT_MS) {
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > MAX_TIMEOUT_MS) {
    throw wrongOption(
      `\`timeoutMs\` must be a whole number from 1 to ${MAX_TIMEOUT_MS}, got ${shown(timeoutMs)}`,
    );
  }
  return timeoutMs;
}

/**
 * Settles with the work, or rejects when time is up or `signal` aborts; `waiting` aborts in both cases.
 *
 * @template T
 * @param {object} operation
 * @param {string} operation.server
 * @param {number} operation.timeoutMs
 * @param {string} operation.hint
 * @param {(waiting: AbortSignal) => Promise<T>} operation.work
 * @param {AbortSignal | undefined} operation.signal
 * @returns {Promise<T>}
 */
function inTime({ server, timeoutMs, hint, work, signal }) {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortError(signal.reason));
    const waiting = new AbortController();
    const settle = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    const giveUp = (/** @type {ToolError} */ error) => {
      settle();
      reject(error);
      waiting.abort(error);
    };
    const onAbort = () => giveUp(abortError(signal?.reason));
    const timer = setTimeout(() => {
      const message = `the store in ${server} did not answer within ${timeoutMs} ms${hint}`;
      giveUp(new ToolError("TimeoutError", message));
    }, timeoutMs);
    signal?.addEventListener("abort", onAbort, { once: true });
    // A result or error that comes after the time limit has no effect: the promise is settled.
    const attempt = async () => {
      try {
        const value = await work(waiting.signal);
        settle();
        resolve(value);
      } catch (cause) {
        settle();
        reject(failure(server, cause, hint));
      }
    };
    void attempt();
  });
}

/**
 * @param {string} server
 * @param {unknown} cause
 * @param {string} hint
 */
function failure(server, cause, hint) {
  // When no address answers, Node's message is empty and its code says why.
  const { message, code } = /** @type {{ message?: unknown, code?: unknown }} */ (cause ?? {});
  const reason = message === "" && code ? String(code) : firstLineOf(cause);
  return new ToolError("ToolFailed", `the store in ${server} failed: ${reason}${hint}`, { cause });
}

/**
 * Refuses a text that a server would change: PostgreSQL has no NUL, and UTF-8 has no lone surrogates.
 *
 * @param {string} what
 * @param {string} text
 */
function checkText(what, text) {
  if (typeof text !== "string") throw invalid(`${what} must be a string, got ${shown(text)}`);
  if (text.includes("\0")) throw invalid(`${what} has a NUL character; leave it out`);
  if (!text.isWellFormed()) {
    throw invalid(`${what} has half of a surrogate pair, which is no character; leave it out`);
  }
}

/** @param {string | null | undefined} expected */
function checkExpected(expected) {
  if (expected === undefined || expected === null) return;
  checkText("the expected version", expected);
}

/** @param {string} message */
function invalid(message) {
  return new ToolError("ValidationError", message);
}

/**
 * The error of a store that cannot be made.
 *
 * @param {string} message
 */
function wrongOption(message) {
  return new ToolError("InvalidOptions", message);
}

module.exports = { checkedStore, readTimeout, wrongOption };
