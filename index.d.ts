/// <reference lib="esnext.disposable" />

import type { ToolInputs } from "./lib/generated/tool-inputs";
import type {
  ConfirmationRequest,
  ConfirmationResponse,
  ConfirmationSettled,
  ToolCallConfirmationDetails,
} from "./lib/types/confirmations";
import type { HostHandlers } from "./lib/types/handlers";
import type { Hooks } from "./lib/types/hooks";
import type { HttpFetchOptions, HttpServeOptions, RegistryServer } from "./lib/types/http";
import type { McpSdkServerConfig } from "./lib/types/mcp-host";
import type { McpServerConfig, McpServerStatus } from "./lib/types/mcp-servers";
import type { PluginConfigValidation, PluginToolValidation } from "./lib/types/plugins";
import type {
  ExplainedCall,
  PermissionMode,
  PolicyAction,
  PolicyConfig,
  PolicyLint,
  PolicyVerdict,
} from "./lib/types/policy";
import type {
  DefinitionFormat,
  Definitions,
  TurnBlock,
  TurnResults,
} from "./lib/types/provider-formats";
import type {
  CallError,
  CallResult,
  RefusalDetails,
  StructuredContentOf,
  ToolContent,
} from "./lib/types/results";
import type {
  InputSchema,
  JsonSchema,
  SchemaOutput,
  ShapeOutput,
  SimpleOutput,
  SimpleSchema,
  StandardSchema,
} from "./lib/types/schemas";
import type { Grant, RegistryConfig, SettingSpec, StateEvents, TodoItem } from "./lib/types/state";
import type { SandboxMode, SandboxOptions } from "./lib/types/sandbox";
import type { FileStoreOptions, KeyValueStore } from "./lib/types/stores";
import type { TaskEvent, TaskEventIterator, TaskEventOptions, TaskInfo } from "./lib/types/tasks";
import type { TeamMessageIterator } from "./lib/types/teams";
import type { SearchOptions, WebOptions } from "./lib/types/web";

export type { ToolInputs } from "./lib/generated/tool-inputs";
export type { ToolOutputs } from "./lib/generated/tool-outputs";
export type * from "./lib/types/agents";
export type * from "./lib/types/confirmations";
export type * from "./lib/types/handlers";
export type * from "./lib/types/hooks";
export type * from "./lib/types/http";
export type * from "./lib/types/mcp-host";
export type * from "./lib/types/mcp-servers";
export type * from "./lib/types/plugins";
export type * from "./lib/types/policy";
export type * from "./lib/types/provider-formats";
export type * from "./lib/types/results";
export type * from "./lib/types/sandbox";
export type * from "./lib/types/schemas";
export type * from "./lib/types/state";
export type * from "./lib/types/stores";
export type * from "./lib/types/tasks";
export type * from "./lib/types/teams";
export type * from "./lib/types/web";

/** A set of built-in tools. Those of `diagnostic` let a host test how it calls tools. */
export type ToolsetName = "claude" | "classic" | "project" | "diagnostic";

/** The cause of a failure. These names are stable, so programs can branch on them. */
export type ErrorType =
  | "ValidationError"
  | "UnknownTool"
  | "ToolDisabled"
  | "InvalidTool"
  | "InvalidOptions"
  | "PolicyDenied"
  | "ConfirmationTimeout"
  | "HookBlocked"
  | "Cancelled"
  | "TimeoutError"
  | "RegistryClosed"
  | "ToolFailed"
  | "McpServerError"
  | "HandlerMissing"
  | "InternalError"
  | "PathOutsideWorkspace"
  | "FileNotFoundError"
  | "FileExistsError"
  | "PermissionError"
  | "FileReadError"
  | "FileWriteError"
  | "StaleFileError"
  | "NotReadError"
  | "EditTargetNotFound"
  | "EditTargetAmbiguous"
  | "NothingToUndo"
  | "FileEditError"
  | "GlobError"
  | "GrepError"
  | "LsError"
  | "ShellTimeoutError"
  | "ShellExecutionError"
  | "TaskNotFoundError"
  | "GitError"
  | "AgentError"
  | "PlanModeError"
  | "HttpError"
  | "FetchError"
  | "SearchError"
  | "MemoryError"
  | "TodoError"
  | "ConfigError"
  | "StoreError"
  | "TeamError"
  | "ServeError";

