/// <reference lib="esnext.disposable" />

import type { ToolInputs } from "./lib/generated/tool-inputs";
import type {
  ConfirmationRequest,
  ConfirmationResponse,
  ConfirmationSettled,
  ToolCallConfirmationDetails,
} from "./lib/types/confirmations";
import type { Hooks } from "./lib/types/hooks";
import type { McpSdkServerConfig } from "./lib/types/mcp-host";
import type {
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
import type { TaskEvent, TaskEventIterator, TaskEventOptions, TaskInfo } from "./lib/types/tasks";

export type { ToolInputs } from "./lib/generated/tool-inputs";
export type { ToolOutputs } from "./lib/generated/tool-outputs";
export type * from "./lib/types/confirmations";
export type * from "./lib/types/hooks";
export type * from "./lib/types/mcp-host";
export type * from "./lib/types/policy";
export type * from "./lib/types/provider-formats";
export type * from "./lib/types/results";
export type * from "./lib/types/schemas";
export type * from "./lib/types/tasks";

/** A set of built-in tools. `diagnostic` holds tools that check a host's wiring. */
export type ToolsetName = "claude" | "classic" | "diagnostic";

/** The cause of a failure. Stable: branch on it. */
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
  | "HttpError"
  | "FetchError"
  | "SearchError"
  | "MemoryError"
  | "TodoError";

/**
 * All that this package throws: for a misuse of the API, and for an aborted call (then `type` is
 * `"Cancelled"`, `name` is `"AbortError"` and `cause` the signal's reason). A tool that fails is not an
 * exception but a result with `isError`.
 */
export declare class ToolError extends Error {
  /** An error of a cause that the package knows, such as a handler may throw. */
  constructor(type: ErrorType, message: string, options?: ErrorOptions);
  /** The cause; branch on it. */
  readonly type: ErrorType;
  /** The same as `type`. */
  readonly code: ErrorType;
  /** How to allow what was refused, where that is the reason. */
  readonly details?: RefusalDetails;
}

/** The result of an invocation: text for the model, text for the person. */
export interface ToolResult {
  llmContent: string;
  returnDisplay: string;
  error?: CallError;
}

/** News of a running call. */
export type ToolProgress =
  | { type: "start"; tool: string; toolUseId: string }
  | { type: "output"; text: string }
  | { type: "step"; progress: number; total?: number; message?: string }
  | { type: "end"; tool: string; toolUseId: string; elapsedMs: number; isError: boolean };

/** What a tool's handler gets beside its input. */
export interface ToolContext {
  readonly toolUseId: string;
  readonly sessionId: string;
  /** Aborted when the caller aborts, the time is up or the registry is closed. */
  readonly signal?: AbortSignal;
  /** Shows a piece of output while the tool runs. Set when the call comes through a registry. */
  readonly updateOutput?: (text: string) => void;
  /** Tells how far the work has come. Set when the call comes through a registry. */
  readonly reportProgress?: (step: {
    progress: number;
    total?: number | undefined;
    message?: string | undefined;
  }) => void;
}

/**
 * What a handler may answer: content blocks, `llmContent` with `returnDisplay`, a plain text, or any
 * other value, which is shown as JSON. A handler that throws makes an error result of its message.
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

/** MCP's hints about a tool. */
export interface ToolAnnotations {
  /** A title for people. */
  title?: string | undefined;
  /** It changes nothing. */
  readOnlyHint?: boolean | undefined;
  /** It may destroy something. */
  destructiveHint?: boolean | undefined;
  /** The same call made twice does no more than made once. */
  idempotentHint?: boolean | undefined;
  /** It deals with what is outside of the machine, such as the web. */
  openWorldHint?: boolean | undefined;
}

/** What a tool leaves behind. */
export type SideEffect = "none" | "read-only" | "mutating" | "network" | "blocking" | "spawns";

/** What a tool may say about itself beyond name, description and input. */
export interface ToolExtras {
  /** A title for people. */
  title?: string | undefined;
  /** Hints for MCP clients. */
  annotations?: ToolAnnotations | undefined;
  /** Derived from `annotations` where it is not given. */
  sideEffect?: SideEffect | undefined;
  /** How long one call may run; by default `limits.callTimeoutMs` of the registry. */
  timeoutMs?: number | undefined;
  /**
   * Whether an agent host that lets its model search for tools shows this one from the beginning
   * (`_meta["anthropic/alwaysLoad"]` in MCP's list). Default: true; where there are hundreds, `false` for
   * those that are seldom needed.
   */
  alwaysLoad?: boolean | undefined;
}

/** A tool as the agent hosts take it: what `tool` makes. */
export interface SdkTool<TInput = unknown> extends ToolExtras {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: InputSchema;
  /** Does the work. */
  handler(args: TInput, context: ToolContext): Promise<HandlerAnswer>;
}

/** A tool as a host may register it: made by `tool`, by that of the Claude Agent SDK, or plain. */
export interface HostTool<TInput = unknown> extends ToolExtras {
  readonly name: string;
  readonly description?: string | undefined;
  /** JSON Schema, the simple form, a Zod schema or a shape of them. */
  readonly inputSchema?: JsonSchema | StandardSchema | undefined;
  /** Does the work. */
  handler(args: TInput, context: ToolContext): HandlerAnswer | Promise<HandlerAnswer>;
}

/** A tool of a registry: an `SdkTool` and a `DeclarativeTool` at once. */
export interface RegisteredTool<
  TInput = unknown,
  Structured = Record<string, unknown>,
> extends SdkTool<TInput> {
  readonly displayName: string;
  readonly source: ToolSource;
  readonly schema: { name: string; description: string; parameters: InputSchema };
  /** Calls the tool through its registry, as `call` does. */
  handler(
    args: TInput,
    context?: Pick<CallOptions, "toolUseId" | "sessionId" | "signal">,
  ): Promise<CallResult<Structured>>;
  /** A call of the tool that has not run. People are asked about it over `messageBus`, or the registry's. */
  createInvocation(params: TInput, messageBus?: MessageBus): ToolInvocation<TInput>;
}

/** What `get` and `list` give: the very object that was registered, or one for a built-in tool. */
export type AnyTool = RegisteredTool | HostTool | DeclarativeTool;

/** A tool that describes each call before it runs. */
export interface DeclarativeTool<TParams = unknown> extends ToolExtras {
  readonly name: string;
  readonly displayName?: string | undefined;
  /** Where `schema` has none. */
  readonly description?: string | undefined;
  readonly schema: {
    name?: string | undefined;
    description?: string | undefined;
    parameters?: JsonSchema | undefined;
  };
  /**
   * Makes an invocation of one call: of its checked input when the call is made, and of the input as it
   * came when `ToolRegistry.createInvocation` describes one. `messageBus` is the registry's.
   */
  createInvocation(
    params: TParams,
    messageBus: MessageBus,
  ): DeclaredInvocation | Promise<DeclaredInvocation>;
}

/** What a declarative tool makes of one call. What it leaves out, or cannot say, is said for it. */
export interface DeclaredInvocation {
  /** One line for a person: what the call is about to do. */
  getDescription?(): string;
  /** The files and resources it will touch. */
  toolLocations?(): string[];
  /**
   * The tool's own word on the call, asked before any call runs: what a person is to confirm, or `false`.
   * Policy stands above it. A call that policy denies is not even made; where policy asks, the person is
   * shown these details, and is asked as well when there are none; what a rule, a default, a mode or a hook
   * allows runs without a question. The tool itself can only refuse: a call whose `shouldConfirmExecute`
   * throws, answers anything else or takes longer than the call may does not run, whatever is allowed.
   */
  shouldConfirmExecute?(
    signal: AbortSignal,
  ): Promise<DeclaredConfirmation | false> | DeclaredConfirmation | false;
  execute(
    signal: AbortSignal,
    updateOutput?: (output: string) => void,
  ): Promise<ToolResult> | ToolResult;
}

/** What a declarative tool wants to have confirmed; further fields are handed on to whoever is asked. */
export type DeclaredConfirmation =
  | DeclaredConfirmationDetails
  | (DeclaredConfirmationDetails & Record<string, unknown>);

/** The details of a tool's own question. `toolName` and what tells calls apart are filled in by us. */
export interface DeclaredConfirmationDetails extends Partial<ToolCallConfirmationDetails> {
  /**
   * Told, where somebody was asked, how that ended. The call waits for it after a yes, and does not run
   * when it throws.
   */
  onConfirm?(outcome: ConfirmationSettled["outcome"]): Promise<void> | void;
}

/** One object: a tool whose input is described in the simple form. */
export declare function tool<const Schema extends SimpleSchema>(
  config: ToolConfig<Schema, SimpleOutput<Schema>>,
): SdkTool<SimpleOutput<Schema>>;
/** One object: a tool with a schema of Zod, such as `z.object({ … })`. */
export declare function tool<Schema extends StandardSchema>(
  config: ToolConfig<Schema, SchemaOutput<Schema>>,
): SdkTool<SchemaOutput<Schema>>;
/** One object: a tool with a shape of Zod schemas. */
export declare function tool<Shape extends Record<string, StandardSchema>>(
  config: ToolConfig<Shape, ShapeOutput<Shape>>,
): SdkTool<ShapeOutput<Shape>>;
/** One object: a tool with JSON Schema, or without parameters. */
export declare function tool<TInput = Record<string, unknown>>(
  config: Omit<ToolConfig<JsonSchema, TInput>, "inputSchema"> & {
    inputSchema?: JsonSchema | undefined;
  },
): SdkTool<TInput>;
/** The positional form of the Claude Agent SDK, with a Zod shape. */
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

/** What `tool` takes as one object. */
export interface ToolConfig<Schema, TInput> extends ToolExtras {
  name: string;
  description?: string | undefined;
  inputSchema: Schema;
  handler: (args: TInput, context: ToolContext) => HandlerAnswer | Promise<HandlerAnswer>;
}

/** An in-process MCP server of a few tools. */
export declare function createSdkMcpServer(options: {
  name: string;
  /** By default `"1.0.0"`. */
  version?: string | undefined;
  /** What the client's model is told about the tools as a whole. */
  instructions?: string | undefined;
  /** As in `ToolRegistryOptions`. */
  structuredContent?: boolean | undefined;
  tools?: readonly (HostTool | DeclarativeTool)[] | undefined;
}): McpSdkServerConfig;

/** Where a tool comes from. */
export type ToolSource = "builtin" | "host" | "mcp";

/** What a registry knows about one of its tools. */
export interface RegisteredToolInfo {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly source: ToolSource;
  /** The set of a built-in tool. */
  readonly toolset?: ToolsetName;
  /** The server of an MCP tool. */
  readonly serverName?: string;
  /** Other names it answers to. */
  readonly aliases?: readonly string[];
  readonly inputSchema: InputSchema;
  readonly annotations: ToolAnnotations;
  readonly sideEffect: SideEffect;
  readonly risk: "none" | "low" | "medium" | "high" | "critical";
  /** What `isAllowed` says of it. */
  readonly allowed: boolean;
  /** True when the host has switched it off. */
  readonly disabled: boolean;
}

/** What `initialize` and `reloadPlugins` found. */
export interface ToolRegistrationResult {
  readonly success: boolean;
  readonly toolCount: number;
  readonly errors: readonly { source: string; toolName?: string; message: string }[];
}

/** A call that has been described and has not run. */
export interface ToolInvocation<TParams = unknown> {
  readonly toolName: string;
  readonly params: TParams;
  /** One line for a person: what the call is about to do, whether or not it may. */
  getDescription(): string;
  /** The files and resources it will touch, or would. */
  toolLocations(): string[];
  /**
   * What a person would have to confirm first, or `false`. Rejects with the `ToolError` of a call that is
   * denied or whose tool is switched off. Nobody is asked by it, and no hook; what is wrong with the input
   * is told by `execute`.
   */
  shouldConfirmExecute(signal?: AbortSignal): Promise<ToolCallConfirmationDetails | false>;
  /** Runs the call. Rejects only when the signal is aborted. */
  execute(signal?: AbortSignal, updateOutput?: (output: string) => void): Promise<ToolResult>;
}

/**
 * Carries confirmation requests to whoever listens, and answers back to whoever asked. A request that
 * nobody listens to, or whose listener throws, is refused at once.
 */
export declare class MessageBus {
  /**
   * Asks, and resolves with the answer. Rejects with a `ToolError`: `ConfirmationTimeout`, `Cancelled`, or
   * `PolicyDenied` when nobody could be asked. By default it waits 60 seconds.
   */
  requestConfirmation(
    details: ToolCallConfirmationDetails,
    abortSignal?: AbortSignal,
    timeout?: number,
  ): Promise<boolean>;
  /** Answers a request; `false` when none waits for the answer, as for a second one. */
  respondToConfirmation(response: ConfirmationResponse): boolean;
  /** Ends a request as cancelled; `false` when there is none. */
  cancelRequest(id: string): boolean;

  /** Has a function hear of every request, or of every one that is settled. */
  on(event: "request", listener: (request: ConfirmationRequest) => void): this;
  on(event: "settled", listener: (settled: ConfirmationSettled) => void): this;
  /** The same for the next one alone. */
  once(event: "request", listener: (request: ConfirmationRequest) => void): this;
  once(event: "settled", listener: (settled: ConfirmationSettled) => void): this;
  /** Takes a function off again. */
  off(event: "request", listener: (request: ConfirmationRequest) => void): this;
  off(event: "settled", listener: (settled: ConfirmationSettled) => void): this;
  /** How many functions listen. */
  listenerCount(event: "request" | "settled"): number;
  /** Takes all functions off, of one event or of both. */
  removeAllListeners(event?: "request" | "settled"): this;
}

/** Brings output into the shape that a model or a person reads. */
export declare class OutputFormatter {
  /** Cuts an output to its limits, and says in its last line how much is left out. */
  static truncate(
    output: string,
    config?: { maxChars?: number | undefined; maxLines?: number | undefined },
  ): { content: string; truncated: boolean; omitted?: string };
  /** Without escape sequences and blank ends. */
  static formatForLLM(output: string): string;
  /** With characters escaped that could act on a terminal, turn the reading direction around or hide. */
  static formatForDisplay(output: string): string;
}

/** A file that is as it was before a call. */
export interface UndoneChange {
  path: string;
  action: "restored" | "removed";
}

/** What comes with a call. */
export interface CallOptions {
  /** The id the model gave the call. */
  toolUseId?: string | undefined;
  /** The conversation the call belongs to; state such as what was read is kept by it. */
  sessionId?: string | undefined;
  /** Ends the call early; the promise then rejects with a `ToolError` of type `"Cancelled"`. */
  signal?: AbortSignal | undefined;
  /** Hears of the running call. The result comes after the last piece of news. */
  onProgress?: ((news: ToolProgress) => void) | undefined;
}

/** How a registry is made; all of it may be left out. */
export interface ToolRegistryOptions {
  /** The workspace: file tools stay inside it. Default: the current directory. */
  projectPath?: string | undefined;
  /** Further directories that file tools may touch. */
  additionalDirectories?: readonly string[] | undefined;
  /** Which built-in tools there are: `["claude"]` for `createToolRegistry`, none for `new ToolRegistry`. */
  toolsets?: readonly ToolsetName[] | undefined;
  /** The MCP server's name; part of `mcp__<server>__<tool>`. Default: `"toolwright"`. */
  serverName?: string | undefined;
  /** The MCP server's version. */
  version?: string | undefined;
  /** What an MCP client's model is told about the tools as a whole; where the workspace is follows it. */
  instructions?: string | undefined;
  /**
   * Whether answers over MCP, and those of tools' `handler`, carry `structuredContent`, and `tools/list` an
   * `outputSchema` that it fits. Default: false, because Claude's hosts show a model the data in place of
   * the text. The data of tools that answer with a text, such as `Read`, then hold it as `text`; where data
   * were too large or a hook keeps them back, the `text` is all they are. `call` always gives the data.
   */
  structuredContent?: boolean | undefined;
  /** Rules for what may run, what is asked and what is denied. */
  policy?: PolicyConfig | undefined;
  /**
   * What happens to calls that no rule decides. By default tools that only look run, and everything else
   * is asked for on `messageBus`; with nobody there it is refused. A host that asks by itself, as an agent
   * host does, sets `"bypassPermissions"`: deny and ask rules hold there too.
   */
  permissionMode?: PermissionMode | undefined;
  /** Rules that allow, such as `"Write"`, `"Bash(git status:*)"` or `"mcp__github__*"`. */
  allowedTools?: readonly string[] | undefined;
  /**
   * Rules that deny, such as `"Bash(rm:*)"`. A tool named alone is switched off: it is not told to a model
   * either. The same tool in other sets is denied.
   */
  disallowedTools?: readonly string[] | undefined;
  /** Takes rules from `.toolwright/policy.json` of the project. Default: `false`. */
  trustProject?: boolean | undefined;
  /** The user's own rules; `false` for none. Default: `~/.config/toolwright/policy.json`. */
  userPolicyFile?: string | false | undefined;
  /**
   * Whether `Write` and `Edit` (and their kin) need a file to have been read in the session, and
   * `Write` the file to be still as it was read. Default: `true`.
   */
  readBeforeWrite?: boolean | undefined;
  /** Where confirmation requests go; by default a bus of the registry's own. */
  messageBus?: MessageBus | undefined;
  /** What is asked before and after calls, in the form of the Claude Agent SDK. */
  hooks?: Hooks | undefined;
  /** What calls may take. */
  limits?:
    | {
        /** How long a person has to answer a confirmation request. Default: 60,000 ms. */
        confirmationTimeoutMs?: number | undefined;
        /** How long a call may run. Default: 600,000 ms; commands have limits of their own. */
        callTimeoutMs?: number | undefined;
        /** How many bytes of text a result may hold. Default: 4 MiB. */
        maxResultBytes?: number | undefined;
      }
    | undefined;
  /**
   * Variables that commands get beside the host's environment, whatever their names. Entries of `PATH` that
   * depend on the current directory are left out, as they are of the host's own.
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
         * The program `toolwright-supervisor`, by its absolute path. Default: beside the addon, or beside
         * the executable of this process. Linux alone.
         */
        supervisorPath?: string | undefined;
        /**
         * Names of variables that commands may see although they look like secrets. The environment is
         * that of the moment when the registry was made.
         */
        allowEnv?: readonly string[] | undefined;
        /** What becomes of a command that reaches its time: it ends (the default), or goes on as a task. */
        onTimeout?: "stop" | "background" | undefined;
        /** How long processes have between SIGTERM and SIGKILL. Default: 2,000 ms. */
        graceMs?: number | undefined;
        /** Stops a foreground command that says nothing for so long. Default: never. */
        idleTimeoutMs?: number | undefined;
        /** How many bytes of a command's output are kept in its file. Default: 128 MiB. */
        maxOutputFileBytes?: number | undefined;
      }
    | undefined;
}

