/// <reference lib="esnext.disposable" />

export type { ToolInputs } from "./lib/generated/tool-inputs";
export type { ToolOutputs } from "./lib/generated/tool-outputs";
export type * from "./lib/types/agents";
export type * from "./lib/types/confirmations";
export type * from "./lib/types/errors";
export type * from "./lib/types/handlers";
export type * from "./lib/types/hooks";
export type * from "./lib/types/http";
export type * from "./lib/types/indexing";
export type * from "./lib/types/invocations";
export type * from "./lib/types/mcp-host";
export type * from "./lib/types/mcp-servers";
export type * from "./lib/types/options";
export type * from "./lib/types/output";
export type * from "./lib/types/plugins";
export type * from "./lib/types/policy";
export type * from "./lib/types/provider-formats";
export type * from "./lib/types/registry";
export type * from "./lib/types/results";
export type * from "./lib/types/sandbox";
export type * from "./lib/types/schemas";
export type * from "./lib/types/state";
export type * from "./lib/types/stores";
export type * from "./lib/types/tasks";
export type * from "./lib/types/teams";
export type * from "./lib/types/tools";
export type * from "./lib/types/web";

// The values of index.js. All other exports are types.
export { MessageBus } from "./lib/types/confirmations";
export { ToolError } from "./lib/types/errors";
export { createToolRoutes } from "./lib/types/http";
export { createSdkMcpServer } from "./lib/types/mcp-host";
export { OutputFormatter } from "./lib/types/output";
export { validatePluginConfigFile, validatePluginToolDefinition } from "./lib/types/plugins";
export { PolicyEngine } from "./lib/types/policy";
export { ToolRegistry, createToolRegistry } from "./lib/types/registry";
export { tool } from "./lib/types/tools";
