"use strict";

const { randomUUID } = require("node:crypto");
const { ToolError, abortError, firstLineOf, shown } = require("../errors.js");

const DEFAULT_TIMEOUT_MS = 5_000;
/** A registry waits a second longer, and ten minutes at most. */
const MAX_TIMEOUT_MS = 599_000;

/** After a failed change nobody knows whether the server has made it: it may have, before it was lost. */
const AFTER_CHANGE = "; the change may have been made, look at the value before changing it again";

/**
 * A store over the operations of a server. It checks what they are given, makes the versions, and ends each
 * operation in time, whatever the client does: clients queue without end while a server is gone.
 */
function checkedStore(server, timeoutMs, operations) {
  const run = (work, signal, hint = "") => inTime({ server, timeoutMs, hint, work, signal });
  return {
    // What a registry waits: longer than we do, so that the error says which server was slow.
    timeoutMs: timeoutMs + 1_000,

    async get(key, options) {
      checkText("the key", key);
      return run((waiting) => operations.get(key, waiting), options?.signal);
    },

    async set(key, value, expected, options) {
      checkText("the key", key);
      checkText("the value", value);
      checkExpected(expected);
      // Not a counter of the server: one that lost its last seconds would give a version again.
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
      const { after, limit, keysOnly = false, signal } = options ?? {};
      if (after !== undefined && after !== null) checkText("`after`", after);
      if (!Number.isSafeInteger(limit) || limit < 1) {
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

/** Settles with the work, or rejects when time is up or `signal` aborts; `waiting` aborts in both cases. */
function inTime({ server, timeoutMs, hint, work, signal }) {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortError(signal.reason));
    const waiting = new AbortController();
    const settle = (how, value) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      how(value);
    };
    const giveUp = (error) => {
      settle(reject, error);
      waiting.abort(error);
    };
    const onAbort = () => giveUp(abortError(signal.reason));
    const timer = setTimeout(() => {
      const message = `the store in ${server} did not answer within ${timeoutMs} ms${hint}`;
      giveUp(new ToolError("TimeoutError", message));
    }, timeoutMs);
    signal?.addEventListener("abort", onAbort, { once: true });
    // What comes after time was up, an error included, changes nothing any more.
    Promise.resolve()
      .then(() => work(waiting.signal))
      .then(
        (value) => settle(resolve, value),
        (cause) => settle(reject, failure(server, cause, hint)),
      );
  });
}

function failure(server, cause, hint) {
  // When no address answers, Node's message is empty and its code says why.
  const reason = cause?.message === "" && cause.code ? String(cause.code) : firstLineOf(cause);
  return new ToolError("ToolFailed", `the store in ${server} failed: ${reason}${hint}`, { cause });
}

/** Refuses what a server would not give back as it was: PostgreSQL has no NUL, and UTF-8 no half characters. */
function checkText(what, text) {
  if (typeof text !== "string") throw invalid(`${what} must be a string, got ${shown(text)}`);
  if (text.includes("\0")) throw invalid(`${what} has a NUL character; leave it out`);
  if (!text.isWellFormed()) {
    throw invalid(`${what} has half of a surrogate pair, which is no character; leave it out`);
  }
}

function checkExpected(expected) {
  if (expected === undefined || expected === null) return;
  checkText("the expected version", expected);
}

function invalid(message) {
  return new ToolError("ValidationError", message);
}

/** The error of a store that cannot be made. */
function wrongOption(message) {
  return new ToolError("InvalidOptions", message);
}

module.exports = { checkedStore, readTimeout, wrongOption };
