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
  | "FileEditError"
  | "GlobError"
  | "GrepError"
  | "LsError"
  | "ShellTimeoutError"
  | "ShellExecutionError"
  | "HttpError"
  | "FetchError"
  | "SearchError"
  | "MemoryError"
  | "TodoError";

/**
 * What this package throws: for a misuse of the API, and for an aborted call (then `type` is
 * `"Cancelled"`, `name` is `"AbortError"` and `cause` the signal's reason). A tool that fails is not an
 * exception but a result with `isError`.
 */
export declare class ToolError extends Error {
  constructor(type: ErrorType, message: string, options?: ErrorOptions);
  readonly type: ErrorType;
  /** The same as `type`. */
  readonly code: ErrorType;
}

/** One block of a result: text, an image, or another block of the Model Context Protocol. */
export type ToolContent =
  | { type: "text"; text: string }
  | { type: "image"; data: string; mimeType: string }
  | { type: "audio"; data: string; mimeType: string }
  | { type: "resource" | "resource_link"; [key: string]: unknown };

/** The result of a call, shaped as the Model Context Protocol's. */
export interface CallResult {
  content: ToolContent[];
  /** Set when the tool failed. */
  isError?: boolean;
  /** The same facts as data, where that serves a program better than the text. */
  structuredContent?: unknown;
  /** A short text for a person, where it is not the content itself. */
  display?: string;
  /** Why the tool failed. */
  error?: { type: ErrorType; message: string };
  /** Facts about the result for programs, such as `toolwright/file`. */
  _meta?: Record<string, unknown>;
}

/** The result of an invocation: text for the model, text for the person. */
export interface ToolResult {
  llmContent: string;
  returnDisplay: string;
  error?: { type: ErrorType; message: string };
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
  /** True when it runs without asking. */
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
  /**
   * Tools that will run without asking, beside those that only look. Recorded and told by `isAllowed`;
   * nothing is asked yet: every tool that is not disabled runs.
   */
  allowedTools?: readonly string[];
  /** Tools that are switched off: they are not told to a model, and calls are refused. */
  disallowedTools?: readonly string[];
  limits?: {
    /** How long a call may run. Default: 600,000 ms. */
    callTimeoutMs?: number;
    /** How many bytes of text a result may hold. Default: 4 MiB. */
    maxResultBytes?: number;
  };
}

/** Any name but those of built-in tools, whose input is known. */
type OtherName<Name extends string> = Name extends keyof ToolInputs ? never : Name;

/** A registry of tools: every call of every tool takes the same path. */
export declare class ToolRegistry {
  constructor(options?: ToolRegistryOptions);

  /** Loads what is not loaded yet. Built-in tools are there from the start. */
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

  /** True when the tool runs without asking. */
  isAllowed(name: string): boolean;
  /** True when the host has switched the tool off. */
  isDisabled(name: string): boolean;
  /** Lets tools run without asking. */
  withAllowed(...names: string[]): this;

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
   * Runs the calls of one model turn, one after the other, and gives a result for each, in order. When
   * the signal is aborted, the calls that remain get errors.
   */
  executeTools<Format extends keyof TurnResults = "anthropic">(
    blocks: readonly ToolUseBlock[],
    options?: {
      format?: Format;
      signal?: AbortSignal;
      sessionId?: string;
      onProgress?: (news: ToolProgress) => void;
    },
  ): Promise<TurnResults[Format]>;

  /** The tools as an in-process MCP server, for `mcpServers` of either agent host. */
  toMcpServerConfig(): McpSdkServerConfig;
  /** `mcp__<server>__<tool>` of every tool that is not disabled, for `allowedTools` of an agent host. */
  getAllowedToolNames(): string[];

  /** Ends every running call; later ones are refused. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A registry with the built-in tools of the chosen sets, by default those of Claude Code. */
export declare function createToolRegistry(options?: ToolRegistryOptions): ToolRegistry;
