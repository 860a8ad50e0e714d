"use strict";

const path = require("node:path");
const { ToolError, isToolError, shown } = require("./errors.js");

const METHODS = ["get", "set", "delete", "list"];

/**
 * Turns the option `store` into what the addon takes: settings in `store`, and in `storeKind` whether values
 * are kept in a file, in memory, or by an object of the host, whose methods are known by number.
 */
function readStore(store, functions) {
  if (store === undefined || store === null) return {};
  if (store === "memory") return { storeKind: "memory" };
  if (typeof store !== "object" && typeof store !== "function") {
    throw wrong(
      `\`store\` must be "memory", settings or an object with methods, got ${shown(store)}`,
    );
  }
  if (METHODS.some((name) => typeof store[name] === "function")) return hostStore(store, functions);
  if (!isPlain(store)) {
    // Settings that nobody gave would be a file in the user's home: not where these values should be.
    const hint = typeof store.then === "function" ? "; await it first" : "";
    throw wrong(
      `\`store\` must be "memory", settings or an object with the methods ${METHODS.join(", ")}, got ${shownStore(store)}${hint}`,
    );
  }
  const { path: file, ...settings } = store;
  if (file === undefined || file === null) return { store: settings };
  if (typeof file !== "string" || file === "") {
    throw wrong(`\`store.path\` must be a path, got ${shown(file)}`);
  }
  // Once, so that a later change of the current directory does not move the store.
  return { store: { ...settings, path: path.resolve(file) } };
}

function hostStore(store, functions) {
  for (const name of METHODS) {
    if (typeof store[name] !== "function") {
      throw wrong(
        `\`store.${name}\` must be a function, got ${shown(store[name])}; a store has the methods ${METHODS.join(", ")}`,
      );
    }
  }
  const calls = {
    get: ({ key }, options) => store.get(key, options),
    set: ({ key, value, expected }, options) => store.set(key, value, expected, options),
    delete: ({ key, expected }, options) => store.delete(key, expected, options),
    list: ({ prefix, after, limit, keysOnly }, options) => {
      const request = { after: after ?? undefined, limit, keysOnly };
      return store.list(prefix, withSignal(request, options));
    },
  };
  const numbers = {};
  for (const name of METHODS) {
    numbers[name] = functions.addService((input, context) =>
      named(() => calls[name](input, withSignal({}, context))),
    );
  }
  const { timeoutMs } = store;
  return { store: timeoutMs === undefined ? {} : { timeoutMs }, storeKind: { host: numbers } };
}

/**
 * Runs a method. The message of a ToolError, as the stores of this package throw them, says by itself what
 * failed, and the addon adds nothing to it. Another error is shown with the name of the method.
 */
async function named(run) {
  try {
    return await run();
  } catch (error) {
    if (!isToolError(error)) throw error;
    throw new ToolError("StoreError", error.message, { cause: error });
  }
}

/** Whether an object is settings, written as `{ … }`, and not a promise, a list or an instance of a class. */
function isPlain(store) {
  const prototype = Object.getPrototypeOf(store);
  // That of another realm, such as a test's, has the same place in its chain.
  return (
    typeof store === "object" &&
    !Array.isArray(store) &&
    (prototype === null || Object.getPrototypeOf(prototype) === null)
  );
}

function shownStore(store) {
  const name = store.constructor?.name;
  const isOfClass = typeof store === "object" && !Array.isArray(store) && typeof name === "string";
  return isOfClass ? `an object of the class \`${name.slice(0, 60)}\`` : shown(store);
}

/** Adds the signal of a call, which is only made when somebody reads it. */
function withSignal(options, context) {
  return Object.defineProperty(options, "signal", {
    enumerable: true,
    get: () => context.signal,
  });
}

function wrong(message) {
  return new ToolError("InvalidOptions", message);
}

module.exports = { readStore };
