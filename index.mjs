import toolwright from "./index.js";

export const { ToolError, ToolRegistry, createSdkMcpServer, createToolRegistry, tool } = toolwright;
