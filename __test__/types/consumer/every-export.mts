// Checked by tsc, never run: the whole API in a strict project, with `undefined` for everything optional.
// `left-out.test.ts` checks that the runtime accepts it.
import { z } from "zod";
import {
  MessageBus,
  OutputFormatter,
  PolicyEngine,
  ToolError,
  ToolRegistry,
  createSdkMcpServer,
  createToolRegistry,
  createToolRoutes,
  tool,
  validatePluginConfigFile,
  validatePluginToolDefinition,
  type AnyTool,
  type CallOptions,
  type CallResult,
  type ConfirmationResponse,
  type DeclarativeTool,
  type Definitions,
  type ErrorType,
  type Hooks,
  type McpTransport,
  type PluginConfigFile,
  type PolicyConfig,
  type TaskEvent,
  type ToolInputs,
  type ToolOutputs,
  type ToolRegistryOptions,
  type TurnOptions,
  type TurnResults,
} from "toolwright";
import { agentSdkSpawner, type AgentSdkSpawnerOptions } from "toolwright/agent-sdk";

const policy: PolicyConfig = {
  defaultAction: undefined,
  rules: [
    { tool: "Bash", action: "ask", risk: undefined, message: undefined, conditions: undefined },
  ],
  allow: undefined,
  ask: undefined,
  deny: ["Read(**/.env)"],
};

const hooks: Hooks = {
  PreToolUse: [
    {
      matcher: undefined,
      timeout: undefined,
      onFailure: undefined,
      hooks: [
        async ({ tool_input }) => ({
          continue: undefined,
          decision: undefined,
          updatedInput: tool_input,
          hookSpecificOutput: undefined,
        }),
        { type: "command", command: "true", timeout: undefined, matcher: undefined },
      ],
    },
    () => undefined,
  ],
  PostToolUse: undefined,
  PostToolUseFailure: undefined,
};

export const options: ToolRegistryOptions = {
  projectPath: undefined,
  additionalDirectories: undefined,
  toolsets: undefined,
  serverName: undefined,
  version: undefined,
  instructions: undefined,
  structuredContent: undefined,
  policy,
  permissionMode: undefined,
  allowedTools: undefined,
  disallowedTools: undefined,
  trustProject: undefined,
  userPolicyFile: undefined,
  pluginDir: undefined,
  watchPlugins: undefined,
  readBeforeWrite: undefined,
  messageBus: undefined,
  hooks,
  limits: { confirmationTimeoutMs: undefined, callTimeoutMs: undefined, maxResultBytes: undefined },
  env: { A: undefined, ...process.env },
  shell: {
    path: undefined,
    supervisorPath: undefined,
    allowEnv: undefined,
    onTimeout: undefined,
    graceMs: undefined,
    idleTimeoutMs: undefined,
    maxOutputFileBytes: undefined,
  },
  web: { allow: undefined, timeoutMs: undefined, maxBytes: undefined, userAgent: undefined },
};

const callOptions: CallOptions = {
  toolUseId: undefined,
  sessionId: undefined,
  signal: undefined,
  onProgress: undefined,
};

const greet = tool({
  name: "greet",
  description: undefined,
  inputSchema: z.object({ name: z.string(), loud: z.boolean().optional() }),
  handler: ({ name, loud }, { signal, reportProgress }) => {
    signal?.throwIfAborted();
    reportProgress?.({ progress: 1, total: undefined, message: undefined });
    return {
      content: loud ? name.toUpperCase() : name,
      isError: undefined,
      structuredContent: undefined,
    };
  },
  title: undefined,
  annotations: { title: undefined, readOnlyHint: undefined, destructiveHint: undefined },
  sideEffect: undefined,
  timeoutMs: undefined,
});
const positional = tool("positional", "", { name: z.string() }, ({ name }) => name, {});
const simple = tool({ name: "simple", inputSchema: { n: "number" }, handler: ({ n }) => n + 1 });
const bare = tool({ name: "bare", inputSchema: undefined, handler: () => null });

const declarative: DeclarativeTool<{ name: string }> = {
  name: "declarative",
  schema: { parameters: { type: "object", properties: { name: { type: "string" } } } },
  createInvocation: ({ name }) => ({
    execute: async () => ({ llmContent: name, returnDisplay: name }),
  }),
};

