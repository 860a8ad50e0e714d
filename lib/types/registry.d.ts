/// <reference lib="esnext.disposable" />

// The registry.

import type { ToolInputs } from "../generated/tool-inputs";
import type { MessageBus } from "./confirmations";
import type { HttpFetchOptions, HttpServeOptions, RegistryServer } from "./http";
import type { IndexStatus } from "./indexing";
import type { DeclarativeTool, ToolInvocation } from "./invocations";
import type { McpSdkServerConfig } from "./mcp-host";
import type { McpServerConfig, McpServerStatus } from "./mcp-servers";
import type { CallOptions, ToolRegistryOptions, TurnOptions } from "./options";
import type { ExplainedCall, PermissionMode, PolicyConfig, PolicyLint } from "./policy";
import type { DefinitionFormat, Definitions, TurnBlock, TurnResults } from "./provider-formats";
import type { CallResult, StructuredContentOf } from "./results";
import type { InputSchema } from "./schemas";
import type { Grant, RegistryConfig, StateEvents, TodoItem } from "./state";
import type { TaskEvent, TaskEventIterator, TaskEventOptions, TaskInfo } from "./tasks";
import type { TeamMessageIterator } from "./teams";
import type { AnyTool, HostTool, McpToolConfig, RegisteredTool, RegisteredToolInfo } from "./tools";

/** What `initialize` and `reloadPlugins` found. */
export interface ToolRegistrationResult {
  /** False if there is an error in a plugin file or, after `initialize`, of an MCP server. Other tools work. */
  readonly success: boolean;
  /** The number of tools that the registry now has. */
  readonly toolCount: number;
  /**
   * Errors in plugin files. After `initialize` also those of MCP servers, and rules of the policy that name
   * no tool.
   */
  readonly errors: readonly ToolRegistrationError[];
}

/** An error in a plugin, of an MCP server or in a rule. */
export interface ToolRegistrationError {
  /** The plugin file, its directory, the server (`mcpServers.<name>`), or the place of the rule. */
  readonly source: string;
  readonly toolName?: string;
  readonly message: string;
}

/** A file that `undo` has brought back to the state before a call. */
export interface UndoneChange {
  path: string;
  action: "restored" | "removed";
}

/** A registry of tools: every call of every tool takes the same path. */
export declare class ToolRegistry {
  /** Makes a registry. It has no built-in tools unless `toolsets` names some. */
  constructor(options?: ToolRegistryOptions);

  /** Where confirmation requests go. Listen to its event `request` to answer them. */
  readonly messageBus: MessageBus;

  /** The settings that the tool `Config` reads and changes. */
  readonly config: RegistryConfig;

  /**
   * Loads the plugin tools, connects the MCP servers, and reports the number of tools. `errors` lists errors
   * in plugin files and servers, and rules of the policy that name no tool. Call it after registering the
   * host's own tools. Built-in tools work without it. With `rememberGrants`, it reads the stored grants. The
   * first call would read them too, but `explain` and `isAllowed` do not wait for the store.
   */
  initialize(): Promise<ToolRegistrationResult>;
  /**
   * Reads the plugin files again and replaces all plugin tools in one step: a listing or a call sees either
   * the old tools or the new ones. If a file has become invalid, its old tools stay and the error is reported.
   * If a file was deleted, its tools are removed. Running calls finish with the tool they began with.
   */
  reloadPlugins(): Promise<ToolRegistrationResult>;

  /** Adds a tool, and replaces one of the same name. */
  register<TInput = Record<string, unknown>>(
    tool: HostTool<TInput> | DeclarativeTool<TInput>,
  ): void;
  /** Removes a tool. Returns `false` if there is none of that name. */
  unregister(name: string): boolean;
  /** The registered object itself, or an object for a built-in tool. */
  get<Name extends keyof ToolInputs>(
    name: Name,
  ): RegisteredTool<ToolInputs[Name], StructuredContentOf<Name>> | undefined;
  get<T = AnyTool>(name: string): T | undefined;
  /** All tools, sorted by name. */
  list(): AnyTool[];
  /** The names of all tools, sorted. */
  names(): string[];
  /** True if there is a tool with that name or alias. */
  hasTool(name: string): boolean;
  /** The number of tools, including disabled ones. */
  getToolCount(): number;
  /** Information about every tool, sorted by name. */
  listTools(): RegisteredToolInfo[];
  /** Information about a tool, found by its name or alias. */
  getToolInfo(name: string): RegisteredToolInfo | undefined;

  /** `{ name, description, parameters }` of every tool that is not disabled. */
  getFunctionSchemas(): { name: string; description: string; parameters: InputSchema }[];
  /** The tools in a provider's format. `strict` has OpenAI force the model to follow the schema. */
  definitions(format?: undefined, options?: { strict?: boolean | undefined }): Definitions["mcp"];
  definitions<Format extends DefinitionFormat>(
    format: Format,
    options?: { strict?: boolean | undefined },
  ): Definitions[Format];

