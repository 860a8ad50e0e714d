"use strict";

// Guards of the public API: a method throws and rejects with ToolErrors only, for any arguments.

const { ToolError, isToolError, shown, wordsOf } = require("./errors.js");

/** @type {Function} */
const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor;

/**
 * The symbol of `await using`. Node before 20.5 does not have it, and no program can use the method there.
 *
 * @type {typeof Symbol.asyncDispose}
 */
const ASYNC_DISPOSE = Symbol.asyncDispose ?? Symbol("Symbol.asyncDispose");

/**
 * Wraps a function of the public API so that it only throws ToolErrors.
 *
 * @template {Function} F
 * @param {F} method
 * @param {string} name
 * @param {(self: unknown, name: string) => void} [checkThis] throws unless `this` is what the method needs
 * @returns {F}
 */
function guarded(method, name, checkThis = () => {}) {
  /** @type {unknown} */
  const wrapper =
    method instanceof AsyncFunction
      ? /** @this {unknown} @param {unknown[]} args */ async function (...args) {
          try {
            checkThis(this, name);
            return await Reflect.apply(method, this, args);
          } catch (error) {
            throw misuseOf(error, name);
          }
        }
      : /** @this {unknown} @param {unknown[]} args */ function (...args) {
          try {
            checkThis(this, name);
            return Reflect.apply(method, this, args);
          } catch (error) {
            throw misuseOf(error, name);
          }
        };
  Object.defineProperty(wrapper, "name", { value: method.name, configurable: true });
  Object.defineProperty(wrapper, "length", { value: method.length, configurable: true });
  return /** @type {F} */ (wrapper);
}

/**
 * Guards every method of a class. A method that was taken off its object and called without it throws a
 * ToolError too. `isInstance` has to check for a private field, because anything else can be forged.
 *
 * @param {{ name: string, prototype: object }} owner
 * @param {(value: unknown) => boolean} isInstance
 * @param {[name: string, method: Function][]} methods
 */
function guardClass(owner, isInstance, methods = methodsOf(owner.prototype)) {
  /**
   * @param {unknown} self
   * @param {string} name
   */
  const checkThis = (self, name) => {
    if (isInstance(self)) return;
    throw new ToolError(
      "InvalidOptions",
      `${name}() was called on ${shown(self)} instead of a ${owner.name}; call it as a method, or bind it`,
    );
  };
  for (const [name, method] of methods) {
    define(owner.prototype, name, guarded(method, name, checkThis));
  }
}

/**
 * Guards the methods of a class that has only static ones.
 *
 * @param {object} owner
 */
function guardStatics(owner) {
  for (const [name, method] of methodsOf(owner)) define(owner, name, guarded(method, name));
}

/**
 * @param {object} object
 * @returns {[name: string, method: Function][]}
 */
function methodsOf(object) {
  return Object.entries(Object.getOwnPropertyDescriptors(object))
    .filter(([name, { value }]) => typeof value === "function" && name !== "constructor")
    .map(([name, { value }]) => [name, value]);
}

/**
 * @param {object} object
 * @param {string} name
 * @param {unknown} value
 */
function define(object, name, value) {
  Object.defineProperty(object, name, { value, writable: true, configurable: true });
}

/**
 * Turns any thrown value into a ToolError. Our own checks throw ToolErrors already; anything else was
 * thrown by the caller's values, such as a getter, a proxy or a `toJSON`.
 *
 * @param {unknown} error
 * @param {string} name
 */
function misuseOf(error, name) {
  if (isToolError(error)) return error;
  return new ToolError("InvalidOptions", `${name}() cannot use its arguments: ${wordsOf(error)}`, {
    cause: error,
  });
}

/**
 * Returns the options of a method, which may be missing, or throws when they are not an object.
 *
 * @template {object} T
 * @param {T | null | undefined} options
 * @param {string} name
 * @returns {Partial<T>}
 */
function optionsOf(options, name) {
  if (options === undefined || options === null) return {};
  if (typeof options === "object") return options;
  throw new ToolError(
    "InvalidOptions",
    `the options of ${name}() must be an object, got ${shown(options)}`,
  );
}

/**
 * Returns a string that may be missing, or throws when it is something else.
 *
 * @template {string} T
 * @param {T | null | undefined} value
 * @param {string} name
 * @returns {T | undefined}
 */
function optionalText(value, name) {
  if (value === undefined || value === null || typeof value === "string") return value ?? undefined;
  throw new ToolError("InvalidOptions", `\`${name}\` must be a string, got ${shown(value)}`);
}

/**
 * Returns the name of a tool, or throws when it is not a string.
 *
 * @param {string} name
 */
function checkedToolName(name) {
  if (typeof name === "string") return name;
  throw new ToolError("InvalidOptions", `a tool's name must be a string, got ${shown(name)}`);
}

exports.ASYNC_DISPOSE = ASYNC_DISPOSE;
exports.checkedToolName = checkedToolName;
exports.guardClass = guardClass;
exports.guardStatics = guardStatics;
exports.guarded = guarded;
exports.misuseOf = misuseOf;
exports.optionalText = optionalText;
exports.optionsOf = optionsOf;