/**
 * The only error that this package throws: for a misuse of the API, and for an aborted call. After an abort
 * `type` is `"Cancelled"`, `name` is `"AbortError"` and `cause` is the signal's reason. A tool that fails
 * does not throw: its result has `isError`.
 */
export declare class ToolError extends Error {
  /** Makes an error with a known cause. A handler may throw one to choose the type of its error result. */
  constructor(type: ErrorType, message: string, options?: ErrorOptions);
  /** The cause, for programs to branch on. */
  readonly type: ErrorType;
  /** The same as `type`, where Node's own errors have it. */
  readonly code: ErrorType;
  /** For a refused call: why it was refused and how to allow it. */
  readonly details?: RefusalDetails;
}

/** The result of an invocation: a text for the model and one for the person. */
export interface ToolResult {
  llmContent: string;
  returnDisplay: string;
  error?: CallError;
}

/** A progress report of a running call. */
export type ToolProgress =
  | { type: "start"; tool: string; toolUseId: string }
  | { type: "output"; text: string }
  | { type: "step"; progress: number; total?: number; message?: string }
  | { type: "end"; tool: string; toolUseId: string; elapsedMs: number; isError: boolean };

/** The second argument of a tool's handler. */
export interface ToolContext {
  readonly toolUseId: string;
  readonly sessionId: string;
  /** Aborted when the caller aborts, the call times out or the registry is closed. */
  readonly signal?: AbortSignal;
  /** Shows a piece of output while the tool runs. Set when the call comes through a registry. */
  readonly updateOutput?: (text: string) => void;
  /** Reports how much of the work is done. Set when the call comes through a registry. */
  readonly reportProgress?: (step: {
    progress: number;
    total?: number | undefined;
    message?: string | undefined;
  }) => void;
}

/**
 * What a handler may return: content blocks, `llmContent` with `returnDisplay`, a string, or any other
 * value, which is shown as JSON. If a handler throws, the message becomes an error result.
 */
export type HandlerAnswer =
  | {
      content: readonly ToolContent[] | string;
      isError?: boolean | undefined;
      structuredContent?: Record<string, unknown> | undefined;
    }
  | {
      llmContent: string;
      returnDisplay?: string | undefined;
      error?: { type?: string | undefined; message: string } | undefined;
    }
  | string
  | number
  | boolean
  | null
  | undefined
  | void
  | object;

/** Hints about a tool's behaviour, as the Model Context Protocol defines them. */
export interface ToolAnnotations {
  /** A name for people to read. */
  title?: string | undefined;
  /** The tool changes nothing. */
  readOnlyHint?: boolean | undefined;
  /** The tool may delete or overwrite something. */
  destructiveHint?: boolean | undefined;
  /** Repeating a call with the same input has no further effect. */
  idempotentHint?: boolean | undefined;
  /** The tool works with things outside of this machine, such as the web. */
  openWorldHint?: boolean | undefined;
}

/** What effect a tool has on its surroundings. Policy derives the risk of a call from it. */
export type SideEffect = "none" | "read-only" | "mutating" | "network" | "blocking" | "spawns";

/** Optional properties of a tool beside its name, description and input. */
export interface ToolExtras {
  /** A name for people to read. */
  title?: string | undefined;
  /** Hints about the tool's behaviour, which MCP clients get as well. */
  annotations?: ToolAnnotations | undefined;
  /** By default derived from `annotations`. */
  sideEffect?: SideEffect | undefined;
  /** How long one call may run; by default `limits.callTimeoutMs` of the registry. */
  timeoutMs?: number | undefined;
  /**
   * Whether an agent host that lets its model search for tools shows this one from the start
   * (`_meta["anthropic/alwaysLoad"]` in MCP's list). Default: true. With hundreds of tools, set it to
   * `false` for those that are rarely needed.
   */
  alwaysLoad?: boolean | undefined;
  /**
   * JSON Schema, of `type: "object"`, of the `structuredContent` in the tool's answers. MCP clients get it if the
   * option `structuredContent` of the registry is on. An answer whose data do not match it fails.
   */
  outputSchema?: Readonly<Record<string, unknown>> | undefined;
}

/** A tool in the form that agent hosts accept. `tool` returns one. */
export interface SdkTool<TInput = unknown> extends ToolExtras {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: InputSchema;
  /** Runs the tool. A Zod schema is applied to `args` first. */
  handler(args: TInput, context: ToolContext): Promise<HandlerAnswer>;
}

