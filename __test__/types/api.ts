// Checked by tsc, never run: correct uses of the API compile, and wrong ones do not.
import { z } from "zod";
import { z as z3 } from "zod/v3";
import {
  MessageBus,
  PolicyEngine,
  type PolicyCondition,
  type UndoneChange,
  ToolError,
  ToolRegistry,
  createSdkMcpServer,
  createToolRegistry,
  tool,
  type AnthropicToolResult,
  type AnyTool,
  type CallError,
  type CallFailure,
  type CallResult,
  type CallSuccess,
  type ErrorType,
  type JsonSchema,
  type McpDefinition,
  type McpSdkServerConfig,
  type OpenAiToolMessage,
  type PreToolUseEvent,
  type RegisteredTool,
  type SdkTool,
  type ToolContext,
  type ToolInputs,
  type ToolInvocation,
  type ToolOutputs,
  type ToolProgress,
  type ToolResult,
} from "../../index.js";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type IsAny<T> = 0 extends 1 & T ? true : false;
function holds<_Claim extends true>(): void {}

// The simple form determines the type of the handler's input.
const simple = tool({
  name: "simple",
  inputSchema: { s: "string", n: "number", b: "boolean", a: "array", o: "object" },
  handler: (args, context) => {
    holds<
      Equal<
        typeof args,
        {
          readonly s: string;
          readonly n: number;
          readonly b: boolean;
          readonly a: unknown[];
          readonly o: Record<string, unknown>;
        }
      >
    >();
    holds<Equal<typeof context, ToolContext>>();
    // @ts-expect-error no such parameter
    void args.missing;
    return "text";
  },
});
void simple.handler({ s: "", n: 1, b: true, a: [], o: {} }, {} as ToolContext);
// @ts-expect-error `n` is a number
void simple.handler({ s: "", n: "1", b: true, a: [], o: {} }, {} as ToolContext);

// A Zod 4 shape, positional.
const positional = tool(
  "positional",
  "About it.",
  { city: z.string(), days: z.number().default(3), unit: z.enum(["C", "F"]).optional() },
  async (args) => {
    holds<Equal<typeof args, { city: string; days: number; unit?: "C" | "F" | undefined }>>();
    return { content: [{ type: "text", text: args.city }] };
  },
  { annotations: { readOnlyHint: true }, timeoutMs: 1_000 },
);
holds<
  Equal<typeof positional, SdkTool<{ city: string; days: number; unit?: "C" | "F" | undefined }>>
>();

// A Zod 4 shape in one object.
tool({
  name: "object",
  inputSchema: { list: z.array(z.string()), upper: z.string().transform((it) => it.length) },
  handler: (args) => {
    holds<Equal<typeof args, { list: string[]; upper: number }>>();
  },
});

// A Zod 3 shape.
tool("three", "", { a: z3.string(), b: z3.number().optional() }, (args) => {
  holds<Equal<typeof args, { a: string; b?: number | undefined }>>();
  return null;
});

// Whole Zod schemas, of Zod 4 and of Zod 3.
const whole = tool({
  name: "whole",
  inputSchema: z.object({ a: z.string(), b: z.number().optional() }),
  handler: (args, context) => {
    holds<Equal<typeof args, { a: string; b?: number | undefined }>>();
    holds<Equal<typeof context, ToolContext>>();
    return args.a;
  },
});
holds<Equal<typeof whole, SdkTool<{ a: string; b?: number | undefined }>>>();
tool({
  name: "whole",
  inputSchema: z3.object({ a: z3.string(), b: z3.number().default(1) }),
  handler: async (args) => {
    holds<Equal<typeof args, { a: string; b: number }>>();
    return { content: [{ type: "text", text: args.a }] };
  },
});
// @ts-expect-error there is no such parameter
tool({ name: "x", inputSchema: z.object({ a: z.string() }), handler: ({ b }) => b });

// JSON Schema says nothing about the type: an object, or the handler's own type.
const untyped = tool({
  name: "untyped",
  inputSchema: { type: "object", properties: { a: { type: "string" } } },
  handler: (args) => {
    holds<Equal<typeof args, Record<string, unknown>>>();
  },
});
holds<Equal<typeof untyped, SdkTool<Record<string, unknown>>>>();
tool({
  name: "json",
  inputSchema: { type: "object", properties: { a: { type: "string" } } },
  handler: ({ a }: { a: string }) => ({ llmContent: a, returnDisplay: a }),
});
tool({ name: "bare", handler: () => undefined });

