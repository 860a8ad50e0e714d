"use strict";

const { agentSdkSpawner } = require("./agent-sdk.js");
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

/**
 * Turns the option `handlers` into numbers by name, such as `{ askUser: 3, "config.get": 4 }`.
 *
 * @param registry the registry whose handlers they are
 */
function readHandlers(handlers, functions, registry) {
  const numbers = {};
  if (handlers !== undefined && handlers !== null && typeof handlers !== "object") {
    throw wrong(`\`handlers\` must be an object, got ${shown(handlers)}`);
  }
  addGiven(handlers ?? {}, functions, registry, numbers);
  // Without a handler, agents are run by the Agent SDK, if it is installed.
  numbers.spawnAgent ??= functions.addService(withRegistry(agentSdkSpawner(), registry));
  return numbers;
}

function addGiven(handlers, functions, registry, numbers) {
  for (const [name, handler] of Object.entries(handlers)) {
    if (handler === undefined || handler === null) continue;
    const form = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
    if (form === undefined) {
      throw wrong(`no handler is named \`${name}\`; known: ${Object.keys(FUNCTIONS).join(", ")}`);
    }
    if (form === true) {
      checkFunction(handler, `handlers.${name}`);
      const call = (input, context) => handler(input, context);
      numbers[name] = functions.addService(
        name === "spawnAgent" ? withRegistry(call, registry) : call,
      );
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
}

/** Tells a handler which registry calls it: a handler is given before there is a registry. */
function withRegistry(handler, registry) {
  return (input, context) => {
    // Not copied, because `signal` is made when it is first read.
    context.registry = registry;
    context.messages = () =>
      registry.teamMessages({ sessionId: context.sessionId, signal: context.signal });
    return handler(input, context);
  };
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
