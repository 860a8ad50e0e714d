// Checked by tsc, never run: the Claude Agent SDK and the MCP SDK accept our objects, and we accept theirs.
import {
  query,
  tool as agentTool,
  type HookCallback,
  type HookCallbackMatcher,
  type McpServerConfig,
  type Options,
} from "@anthropic-ai/claude-agent-sdk";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  type CallToolResult,
  type Tool,
} from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { z as z3 } from "zod/v3";
import {
  createSdkMcpServer,
  createToolRegistry,
  type Hooks,
  type HookGroup,
  type McpInstance,
  type McpTransport,
  type SharedHook,
} from "../../index.js";

const registry = createToolRegistry();

// Servers.
const server = createSdkMcpServer({ name: "s" });
const own = registry.toMcpServerConfig();
server satisfies McpServerConfig;
void query({ prompt: "", options: { mcpServers: { server, own } } });
void query({ prompt: "", options: { mcpServers: { s: createSdkMcpServer({ name: "s" }) } } });
own.instance satisfies McpInstance;
// @ts-expect-error an instance is accepted as the SDK's class, but has only `connect` and `close`
own.instance.registerTool("x", {}, () => ({ content: [] }));

// Its tools are registered unchanged, of Zod 4 and of Zod 3.
const weather = agentTool("weather", "", { city: z.string() }, async ({ city }) => ({
  content: [{ type: "text", text: city }],
}));
const old = agentTool("old", "", { city: z3.string() }, async ({ city }) => ({
  content: [{ type: "text", text: city }],
}));
registry.register(weather);
registry.register(old);
createSdkMcpServer({ name: "s", tools: [weather, old] });

// Hooks.
export function hooksOfTheSdk(callback: HookCallback, matcher: HookCallbackMatcher): Hooks {
  matcher satisfies HookGroup;
  createToolRegistry({
    hooks: {
      PreToolUse: [matcher, callback, { matcher: "Bash", hooks: [callback], timeout: 5 }],
      PostToolUse: [matcher, callback],
      PostToolUseFailure: [matcher, callback],
    },
  });
  const options: Options = { hooks: { PreToolUse: [matcher] } };
  return { PreToolUse: options.hooks?.PreToolUse, PostToolUse: options.hooks?.PostToolUse };
}

const shared: SharedHook = async ({ hook_event_name, tool_name }) =>
  hook_event_name === "PreToolUse" && tool_name === "Bash"
    ? { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny" } }
    : {};
shared satisfies HookCallback;
createToolRegistry({ hooks: { PreToolUse: [shared], PostToolUse: [{ hooks: [shared] }] } });
void query({ prompt: "", options: { hooks: { Stop: [{ hooks: [shared] }] } } });

// Transports, clients and servers of the MCP SDK.
export async function protocol(transport: Transport, client: Client, server: Server) {
  transport satisfies McpTransport;
  const [near, far] = InMemoryTransport.createLinkedPair();
  await own.instance.connect(near);
  await client.connect(far);

  const { tools } = await client.listTools();
  for (const { name, description, inputSchema, annotations } of tools) {
    const told = { description, inputSchema, annotations };
    registry.registerMcpTool({ serverName: "docs", toolName: name, client, ...told });
  }

  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: registry.definitions("mcp") }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) =>
    registry.call(params.name, params.arguments),
  );
  registry.definitions("mcp") satisfies Tool[];
  (await registry.call("Grep", { pattern: "x" })) satisfies CallToolResult;
}