/** What comes with the calls of a turn. */
export interface TurnOptions<Format extends keyof TurnResults = "anthropic"> extends Omit<
  CallOptions,
  "toolUseId"
> {
  /** Whose format the results take. Default: `"anthropic"`. */
  format?: Format | undefined;
  /** Lets calls that only look run side by side with their neighbours that only look. */
  parallelReads?: boolean | undefined;
}

/** Any name but those of built-in tools, whose input is known. */
type OtherName<Name extends string> = Name extends keyof ToolInputs ? never : Name;

/** Judges calls by rules, without running any. */
export declare class PolicyEngine {
  /** Throws a `ToolError` that names the rule that is wrong. */
  constructor(
    config: PolicyConfig,
    options?: {
      projectPath?: string | undefined;
      permissionMode?: PermissionMode | undefined;
    },
  );
  /** What is to be done with a call. */
  evaluate(toolName: string, params?: Record<string, unknown>): PolicyAction;
  /** The same with its reasons. */
  explain(toolName: string, params?: Record<string, unknown>): PolicyVerdict;
  /** How much a call of the tool may do, from what the tool is. */
  getRiskLevel(toolName: string): "low" | "medium" | "high";
  /** Rules that are shadowed, redundant, without effect, too broad, or about no tool that is built in. */
  lint(): PolicyLint[];
  /** The JSON Schema of the policy file. */
  static readonly schema: JsonSchema;
}