export async function uses(transport: McpTransport): Promise<unknown[]> {
  const server = createSdkMcpServer({
    name: "s",
    version: undefined,
    instructions: undefined,
    tools: [greet, positional, simple, bare, declarative],
  });
  await server.instance.connect(transport);
  await server.instance.close();

  await using registry = new ToolRegistry(undefined);
  const own: ToolRegistry = createToolRegistry(options);
  for (const it of [greet, declarative]) registry.register(it);
  const { success, toolCount, errors } = await registry.initialize();
  const { config } = validatePluginConfigFile({});
  const plugin: PluginConfigFile | undefined = config;
  const [definition] = plugin?.tools ?? [];
  const routes = createToolRoutes(registry, { prefix: undefined });
  const response: Response = await routes(new Request("http://127.0.0.1/api/tools"));
  void [definition?.handler.type, validatePluginToolDefinition(definition).valid, response.status];
  void (await registry.reloadPlugins()).errors[0]?.toolName;
  const tools: AnyTool[] = registry.list();
  const found: AnyTool | undefined = registry.get("greet");

  const result = await registry.call("Grep", { pattern: "x", path: undefined }, callOptions);
  const data: ToolOutputs["Grep"] | undefined = result.structuredContent;
  const cause: ErrorType | undefined = result.isError ? result.error.type : undefined;
  const plain: CallResult = result;
  const read = await own.get("Read")?.handler({ file_path: "/a" }, callOptions);
  const input: ToolInputs["Read"] = { file_path: "/a", offset: undefined };
  const invocation = registry.createInvocation("Read", input, callOptions);
  const { llmContent, error } = await invocation.execute(undefined, undefined);
  if (await invocation.shouldConfirmExecute()) invocation.toolLocations();

  const turnOptions: TurnOptions<"gemini"> = {
    ...callOptions,
    format: "gemini",
    parallelReads: undefined,
  };
  const parts: TurnResults["gemini"] = await registry.executeTools(null, turnOptions);
  const blocks = await registry.executeTools([{ type: "text" }], { format: undefined });
  const definitions: Definitions["mcp"] = registry.definitions(undefined, { strict: undefined });

  registry.messageBus.on("request", ({ id, details }) => {
    const answer: ConfirmationResponse = { id, approved: details.risk === "low" };
    registry.messageBus.respondToConfirmation(answer);
  });
  const bus = new MessageBus();
  bus.once("settled", ({ outcome }) => outcome);
  const listener = ({ task }: TaskEvent) => task.exitCode;
  registry.on("task", listener, { after: undefined }).off("task", listener);
  for await (const { sequence } of registry.taskEvents({ after: undefined })) void sequence;

  const engine = new PolicyEngine(policy, { projectPath: undefined, permissionMode: undefined });
  registry.setPolicy(policy).setPermissionMode("plan").withAllowed("a").disable("a").enable("a");
  const verdict = registry.explain("Bash", { command: "ls" }, { sessionId: undefined });
  const cut = OutputFormatter.truncate("x", { maxChars: undefined, maxLines: undefined });
  const name = registry.registerMcpTool({
    serverName: "s",
    toolName: "t",
    description: undefined,
    inputSchema: undefined,
    handler: ({ q }: { q: string }) => q,
  });
  const undone = await registry.undo("toolu_1", { sessionId: undefined });
  try {
    await registry.close();
  } catch (thrown) {
    if (thrown instanceof ToolError) return [thrown.type, thrown.details?.howToAllow];
  }
  return [
    [success, toolCount, errors, tools, found, data, cause, plain, read, llmContent, error, parts],
    [blocks, definitions, engine.lint(), verdict.rule?.text, cut.omitted, name, undone[0]?.path],
  ];
}

const spawnerOptions: AgentSdkSpawnerOptions = {
  agents: { reader: { prompt: undefined, model: undefined, tools: ["Read"] } },
  models: undefined,
  query: undefined,
  sdkOptions: { env: {} },
};
export const withAgents = createToolRegistry({
  handlers: { spawnAgent: agentSdkSpawner(spawnerOptions) },
});
export const withOwnAgents = createToolRegistry({
  handlers: {
    spawnAgent: async (request, context) => {
      const config = context.registry.toMcpServerConfig({ sessionId: context.sessionId });
      context.registry.limitTools(["Read"], { sessionId: context.sessionId });
      context.updateOutput(`${config.name} ${request.subagent_type} ${request.resume ?? "new"}`);
      return { text: request.prompt, agentId: undefined, usage: { depth: context.depth } };
    },
  },
});
withAgents
  .setPermissionMode("plan", { sessionId: "a" })
  .setPermissionMode(null, { sessionId: "a" });
export const mode: string = withAgents.getPermissionMode({ sessionId: undefined });