/** A tool that a host may register: made by our `tool`, by the Claude Agent SDK's, or a plain object. */
export interface HostTool<TInput = unknown> extends ToolExtras {
  readonly name: string;
  readonly description?: string | undefined;
  /** JSON Schema, the simple form, a Zod schema or an object of Zod schemas. */
  readonly inputSchema?: JsonSchema | StandardSchema | undefined;
  /** Runs the tool. It gets its own copy of the validated input. */
  handler(args: TInput, context: ToolContext): HandlerAnswer | Promise<HandlerAnswer>;
}

/** A tool of a registry, which is both an `SdkTool` and a `DeclarativeTool`. */
export interface RegisteredTool<
  TInput = unknown,
  Structured = Record<string, unknown>,
> extends SdkTool<TInput> {
  readonly displayName: string;
  readonly source: ToolSource;
  readonly schema: { name: string; description: string; parameters: InputSchema };
  /** Calls the tool through its registry, like `call`. */
  handler(
    args: TInput,
    context?: Pick<CallOptions, "toolUseId" | "sessionId" | "signal">,
  ): Promise<CallResult<Structured>>;
  /** Describes a call before it runs. People are asked about it over `messageBus`, or the registry's bus. */
  createInvocation(params: TInput, messageBus?: MessageBus): ToolInvocation<TInput>;
}

/** What `get` and `list` return: the registered object itself, or one for a built-in tool. */
export type AnyTool = RegisteredTool | HostTool | DeclarativeTool;

/** A tool that describes each call before it runs. */
export interface DeclarativeTool<TParams = unknown> extends ToolExtras {
  readonly name: string;
  readonly displayName?: string | undefined;
  /** Used if `schema` has no description. */
  readonly description?: string | undefined;
  readonly schema: {
    name?: string | undefined;
    description?: string | undefined;
    parameters?: JsonSchema | undefined;
  };
  /**
   * Makes the invocation of one call. `params` is the validated input when the call is made, and the
   * unchecked one when `ToolRegistry.createInvocation` describes it. `messageBus` is the registry's.
   */
  createInvocation(
    params: TParams,
    messageBus: MessageBus,
  ): DeclaredInvocation | Promise<DeclaredInvocation>;
}

/** One call of a declarative tool. The registry provides the descriptions that are missing or throw. */
export interface DeclaredInvocation {
  /** One line for a person that says what the call will do. */
  getDescription?(): string;
  /** The files and resources that the call will touch. */
  toolLocations?(): string[];
  /**
   * Returns what a person has to confirm, or `false`. It is called before every call, but policy decides
   * first. A call that policy denies never gets here. If policy asks, the person is asked in any case, and
   * sees these details if there are some. A call that a rule, a default, a mode or a hook allows runs
   * without a question. The tool itself can only refuse: if this throws, returns anything else, or takes
   * longer than the call's timeout, the call does not run.
   */
  shouldConfirmExecute?(
    signal: AbortSignal,
  ): Promise<DeclaredConfirmation | false> | DeclaredConfirmation | false;
  execute(
    signal: AbortSignal,
    updateOutput?: (output: string) => void,
  ): Promise<ToolResult> | ToolResult;
}

/** What a declarative tool wants to have confirmed. Further fields are passed on to the listener. */
export type DeclaredConfirmation =
  | DeclaredConfirmationDetails
  | (DeclaredConfirmationDetails & Record<string, unknown>);

/** The details of a tool's own question. The registry fills in `toolName` and the ids of the call. */
export interface DeclaredConfirmationDetails extends Partial<ToolCallConfirmationDetails> {
  /**
   * Called with the outcome if somebody was asked. After an approval the call waits for it, and does not
   * run if it throws.
   */
  onConfirm?(outcome: ConfirmationSettled["outcome"]): Promise<void> | void;
}

