// MCP servers whose tools the registry registers and calls.

/** Settings of every server, for each kind of connection. */
export interface McpServerCommonConfig {
  /** How long one call of its tools may take, in milliseconds. Default: the limit of the registry. */
  readonly timeoutMs?: number | undefined;
  /** How long it may take to start, to agree on a protocol and to list its tools. Default: 10,000 ms. */
  readonly startupTimeoutMs?: number | undefined;
  /** True for a server that is not to be connected. */
  readonly disabled?: boolean | undefined;
  /** The tools to register, by the server's own names, with `*` at the end for all that begin so. Default: all. */
  readonly allowedTools?: readonly string[] | undefined;
}

/** A server that is started as a program and talked to over its standard streams. */
export interface McpStdioServerConfig extends McpServerCommonConfig {
  readonly type?: "stdio" | undefined;
  /** The program: its path, or its name in a directory of `PATH`. No shell reads it. */
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /**
   * Variables that are added to those of the registry's commands, or replace them. Variables of the host that
   * look like secrets (`GITHUB_TOKEN`, `AWS_…`) are not passed on: name those here that the server needs.
   */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** The directory to start in, relative to `projectPath`, which is the default. */
  readonly cwd?: string | undefined;
}

/** A server that listens at a URL. */
export interface McpHttpServerConfig extends McpServerCommonConfig {
  /** `"sse"` for servers from before streamable HTTP. Default: `"http"`. */
  readonly type?: "http" | "streamable-http" | "sse" | undefined;
  /** Where it listens. It may be a private address, because the host chose it and not a model. */
  readonly url: string;
  /** Headers of every request, such as `Authorization`. They are sent to this host alone. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** An MCP server, in the form of the configuration files of agents. */
export type McpServerConfig = McpStdioServerConfig | McpHttpServerConfig;

/**
 * The state of a server:
 * - `connecting`: it is being connected for the first time.
 * - `connected`: its tools can be called.
 * - `reconnecting`: the connection was lost and is being made again. Its tools are listed, and calls fail.
 * - `failed`: it could not be connected. It has no tools, and is tried again after at most 30 seconds.
 * - `disabled`: it is not connected, because its configuration says so.
 */
export type McpServerState = "connecting" | "connected" | "reconnecting" | "failed" | "disabled";

/** An MCP server of a registry. */
export interface McpServerStatus {
  readonly name: string;
  readonly type: "stdio" | "http" | "sse";
  readonly state: McpServerState;
  /** When the state began, in milliseconds since 1970, like `Date.now()`. */
  readonly since: number;
  /** The names of its tools in the registry, in the order of the server. */
  readonly tools: readonly string[];
  /** Why it is not connected. */
  readonly error?: string;
  /** Problems of a connected server, such as tools that were left out. */
  readonly warnings: readonly string[];
  /** The end of what its program wrote to standard error, at most 64 KB. */
  readonly stderr?: string;
  /** The version of the protocol that was agreed on. */
  readonly protocolVersion?: string;
  /** The name and version that the server gives itself. */
  readonly serverInfo?: { readonly name: string; readonly version: string };
  /** The server's own text about its use. */
  readonly instructions?: string;
}