/** A tool of an MCP server: with a handler, or with the client that is connected to the server. */
export type McpToolConfig<TInput = Record<string, unknown>> = ToolExtras & {
  serverName: string;
  toolName: string;
  description?: string | undefined;
  inputSchema?: JsonSchema | undefined;
} & (
    | { handler: (args: TInput, context: ToolContext) => HandlerAnswer | Promise<HandlerAnswer> }
    | { client: McpToolClient }
  );

/** What is needed of an MCP client to call tools; that of the official SDK fits. */
export interface McpToolClient {
  /** Calls a tool of the server. */
  callTool(
    params: { name: string; arguments?: Record<string, unknown> },
    resultSchema?: undefined,
    options?: { signal?: AbortSignal },
  ): Promise<object>;
}

/** A registry of tools: every call of every tool takes the same path. */
export declare class ToolRegistry {
  /** A registry without built-in tools, unless `toolsets` names some. */
  constructor(options?: ToolRegistryOptions);

  /** Where confirmation requests go: answer those it emits as `request`. */
  readonly messageBus: MessageBus;

  /**
   * Loads what is not loaded yet. Built-in tools are there from the start. `errors` also has the rules that
   * name no tool, so call it when the host's own tools are registered.
   */
  initialize(): Promise<ToolRegistrationResult>;

