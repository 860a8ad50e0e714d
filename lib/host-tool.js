"use strict";

// Turns the tools that a host registers into what the addon takes: a spec and a handler.

const { ToolError, shown } = require("./errors.js");
const { OwnInvocations } = require("./own-invocation.js");
const { tool } = require("./tool.js");

/**
 * Reads a tool in any of the accepted shapes. A declarative tool also has `invocations`, which keeps the
 * invocations of its running calls.
 *
 * @param bus the bus that a declarative tool's invocations may ask over
 */
function readHostTool(object, bus) {
  if (object === null || typeof object !== "object") {
    throw new ToolError("InvalidTool", `register() takes a tool, got ${shown(object)}`);
  }
  if (!isDeclarative(object)) {
    const { handler, ...spec } = tool(object);
    return { spec, handler };
  }
  const invocations = new OwnInvocations(object, bus);
  const { handler, ...spec } = tool(fromDeclarative(object, invocations));
  return { spec: { ...spec, declarative: true }, handler, invocations };
}

/** Reads a tool of an MCP server. It runs the host's handler, or calls the tool through the client. */
function readMcpTool(config) {
  const { serverName, toolName, client, handler, ...rest } = config ?? {};
  const callable = typeof handler === "function" || typeof client?.callTool === "function";
  if (typeof serverName !== "string" || typeof toolName !== "string" || !callable) {
    throw new ToolError(
      "InvalidTool",
      "registerMcpTool() takes { serverName, toolName, description, inputSchema, handler or client }",
    );
  }
  const call =
    handler ??
    ((args, { signal }) =>
      client.callTool({ name: toolName, arguments: args }, undefined, { signal }));
  const tool = readHostTool({ ...rest, name: toolName, handler: call });
  return { spec: { ...tool.spec, mcpServer: serverName }, handler: tool.handler };
}

/** True for a declarative tool: one with `createInvocation` instead of a handler. */
function isDeclarative(object) {
  return typeof object.createInvocation === "function" && typeof object.handler !== "function";
}

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
    handler: (args, context) => invocations.take(args, context),
  };
}

module.exports = { isDeclarative, readHostTool, readMcpTool };
