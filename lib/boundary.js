"use strict";

// Guards of the public API: whatever a method is given, all that it throws or rejects with is a ToolError.

const { ToolError, isToolError, shown, wordsOf } = require("./errors.js");

const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor;

/** Wraps a function of the public API so that it only throws ToolErrors. */
function guarded(method, name, checkThis = () => {}) {
  const wrapper =
    method instanceof AsyncFunction
      ? async function (...args) {
          try {
            checkThis(this, name);
            return await method.apply(this, args);
          } catch (error) {
            throw misuseOf(error, name);
          }
        }
      : function (...args) {
          try {
            checkThis(this, name);
            return method.apply(this, args);
          } catch (error) {
            throw misuseOf(error, name);
          }
        };
  Object.defineProperty(wrapper, "name", { value: method.name, configurable: true });
  Object.defineProperty(wrapper, "length", { value: method.length, configurable: true });
  return wrapper;
}

/**
 * Guards every method of a class. A method that was taken off its object and called without it throws a
 * ToolError too. `isInstance` has to check for a private field, because anything else can be forged.
 */
function guardClass(owner, isInstance, methods = methodsOf(owner.prototype)) {
  const checkThis = (self, name) => {
    if (isInstance(self)) return;
    throw new ToolError(
      "InvalidOptions",
      `${name}() was called on ${shown(self)} instead of a ${owner.name}; call it as a method, or bind it`,
    );
  };
  for (const [name, method] of methods) {
    define(owner.prototype, name, guarded(method, String(name), checkThis));
  }
}

/** Guards the methods of a class that has only static ones. */
function guardStatics(owner) {
  for (const [name, method] of methodsOf(owner)) define(owner, name, guarded(method, name));
}

function methodsOf(object) {
  return Object.entries(Object.getOwnPropertyDescriptors(object))
    .filter(([name, { value }]) => typeof value === "function" && name !== "constructor")
    .map(([name, { value }]) => [name, value]);
}

function define(object, name, value) {
  Object.defineProperty(object, name, { value, writable: true, configurable: true });
}

/**
 * Turns any thrown value into a ToolError. Our own checks throw ToolErrors already; anything else was
 * thrown by the caller's values, such as a getter, a proxy or a `toJSON`.
 */
function misuseOf(error, name) {
  if (isToolError(error)) return error;
  return new ToolError("InvalidOptions", `${name}() cannot use its arguments: ${wordsOf(error)}`, {
    cause: error,
  });
}

/** Returns the options of a method, which may be missing, or throws when they are not an object. */
function optionsOf(options, name) {
  if (options === undefined || options === null) return {};
  if (typeof options === "object") return options;
  throw new ToolError(
    "InvalidOptions",
    `the options of ${name}() must be an object, got ${shown(options)}`,
  );
}

/** Returns a string that may be missing, or throws when it is something else. */
function optionalText(value, name) {
  if (value === undefined || value === null || typeof value === "string") return value ?? undefined;
  throw new ToolError("InvalidOptions", `\`${name}\` must be a string, got ${shown(value)}`);
}

/** Returns the name of a tool, or throws when it is not a string. */
function checkedToolName(name) {
  if (typeof name === "string") return name;
  throw new ToolError("InvalidOptions", `a tool's name must be a string, got ${shown(name)}`);
}

module.exports = {
  checkedToolName,
  guardClass,
  guardStatics,
  guarded,
  misuseOf,
  optionalText,
  optionsOf,
};
