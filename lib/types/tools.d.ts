// Tools: how a host defines them, and how a registry returns them.

import type { MessageBus } from "./confirmations";
import type { DeclarativeTool, ToolInvocation } from "./invocations";
import type { CallOptions, ToolsetName } from "./options";
import type { CallResult, ToolContent } from "./results";
import type {
  InputSchema,
  JsonSchema,
  SchemaOutput,
  ShapeOutput,
  SimpleOutput,
  SimpleSchema,
  StandardSchema,
} from "./schemas";

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
  /** The tool uses resources outside of this machine, such as the web. */
  openWorldHint?: boolean | undefined;
}

/** The side effect of a tool. Policy derives the risk of a call from it. */
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

/** The definition of a tool as one object, for `tool`. */
export interface ToolConfig<Schema, TInput> extends ToolExtras {
  name: string;
  description?: string | undefined;
  inputSchema: Schema;
  handler: (args: TInput, context: ToolContext) => HandlerAnswer | Promise<HandlerAnswer>;
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
  /** True if the host has disabled it. */
  readonly disabled: boolean;
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