// @ts-expect-error a tool has a name
tool({ handler: () => "" });
// @ts-expect-error a tool has a handler
tool({ name: "x" });
// @ts-expect-error there is no such side effect
tool({ name: "x", sideEffect: "harmless", handler: () => "" });
// @ts-expect-error the positional form takes a handler
tool("x", "", { a: z.string() });

// The registry knows the input of each built-in tool.
const registry = createToolRegistry({
  projectPath: "/",
  additionalDirectories: ["/tmp"],
  toolsets: ["claude", "classic", "diagnostic"],
  limits: { callTimeoutMs: 1, maxResultBytes: 1_000 },
});
holds<Equal<typeof registry, ToolRegistry>>();
// @ts-expect-error there is no such set
createToolRegistry({ toolsets: ["nope"] });
// @ts-expect-error there is no such option
createToolRegistry({ projectpath: "/" });

const result = registry.call("Read", { file_path: "/a", offset: 1, limit: 2, pages: "1-2" });
holds<Equal<typeof result, Promise<CallResult<ToolOutputs["Read"]>>>>();
holds<Equal<ToolInputs["FileRead"], ToolInputs["Read"]>>();
void registry.call("FileRead", { file_path: "/a" });
void registry.call("read_many_files", { paths: ["a"] });
void registry.call("diagnostic_panic", { message: "m", stage: "run" });
// @ts-expect-error `file_path` is missing
void registry.call("Read", {});
// @ts-expect-error `file_path` is a string
void registry.call("Read", { file_path: 5 });
// @ts-expect-error there is no such parameter
void registry.call("Read", { file_path: "/a", line: 5 });
// @ts-expect-error there is no such stage
void registry.call("diagnostic_panic", { message: "m", stage: "later" });
// @ts-expect-error `path` is missing
void registry.createInvocation("read_file", { startLine: 1 });
// A name that is not known at compile time, and a host's tool, accept any input.
void registry.call("greet", { anything: true });
void registry.createInvocation("greet");
void registry.call("mcp__docs__search" as string, { anything: true });

const invocation = registry.createInvocation("read_file", { path: "a", startLine: 1 });
holds<Equal<typeof invocation, ToolInvocation<ToolInputs["read_file"]>>>();
holds<Equal<ReturnType<typeof invocation.execute>, Promise<ToolResult>>>();
holds<Equal<ReturnType<typeof invocation.toolLocations>, string[]>>();

const read = registry.get("Read");
holds<Equal<typeof read, RegisteredTool<ToolInputs["Read"], ToolOutputs["Read"]> | undefined>>();
void read?.handler({ file_path: "/a" });
// @ts-expect-error `file_path` is missing
void read?.handler({});
// @ts-expect-error `file_path` is a string
void read?.handler({ file_path: 5 });
const mine = registry.get<typeof simple>("simple");
holds<Equal<typeof mine, typeof simple | undefined>>();
const some = registry.get("simple");
holds<Equal<typeof some, AnyTool | undefined>>();
for (const it of registry.list()) {
  holds<Equal<typeof it, AnyTool>>();
  registry.register(it);
  if ("handler" in it) it.name satisfies string;
  else it.schema.parameters satisfies JsonSchema | undefined;
}
registry.register({
  name: "plain",
  handler: (args) => holds<Equal<typeof args, Record<string, unknown>>>(),
});

void registry.call(
  "Read",
  { file_path: "/a" },
  {
    signal: new AbortController().signal,
    toolUseId: "t",
    sessionId: "s",
    onProgress: (news) => {
      holds<Equal<typeof news, ToolProgress>>();
      if (news.type === "end") void news.elapsedMs;
      // @ts-expect-error only some updates have text
      void news.text;
    },
  },
);
holds<Equal<CallResult["error"], CallError | undefined>>();

