import type { ToolInputs } from "./lib/generated/tool-inputs";

export type { ToolInputs } from "./lib/generated/tool-inputs";

/** JSON Schema of a tool's input; always of `type: "object"`. */
export type JsonSchema = Record<string, unknown>;

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
  constructor(type: ErrorType, message: string, options?: ErrorOptions);
  readonly type: ErrorType;
  /** The same as `type`. */
  readonly code: ErrorType;
  /** How to allow what was refused, where that is the reason. */
  readonly details?: RefusalDetails;
}

/** One block of a result: text, an image, or another block of the Model Context Protocol. */
export type ToolContent =
  | { type: "text"; text: string }
  | { type: "image"; data: string; mimeType: string }
  | { type: "audio"; data: string; mimeType: string }
  | { type: "resource" | "resource_link"; [key: string]: unknown };

/** Why a call failed. `message` is for the model: what went wrong and what it may do next. */
export interface CallError {
  type: ErrorType;
  message: string;
  /** What a person or the host is told of a call that was refused; `display` says it as text. */
  details?: RefusalDetails;
}

/** What a person or the host is told of a refusal. It is in no text that goes to a model. */
export interface RefusalDetails {
  /** Why, with the rule or setting that refused. */
  reason: string;
  /** What to change so that the same call runs: a rule, a listener, a mode, an option. */
  howToAllow: string;
  /** The narrowest rules that would allow the call, where rules can and can be written visibly. */
  suggestedRules?: string[];
}

/** The result of a call, shaped as the Model Context Protocol's. */
export interface CallResult {
  content: ToolContent[];
  /** Set when the tool failed. */
  isError?: boolean;
  /** The same facts as data, where that serves a program better than the text. */
  structuredContent?: unknown;
  /**
   * A text for a person, never blank, where it is not the content itself; of a refusal, how to allow it.
   */
  display?: string;
  /** Why the tool failed. */
  error?: CallError;
  /** Facts about the result for programs, such as `toolwright/file`. */
  _meta?: Record<string, unknown>;
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
  readonly reportProgress?: (step: { progress: number; total?: number; message?: string }) => void;
}

/**
 * What a handler may answer: content blocks, `llmContent` with `returnDisplay`, a plain text, or any
 * other value, which is shown as JSON. A handler that throws makes an error result of its message.
 */
export type HandlerAnswer =
  | { content: readonly ToolContent[] | string; isError?: boolean; structuredContent?: unknown }
  | { llmContent: string; returnDisplay?: string; error?: { type?: string; message: string } }
  | string
  | number
  | boolean
  | null
  | undefined
  | void
  | object;

/** MCP's hints about a tool. */
export interface ToolAnnotations {
  title?: string;
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
}

/** What a tool leaves behind. */
export type SideEffect = "none" | "read-only" | "mutating" | "network" | "blocking" | "spawns";

/** What a tool may say about itself beyond name, description and input. */
export interface ToolExtras {
  /** A title for people. */
  title?: string;
  annotations?: ToolAnnotations;
  /** Derived from `annotations` where it is not given. */
  sideEffect?: SideEffect;
  /** How long one call may run; by default `limits.callTimeoutMs` of the registry. */
  timeoutMs?: number;
}

/** A tool as the agent hosts take it. */
export interface SdkTool<TInput = any> extends ToolExtras {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly handler: (args: TInput, context: ToolContext) => Promise<any>;
}

/** A built-in tool: an `SdkTool` and a `DeclarativeTool` at once. */
export interface RegisteredTool<TInput = any> extends SdkTool<TInput> {
  readonly displayName: string;
  readonly source: ToolSource;
  readonly schema: { name: string; description: string; parameters: JsonSchema };
  readonly handler: (args: TInput, context?: Partial<ToolContext>) => Promise<CallResult>;
  createInvocation(params: TInput): ToolInvocation<TInput>;
}

/** A tool that describes each call before it runs. */
export interface DeclarativeTool<TParams = any> extends ToolExtras {
  readonly name: string;
  readonly displayName?: string;
  readonly schema: { name?: string; description?: string; parameters?: JsonSchema };
  createInvocation(params: TParams): {
    getDescription?(): string;
    toolLocations?(): string[];
    execute(
      signal: AbortSignal,
      updateOutput?: (output: string) => void,
    ): Promise<ToolResult> | ToolResult;
  };
}