/** Defines a tool from one object, with an input schema in the simple form. */
export declare function tool<const Schema extends SimpleSchema>(
  config: ToolConfig<Schema, SimpleOutput<Schema>>,
): SdkTool<SimpleOutput<Schema>>;
/** Defines a tool from one object, with a Zod schema such as `z.object({ … })`. */
export declare function tool<Schema extends StandardSchema>(
  config: ToolConfig<Schema, SchemaOutput<Schema>>,
): SdkTool<SchemaOutput<Schema>>;
/** Defines a tool from one object, with a Zod shape: an object of Zod schemas. */
export declare function tool<Shape extends Record<string, StandardSchema>>(
  config: ToolConfig<Shape, ShapeOutput<Shape>>,
): SdkTool<ShapeOutput<Shape>>;
/** Defines a tool from one object, with JSON Schema or without parameters. */
export declare function tool<TInput = Record<string, unknown>>(
  config: Omit<ToolConfig<JsonSchema, TInput>, "inputSchema"> & {
    inputSchema?: JsonSchema | undefined;
  },
): SdkTool<TInput>;
/** Defines a tool with the arguments of the Claude Agent SDK's `tool`, with a Zod shape. */
export declare function tool<Shape extends Record<string, StandardSchema>>(
  name: string,
  description: string,
  shape: Shape,
  handler: (
    args: ShapeOutput<Shape>,
    context: ToolContext,
  ) => HandlerAnswer | Promise<HandlerAnswer>,
  extras?: ToolExtras,
): SdkTool<ShapeOutput<Shape>>;

/** The definition of a tool as one object, for `tool`. */
export interface ToolConfig<Schema, TInput> extends ToolExtras {
  name: string;
  description?: string | undefined;
  inputSchema: Schema;
  handler: (args: TInput, context: ToolContext) => HandlerAnswer | Promise<HandlerAnswer>;
}

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

/** Checks the content of a plugin file as loading it does, without the file. */
export declare function validatePluginConfigFile(data: unknown): PluginConfigValidation;

/** Checks the definition of one plugin tool. */
export declare function validatePluginToolDefinition(data: unknown): PluginToolValidation;

/** What `createToolRoutes` needs of a registry. */
export interface ToolRoutesRegistry {
  listTools(): readonly object[] | Promise<readonly object[]>;
  getToolInfo(name: string): object | undefined | Promise<object | undefined>;
  reloadPlugins(): object | Promise<object>;
}

/**
 * REST routes over a registry, as one web-standard handler for `Bun.serve`, Hono and others: `GET /api/tools`,
 * `GET /api/tools/:name` and `POST /api/tools/reload`. It does not check who asks; do that before it.
 */
export declare function createToolRoutes(
  registry: ToolRoutesRegistry,
  options?: {
    /** The path of the list. Default: `"/api/tools"`. */
    prefix?: string | undefined;
  },
): (request: Request) => Promise<Response>;

/** Where a tool comes from. */
export type ToolSource = "builtin" | "host" | "mcp" | "plugin";

/** What a registry knows about one of its tools. */
export interface RegisteredToolInfo {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly source: ToolSource;
  /** The set that a built-in tool belongs to. */
  readonly toolset?: ToolsetName;
  /** The server that an MCP tool belongs to. */
  readonly serverName?: string;
  /** The name in the plugin file that a plugin tool belongs to. */
  readonly pluginName?: string;
  /** Other names under which it can be called. */
  readonly aliases?: readonly string[];
  readonly inputSchema: InputSchema;
  readonly annotations: ToolAnnotations;
  readonly sideEffect: SideEffect;
  readonly risk: "none" | "low" | "medium" | "high" | "critical";
  /** The result of `isAllowed` for this tool. */
  readonly allowed: boolean;
  /** True when the host has switched it off. */
  readonly disabled: boolean;
}

/** What `initialize` and `reloadPlugins` found. */
export interface ToolRegistrationResult {
  /**
   * False when something is wrong with a plugin file, or after `initialize` with an MCP server. Other tools
   * work.
   */
  readonly success: boolean;
  /** The number of tools that the registry now has. */
  readonly toolCount: number;
  /**
   * What is wrong with plugin files, and after `initialize` also with MCP servers, and rules of the policy
   * that name no tool.
   */
  readonly errors: readonly ToolRegistrationError[];
}

/** Something that is wrong with a plugin, an MCP server or a rule. */
export interface ToolRegistrationError {
  /** The plugin file, its directory, the server (`mcpServers.<name>`), or the place of the rule. */
  readonly source: string;
  readonly toolName?: string;
  readonly message: string;
}

/** A call that can be described before it runs. */
export interface ToolInvocation<TParams = unknown> {
  readonly toolName: string;
  readonly params: TParams;
  /** One line for a person that says what the call would do, even if it will be refused. */
  getDescription(): string;
  /** The files and resources that the call would touch, even if it will be refused. */
  toolLocations(): string[];
  /**
   * What a person would have to confirm first, or `false`. Rejects with the `ToolError` of a call that is
   * denied or whose tool is disabled. It asks no person and runs no hook. Errors in the input are reported
   * by `execute`.
   */
  shouldConfirmExecute(signal?: AbortSignal): Promise<ToolCallConfirmationDetails | false>;
  /** Runs the call. Rejects only when the signal is aborted. */
  execute(signal?: AbortSignal, updateOutput?: (output: string) => void): Promise<ToolResult>;
}