// `isError` narrows to an `error`, in single results and in those of a turn.
export async function narrows(): Promise<void> {
  const single = await registry.call("Grep", { pattern: "x" });
  const turn = await registry.executeTools([], { format: "mcp" });
  for (const it of [single, await registry.call("other"), ...turn]) {
    if (it.isError) {
      holds<Equal<typeof it.error, CallError>>();
      it satisfies CallFailure;
    } else {
      holds<Equal<typeof it.error, undefined>>();
      it satisfies CallSuccess;
    }
    if (it.error) holds<Equal<typeof it.isError, true>>();
  }
  holds<Equal<typeof single.structuredContent, Flat<ToolOutputs["Grep"]> | undefined>>();
  const other = await registry.call("other");
  holds<Equal<typeof other.structuredContent, Record<string, unknown> | undefined>>();
  const handled = await registry.get("Grep")?.handler({ pattern: "x" });
  handled satisfies CallResult<ToolOutputs["Grep"]> | undefined;
  // @ts-expect-error a failure has an error
  const failure: CallResult = { content: [], isError: true };
  // @ts-expect-error a success has none
  const success: CallResult = { content: [], error: { type: "ToolFailed", message: "" } };
  void [failure, success];
}
type Flat<T> = { [K in keyof T]: T[K] };
// Every built-in tool declares its data, or that it has none.
holds<Equal<keyof ToolOutputs, keyof ToolInputs>>();
holds<ToolOutputs[keyof ToolOutputs] extends object | undefined ? true : false>();
export async function dataOfTools(): Promise<void> {
  const { structuredContent: none } = await registry.call("diagnostic_sleep", { ms: 0 });
  holds<Equal<typeof none, undefined>>();
  const { structuredContent: found } = await registry.call("Grep", { pattern: "x" });
  if (found?.mode === "count") found.counts[0]?.count satisfies number | undefined;
  // @ts-expect-error only some answers have counts
  void found?.counts;
}
holds<Equal<NonNullable<CallError["details"]>["howToAllow"], string>>();
// @ts-expect-error a signal is an AbortSignal
void registry.call("Read", { file_path: "/a" }, { signal: "stop" });

// The format determines the type.
const mcp = registry.definitions();
holds<Equal<typeof mcp, McpDefinition[]>>();
const [gemini] = registry.definitions("gemini");
void gemini?.functionDeclarations[0]?.parametersJsonSchema;
const [openai] = registry.definitions("openai", { strict: true });
void openai?.function.strict;
// @ts-expect-error there is no such format
registry.definitions("xml");

const blocks = [{ type: "tool_use" as const, id: "a", name: "Read", input: {} }];
const anthropic = registry.executeTools(blocks);
holds<Equal<typeof anthropic, Promise<AnthropicToolResult[]>>>();
const messages = registry.executeTools(
  [{ type: "function" as const, id: "a", function: { name: "Read", arguments: "{}" } }],
  { format: "openai" },
);
holds<Equal<typeof messages, Promise<OpenAiToolMessage[]>>>();
const plain = registry.executeTools(blocks, { format: "mcp" });
holds<Equal<typeof plain, Promise<CallResult[]>>>();
// @ts-expect-error a block has an id
void registry.executeTools([{ name: "Read", input: {} }]);

// Hosts.
const server = createSdkMcpServer({ name: "s", tools: [simple, positional] });
holds<Equal<typeof server, McpSdkServerConfig>>();
holds<Equal<ReturnType<typeof registry.toMcpServerConfig>, McpSdkServerConfig>>();
holds<Equal<IsAny<typeof server.instance>, false>>();
// @ts-expect-error a server has a name
createSdkMcpServer({ tools: [] });

registry.registerMcpTool({
  serverName: "s",
  toolName: "t",
  handler: (args) => holds<Equal<typeof args, Record<string, unknown>>>(),
});
const name: string = registry.registerMcpTool({
  serverName: "s",
  toolName: "t",
  handler: () => "",
});
void name;
// @ts-expect-error a handler or a client is needed
registry.registerMcpTool({ serverName: "s", toolName: "t" });

const error = new ToolError("FileNotFoundError", "no file", { cause: 1 });
holds<Equal<typeof error.type, ErrorType>>();
holds<Equal<typeof error.code, ErrorType>>();
// @ts-expect-error there is no such type
void new ToolError("Oops", "");
// @ts-expect-error types do not change
error.type = "HttpError";

// Permissions.
const guarded = createToolRegistry({
  permissionMode: "acceptEdits",
  policy: {
    deny: ["Read(**/.env)"],
    rules: [{ tool: "Bash", action: "ask", conditions: [{ commandPrefix: ["git push", "npm"] }] }],
  },
  hooks: {
    PreToolUse: [
      { matcher: "Bash", hooks: [async ({ tool_input }) => ({ updatedInput: tool_input })] },
      (event) => holds<Equal<typeof event, PreToolUseEvent>>(),
    ],
    PostToolUse: [({ tool_response }) => holds<Equal<typeof tool_response, CallSuccess>>()],
    PostToolUseFailure: [({ error_type }) => holds<Equal<typeof error_type, ErrorType>>()],
  },
});
// @ts-expect-error there is no such mode
createToolRegistry({ permissionMode: "yolo" });
// @ts-expect-error a condition is one of those
const wrong: PolicyCondition = { path: "b" };
void wrong;
holds<Equal<ReturnType<typeof guarded.explain>["action"], "allow" | "ask" | "deny">>();
holds<Equal<ReturnType<PolicyEngine["evaluate"]>, "allow" | "ask" | "deny">>();
holds<Equal<ReturnType<MessageBus["requestConfirmation"]>, Promise<boolean>>>();
guarded.messageBus.on("request", ({ id, details }) => {
  holds<Equal<typeof details.risk, "low" | "medium" | "high">>();
  guarded.messageBus.respondToConfirmation({ id, approved: true, alwaysAllow: true });
});
const undone = guarded.undo("toolu_1");
holds<Equal<typeof undone, Promise<UndoneChange[]>>>();

