"use strict";

const path = require("node:path");
const { ToolError, shown } = require("./errors.js");

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
      calls[name](input, withSignal({}, context)),
    );
  }
  const { timeoutMs } = store;
  return { store: timeoutMs === undefined ? {} : { timeoutMs }, storeKind: { host: numbers } };
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