  /** Adds a tool; one of the same name is replaced. */
  register<TInput = Record<string, unknown>>(
    tool: HostTool<TInput> | DeclarativeTool<TInput>,
  ): void;
  /** Removes a tool; false when there was none of that name. */
  unregister(name: string): boolean;
  /** The very object that was registered, or a built-in tool. */
  get<Name extends keyof ToolInputs>(
    name: Name,
  ): RegisteredTool<ToolInputs[Name], StructuredContentOf<Name>> | undefined;
  get<T = AnyTool>(name: string): T | undefined;
  /** Every tool, by name. */
  list(): AnyTool[];
  /** Every name, in order. */
  names(): string[];
  /** True when there is a tool of that name or alias. */
  hasTool(name: string): boolean;
  /** How many tools there are. */
  getToolCount(): number;
  /** What is known about every tool, by name. */
  listTools(): RegisteredToolInfo[];
  /** What is known about a tool, by its name or alias. */
  getToolInfo(name: string): RegisteredToolInfo | undefined;

  /** `{ name, description, parameters }` of every tool that is not disabled. */
  getFunctionSchemas(): { name: string; description: string; parameters: InputSchema }[];
  /** The tools as a provider's API takes them. `strict` asks OpenAI to hold the model to the schema. */
  definitions(format?: undefined, options?: { strict?: boolean | undefined }): Definitions["mcp"];
  definitions<Format extends DefinitionFormat>(
    format: Format,
    options?: { strict?: boolean | undefined },
  ): Definitions[Format];

