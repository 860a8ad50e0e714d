"use strict";

const { ToolError, shown } = require("./errors.js");

/** The functions of the option `handlers`; those of an object are methods of it. */
const FUNCTIONS = {
  askUser: true,
  spawnAgent: true,
  team: ["create", "send", "delete"],
  search: true,
  summarize: true,
  config: ["get", "set"],
  mcp: ["listResources", "readResource"],
};

/** Turns the option `handlers` into numbers by name, such as `{ askUser: 3, "config.get": 4 }`. */
function readHandlers(handlers, functions) {
  const numbers = {};
  if (handlers === undefined || handlers === null) return numbers;
  if (typeof handlers !== "object") {
    throw wrong(`\`handlers\` must be an object, got ${shown(handlers)}`);
  }
  for (const [name, handler] of Object.entries(handlers)) {
    if (handler === undefined || handler === null) continue;
    const form = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
    if (form === undefined) {
      throw wrong(`no handler is named \`${name}\`; known: ${Object.keys(FUNCTIONS).join(", ")}`);
    }
    if (form === true) {
      checkFunction(handler, `handlers.${name}`);
      numbers[name] = functions.addService((input, context) => handler(input, context));
      continue;
    }
    if (typeof handler !== "object" && typeof handler !== "function") {
      throw wrong(`\`handlers.${name}\` must be an object, got ${shown(handler)}`);
    }
    for (const method of form) {
      checkFunction(handler[method], `handlers.${name}.${method}`);
      // Looked up at each call, as a method of the host's object.
      const call = (input, context) => handler[method](input, context);
      numbers[`${name}.${method}`] = functions.addService(call);
    }
  }
  return numbers;
}

function checkFunction(value, place) {
  if (typeof value !== "function") {
    throw wrong(`\`${place}\` must be a function, got ${shown(value)}`);
  }
}

function wrong(message) {
  return new ToolError("InvalidOptions", message);
}

module.exports = { readHandlers };
