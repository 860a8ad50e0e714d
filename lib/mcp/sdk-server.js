"use strict";

/**
 * @import { DeclarativeTool } from "../types/invocations"
 * @import { createSdkMcpServer as declared } from "../types/mcp-host"
 */

const { guarded } = require("../boundary/guards.js");
const { ToolError, shown } = require("../boundary/errors.js");
const { ToolRegistry } = require("../registry/registry.js");

/**
 * Makes an in-process MCP server from a few tools. ClaudeCodeToolAgent uses its `tools`, the Claude Agent
 * SDK its `instance`.
 *
 * @param {Parameters<typeof declared>[0]} options
 */
function createSdkMcpServer(options) {
  if (options === null || typeof options !== "object" || typeof options.name !== "string") {
    throw new ToolError(
      "InvalidOptions",
      `createSdkMcpServer() takes { name, version?, tools }, got ${shown(options)}`,
    );
  }
  const { name, version = "1.0.0", instructions, structuredContent, tools = [] } = options;
  if (typeof tools?.[Symbol.iterator] !== "function") {
    throw new ToolError("InvalidOptions", `\`tools\` must be an array, got ${shown(tools)}`);
  }
  // The tools are the host's own, and an agent host asks its user itself.
  const permissionMode = "bypassPermissions";
  const server = { serverName: name, version, instructions, structuredContent };
  const registry = new ToolRegistry({ ...server, permissionMode, userPolicyFile: false });
  for (const tool of tools) registry.register(tool);
  return registry.toMcpServerConfig();
}

module.exports = { createSdkMcpServer: guarded(createSdkMcpServer, "createSdkMcpServer") };