  /**
   * True when a call of which nothing but the tool is known would run without a question: what `explain`
   * says where no rule about paths, commands or hosts can be asked.
   */
  isAllowed(name: string, options?: Pick<CallOptions, "sessionId">): boolean;
  /** True when the host has switched the tool off. */
  isDisabled(name: string): boolean;
  /**
   * Switches tools off until `enable`: no definition or listing for models has them, and calls are refused
   * with `ToolDisabled`. A tool that is registered later under such a name is off as well. `mcp__server__*`
   * is every tool of a server.
   */
  disable(...names: string[]): this;
  /** Switches on what was switched off, also by `disallowedTools`. Rules that deny it still hold. */
  enable(...names: string[]): this;
  /** Adds rules that allow, as `allowedTools` does: all of them, or none when one is wrong. */
  withAllowed(...rules: string[]): this;
  /** What policy says of a call and why, for each part of it. Nothing runs; wrong input throws. */
  explain(name: string, input?: unknown, options?: Pick<CallOptions, "sessionId">): PolicyVerdict;
  /** Puts another policy in the place of the `policy` option. One that is wrong throws, and the old one stays. */
  setPolicy(policy: PolicyConfig | null): this;
  /** Reads the policy files again. One that is wrong throws, and the old policy stays. */
  reloadPolicy(): this;
  /** Changes what happens to calls that no rule decides. */
  setPermissionMode(mode: PermissionMode): this;
  /** Rules that are shadowed, redundant, without effect, too broad, or about no tool that is here. */
  lintPolicy(): PolicyLint[];

