"use strict";

const { ToolError } = require("./lib/errors.js");
const { createSdkMcpServer } = require("./lib/sdk-mcp-server.js");
const { ToolRegistry, createToolRegistry } = require("./lib/registry.js");
const { tool } = require("./lib/tool.js");

exports.ToolError = ToolError;
exports.ToolRegistry = ToolRegistry;
exports.createSdkMcpServer = createSdkMcpServer;
exports.createToolRegistry = createToolRegistry;
exports.tool = tool;