/**
 * Carries confirmation requests to listeners, and their answers back. A request that nobody listens to, or
 * whose listener throws, is refused at once.
 */
export declare class MessageBus {
  /**
   * Asks the listeners, and resolves with the answer. Rejects with a `ToolError`: `ConfirmationTimeout`,
   * `Cancelled`, or `PolicyDenied` when nobody could be asked. Default of `timeout`: 60,000 ms.
   */
  requestConfirmation(
    details: ToolCallConfirmationDetails,
    abortSignal?: AbortSignal,
    timeout?: number,
  ): Promise<boolean>;
  /** Answers a request. Returns `false` if no request waits for this answer, such as after a first one. */
  respondToConfirmation(response: ConfirmationResponse): boolean;
  /** Ends a request as cancelled. Returns `false` if there is no such request. */
  cancelRequest(id: string): boolean;

  /** Calls a function for every request, or for every request that is settled. */
  on(event: "request", listener: (request: ConfirmationRequest) => void): this;
  on(event: "settled", listener: (settled: ConfirmationSettled) => void): this;
  /** Like `on`, but only for the next event. */
  once(event: "request", listener: (request: ConfirmationRequest) => void): this;
  once(event: "settled", listener: (settled: ConfirmationSettled) => void): this;
  /** Removes a listener that `on` or `once` added. */
  off(event: "request", listener: (request: ConfirmationRequest) => void): this;
  off(event: "settled", listener: (settled: ConfirmationSettled) => void): this;
  /** The number of listeners for an event. */
  listenerCount(event: "request" | "settled"): number;
  /** Removes all listeners for one event, or for both. */
  removeAllListeners(event?: "request" | "settled"): this;
}

/** Shortens and cleans output for a model or a person. */
export declare class OutputFormatter {
  /** Cuts an output to the given limits. Its last line then says how much was left out. */
  static truncate(
    output: string,
    config?: { maxChars?: number | undefined; maxLines?: number | undefined },
  ): { content: string; truncated: boolean; omitted?: string };
  /** Removes escape sequences, and blanks at the beginning and the end. */
  static formatForLLM(output: string): string;
  /** Escapes characters that could control a terminal, change the reading direction or are invisible. */
  static formatForDisplay(output: string): string;
}

/** A file that `undo` has brought back to the state before a call. */
export interface UndoneChange {
  path: string;
  action: "restored" | "removed";
}

/** Options of a single call. */
export interface CallOptions {
  /** The id that the model gave the call. */
  toolUseId?: string | undefined;
  /** The conversation that the call belongs to. State, such as which files were read, is kept for each. */
  sessionId?: string | undefined;
  /** Ends the call early; the promise then rejects with a `ToolError` of type `"Cancelled"`. */
  signal?: AbortSignal | undefined;
  /** Called with the progress of the running call. The promise settles after the last report. */
  onProgress?: ((news: ToolProgress) => void) | undefined;
}

