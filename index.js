"use strict";

const { ToolError } = require("./lib/boundary/errors.js");
const { MessageBus } = require("./lib/registry/message-bus.js");
const { OutputFormatter } = require("./lib/registry/output-formatter.js");
const { PolicyEngine } = require("./lib/registry/policy-engine.js");
const {
  validatePluginConfigFile,
  validatePluginToolDefinition,
} = require("./lib/registry/plugins.js");
const { createSdkMcpServer } = require("./lib/mcp/sdk-server.js");
const { ToolRegistry, createToolRegistry } = require("./lib/registry/registry.js");
const { createToolRoutes } = require("./lib/http/tool-routes.js");
const { tool } = require("./lib/host/tool.js");

/**
 * Fails to compile unless the exports have the types that index.d.ts declares.
 *
 * @template {typeof import("./index.js")} T
 * @typedef {T} Declared
 */
/**
 * @typedef {Declared<{
 *   MessageBus: typeof MessageBus,
 *   OutputFormatter: typeof OutputFormatter,
 *   PolicyEngine: typeof PolicyEngine,
 *   ToolError: typeof ToolError,
 *   ToolRegistry: typeof ToolRegistry,
 *   createSdkMcpServer: typeof createSdkMcpServer,
 *   createToolRegistry: typeof createToolRegistry,
 *   createToolRoutes: typeof createToolRoutes,
 *   tool: typeof tool,
 *   validatePluginConfigFile: typeof validatePluginConfigFile,
 *   validatePluginToolDefinition: typeof validatePluginToolDefinition,
 * }>} Exports
 */

exports.MessageBus = MessageBus;
exports.OutputFormatter = OutputFormatter;
exports.PolicyEngine = PolicyEngine;
exports.ToolError = ToolError;
exports.ToolRegistry = ToolRegistry;
exports.createSdkMcpServer = createSdkMcpServer;
exports.createToolRegistry = createToolRegistry;
exports.createToolRoutes = createToolRoutes;
exports.tool = tool;
exports.validatePluginConfigFile = validatePluginConfigFile;
exports.validatePluginToolDefinition = validatePluginToolDefinition;