export async function disposes(): Promise<void> {
  await using scoped = new ToolRegistry();
  scoped.register(simple);
  scoped.withAllowed("simple").withAllowed("a", "b");
  scoped.disable("a", "b").enable("a");
  scoped.isAllowed("a", { sessionId: "s" }) satisfies boolean;
}

// Persistent state.
const lasting = createToolRegistry({
  rememberGrants: "project",
  projectId: "shop",
  settings: { fontSize: { type: "number", values: [10, 12], default: 12 } },
  handlers: {
    config: {
      get: ({ setting }) => (setting === "theme" ? "dark" : undefined),
      set: async ({ value }, { sessionId, signal }) => {
        holds<Equal<typeof value, string | boolean | number>>();
        holds<Equal<typeof sessionId, string>>();
        signal.throwIfAborted();
      },
    },
  },
});
lasting.on("todos", ({ sessionId, todos, previous }) => {
  holds<Equal<typeof sessionId, string>>();
  holds<Equal<typeof todos, typeof previous>>();
});
lasting.on("config", ({ value }) => {
  holds<Equal<typeof value, string | boolean | number | undefined>>();
});
lasting.on("grant", ({ scope }) => holds<Equal<typeof scope, "project" | "user">>());
// @ts-expect-error: there is no such event
lasting.on("memory", () => {});
// @ts-expect-error: grants are kept for a session, a project or a user
createToolRegistry({ rememberGrants: "team" });
holds<
  Equal<
    Awaited<ReturnType<typeof lasting.todos>>[number]["status"],
    "pending" | "in_progress" | "completed"
  >
>();

async function mcpServers(): Promise<void> {
  const registry = createToolRegistry({
    mcpServers: {
      files: { command: "npx", args: ["server"], env: { KEY: "value" }, cwd: "sub" },
      docs: { url: "https://docs.example/mcp", headers: { Authorization: "Bearer x" } },
      old: { type: "sse", url: "http://127.0.0.1:1/sse", timeoutMs: 1_000, disabled: true },
    },
  });
  // @ts-expect-error a server has a command or a URL
  void registry.connectMcpServer("none", {});
  // @ts-expect-error no such way to reach it
  void registry.connectMcpServer("odd", { type: "pigeon", url: "x" });
  const { state, error, tools } = await registry.connectMcpServer("a", { command: "a" });
  const isDown: boolean = state === "failed" && error !== undefined && tools.length === 0;
  registry.on("mcpServer", ({ name, stderr }) => void [name, stderr?.length, isDown]);
  const gone: boolean = await registry.disconnectMcpServer("a");
  void [gone, registry.mcpServerStatus().map(({ serverInfo }) => serverInfo?.version)];
}
void mcpServers;

function indexes(): void {
  const registry = createToolRegistry({ index: "on" });
  createToolRegistry({ index: { mode: "off", maxMemoryMb: 64 } });
  // @ts-expect-error no such mode
  createToolRegistry({ index: "always" });
  for (const { root, state, files, learned, memoryBytes, whyCold } of registry.indexStatus()) {
    const isKnown: boolean = state === "warm" && learned === files;
    void [root.length, isKnown, memoryBytes, whyCold?.length];
  }
}
void indexes;

function sandboxes(): void {
  createToolRegistry({ sandbox: "required" });
  const registry = createToolRegistry({
    sandbox: {
      mode: "auto",
      level: "landlock",
      write: "workspace",
      writable: ["/var/cache/x"],
      network: { hosts: ["docs.rs"] },
      limits: { cpuSeconds: 1, memoryMb: 2, processes: 3, fileSizeMb: 4 },
      hooks: "off",
      mcpServers: "processes",
    },
  });
  // @ts-expect-error no such mode
  createToolRegistry({ sandbox: "maybe" });
  // @ts-expect-error no such limit
  createToolRegistry({ sandbox: { limits: { memory: 1 } } });
  const { sandbox } = registry.explain("Bash", { command: "true" });
  const level: "namespaces" | "landlock" | "none" | undefined = sandbox?.level;
  void level;
}
void sandboxes;