/** Options of a registry. All of them are optional. */
export interface ToolRegistryOptions {
  /** The workspace: file tools stay inside it. Default: the current directory. */
  projectPath?: string | undefined;
  /** Further directories that file tools may touch. */
  additionalDirectories?: readonly string[] | undefined;
  /** Sets of built-in tools. Default: `["claude"]` for `createToolRegistry`, none for `new ToolRegistry`. */
  toolsets?: readonly ToolsetName[] | undefined;
  /** The MCP server's name; part of `mcp__<server>__<tool>`. Default: `"toolwright"`. */
  serverName?: string | undefined;
  /** The MCP server's version. Default: that of this package. */
  version?: string | undefined;
  /** A text about the tools as a whole for an MCP client's model. The path of the workspace is appended. */
  instructions?: string | undefined;
  /**
   * Whether results over MCP, and those of a tool's `handler`, have `structuredContent`, and `tools/list`
   * the matching `outputSchema`. Default: false, because Claude's hosts then show the model the data instead
   * of the text. If true, the data of tools that answer with a text, such as `Read`, contain it as `text`.
   * Data that are too large, or suppressed by a hook, are reduced to `text`. `call` always returns the data.
   */
  structuredContent?: boolean | undefined;
  /** Rules that allow calls, deny them, or have a person asked about them. */
  policy?: PolicyConfig | undefined;
  /**
   * What happens to calls that no rule decides. By default read-only tools run, and everything else asks on
   * `messageBus`, and is refused if nobody listens. A host that asks its user itself, as an agent host does,
   * sets `"bypassPermissions"`; deny and ask rules still apply there.
   */
  permissionMode?: PermissionMode | undefined;
  /** Rules that allow, such as `"Write"`, `"Bash(git status:*)"` or `"mcp__github__*"`. */
  allowedTools?: readonly string[] | undefined;
  /**
   * Rules that deny, such as `"Bash(rm:*)"`. A tool's name alone disables the tool, so that models do not
   * see it either. The same tool in other sets is denied.
   */
  disallowedTools?: readonly string[] | undefined;
  /**
   * How long a person's "always allow" holds: for the session (the default), or from now on in this project
   * or in all projects, kept in the store. Rules that name a file of the project are kept for the project in
   * any case. What is kept never beats a deny or ask rule. If the store fails, a process warning says so,
   * and the answer holds for the session. See `grants` and `forgetGrant`.
   */
  rememberGrants?: "session" | "project" | "user" | undefined;
  /**
   * An id under which the store keeps what belongs to the project: 1 to 64 letters, digits, `.`, `_` or `-`.
   * Default: one made from `projectPath`. Set it if the project has different paths on different machines
   * that share a store.
   */
  projectId?: string | undefined;
  /** Settings that the tool `Config` knows, with their types, beside `language`, `model`, `theme` and `verbose`. */
  settings?: Readonly<Record<string, SettingSpec>> | undefined;
  /** Whether to read rules from `.toolwright/policy.json` of the project. Default: `false`. */
  trustProject?: boolean | undefined;
  /** The file with the user's own rules; `false` for none. Default: `~/.config/toolwright/policy.json`. */
  userPolicyFile?: string | false | undefined;
  /**
   * The directory of plugin files (`*.json`), which `initialize` loads; `false` for none. Default: the
   * variable `TOOLWRIGHT_TOOLS_DIR`, or else `~/.config/toolwright/tools`. Plugin files are code: no tool
   * writes there without a rule that names the place.
   */
  pluginDir?: string | false | undefined;
  /**
   * Whether plugin files are loaded again when they change, from `initialize` on. What that led to, and what
   * is wrong with a file, is told by `on("plugins", …)`. Default: `false`.
   */
  watchPlugins?: boolean | undefined;
  /**
   * MCP servers whose tools the registry gets, as `mcp__<server>__<tool>`, by name. `initialize` connects them
   * all at once. One that does not answer is told of in its `errors`, and goes on being tried.
   */
  mcpServers?: Readonly<Record<string, McpServerConfig>> | undefined;
  /**
   * Whether tools that change files, such as `Write` and `Edit`, require that the file was read in the
   * session, and `Write` also that it has not changed since. Default: `true`.
   */
  readBeforeWrite?: boolean | undefined;
  /** Where confirmation requests go. Default: a new bus for this registry. */
  messageBus?: MessageBus | undefined;
  /** Functions that built-in tools need from the host, such as one that asks the user. */
  handlers?: HostHandlers | undefined;
  /**
   * Where tools such as `memory` keep values that last: in a file (the default), in memory as long as the
   * registry, or in a store of the host, which a fleet of machines can share.
   */
  store?: FileStoreOptions | "memory" | KeyValueStore | undefined;
  /** Functions and commands that run before and after calls, in the form of the Claude Agent SDK. */
  hooks?: Hooks | undefined;
  /** Limits on time and size of calls. */
  limits?:
    | {
        /** How long a person has to answer a confirmation request. Default: 60,000 ms. */
        confirmationTimeoutMs?: number | undefined;
        /** How long a call may run. Default: 600,000 ms; commands have their own limits. */
        callTimeoutMs?: number | undefined;
        /** How long the user has to answer questions. Default: 600,000 ms; `callTimeoutMs` does not apply. */
        questionTimeoutMs?: number | undefined;
        /** How deep agents may start agents. Default: 3; with 0 there are no agents. */
        maxAgentDepth?: number | undefined;
        /** How many agents may run at once. Default: 16. */
        maxAgents?: number | undefined;
        /** How long an agent may run. Default: 3,600,000 ms. */
        agentTimeoutMs?: number | undefined;
        /** How many bytes of text a result may have. Default: 4 MiB. */
        maxResultBytes?: number | undefined;
      }
    | undefined;
  /**
   * Variables for commands, in addition to the host's environment. No name is filtered out. Entries of
   * `PATH` that depend on the current directory are removed, as they are from the host's own `PATH`.
   */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** How commands are run. */
  shell?:
    | {
        /**
         * The shell: an absolute path, or a name to look up in `PATH`. Default: bash, or sh where there is
         * none.
         */
        path?: string | undefined;
        /**
         * The absolute path of the program `toolwright-supervisor`. Default: beside the addon, or beside
         * the executable of this process. Only used on Linux.
         */
        supervisorPath?: string | undefined;
        /**
         * Names of variables that commands may see although they look like secrets. The environment is
         * copied when the registry is made.
         */
        allowEnv?: readonly string[] | undefined;
        /** What happens to a command that times out: it ends (the default), or continues as a task. */
        onTimeout?: "stop" | "background" | undefined;
        /** How long processes have between SIGTERM and SIGKILL. Default: 2,000 ms. */
        graceMs?: number | undefined;
        /** Stops a foreground command that prints nothing for this long. Default: never. */
        idleTimeoutMs?: number | undefined;
        /** How many bytes of a command's output its file may hold. Default: 128 MiB. */
        maxOutputFileBytes?: number | undefined;
      }
    | undefined;
  /**
   * What the kernel holds commands to, so that a file that policy denies stays closed whatever a command line
   * says: a mode, or an object with more. Default: `"auto"`, the best that this machine has. Linux only; elsewhere
   * the mode `required` refuses every command.
   */
  sandbox?: SandboxMode | SandboxOptions | undefined;
  /** What web tools may reach, and how much they fetch. Default: the public internet alone. */
  web?: WebOptions | undefined;
  /**
   * The service that web search uses. Default: the one that `SEARXNG_URL`, `BRAVE_API_KEY` or
   * `TAVILY_API_KEY` of the environment names, in this order. `handlers.search` is used before any.
   */
  search?: SearchOptions | undefined;
}

