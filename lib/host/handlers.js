"use strict";

/**
 * @import { AgentContext } from "../types/agents"
 * @import { HandlerContext, HostHandlers } from "../types/handlers"
 * @import { ToolRegistry } from "../types/registry"
 * @import { HostFunctions } from "./functions.js"
 */

const { agentSdkSpawner } = require("./agent-sdk.js");
const { ToolError, shown } = require("../boundary/errors.js");

/**
 * The functions of the option `handlers`; those of an object are methods of it.
 *
 * @type {Record<string, true | string[]>}
 */
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
 * @param {HostHandlers | null | undefined} handlers
 * @param {HostFunctions} functions
 * @param {ToolRegistry} registry the registry whose handlers they are
 */
function readHandlers(handlers, functions, registry) {
  /** @type {Record<string, number>} */
  const numbers = {};
  if (handlers !== undefined && handlers !== null && typeof handlers !== "object") {
    throw wrong(`\`handlers\` must be an object, got ${shown(handlers)}`);
  }
  addGiven(handlers ?? {}, functions, registry, numbers);
  // Without a handler, agents are run by the Agent SDK, if it is installed.
  numbers.spawnAgent ??= functions.addService(withRegistry(agentSdkSpawner(), registry));
  return numbers;
}

/**
 * @param {HostHandlers} handlers
 * @param {HostFunctions} functions
 * @param {ToolRegistry} registry
 * @param {Record<string, number>} numbers
 */
function addGiven(handlers, functions, registry, numbers) {
  for (const [name, handler] of Object.entries(handlers)) {
    if (handler === undefined || handler === null) continue;
    const form = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
    if (form === undefined) {
      throw wrong(`no handler is named \`${name}\`; known: ${Object.keys(FUNCTIONS).join(", ")}`);
    }
    if (form === true) {
      const given = checkedFunction(handler, `handlers.${name}`);
      /** @type {(input: unknown, context: HandlerContext) => unknown} */
      const call = (input, context) => Reflect.apply(given, undefined, [input, context]);
      numbers[name] = functions.addService(
        name === "spawnAgent" ? withRegistry(call, registry) : call,
      );
      continue;
    }
    if (typeof handler !== "object" && typeof handler !== "function") {
      throw wrong(`\`handlers.${name}\` must be an object, got ${shown(handler)}`);
    }
    for (const method of form) {
      checkedFunction(Reflect.get(handler, method), `handlers.${name}.${method}`);
      /** @type {(input: unknown, context: HandlerContext) => unknown} */
      const call = (input, context) => {
        // Looked up at each call, as a method of the host's object.
        return Reflect.apply(Reflect.get(handler, method), handler, [input, context]);
      };
      numbers[`${name}.${method}`] = functions.addService(call);
    }
  }
}

/**
 * Adds the registry to the context of a handler, which exists before the registry does.
 *
 * @param {(input: never, context: AgentContext) => unknown} handler
 * @param {ToolRegistry} registry
 * @returns {(input: never, context: HandlerContext) => unknown}
 */
function withRegistry(handler, registry) {
  return (input, context) => {
    const messages = () =>
      registry.teamMessages({ sessionId: context.sessionId, signal: context.signal });
    // Not copied, because `signal` is made when it is first read.
    const whole = Object.assign(context, { registry, messages });
    return handler(input, /** @type {AgentContext} */ (whole));
  };
}

/**
 * @param {unknown} value
 * @param {string} place
 * @returns {Function}
 */
function checkedFunction(value, place) {
  if (typeof value === "function") return value;
  throw wrong(`\`${place}\` must be a function, got ${shown(value)}`);
}

/** @param {string} message */
function wrong(message) {
  return new ToolError("InvalidOptions", message);
}

module.exports = { readHandlers };