  /** Adds a tool of an MCP server the host is connected to. Gives its name, `mcp__<server>__<tool>`. */
  registerMcpTool<TInput = Record<string, unknown>>(tool: McpToolConfig<TInput>): string;
  /** Removes MCP tools whose name begins with the prefix; gives how many there were. */
  unregisterMcpTools(prefix: string): number;

  /** Describes a call before it runs. Throws for an unknown tool; wrong input is told by `execute`. */
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

  /** Runs a tool. A failure is a result; the promise rejects on misuse of the API or an abort. */
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
   * Takes back what a call did to files: a changed file gets its old content, a created one is removed.
   * Rejects with `StaleFileError` when the file has changed since, and with `NothingToUndo` when no
   * change of that call is kept. A registry keeps the last 10,000 changes, and 128 MiB of old contents.
   */
  undo(toolUseId: string, options?: Pick<CallOptions, "sessionId">): Promise<UndoneChange[]>;

  /**
   * Runs the calls of one model turn, one after the other, and gives a result for each, in order. Takes all
   * that the model answered (`message.content`, `message.tool_calls`, `response.output`, Gemini's parts or
   * `functionCalls`), nothing included, and leaves out what is no call. A call that cannot be read has an
   * error in its place, with the id `call_<index>` where it bears none; the others run. When the signal is
   * aborted, or a person or a hook ends the turn, the calls that remain get errors.
   */
  executeTools<Format extends keyof TurnResults = "anthropic">(
    blocks: readonly TurnBlock[] | null | undefined,
    options?: TurnOptions<Format>,
  ): Promise<TurnResults[Format]>;

