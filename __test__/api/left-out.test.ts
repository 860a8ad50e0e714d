// `undefined` is the same as an absent property, as the types say under `exactOptionalPropertyTypes`.
import { expect, test } from "vitest";
import {
  MessageBus,
  OutputFormatter,
  PolicyEngine,
  ToolRegistry,
  createSdkMcpServer,
  tool,
} from "../../index.js";
import type { CallOptions, Hooks, PolicyConfig, ToolRegistryOptions } from "../../index.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();

/** Every property, all undefined. */
type LeftOut<T> = { [K in keyof Required<T>]: undefined };

const OPTIONS: LeftOut<Omit<ToolRegistryOptions, "projectPath" | "userPolicyFile">> = {
  additionalDirectories: undefined,
  sandbox: undefined,
  toolsets: undefined,
  serverName: undefined,
  version: undefined,
  instructions: undefined,
  structuredContent: undefined,
  policy: undefined,
  handlers: undefined,
  store: undefined,
  permissionMode: undefined,
  allowedTools: undefined,
  disallowedTools: undefined,
  rememberGrants: undefined,
  projectId: undefined,
  settings: undefined,
  trustProject: undefined,
  pluginDir: undefined,
  mcpServers: undefined,
  watchPlugins: undefined,
  readBeforeWrite: undefined,
  messageBus: undefined,
  hooks: undefined,
  limits: undefined,
  env: undefined,
  shell: undefined,
  web: undefined,
  search: undefined,
  index: undefined,
};
const LIMITS: LeftOut<NonNullable<ToolRegistryOptions["limits"]>> = {
  confirmationTimeoutMs: undefined,
  callTimeoutMs: undefined,
  questionTimeoutMs: undefined,
  maxAgentDepth: undefined,
  maxAgents: undefined,
  agentTimeoutMs: undefined,
  maxResultBytes: undefined,
};
const SHELL: LeftOut<NonNullable<ToolRegistryOptions["shell"]>> = {
  path: undefined,
  supervisorPath: undefined,
  allowEnv: undefined,
  onTimeout: undefined,
  graceMs: undefined,
  idleTimeoutMs: undefined,
  maxOutputFileBytes: undefined,
};
const WEB: LeftOut<NonNullable<ToolRegistryOptions["web"]>> = {
  allow: undefined,
  timeoutMs: undefined,
  maxBytes: undefined,
  userAgent: undefined,
};
const CALL: LeftOut<CallOptions> = {
  toolUseId: undefined,
  sessionId: undefined,
  signal: undefined,
  onProgress: undefined,
};
const HOOKS: Hooks = {
  PreToolUse: [
    {
      matcher: undefined,
      timeout: undefined,
      onFailure: undefined,
      hooks: [
        () => ({
          continue: undefined,
          stopReason: undefined,
          suppressOutput: undefined,
          decision: undefined,
          reason: undefined,
          updatedInput: undefined,
          additionalContext: undefined,
          hookSpecificOutput: undefined,
          async: undefined,
        }),
        () => ({
          hookSpecificOutput: {
            hookEventName: undefined,
            permissionDecision: undefined,
            permissionDecisionReason: undefined,
            updatedInput: undefined,
            additionalContext: undefined,
          },
        }),
        { type: "command", command: "true", timeout: undefined, matcher: undefined },
      ],
    },
  ],
  PostToolUse: undefined,
  PostToolUseFailure: undefined,
};
const POLICY: PolicyConfig = {
  defaultAction: undefined,
  rules: [
    { tool: "x", action: "deny", risk: undefined, message: undefined, conditions: undefined },
  ],
  allow: undefined,
  ask: undefined,
  deny: undefined,
};

test("options of registries and calls may be undefined, each and all", async () => {
  const nested = { limits: LIMITS, shell: SHELL, web: WEB, hooks: HOOKS, policy: POLICY };
  const unset = { env: { NOT_SET: undefined } };
  for (const options of [OPTIONS, nested, unset]) {
    await using registry = new ToolRegistry({
      ...options,
      projectPath: workspace.root,
      userPolicyFile: false,
      toolsets: ["diagnostic"],
      allowedTools: ["diagnostic_echo"],
    });
    const input = { text: "fine", repeat: undefined };
    const result = await registry.call("diagnostic_echo", input, CALL);
    expect(result).toEqual({ content: [{ type: "text", text: "fine" }] });
    expect(await registry.get("diagnostic_echo")?.handler(input, CALL)).toEqual(result);
    const turn = [{ id: "a", name: "diagnostic_echo", input }];
    const turnOptions = { ...CALL, format: undefined, parallelReads: undefined };
    expect(await registry.executeTools(turn, turnOptions)).toMatchObject([{ tool_use_id: "a" }]);
    const invocation = registry.createInvocation("diagnostic_echo", input, CALL);
    expect(await invocation.execute(undefined, undefined)).toMatchObject({ llmContent: "fine" });
    expect(registry.definitions(undefined, { strict: undefined })).toEqual(registry.definitions());
    expect(registry.explain("diagnostic_echo", input, CALL).action).toBe("allow");
    expect(registry.taskEvents({ after: undefined })).toBeDefined();
  }
});

test("properties of a tool may be undefined", async () => {
  const config = {
    description: undefined,
    title: undefined,
    annotations: undefined,
    sideEffect: undefined,
    timeoutMs: undefined,
  };
  const hints = {
    title: undefined,
    readOnlyHint: undefined,
    destructiveHint: undefined,
    idempotentHint: undefined,
    openWorldHint: undefined,
  };
  const answer = { content: "fine", isError: undefined, structuredContent: undefined };
  const words = { llmContent: "fine", returnDisplay: undefined, error: undefined };
  const tools = [
    tool({ ...config, name: "a", inputSchema: undefined, handler: () => answer }),
    tool({ ...config, name: "b", annotations: hints, handler: () => words }),
  ];
  const settings = { version: undefined, instructions: undefined };
  expect(createSdkMcpServer({ name: "s", ...settings, tools: undefined }).tools).toEqual([]);
  for (const it of createSdkMcpServer({ name: "s", ...settings, tools }).tools) {
    expect(await it.handler({}, CALL)).toEqual({ content: [{ type: "text", text: "fine" }] });
  }
});

test("options of policies, output and requests may be undefined", async () => {
  const engine = new PolicyEngine(POLICY, { projectPath: undefined, permissionMode: undefined });
  expect(engine.evaluate("x", undefined)).toBe("deny");
  const limits = { maxChars: undefined, maxLines: undefined };
  expect(OutputFormatter.truncate("x", limits)).toEqual({ content: "x", truncated: false });
  const bus = new MessageBus();
  bus.on("request", ({ id }) => {
    const rest = { message: undefined, updatedInput: undefined, alwaysAllow: undefined };
    bus.respondToConfirmation({ id, approved: true, interrupt: undefined, ...rest });
  });
  const details = { toolName: "x", description: "x", risk: "low" as const, locations: undefined };
  expect(await bus.requestConfirmation(details, undefined, undefined)).toBe(true);
});
