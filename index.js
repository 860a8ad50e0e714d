"use strict";

const { ToolError } = require("./lib/errors.js");
const { MessageBus } = require("./lib/message-bus.js");
const { OutputFormatter } = require("./lib/output-formatter.js");
const { PolicyEngine } = require("./lib/policy-engine.js");
const { validatePluginConfigFile, validatePluginToolDefinition } = require("./lib/plugins.js");
const { createSdkMcpServer } = require("./lib/sdk-mcp-server.js");
const { ToolRegistry, createToolRegistry } = require("./lib/registry.js");
const { createToolRoutes } = require("./lib/routes.js");
const { tool } = require("./lib/tool.js");

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