/** The simple form of an input schema; every key is required. */
export type SimpleSchema = Record<string, "string" | "number" | "boolean" | "object" | "array">;

/** Any schema of Zod, or of another library that follows Standard Schema. */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => unknown;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

type SchemaOutput<T> = T extends {
  readonly "~standard": { readonly types?: { readonly output: infer O } | undefined };
}
  ? O
  : unknown;

type OptionalKeys<T> = { [K in keyof T]: undefined extends T[K] ? K : never }[keyof T];

/** The input a Zod shape parses to; keys that may be `undefined` may be missing. */
export type ShapeOutput<Shape> = Flatten<
  { [K in Exclude<keyof Shape, OptionalKeys<Outputs<Shape>>>]: Outputs<Shape>[K] } & {
    [K in OptionalKeys<Outputs<Shape>> & keyof Shape]?: Outputs<Shape>[K];
  }
>;
type Outputs<Shape> = { [K in keyof Shape]: SchemaOutput<Shape[K]> };
type Flatten<T> = { [K in keyof T]: T[K] };

type SimpleOutput<T> = {
  [K in keyof T]: T[K] extends "string"
    ? string
    : T[K] extends "number"
      ? number
      : T[K] extends "boolean"
        ? boolean
        : T[K] extends "array"
          ? unknown[]
          : Record<string, unknown>;
};

