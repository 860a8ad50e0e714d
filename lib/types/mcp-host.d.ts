// The in-process MCP server, as the hosts that connect to it see it.

// @ts-ignore: the SDK is there only where the host has it; where it is not, the name means `any`.
import type { McpSdkServerConfigWithInstance } from "@anthropic-ai/claude-agent-sdk" with {
  "resolution-mode": "import",
};
import type { RegisteredTool } from "../../index";

/** A message of the Model Context Protocol. */
export interface McpMessage {
  jsonrpc: "2.0";
  /** What a request is known by, and its answer. */
  id?: string | number;
  /** What a request or a notification is about. */
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: unknown };
}

/** A message line of the Model Context Protocol; the official SDK's transports fit. */
export interface McpTransport {
  /** Set by `connect`: takes the client's messages. */
  onmessage?: MessageListener | undefined;
  /** Set by `connect`: tells that the client has left. */
  onclose?: (() => void) | undefined;
  /** Brings a message to the client. */
  send(message: McpMessage): Promise<void> | void;
  /** Called once by `connect`. */
  start?(): Promise<void>;
  close?(): Promise<void> | void;
}

/** An in-process MCP server; each `connect` serves one client. */
export interface McpInstance {
  /** Answers the client at the other end of the line, until it closes. */
  connect(transport: McpTransport): Promise<void>;
  /** Ends every client's line. */
  close(): Promise<void>;
}

/** An in-process MCP server, for the hosts of both kinds. */
export interface McpSdkServerConfig {
  readonly type: "sdk";
  readonly name: string;
  readonly version: string;
  /** For ClaudeCodeToolAgent. */
  readonly tools: RegisteredTool[];
  /** For the Claude Agent SDK, and for every MCP client. */
  readonly instance: McpInstance & AgentSdkInstance;
}

/**
 * What the Claude Agent SDK asks for is a class, which no other type fits, though it uses `connect` alone.
 * So where that class is known, an instance passes for one, and the rest of it cannot be used.
 */
type AgentSdkInstance = 0 extends 1 & McpServer
  ? unknown
  : McpServer & { readonly [Name in Exclude<keyof McpServer, keyof McpInstance>]: never };
type McpServer = McpSdkServerConfigWithInstance["instance"];

// As that of a method, its parameter may be narrower: the SDK's transports know their messages.
type MessageListener = { listen(message: unknown): void }["listen"];
