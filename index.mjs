import toolwright from "./index.js";

export const {
  MessageBus,
  OutputFormatter,
  PolicyEngine,
  ToolError,
  ToolRegistry,
  createSdkMcpServer,
  createToolRegistry,
  createToolRoutes,
  tool,
  validatePluginConfigFile,
  validatePluginToolDefinition,
} = toolwright;