/** One object: a tool with a Zod schema or shape, the simple form, or JSON Schema. */
export declare function tool<const Schema extends SimpleSchema>(
  config: {
    name: string;
    description?: string;
    inputSchema: Schema;
    handler: (
      args: SimpleOutput<Schema>,
      context: ToolContext,
    ) => HandlerAnswer | Promise<HandlerAnswer>;
  } & ToolExtras,
): SdkTool<SimpleOutput<Schema>>;
export declare function tool<Shape extends Record<string, StandardSchema>>(
  config: {
    name: string;
    description?: string;
    inputSchema: Shape;
    handler: (
      args: ShapeOutput<Shape>,
      context: ToolContext,
    ) => HandlerAnswer | Promise<HandlerAnswer>;
  } & ToolExtras,
): SdkTool<ShapeOutput<Shape>>;
export declare function tool<TInput = any>(
  config: {
    name: string;
    description?: string;
    inputSchema?: JsonSchema | StandardSchema;
    handler: (args: TInput, context: ToolContext) => HandlerAnswer | Promise<HandlerAnswer>;
  } & ToolExtras,
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

/** A message line of the Model Context Protocol; the official SDK's transports fit. */
export interface McpTransport {
  onmessage?: ((message: any) => void) | undefined;
  onclose?: (() => void) | undefined;
  send(message: any): Promise<void> | void;
  start?(): Promise<void>;
  close?(): Promise<void> | void;
}

/** An in-process MCP server; each `connect` serves one client. */
export interface McpInstance {
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
  /**
   * For the Claude Agent SDK, and for every MCP client: an `McpInstance`. Typed `any` because the SDK
   * asks for its own class, of which it uses `connect` alone.
   */
  readonly instance: any;
}

/** An in-process MCP server of a few tools. */
export declare function createSdkMcpServer(options: {
  name: string;
  version?: string;
  /** What the client's model is told about the tools as a whole. */
  instructions?: string;
  tools?: readonly (SdkTool | DeclarativeTool)[];
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
  readonly inputSchema: JsonSchema;
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
export interface ToolInvocation<TParams = any> {
  readonly toolName: string;
  readonly params: TParams;
  /** One line for a person: what the call is about to do. */
  getDescription(): string;
  /** The files and resources it will touch. */
  toolLocations(): string[];
  /** What a person has to confirm first, or `false`. */
  shouldConfirmExecute(signal?: AbortSignal): Promise<ToolCallConfirmationDetails | false>;
  /** Runs the call. Rejects only when the signal is aborted. */
  execute(signal?: AbortSignal, updateOutput?: (output: string) => void): Promise<ToolResult>;
}

/** What a person is asked. */
export interface ToolCallConfirmationDetails {
  toolName: string;
  description: string;
  risk: "low" | "medium" | "high";
  locations?: string[];
  /** Why somebody has to agree. Set, like what follows, when the request comes from a registry. */
  reason?: string;
  /** The words of the rule that asks. */
  message?: string;
  /** What the call is about to be given, as data: show `description` and `diff`, which hide nothing. */
  input?: Record<string, unknown>;
  /** What an edit would change. A yes is for this change: a file that holds something else by then is left. */
  diff?: string;
  /** What `alwaysAllow` would add for the session: the narrowest rules for this call. */
  suggestedRules?: string[];
  toolUseId?: string;
  sessionId?: string;
}

/** A request that waits for an answer. */
export interface ConfirmationRequest<Details = ToolCallConfirmationDetails> {
  /** What the answer has to name. */
  id: string;
  details: Details;
  /** How long it waits, in milliseconds. */
  timeout: number;
}

/**
 * An answer to a request. Anything but an own property `approved` that is the boolean `true` is a no; the
 * same goes for the other flags. Each property is read once.
 */
export interface ConfirmationResponse {
  id: string;
  approved: boolean;
  /** Why not, in words for the model. */
  message?: string;
  /** Run with this input instead; it is validated and judged like any other. */
  updatedInput?: Record<string, unknown>;
  /**
   * Do not ask again for calls like this one in this session; with `updatedInput`, for calls like the one
   * that runs. Where a rule asks, it goes on asking; where no rule can be written visibly, nothing is
   * granted.
   */
  alwaysAllow?: boolean;
  /** With a no: stop the whole turn, not this call alone. */
  interrupt?: boolean;
}

/** Tells that a request needs no answer any more. */
export interface ConfirmationSettled {
  id: string;
  outcome: "approved" | "denied" | "timeout" | "cancelled";
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

  on(event: "request", listener: (request: ConfirmationRequest) => void): this;
  on(event: "settled", listener: (settled: ConfirmationSettled) => void): this;
  once(event: "request", listener: (request: ConfirmationRequest) => void): this;
  once(event: "settled", listener: (settled: ConfirmationSettled) => void): this;
  off(event: "request", listener: (request: ConfirmationRequest) => void): this;
  off(event: "settled", listener: (settled: ConfirmationSettled) => void): this;
  listenerCount(event: "request" | "settled"): number;
  removeAllListeners(event?: "request" | "settled"): this;
}

/** Brings output into the shape that a model or a person reads. */
export declare class OutputFormatter {
  /** Cuts an output to its limits, and says in its last line how much is left out. */
  static truncate(
    output: string,
    config?: { maxChars?: number; maxLines?: number },
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

/** What a hook is told. */
export interface HookEvent {
  hook_event_name: "PreToolUse" | "PostToolUse" | "PostToolUseFailure";
  session_id: string;
  cwd: string;
  tool_name: string;
  tool_use_id: string;
  tool_input: Record<string, unknown>;
  /** After a call: its result. */
  tool_response?: CallResult;
  /** After a call that failed: why. */
  error?: string;
  error_type?: ErrorType;
}

/**
 * What a hook may answer; nothing changes nothing. A plain object: one with `toJSON`, or with a boxed or
 * inherited value where a plain one belongs, counts as a failure of the hook.
 */
export interface HookAnswer {
  /** `false` ends the whole turn. */
  continue?: boolean;
  stopReason?: string;
  /** After a call: keeps its output from the model. */
  suppressOutput?: boolean;
  decision?: "approve" | "allow" | "block" | "deny" | "ask";
  reason?: string;
  /**
   * Run with this input instead; it is validated and judged like any other. The hook is not asked about
   * its own rewrite; what it decides holds for it. When another hook changes the input again, it is
   * asked about that. Hooks that still change each other's input after 8 rounds block the call.
   */
  updatedInput?: Record<string, unknown>;
  /** Told to the model with the result. */
  additionalContext?: string;
  hookSpecificOutput?: {
    hookEventName?: string;
    permissionDecision?: "allow" | "deny" | "ask";
    permissionDecisionReason?: string;
    updatedInput?: Record<string, unknown>;
    additionalContext?: string;
  };
}

/**
 * A hook: a function, or a shell command that gets the event as JSON on standard input and answers with
 * JSON on standard output (exit 2 blocks, with standard error as the reason). One that fails or takes
 * longer than its timeout before a call blocks the call, and so does a command whose output is longer than
 * 1 MiB or held open by something it left running. A command runs in the system's shell, in `projectPath`,
 * with the host's environment but for variables that change what a command line means. Whatever it starts
 * ends with it, with its timeout and with the host.
 */
export type Hook =
  | ((
      event: HookEvent,
      toolUseId: string,
      options: { signal: AbortSignal },
    ) => HookAnswer | void | null | Promise<HookAnswer | void | null>)
  | {
      type: "command";
      command: string;
      timeout?: number;
      /** For which tools, where the command stands by itself and not in a group. */
      matcher?: string;
    };

/** Hooks of some tools: by name, names joined by `|`, or a regular expression for whole names. */
export interface HookGroup {
  matcher?: string;
  /** In seconds; by default 60. */
  timeout?: number;
  hooks: readonly Hook[];
}

export interface Hooks {
  PreToolUse?: readonly (HookGroup | Hook)[];
  PostToolUse?: readonly (HookGroup | Hook)[];
  PostToolUseFailure?: readonly (HookGroup | Hook)[];
}

/** What comes with a call. */
export interface CallOptions {
  /** The id the model gave the call. */
  toolUseId?: string;
  /** The conversation the call belongs to; state such as what was read is kept by it. */
  sessionId?: string;
  /** Ends the call early; the promise then rejects with a `ToolError` of type `"Cancelled"`. */
  signal?: AbortSignal;
  /** Hears of the running call. The result comes after the last piece of news. */
  onProgress?: (news: ToolProgress) => void;
}

/**
 * A model's call: an Anthropic `tool_use` block, a tool call of OpenAI's chat, a `function_call` item of
 * its responses, or a part with a Gemini `functionCall`.
 */
export type ToolUseBlock =
  | { type?: string; id: string; name: string; input?: unknown }
  | { type?: string; id: string; function: { name: string; arguments: string } }
  | { type?: string; call_id: string; name: string; arguments: string }
  | { functionCall: { id?: string; name: string; args?: unknown } };

/** The formats in which tools are told to a model. */
export type DefinitionFormat = "mcp" | "anthropic" | "openai" | "openai-responses" | "gemini";

export interface McpDefinition {
  name: string;
  title: string;
  description: string;
  inputSchema: JsonSchema;
  annotations: ToolAnnotations;
}
export interface AnthropicDefinition {
  name: string;
  description: string;
  input_schema: JsonSchema & { type: "object" };
}
export interface OpenAiFunction {
  name: string;
  description: string;
  parameters: JsonSchema;
  strict?: boolean;
}
export interface Definitions {
  mcp: McpDefinition[];
  anthropic: AnthropicDefinition[];
  openai: { type: "function"; function: OpenAiFunction }[];
  "openai-responses": ({ type: "function" } & OpenAiFunction)[];
  gemini: {
    functionDeclarations: { name: string; description: string; parametersJsonSchema: JsonSchema }[];
  }[];
}

export interface AnthropicToolResult {
  type: "tool_result";
  tool_use_id: string;
  content: (
    | { type: "text"; text: string }
    | { type: "image"; source: { type: "base64"; media_type: string; data: string } }
  )[];
  is_error?: boolean;
}
export interface OpenAiToolMessage {
  role: "tool";
  tool_call_id: string;
  content: string;
}
export interface OpenAiFunctionOutput {
  type: "function_call_output";
  call_id: string;
  output: string;
}
export interface GeminiFunctionResponse {
  functionResponse: { id: string; name: string; response: { output: string } | { error: string } };
}
export interface TurnResults {
  anthropic: AnthropicToolResult[];
  openai: OpenAiToolMessage[];
  "openai-responses": OpenAiFunctionOutput[];
  gemini: GeminiFunctionResponse[];
  mcp: CallResult[];
}

export interface ToolRegistryOptions {
  /** The workspace: file tools stay inside it. Default: the current directory. */
  projectPath?: string;
  /** Further directories that file tools may touch. */
  additionalDirectories?: readonly string[];
  /** Which built-in tools there are: `["claude"]` for `createToolRegistry`, none for `new ToolRegistry`. */
  toolsets?: readonly ToolsetName[];
  /** The MCP server's name; part of `mcp__<server>__<tool>`. Default: `"toolwright"`. */
  serverName?: string;
  /** The MCP server's version. */
  version?: string;
  /** What an MCP client's model is told about the tools as a whole. */
  instructions?: string;
  /** Rules for what may run, what is asked and what is denied. */
  policy?: PolicyConfig;
  /**
   * What happens to calls that no rule decides. By default tools that only look run, and everything else
   * is asked for on `messageBus`; with nobody there it is refused. A host that asks by itself, as an agent
   * host does, sets `"bypassPermissions"`: deny and ask rules hold there too.
   */
  permissionMode?: PermissionMode;
  /** Rules that allow, such as `"Write"`, `"Bash(git status:*)"` or `"mcp__github__*"`. */
  allowedTools?: readonly string[];
  /**
   * Rules that deny, such as `"Bash(rm:*)"`. A tool named alone is switched off: it is not told to a model
   * either. The same tool in other sets is denied.
   */
  disallowedTools?: readonly string[];
  /** Takes rules from `.toolwright/policy.json` of the project. Default: `false`. */
  trustProject?: boolean;
  /** The user's own rules; `false` for none. Default: `~/.config/toolwright/policy.json`. */
  userPolicyFile?: string | false;
  /**
   * Whether `Write` and `Edit` (and their kin) need a file to have been read in the session, and
   * `Write` the file to be still as it was read. Default: `true`.
   */
  readBeforeWrite?: boolean;
  /** Where confirmation requests go; by default a bus of the registry's own. */
  messageBus?: MessageBus;
  /** What is asked before and after calls, in the form of the Claude Agent SDK. */
  hooks?: Hooks;
  limits?: {
    /** How long a person has to answer a confirmation request. Default: 60,000 ms. */
    confirmationTimeoutMs?: number;
    /** How long a call may run. Default: 600,000 ms; commands have limits of their own. */
    callTimeoutMs?: number;
    /** How many bytes of text a result may hold. Default: 4 MiB. */
    maxResultBytes?: number;
  };
  /**
   * Variables that commands get beside the host's environment, whatever their names. Entries of `PATH` that
   * depend on the current directory are left out, as they are of the host's own.
   */
  env?: Record<string, string>;
  /** How commands are run. */
  shell?: {
    /**
     * The shell: an absolute path, or a name to look up in `PATH`. Default: bash, or sh where there is
     * none.
     */
    path?: string;
    /**
     * Names of variables that commands may see although they look like secrets. The environment is
     * that of the moment when the registry was made.
     */
    allowEnv?: readonly string[];
    /** What becomes of a command that reaches its time: it ends (the default), or goes on as a task. */
    onTimeout?: "stop" | "background";
    /** How long processes have between SIGTERM and SIGKILL. Default: 2,000 ms. */
    graceMs?: number;
    /** Stops a foreground command that says nothing for so long. Default: never. */
    idleTimeoutMs?: number;
    /** How many bytes of a command's output are kept in its file. Default: 128 MiB. */
    maxOutputFileBytes?: number;
  };
}

/** A command in the background. */
export interface TaskInfo {
  readonly id: string;
  readonly command: string;
  readonly description?: string;
  /** The conversation that started it. */
  readonly sessionId: string;
  readonly state: "running" | "completed" | "failed" | "stopped";
  readonly exitCode?: number;
  /** The signal that ended the shell. */
  readonly signal?: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly outputBytes: number;
  /** The file that holds the output, until the task is forgotten or the registry closed. */
  readonly outputFile?: string;
  /** True when every process it starts ends with it, also when this process is killed. */
  readonly contained: boolean;
}

/** Something that happened to a task. */
export interface TaskEvent {
  /** Rises by one from event to event, from 1. */
  readonly sequence: number;
  readonly type: "started" | "ended";
  /** The task as it was then. */
  readonly task: TaskInfo;
}

/** Where to begin: behind the event of this number. By default with the first that is kept. */
export interface TaskEventOptions {
  after?: number;
}

/** Any name but those of built-in tools, whose input is known. */
type OtherName<Name extends string> = Name extends keyof ToolInputs ? never : Name;

/** What is to be done with a call. */
export type PolicyAction = "allow" | "ask" | "deny";

/** What happens to calls that no rule decides. */
export type PermissionMode = "default" | "acceptEdits" | "plan" | "dontAsk" | "bypassPermissions";

/**
 * All of a rule's conditions have to hold. Of several values one has to fit. A condition on paths, commands
 * or hosts is what stands in the parentheses of a rule's text: `{ tool: "Read", conditions: [{ pathGlob:
 * ".env" }] }` is `Read(.env)`. A condition on a `param` is about the named tool alone, and the same tool
 * in other sets.
 */
export type PolicyCondition =
  | {
      param: string;
      /** `matches` takes a regular expression without look-around and back-references. */
      operator: "equals" | "contains" | "startsWith" | "matches";
      value: string | readonly string[];
    }
  /** The resolved paths lie in this directory. */
  | { pathWithin: string | readonly string[] }
  /** The resolved paths match this pattern. */
  | { pathGlob: string | readonly string[] }
  /** Every command begins with these words. */
  | { commandPrefix: string | readonly string[] }
  /** The URL's host; `*.docs.rs` is every host below. */
  | { urlHost: string | readonly string[] }
  | { riskAtLeast: "low" | "medium" | "high" | "critical" };

export interface PolicyRule {
  /** A tool's name, `*` for all, or a rule's text such as `Edit(src/**)`. */
  tool: string;
  action: PolicyAction;
  /** What a person is shown. */
  risk?: "low" | "medium" | "high" | "critical";
  /** What a person or a model is told. */
  message?: string;
  conditions?: readonly PolicyCondition[];
}

/**
 * Rules, in any order: deny goes before ask, ask before allow; a rule for `*` steps back behind a rule for
 * the tool.
 */
export interface PolicyConfig {
  /** What happens to calls that no rule decides. Without it, the permission mode decides. */
  defaultAction?: PolicyAction;
  rules?: readonly PolicyRule[];
  /** Rules as text: `Bash(git status:*)`, `Edit(src/**)`, `WebFetch(domain:docs.rs)`, `mcp__server__*`. */
  allow?: readonly string[];
  ask?: readonly string[];
  deny?: readonly string[];
}

/** A rule and where it comes from. */
export interface PolicyRuleRef {
  layer: "defaults" | "project" | "user" | "options" | "session";
  /** Its place there, such as `deny[0]`, `rules[2]` or `allowedTools[1]`. */
  place: string;
  /** As it is written; the `tool` of a rule object. */
  text: string;
  action: PolicyAction;
  /** The conditions of a rule object, as they are written. */
  conditions?: PolicyCondition[];
}

/** What policy says of a call, and why. */
export interface PolicyVerdict {
  action: PolicyAction;
  reason: string;
  /**
   * What the action rests on: a rule, one that may apply, a protected place, the mode, a doubt about what a
   * command line runs, or the default alone. Only what the default alone asks about can a hook allow.
   */
  basis: "default" | "doubt" | "rule" | "possible-rule" | "protected-place" | "mode";
  /** The rule that decided, if one did. */
  rule?: PolicyRuleRef;
  risk: "none" | "low" | "medium" | "high" | "critical";
  /** The rule's own words. */
  message?: string;
  /** The same for each command, redirection, path or host. */
  parts: { part: string; action: PolicyAction; reason: string; rule?: PolicyRuleRef }[];
}

/** A rule that does not do what it looks like. */
export interface PolicyLint {
  kind: "shadowed" | "redundant" | "without-effect" | "too-broad" | "unknown-tool";
  rule: PolicyRuleRef;
  message: string;
}

/** Judges calls by rules, without running any. */
export declare class PolicyEngine {
  /** Throws a `ToolError` that names the rule that is wrong. */
  constructor(
    config: PolicyConfig,
    options?: { projectPath?: string; permissionMode?: PermissionMode },
  );
  evaluate(toolName: string, params?: Record<string, unknown>): PolicyAction;
  /** The same with its reasons. */
  explain(toolName: string, params?: Record<string, unknown>): PolicyVerdict;
  getRiskLevel(toolName: string): "low" | "medium" | "high";
  /** Rules that are shadowed, redundant, without effect, too broad, or about no tool that is built in. */
  lint(): PolicyLint[];
  /** The JSON Schema of the policy file. */
  static readonly schema: JsonSchema;
}

/** A registry of tools: every call of every tool takes the same path. */
export declare class ToolRegistry {
  constructor(options?: ToolRegistryOptions);

  /** Where confirmation requests go: answer those it emits as `request`. */
  readonly messageBus: MessageBus;

  /**
   * Loads what is not loaded yet. Built-in tools are there from the start. `errors` also has the rules that
   * name no tool, so call it when the host's own tools are registered.
   */
  initialize(): Promise<ToolRegistrationResult>;

  /** Adds a tool; one of the same name is replaced. */
  register(tool: SdkTool | DeclarativeTool): void;
  /** Removes a tool; false when there was none of that name. */
  unregister(name: string): boolean;
  /** The very object that was registered, or a built-in tool. */
  get<Name extends keyof ToolInputs>(name: Name): RegisteredTool<ToolInputs[Name]> | undefined;
  get<T = any>(name: string): T | undefined;
  /** Every tool, by name. */
  list(): any[];
  /** Every name, in order. */
  names(): string[];
  hasTool(name: string): boolean;
  getToolCount(): number;
  listTools(): RegisteredToolInfo[];
  getToolInfo(name: string): RegisteredToolInfo | undefined;

  /** `{ name, description, parameters }` of every tool that is not disabled. */
  getFunctionSchemas(): { name: string; description: string; parameters: JsonSchema }[];
  /** The tools as a provider's API takes them. `strict` asks OpenAI to hold the model to the schema. */
  definitions(): McpDefinition[];
  definitions<Format extends DefinitionFormat>(
    format: Format,
    options?: { strict?: boolean },
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
  setPermissionMode(mode: PermissionMode): this;
  /** Rules that are shadowed, redundant, without effect, too broad, or about no tool that is here. */
  lintPolicy(): PolicyLint[];

  /** Adds a tool of an MCP server the host is connected to. Gives its name, `mcp__<server>__<tool>`. */
  registerMcpTool(
    tool: {
      serverName: string;
      toolName: string;
      description?: string;
      inputSchema?: JsonSchema;
    } & ToolExtras &
      (
        | { handler: (args: any, context: ToolContext) => HandlerAnswer | Promise<HandlerAnswer> }
        | {
            client: {
              callTool(params: any, schema?: any, options?: { signal?: AbortSignal }): Promise<any>;
            };
          }
      ),
  ): string;
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
  ): Promise<CallResult>;
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
   * Runs the calls of one model turn, one after the other, and gives a result for each, in order. A block
   * that cannot be read has an error in its place, with the id `call_<index>` where it bears none; the
   * others run. When the signal is aborted, or a person or a hook ends the turn, the calls that remain get
   * errors.
   */
  executeTools<Format extends keyof TurnResults = "anthropic">(
    blocks: readonly ToolUseBlock[],
    options?: {
      format?: Format;
      signal?: AbortSignal;
      sessionId?: string;
      onProgress?: (news: ToolProgress) => void;
      /** Lets calls that only look run side by side with their neighbours that only look. */
      parallelReads?: boolean;
    },
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
  off(event: "task", listener: (event: TaskEvent) => void): this;
  /**
   * The events of tasks one after the other; ends when the registry is closed. One that is 16,384 events
   * behind is given those, and then throws an error that says which it missed.
   */
  taskEvents(options?: TaskEventOptions): AsyncIterableIterator<TaskEvent>;

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
  [Symbol.asyncDispose](): Promise<void>;
}

/** A registry with the built-in tools of the chosen sets, by default those of Claude Code. */
export declare function createToolRegistry(options?: ToolRegistryOptions): ToolRegistry;
