"use strict";

/**
 * @import { HostFunctions } from "../host/functions.js"
 * @import { HandlerContext } from "../types/handlers"
 * @import { FileStoreOptions, KeyValueStore, StoreCallOptions, StoreListOptions } from "../types/stores"
 * @typedef {{ store?: object, storeKind?: "memory" | { host: Record<string, number> } }} StoreSettings
 * @typedef {object} StoreRequest the arguments of a method, as the addon sends them
 * @property {string} key
 * @property {string} value
 * @property {string | null} expected
 * @property {string} prefix
 * @property {string | null} [after]
 * @property {number} limit
 * @property {boolean} keysOnly
 */

const path = require("node:path");
const { ToolError, isToolError, shown } = require("../boundary/errors.js");

/** @type {("get" | "set" | "delete" | "list")[]} */
const METHODS = ["get", "set", "delete", "list"];

/**
 * Turns the option `store` into what the addon takes: settings in `store`, and in `storeKind` whether values
 * are kept in a file, in memory, or by an object of the host, whose methods are known by number.
 *
 * @param {FileStoreOptions | "memory" | KeyValueStore | null | undefined} store
 * @param {HostFunctions} functions
 * @returns {StoreSettings}
 */
function readStore(store, functions) {
  if (store === undefined || store === null) return {};
  if (store === "memory") return { storeKind: "memory" };
  if (typeof store !== "object" && typeof store !== "function") {
    throw wrong(
      `\`store\` must be "memory", settings or an object with methods, got ${shown(store)}`,
    );
  }
  if (hasMethod(store)) return hostStore(store, functions);
  if (!isPlain(store)) {
    // Taken as empty settings, the values would be kept in a file in the user's home.
    const hint = typeof Reflect.get(store, "then") === "function" ? "; await it first" : "";
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

/**
 * @param {object} store
 * @returns {store is KeyValueStore}
 */
function hasMethod(store) {
  return METHODS.some((name) => typeof Reflect.get(store, name) === "function");
}

/**
 * @param {KeyValueStore} store
 * @param {HostFunctions} functions
 * @returns {StoreSettings}
 */
function hostStore(store, functions) {
  for (const name of METHODS) {
    if (typeof store[name] !== "function") {
      throw wrong(
        `\`store.${name}\` must be a function, got ${shown(store[name])}; a store has the methods ${METHODS.join(", ")}`,
      );
    }
  }
  /** @type {Record<string, (input: StoreRequest, options: StoreCallOptions) => unknown>} */
  const calls = {
    get: ({ key }, options) => store.get(key, options),
    set: ({ key, value, expected }, options) => store.set(key, value, expected, options),
    delete: ({ key, expected }, options) => store.delete(key, expected, options),
    list: ({ prefix, after, limit, keysOnly }, options) => {
      const request = { after: after ?? undefined, limit, keysOnly };
      return store.list(prefix, withSignal(request, options));
    },
  };
  /** @type {Record<string, number>} */
  const numbers = {};
  for (const [name, call] of Object.entries(calls)) {
    numbers[name] = functions.addService((/** @type {StoreRequest} */ input, context) =>
      named(() => call(input, withSignal({}, context))),
    );
  }
  const { timeoutMs } = store;
  return { store: timeoutMs === undefined ? {} : { timeoutMs }, storeKind: { host: numbers } };
}

/**
 * Runs a method. The stores of this package throw ToolErrors, whose message says what failed, and the addon
 * adds nothing to it. Another error is shown with the name of the method.
 *
 * @param {() => unknown} run
 */
async function named(run) {
  try {
    return await run();
  } catch (error) {
    if (!isToolError(error)) throw error;
    throw new ToolError("StoreError", error.message, { cause: error });
  }
}

/**
 * Whether an object is settings, written as `{ … }`, and not a promise, a list or an instance of a class.
 *
 * @param {object} store
 */
function isPlain(store) {
  const prototype = Object.getPrototypeOf(store);
  // Compared by its place in the chain, because the object may be of another realm.
  return (
    typeof store === "object" &&
    !Array.isArray(store) &&
    (prototype === null || Object.getPrototypeOf(prototype) === null)
  );
}

/** @param {object} store */
function shownStore(store) {
  const name = store.constructor?.name;
  const isOfClass = typeof store === "object" && !Array.isArray(store) && typeof name === "string";
  return isOfClass ? `an object of the class \`${name.slice(0, 60)}\`` : shown(store);
}

/**
 * Adds the signal of a call. The signal is only made when the store reads it.
 *
 * @template {object} T
 * @param {T} options
 * @param {StoreCallOptions} context
 * @returns {T & StoreCallOptions}
 */
function withSignal(options, context) {
  return Object.defineProperty(options, "signal", {
    enumerable: true,
    get: () => context.signal,
  });
}

/** @param {string} message */
function wrong(message) {
  return new ToolError("InvalidOptions", message);
}

module.exports = { readStore };
