// The in-process MCP server that hosts connect to.

// @ts-ignore: if the host has not installed the SDK, the imported name means `any`.
import type { McpSdkServerConfigWithInstance } from "@anthropic-ai/claude-agent-sdk" with {
  "resolution-mode": "import",
};
import type { DeclarativeTool } from "./invocations";
import type { HostTool, RegisteredTool } from "./tools";

/** A message of the Model Context Protocol. */
export interface McpMessage {
  jsonrpc: "2.0";
  /** Set in requests, and repeated in their answers. */
  id?: string | number;
  /** The kind of a request or notification, such as `tools/call`. */
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: unknown };
}

/** A connection to an MCP client. The transports of the official SDK fit. */
export interface McpTransport {
  /** Set by `connect`. The transport calls it with each message of the client. */
  onmessage?: MessageListener | undefined;
  /** Set by `connect`. The transport calls it when the client has disconnected. */
  onclose?: (() => void) | undefined;
  /** Sends a message to the client. */
  send(message: McpMessage): Promise<void> | void;
  /** Called once by `connect`. */
  start?(): Promise<void>;
  close?(): Promise<void> | void;
}

/** An in-process MCP server. Each `connect` serves one more client. */
export interface McpInstance {
  /** Answers the client at the other end of the transport until it disconnects. */
  connect(transport: McpTransport): Promise<void>;
  /** Disconnects all clients. */
  close(): Promise<void>;
}

/** An in-process MCP server in the form that agent hosts accept. */
export interface McpSdkServerConfig {
  readonly type: "sdk";
  readonly name: string;
  readonly version: string;
  /** The tools themselves, which ClaudeCodeToolAgent uses. */
  readonly tools: RegisteredTool[];
  /** The server, which the Claude Agent SDK and other MCP clients use. */
  readonly instance: McpInstance & AgentSdkInstance;
}

/**
 * The Claude Agent SDK asks for an instance of a class with private fields, which no other type fits,
 * although it only calls `connect`. If that class is known, an instance passes as one, and its other
 * members have the type `never`.
 */
type AgentSdkInstance = 0 extends 1 & McpServer
  ? unknown
  : McpServer & { readonly [Name in Exclude<keyof McpServer, keyof McpInstance>]: never };
type McpServer = McpSdkServerConfigWithInstance["instance"];

// Declared as a method, so that its parameter may be narrower: the SDK's transports type their messages.
type MessageListener = { listen(message: unknown): void }["listen"];

/** Makes an in-process MCP server from a few tools, without a registry. */
export declare function createSdkMcpServer(options: {
  name: string;
  /** Default: `"1.0.0"`. */
  version?: string | undefined;
  /** A text about the tools as a whole for the client's model. */
  instructions?: string | undefined;
  /** Whether results have `structuredContent`; see `ToolRegistryOptions`. */
  structuredContent?: boolean | undefined;
  tools?: readonly (HostTool | DeclarativeTool)[] | undefined;
}): McpSdkServerConfig;
