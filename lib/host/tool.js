"use strict";

/** @import { HostTool, SdkTool, ToolExtras } from "../types/tools" */

const { guarded } = require("../boundary/guards.js");
const { ToolError, shown } = require("../boundary/errors.js");
const { readInputSchema } = require("../schema/input-schema.js");

/**
 * Defines a tool of the host, from one object or with the arguments of the Claude Agent SDK's `tool`.
 *
 * @param {string | HostTool} nameOrConfig
 * @param {string} [description]
 * @param {HostTool["inputSchema"]} [inputSchema]
 * @param {HostTool["handler"]} [handler]
 * @param {ToolExtras} [extras]
 * @returns {SdkTool}
 */
function tool(nameOrConfig, description, inputSchema, handler, extras) {
  const config =
    typeof nameOrConfig === "string"
      ? { ...extras, name: nameOrConfig, description, inputSchema, handler }
      : nameOrConfig;
  if (config === null || typeof config !== "object") {
    throw new ToolError(
      "InvalidTool",
      `tool() takes { name, description, inputSchema, handler } or (name, description, shape, handler), got ${shown(config)}`,
    );
  }
  const { name } = config;
  if (typeof name !== "string") {
    throw new ToolError("InvalidTool", `a tool's name must be a string, got ${shown(name)}`);
  }
  const { handler: run } = config;
  if (typeof run !== "function") {
    throw new ToolError(
      "InvalidTool",
      `tool \`${name}\`: handler must be a function, got ${shown(run)}`,
    );
  }
  if (config.description !== undefined && typeof config.description !== "string") {
    throw new ToolError(
      "InvalidTool",
      `tool \`${name}\`: description must be a string, got ${shown(config.description)}`,
    );
  }
  const { title, annotations, sideEffect, timeoutMs, alwaysLoad, outputSchema } = config;
  if (outputSchema !== undefined && outputSchema?.type !== "object") {
    throw new ToolError(
      "InvalidTool",
      `tool \`${name}\`: outputSchema must be JSON Schema with \`type: "object"\`, got ${shown(outputSchema)}`,
    );
  }
  // JSON would turn NaN into null, which means "not set".
  if (timeoutMs !== undefined && !(Number.isInteger(timeoutMs) && timeoutMs >= 0)) {
    throw new ToolError(
      "InvalidTool",
      `tool \`${name}\`: timeoutMs must be a whole number of milliseconds, got ${shown(timeoutMs)}`,
    );
  }
  const { schema, parse } = readInputSchema(config.inputSchema, name);
  return {
    name,
    description: config.description ?? "",
    inputSchema: schema,
    // Always returns a promise, also if the handler is not async or throws before its first await.
    handler: async (args, context) =>
      Reflect.apply(run, config, [parse ? await parse(args ?? {}) : args, context]),
    ...definedOnly({
      title: title || undefined,
      annotations,
      sideEffect,
      timeoutMs,
      alwaysLoad,
      outputSchema,
    }),
  };
}

/** @param {object} object */
function definedOnly(object) {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

const defineTool = guarded(tool, "tool");

/** @type {typeof import("../types/tools").tool} */
const publicTool = defineTool;

module.exports = { defineTool, tool: publicTool };
