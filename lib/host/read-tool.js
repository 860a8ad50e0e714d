"use strict";

// Turns the tools that a host registers into what the addon takes: a spec and a handler.

/**
 * @import { MessageBus } from "../types/confirmations"
 * @import { DeclarativeTool } from "../types/invocations"
 * @import { HostTool, McpToolClient, McpToolConfig, SdkTool, ToolContext } from "../types/tools"
 * @import { CallContext, HostFunction } from "./functions.js"
 * @import { JsonSchema } from "../types/schemas"
 * @typedef {Omit<SdkTool, "handler"> & { declarative?: true, mcpServer?: string }} ToolSpec
 * @typedef {{ spec: ToolSpec, handler: HostFunction, invocations?: OwnInvocations }} ReadTool
 */

const { ToolError, shown } = require("../boundary/errors.js");
const { OwnInvocations } = require("./own-invocation.js");
const { defineTool } = require("./tool.js");

/**
 * Reads a tool in any of the accepted shapes. A declarative tool also has `invocations`, which keeps the
 * invocations of its running calls.
 *
 * @param {HostTool | DeclarativeTool} object
 * @param {MessageBus} bus the bus that a declarative tool's invocations may ask over
 * @returns {ReadTool}
 */
function readHostTool(object, bus) {
  if (object === null || typeof object !== "object") {
    throw new ToolError("InvalidTool", `register() takes a tool, got ${shown(object)}`);
  }
  if (!isDeclarative(object)) {
    const { handler, ...spec } = defineTool(object);
    return { spec, handler };
  }
  const invocations = new OwnInvocations(object, bus);
  const { handler, ...spec } = defineTool(fromDeclarative(object, invocations));
  return { spec: { ...spec, declarative: true }, handler, invocations };
}

/**
 * Reads a tool of an MCP server. It runs the host's handler, or calls the tool through the client.
 *
 * @param {McpToolConfig<never>} config
 * @param {MessageBus} bus
 * @returns {ReadTool}
 */
function readMcpTool(config, bus) {
  /** @type {Partial<McpToolConfig<never>> & { client?: McpToolClient, handler?: HostTool<never>["handler"] }} */
  const { serverName, toolName, client, handler, ...rest } = config ?? {};
  const call =
    handler ?? (typeof client?.callTool === "function" ? calling(client, toolName) : undefined);
  if (
    typeof serverName !== "string" ||
    typeof toolName !== "string" ||
    typeof call !== "function"
  ) {
    throw new ToolError(
      "InvalidTool",
      "registerMcpTool() takes { serverName, toolName, description, inputSchema, handler or client }",
    );
  }
  const tool = readHostTool({ ...rest, name: toolName, handler: call }, bus);
  return { spec: { ...tool.spec, mcpServer: serverName }, handler: tool.handler };
}

/**
 * A handler that calls a tool through a client of its server.
 *
 * @param {McpToolClient} client
 * @param {string | undefined} toolName
 * @returns {(args: Record<string, unknown>, context: ToolContext) => Promise<object>}
 */
function calling(client, toolName) {
  return (args, { signal }) =>
    client.callTool({ name: String(toolName), arguments: args }, undefined, { signal });
}

/**
 * True for a declarative tool: one with `createInvocation` instead of a handler.
 *
 * @param {{ createInvocation?: unknown, handler?: unknown }} object
 * @returns {object is DeclarativeTool}
 */
function isDeclarative(object) {
  return typeof object.createInvocation === "function" && typeof object.handler !== "function";
}

/**
 * @param {DeclarativeTool & { inputSchema?: JsonSchema }} object
 * @param {OwnInvocations} invocations
 * @returns {HostTool}
 */
function fromDeclarative(object, invocations) {
  return {
    name: object.name,
    title: object.displayName,
    description: object.schema?.description ?? object.description,
    inputSchema: object.schema?.parameters ?? object.inputSchema,
    annotations: object.annotations,
    sideEffect: object.sideEffect,
    timeoutMs: object.timeoutMs,
    alwaysLoad: object.alwaysLoad,
    outputSchema: object.outputSchema,
    handler: (args, context) => invocations.take(args, /** @type {CallContext} */ (context)),
  };
}

module.exports = { isDeclarative, readHostTool, readMcpTool };