/** Options of `executeTools`, which apply to all calls of the turn. */
export interface TurnOptions<Format extends keyof TurnResults = "anthropic"> extends Omit<
  CallOptions,
  "toolUseId"
> {
  /** The format of the results. Default: `"anthropic"`. */
  format?: Format | undefined;
  /** Runs neighbouring calls of read-only tools in parallel. Default: `false`. */
  parallelReads?: boolean | undefined;
}

/** Any name except those of built-in tools, whose input is typed. */
type OtherName<Name extends string> = Name extends keyof ToolInputs ? never : Name;

/** Judges calls by rules without running them. An engine is immutable. */
export declare class PolicyEngine {
  /** Compiles the rules. Throws a `ToolError` that names the rule with a mistake. */
  constructor(
    config: PolicyConfig,
    options?: {
      projectPath?: string | undefined;
      permissionMode?: PermissionMode | undefined;
    },
  );
  /** Decides whether a call is allowed, denied, or needs a confirmation. */
  evaluate(toolName: string, params?: Record<string, unknown>): PolicyAction;
  /** The decision with its reasons. */
  explain(toolName: string, params?: Record<string, unknown>): PolicyVerdict;
  /** How much harm a call of the tool could do, judged by the kind of tool alone. */
  getRiskLevel(toolName: string): "low" | "medium" | "high";
  /** Rules that are shadowed, redundant, without effect, too broad, or that name no built-in tool. */
  lint(): PolicyLint[];
  /** The JSON Schema of the policy file. */
  static readonly schema: JsonSchema;
}

/** A tool of an MCP server, with a handler or with the client that is connected to the server. */
export type McpToolConfig<TInput = Record<string, unknown>> = ToolExtras & {
  serverName: string;
  toolName: string;
  description?: string | undefined;
  inputSchema?: JsonSchema | undefined;
} & (
    | { handler: (args: TInput, context: ToolContext) => HandlerAnswer | Promise<HandlerAnswer> }
    | { client: McpToolClient }
  );