  /**
   * True if a call would run without a question, judged by the tool alone. Rules about paths, commands or
   * hosts need the input of a call: see `explain`.
   */
  isAllowed(name: string, options?: Pick<CallOptions, "sessionId">): boolean;
  /** True if the host has disabled the tool. */
  isDisabled(name: string): boolean;
  /**
   * Disables tools until `enable`: they are left out of definitions and listings for models, and calls are
   * refused with `ToolDisabled`. A tool that is registered later under such a name is disabled too.
   * `mcp__server__*` names every tool of a server.
   */
  disable(...names: string[]): this;
  /** Enables tools that were disabled, also by `disallowedTools`. Rules that deny them still apply. */
  enable(...names: string[]): this;
  /** Adds rules that allow, like `allowedTools`. If one has a mistake, it throws and adds none. */
  withAllowed(...rules: string[]): this;
  /**
   * The decision of policy about a call and about each part of it, and the sandbox of its command. Nothing
   * runs. Throws for wrong input. For a command it looks for the files that rules limit, which takes a moment
   * in a large workspace.
   */
  explain(name: string, input?: unknown, options?: Pick<CallOptions, "sessionId">): ExplainedCall;
  /** Replaces the option `policy`. If the new one has a mistake, it throws and the old one stays. */
  setPolicy(policy: PolicyConfig | null): this;
  /** Reads the policy files again. If one has a mistake, it throws and the old policy stays. */
  reloadPolicy(): this;
  /**
   * Changes what happens to calls that no rule decides: for the registry, or for one session, which then no
   * longer follows the registry. `null` lets the session follow it again. The session of an agent never has
   * more rights than the session that started the agent, also if its mode would allow more.
   */
  setPermissionMode(mode: PermissionMode): this;
  setPermissionMode(mode: PermissionMode | null, options: { sessionId?: string | undefined }): this;
  /** The mode of the registry, or the current mode of one session. */
  getPermissionMode(options?: { sessionId?: string | undefined }): PermissionMode;
  /**
   * Limits a session to these tools. If it is called again, only tools of both lists remain. Agents that the
   * session starts are limited as well. Meant for the session of an agent, before it begins to work.
   */
  limitTools(names: string | readonly string[], options: { sessionId: string }): this;
  /** Rules that are shadowed, redundant, without effect, too broad, or that name no tool of the registry. */
  lintPolicy(): PolicyLint[];

  /** Adds a tool of an MCP server the host is connected to. Returns its name, `mcp__<server>__<tool>`. */
  registerMcpTool<TInput = Record<string, unknown>>(tool: McpToolConfig<TInput>): string;
  /** Removes the MCP tools whose name begins with the prefix, and returns how many there were. */
  unregisterMcpTools(prefix: string): number;
  /**
   * Connects an MCP server and registers its tools, in place of a server of the same name. Resolves once it is
   * connected or has failed to connect. The status of a failed server has the `error`, and the server is
   * retried. Rejects only if the configuration is invalid.
   */
  connectMcpServer(name: string, config: McpServerConfig): Promise<McpServerStatus>;
  /**
   * Disconnects an MCP server, removes its tools and ends its program. Resolves with `false` if there is no
   * server of that name.
   */
  disconnectMcpServer(name: string): Promise<boolean>;
  /** Every MCP server that was connected by the option `mcpServers` or later, sorted by name. */
  mcpServerStatus(): McpServerStatus[];

  /** The state of the index of each directory of the workspace. */
  indexStatus(): IndexStatus[];

  /** Describes a call before it runs. Throws for an unknown tool; `execute` reports wrong input. */
  createInvocation<Name extends keyof ToolInputs>(
    name: Name,
    params: ToolInputs[Name],
    options?: Pick<CallOptions, "toolUseId" | "sessionId">,
  ): ToolInvocation<ToolInputs[Name]>;
  createInvocation<Name extends string>(
    // Not the name of a built-in tool, whose input is typed.
    name: Name extends keyof ToolInputs ? never : Name,
    params?: unknown,
    options?: Pick<CallOptions, "toolUseId" | "sessionId">,
  ): ToolInvocation;

  /** Runs a tool. If it fails, the result says so; the promise rejects only for misuse or an abort. */
  call<Name extends keyof ToolInputs>(
    name: Name,
    input: ToolInputs[Name],
    options?: CallOptions,
  ): Promise<CallResult<StructuredContentOf<Name>>>;
  call<Name extends string>(
    // Not the name of a built-in tool, whose input is typed.
    name: Name extends keyof ToolInputs ? never : Name,
    input?: unknown,
    options?: CallOptions,
  ): Promise<CallResult>;

  /**
   * Undoes what a call did to files: a changed file gets its old content, a created one is removed. Rejects
   * with `StaleFileError` if the file has changed since, and with `NothingToUndo` if no change of that call
   * is kept. A registry keeps the last 10,000 changes, and 128 MiB of old contents.
   */
  undo(toolUseId: string, options?: Pick<CallOptions, "sessionId">): Promise<UndoneChange[]>;