  /** The tools as an in-process MCP server, for `mcpServers` of either agent host. */
  toMcpServerConfig(): McpSdkServerConfig;
  /** `mcp__<server>__<tool>` of every tool that is not disabled, for `allowedTools` of an agent host. */
  getAllowedToolNames(): string[];

  /**
   * The tasks of all sessions that run, and those that ended last (up to 256), in the order in which they
   * started. This is the host's view: the tools of a session know its own tasks alone.
   */
  tasks(): TaskInfo[];
  /** Has a function hear of every event of tasks, each once. It keeps neither process nor registry alive. */
  on(event: "task", listener: (event: TaskEvent) => void, options?: TaskEventOptions): this;
  /** Takes a function off again. */
  off(event: "task", listener: (event: TaskEvent) => void): this;
  /**
   * The events of tasks one after the other; ends when the registry is closed. One that is 16,384 events
   * behind is given those, and then throws an error that says which it missed.
   */
  taskEvents(options?: TaskEventOptions): TaskEventIterator;

  /**
   * Ends every running call and task at once, and removes the files of their output; later calls are
   * refused. A call that waits for a confirmation or a hook ends too: its request is withdrawn (`settled`
   * with `"cancelled"`), the hook's signal aborted. Kept when every call has its answer, every process is
   * gone, and nothing of the host is referred to any more.
   *
   * A registry that is not closed ends with the garbage collection that finds nobody has it: keep it for
   * as long as its tasks are to run. Somebody who waits for a call or for `taskEvents()` has it.
   */
  close(): Promise<void>;
  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** A registry with the built-in tools of the chosen sets, by default those of Claude Code. */
export declare function createToolRegistry(options?: ToolRegistryOptions): ToolRegistry;