/** The part of an MCP client that calls tools. The client of the official SDK fits. */
export interface McpToolClient {
  /** Calls a tool on the server, with the name that the server gave it. */
  callTool(
    params: { name: string; arguments?: Record<string, unknown> },
    resultSchema?: undefined,
    options?: { signal?: AbortSignal },
  ): Promise<object>;
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
   * Loads the plugin tools, connects the MCP servers, and reports how many tools there are. `errors` tells
   * what is wrong with plugin files and servers, and the rules of the policy that name no tool. Call it after registering the host's own tools.
   * Built-in tools work without it. With `rememberGrants`, it reads what is kept; the first call would do
   * that too, but `explain` and `isAllowed` do not wait for the store.
   */
  initialize(): Promise<ToolRegistrationResult>;
  /**
   * Reads the plugin files again and replaces all plugin tools in one step: a listing or a call sees the old
   * ones or the new ones. A file that has become invalid keeps its old tools and is reported; a file that is
   * gone takes its tools with it. Running calls finish with the tool they began with.
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
   * The decision of policy about a call and about each part of it, and what a sandbox would hold its command to.
   * Nothing runs; wrong input throws. For a command it looks for the files that rules limit, which takes a moment
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
   * more rights than the one that started the agent, whatever its own mode is.
   */
  setPermissionMode(mode: PermissionMode): this;
  setPermissionMode(mode: PermissionMode | null, options: { sessionId?: string | undefined }): this;
  /** The mode that holds for the registry, or for one session at this moment. */
  getPermissionMode(options?: { sessionId?: string | undefined }): PermissionMode;
  /**
   * Limits a session to these tools. A further limit holds beside the first, and agents that the session
   * starts are limited as well. Meant for the session of an agent, before it begins to work.
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
   * connected, or could not be: the status then has the `error`, and it goes on being tried. Rejects only if the
   * configuration cannot be used.
   */
  connectMcpServer(name: string, config: McpServerConfig): Promise<McpServerStatus>;
  /**
   * Disconnects an MCP server, removes its tools and ends its program. Resolves with `false` if there is none
   * of the name.
   */
  disconnectMcpServer(name: string): Promise<boolean>;
  /** Every MCP server that was connected by the option `mcpServers` or later, sorted by name. */
  mcpServerStatus(): McpServerStatus[];

  /** Describes a call before it runs. Throws for an unknown tool; `execute` reports wrong input. */
  createInvocation<Name extends keyof ToolInputs>(
    name: Name,
    params: ToolInputs[Name],
    options?: Pick<CallOptions, "toolUseId" | "sessionId">,
  ): ToolInvocation<ToolInputs[Name]>;
  createInvocation<Name extends string>(
    name: OtherName<Name>,
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
    name: OtherName<Name>,
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
   * The tools as an in-process MCP server, for the option `mcpServers` of an agent host. The calls of each
   * client are a session of their own, or belong to the given one, such as that of an agent.
   */
  toMcpServerConfig(options?: { sessionId?: string | undefined }): McpSdkServerConfig;
  /**
   * Serves the tools to the MCP client that started this program, over its standard streams. Resolves when the
   * client has gone, after its running calls were cancelled. The streams belong to the protocol from then on:
   * `process.stdin` is empty, and whatever writes to standard output writes to standard error instead.
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
  /** What people always allow: what is kept, which is read again here, and what holds for sessions. */
  grants(): Promise<Grant[]>;
  /**
   * Takes back what a person always allowed: the rule is deleted from the store and from every session of
   * this registry. Another process that shares the store heeds it once it reads what is kept: at its next
   * start, or with `grants`. Resolves with `false` if nobody had granted it.
   */
  forgetGrant(rule: string): Promise<boolean>;

  /**
   * An async iterator over the messages that members of its team send to a session. It ends when the session
   * has agreed to be shut down, when the registry is closed, or when `signal` is aborted. While there is one,
   * messages do not come with the answers to the calls of the session, as they do otherwise. A pending
   * `next` keeps the process alive.
   */
  teamMessages(options?: {
    sessionId?: string | undefined;
    signal?: AbortSignal | undefined;
  }): TeamMessageIterator;

  /**
   * Answers a web-standard request: the REST routes, MCP at `/mcp` and the page. This mounts the registry in
   * `Bun.serve`, Hono, Elysia, Express or Next without a port of its own. Without a `token`, your server has
   * to have checked who asks.
   *
   * Every request has an answer, also one that is refused or malformed; the promise rejects only if it is
   * given something else than a request, or one whose body was read already. A call ends when the client
   * goes away: when `request.signal` is aborted, or the body of the answer is cancelled.
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
   * `"cancelled"`), and the hook's signal is aborted. Resolves when every call has its answer, every process
   * is gone, and the registry refers to none of the host's objects any more.
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