  /**
   * Runs the calls of one model turn, one after the other, and returns a result for each, in order. Pass all
   * that the model answered: `message.content`, `message.tool_calls`, `response.output`, Gemini's parts or
   * `functionCalls`, or `null`. Blocks that are not calls are left out. A malformed call gets an error as its
   * result, with the id `call_<index>` if it has none, and the others run. When the signal is aborted, or a
   * person or a hook ends the turn, the remaining calls get errors.
   */
  executeTools<Format extends keyof TurnResults = "anthropic">(
    blocks: readonly TurnBlock[] | null | undefined,
    options?: TurnOptions<Format>,
  ): Promise<TurnResults[Format]>;

  /**
   * The tools as an in-process MCP server, for the option `mcpServers` of an agent host. Each client has its
   * own session, unless a session is given, such as that of an agent.
   */
  toMcpServerConfig(options?: { sessionId?: string | undefined }): McpSdkServerConfig;
  /**
   * Serves the tools to the MCP client that started this program, over its standard streams. Resolves when the
   * client has disconnected, after its running calls were cancelled. From then on the streams are used for the
   * protocol only: `process.stdin` is empty, and writes to standard output go to standard error instead.
   */
  serveStdio(): Promise<void>;
  /** `mcp__<server>__<tool>` for every tool that is not disabled, for `allowedTools` of an agent host. */
  getAllowedToolNames(): string[];

  /**
   * The running tasks of all sessions and up to 256 that ended last, in the order in which they started.
   * This is the host's view: the tools of a session only see its own tasks.
   */
  tasks(): TaskInfo[];
  /** Calls a function once for every task event. This keeps neither the process nor the registry alive. */
  on(event: "task", listener: (event: TaskEvent) => void, options?: TaskEventOptions): this;
  /**
   * Calls a function for every change from now on: of a session's todos (`todos`), of a setting (`config`),
   * when an "always allow" was kept (`grant`), or when watched plugin files changed (`plugins`). Changes by
   * other registries are not reported.
   */
  on<Name extends keyof StateEvents>(
    event: Name,
    listener: (event: StateEvents[Name]) => void,
  ): this;
  /** Removes a listener that `on` added. */
  off(event: "task", listener: (event: TaskEvent) => void): this;
  off<Name extends keyof StateEvents>(
    event: Name,
    listener: (event: StateEvents[Name]) => void,
  ): this;
  /**
   * An async iterator over the task events, which ends when the registry is closed. If it falls 16,384
   * events behind, it returns those and then throws an error that says which events it missed.
   */
  taskEvents(options?: TaskEventOptions): TaskEventIterator;

  /**
   * The todo list of a session, as its model last wrote it with `TodoWrite`. Lists of sessions whose
   * `sessionId` the host chose are kept in the store, so that a resumed conversation has its list. Without a
   * `sessionId`, and for an MCP client, the list ends with the registry.
   */
  todos(options?: Pick<CallOptions, "sessionId">): Promise<TodoItem[]>;
  /** The rules that people always allow: those in the store, which is read again, and those of sessions. */
  grants(): Promise<Grant[]>;
  /**
   * Revokes a rule that a person always allowed: it is deleted from the store and from every session of this
   * registry. Another process that shares the store notices when it reads the store again: at its next start,
   * or with `grants`. Resolves with `false` if there is no such grant.
   */
  forgetGrant(rule: string): Promise<boolean>;

  /**
   * An async iterator over the messages that members of its team send to a session. It ends when the session
   * has agreed to be shut down, when the registry is closed, or when `signal` is aborted. Without an iterator,
   * messages are added to the answers to the session's calls. A pending `next` keeps the process alive.
   */
  teamMessages(options?: {
    sessionId?: string | undefined;
    signal?: AbortSignal | undefined;
  }): TeamMessageIterator;

  /**
   * Answers a web-standard request: the REST routes, MCP at `/mcp` and the page. This mounts the registry in
   * `Bun.serve`, Hono, Elysia, Express or Next, without another port. Without a `token`, your server has to
   * check who asks.
   *
   * Every request is answered, also if it is refused or malformed. The promise rejects only for a value that
   * is no request, and for a request whose body was already read. A call ends when the client disconnects:
   * when `request.signal` is aborted, or the body of the answer is cancelled.
   */
  fetch(request: Request, options?: HttpFetchOptions): Promise<Response>;
  /**
   * Opens a server with the same routes on this machine's loopback. It keeps the process alive until it is
   * closed (see `unref`). While it is open, people can answer confirmations on its page or by REST.
   *
   * @example
   * const server = await registry.serve();
   * console.log(`open ${server.url}`);
   */
  serve(options?: HttpServeOptions): Promise<RegistryServer>;

  /**
   * Ends every running call and task at once and removes their output files; later calls are refused. A
   * call that waits for a confirmation or a hook ends too: its request is withdrawn (`settled` with
   * `"cancelled"`), and the hook's signal is aborted. Resolves once every call is answered and every process
   * has exited. The registry then no longer refers to the host's objects.
   *
   * A registry that is not closed ends when it is garbage-collected, so keep a reference to it for as long
   * as its tasks should run. A pending call or `taskEvents()` keeps it alive too.
   */
  close(): Promise<void>;
  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Makes a registry with the built-in tools of the chosen sets, by default those of Claude Code. */
export declare function createToolRegistry(options?: ToolRegistryOptions): ToolRegistry;
