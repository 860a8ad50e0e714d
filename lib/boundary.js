"use strict";

// The edge of the public API. Whatever it is given, and however it is called, what it throws or rejects
// with is a ToolError.

const { ToolError, isToolError, shown, wordsOf } = require("./errors.js");

const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor;

/** A function of the public API that throws nothing but ToolErrors. */
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
 * Guards every method of a class, also those without a `this` of the class, as when one is taken off its
 * object. `isInstance` has to look at a private field: nothing else cannot be made up.
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

/** Guards the static methods of a class that has no others. */
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
 * An error as the caller gets it. Our own code refuses what it knows to be wrong; what else is thrown was
 * thrown by the values that were given: by a getter, a proxy, a `toJSON`.
 */
function misuseOf(error, name) {
  if (isToolError(error)) return error;
  return new ToolError(
    "InvalidOptions",
    `${name}() cannot use what it was given: ${wordsOf(error)}`,
    { cause: error },
  );
}

/** Options of a method: an object, or nothing. */
function optionsOf(options, name) {
  if (options === undefined || options === null) return {};
  if (typeof options === "object") return options;
  throw new ToolError(
    "InvalidOptions",
    `the options of ${name}() must be an object, got ${shown(options)}`,
  );
}

/** A text that may be left out. */
function optionalText(value, name) {
  if (value === undefined || value === null || typeof value === "string") return value ?? undefined;
  throw new ToolError("InvalidOptions", `\`${name}\` must be a string, got ${shown(value)}`);
}

module.exports = { guardClass, guardStatics, guarded, misuseOf, optionalText, optionsOf };
