// The rights of an agent: never more than those of the conversation that started it.
import { existsSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { tool } from "../../index.mjs";
import type {
  AgentContext,
  CallResult,
  PermissionMode,
  PolicyAction,
  SpawnAgent,
  ToolRegistry,
  ToolRegistryOptions,
} from "../../index.js";
import { connectClient } from "../support/mcp-clients.js";
import { deferred } from "../support/promises.js";
import { useAskingRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryOf = useAskingRegistries(workspace);
const PARENT = { sessionId: "parent" };
const TASK = { description: "work", prompt: "Work.", subagent_type: "worker" };
const MODES: PermissionMode[] = ["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"];

type Work = (context: AgentContext) => unknown;

/** A registry whose agents do what the test says, and that starts agents without asking. */
function registryWith(options: ToolRegistryOptions = {}) {
  const works: Work[] = [];
  const spawnAgent: SpawnAgent = async (_request, context) => {
    await works.shift()?.(context);
    return "done";
  };
  const { policy, ...others } = options;
  const registry = registryOf({
    toolsets: ["claude"],
    handlers: { spawnAgent },
    policy: { ...policy, allow: ["Agent", ...(policy?.allow ?? [])] },
    ...others,
  });
  /** Starts an agent that does some work in its own session. */
  const asAgent = async (work: Work, input: object = {}, parent = PARENT): Promise<CallResult> => {
    let failure: { thrown: unknown } | undefined;
    works.push(async (context) => {
      try {
        await work(context);
      } catch (thrown) {
        failure = { thrown };
      }
    });
    const result = await registry.call("Agent", { ...TASK, ...input }, parent);
    // A failed expectation inside the agent is thrown here, where the test sees it.
    if (failure !== undefined) throw failure.thrown;
    return result;
  };
  return { registry, asAgent };
}

const STRICTNESS: Record<PolicyAction, number> = { allow: 0, ask: 1, deny: 2 };

/** Calls of every kind. */
function questions(): [string, object][] {
  const file_path = workspace.path("a.txt");
  return [
    ["Read", { file_path }],
    ["Glob", { pattern: "*" }],
    ["Write", { file_path, content: "x" }],
    ["Write", { file_path: workspace.path(".git/hooks/x"), content: "x" }],
    ["Edit", { file_path, old_string: "a", new_string: "b" }],
    ["Bash", { command: "echo x" }],
    ["Bash", { command: "echo x > b.txt" }],
    ["Bash", { command: "rm -rf b" }],
    ["Agent", TASK],
  ];
}

function actions(registry: ToolRegistry, session: { sessionId: string }): PolicyAction[] {
  return questions().map(([name, input]) => registry.explain(name, input, session).action);
}

describe("an agent", () => {
  const pairs = MODES.flatMap((parent) => MODES.map((own) => [parent, own] as const));

  test.each(pairs)("started in %s with mode %s is allowed no more than both", async (mode, own) => {
    const { registry, asAgent } = registryWith({ permissionMode: "bypassPermissions" });
    // The modes are set after the start, because some of them would refuse it.
    const seen = await new Promise<PolicyAction[][]>((resolve) => {
      void asAgent(
        ({ sessionId }) => {
          registry.setPermissionMode(mode, PARENT);
          registry.setPermissionMode(own, { sessionId: "alone" });
          resolve(
            [{ sessionId }, PARENT, { sessionId: "alone" }].map((it) => actions(registry, it)),
          );
        },
        { mode: own },
      );
    });
    const [child = [], parent = [], alone = []] = seen;
    child.forEach((action, index) => {
      for (const other of [parent[index] ?? "deny", alone[index] ?? "deny"]) {
        expect(STRICTNESS[action]).toBeGreaterThanOrEqual(STRICTNESS[other]);
      }
    });
  });

  test("never has more rights than its ancestors, whatever changes meanwhile", async () => {
    const mode = fc.constantFrom(...MODES);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.option(mode, { nil: undefined }), { minLength: 1, maxLength: 3 }),
        fc.array(fc.record({ level: fc.nat(3), mode: fc.option(mode, { nil: null }) }), {
          maxLength: 6,
        }),
        async (chain, changes) => {
          const { registry, asAgent } = registryWith({ permissionMode: "bypassPermissions" });
          const sessions = [PARENT];
          const begin = async (depth: number): Promise<void> => {
            if (depth === chain.length) return check();
            const own = chain[depth];
            const parent = sessions.at(-1) ?? PARENT;
            const result = await asAgent(
              async ({ sessionId }) => {
                sessions.push({ sessionId });
                await begin(depth + 1);
              },
              own === undefined ? {} : { mode: own },
              parent,
            );
            // In a mode that allows no agents there is nothing to check.
            if (result.error !== undefined) check();
          };
          const check = () => {
            for (const { level, mode } of changes) {
              registry.setPermissionMode(mode, sessions[level % sessions.length] ?? PARENT);
              const seen = sessions.map((session) => actions(registry, session));
              for (const [index, below] of seen.slice(1).entries()) {
                below.forEach((action, at) => {
                  const above = seen[index]?.[at] ?? "deny";
                  expect(STRICTNESS[action]).toBeGreaterThanOrEqual(STRICTNESS[above]);
                });
              }
            }
          };
          await begin(0);
          await registry.close();
        },
      ),
      { numRuns: 40 },
    );
  });

  test("is refused everything that its parent may not do", async () => {
    const secret = workspace.write(".env", "KEY=1");
    const { registry, asAgent } = registryWith({
      policy: { deny: ["Read(.env)", "Bash(rm:*)"], ask: ["Write(asked.txt)"] },
      permissionMode: "bypassPermissions",
      disallowedTools: ["Glob", "Bash(curl:*)"],
    });
    registry.disable("Grep");
    registry.setPermissionMode("acceptEdits", PARENT);
    const outcomes: Record<string, string | undefined> = {};
    const attempts: [string, string, object][] = [
      ["read", "Read", { file_path: secret }],
      ["cat", "Bash", { command: `cat ${secret}` }],
      ["rm", "Bash", { command: "rm -rf a" }],
      ["curl", "Bash", { command: "curl localhost" }],
      ["command", "Bash", { command: "touch b.txt" }],
      ["asked", "Write", { file_path: workspace.path("asked.txt"), content: "" }],
      ["off", "Grep", { pattern: "x" }],
      ["disallowed", "Glob", { pattern: "*" }],
      ["edit", "Write", { file_path: workspace.path("fine.txt"), content: "" }],
    ];
    await asAgent(
      async ({ sessionId }) => {
        for (const [name, called, input] of attempts) {
          const { error } = await registry.call(called, input, { sessionId });
          outcomes[name] = error?.type;
        }
      },
      { mode: "bypassPermissions" },
    );
    expect(outcomes).toEqual({
      read: "PolicyDenied",
      cat: "PolicyDenied",
      rm: "PolicyDenied",
      curl: "PolicyDenied",
      command: "PolicyDenied",
      asked: "PolicyDenied",
      off: "ToolDisabled",
      disallowed: "ToolDisabled",
      edit: undefined,
    });
    expect(existsSync(workspace.path("b.txt"))).toBe(false);
  });

  test("loses a right when its parent loses it, even while a person is being asked", async () => {
    const { registry, asAgent } = registryWith();
    registry.messageBus.on("request", ({ id }) => {
      registry.setPermissionMode("plan", PARENT);
      registry.messageBus.respondToConfirmation({ id, approved: true });
    });
    let type: string | undefined;
    await asAgent(async ({ sessionId }) => {
      const input = { file_path: workspace.path("a.txt"), content: "x" };
      type = (await registry.call("Write", input, { sessionId })).error?.type;
    });
    expect([type, existsSync(workspace.path("a.txt"))]).toEqual(["PolicyDenied", false]);
  });

  test("cannot end its parent's plan mode, but can end its own", async () => {
    const { registry, asAgent } = registryWith();
    registry.messageBus.on("request", ({ id }) => {
      registry.messageBus.respondToConfirmation({ id, approved: true });
    });
    const exit = ({ sessionId }: AgentContext) =>
      registry.call("ExitPlanMode", { plan: "Do it." }, { sessionId });
    const errors: (string | undefined)[] = [];
    await asAgent(
      async (context) => {
        errors.push((await exit(context)).error?.type);
        errors.push(registry.getPermissionMode({ sessionId: context.sessionId }));
      },
      { mode: "plan" },
    );
    registry.setPermissionMode("plan", PARENT);
    await asAgent(async (context) => {
      errors.push((await exit(context)).error?.message);
    });
    expect(errors).toEqual([
      undefined,
      "default",
      "this agent is in plan mode because the conversation that started it is; give the plan back as your answer",
    ]);
    expect(registry.getPermissionMode(PARENT)).toBe("plan");
  });

  test("has its parent's grants, and its own grants do not reach the parent", async () => {
    const { registry, asAgent } = registryWith();
    const asked: string[] = [];
    registry.messageBus.on("request", ({ id, details }) => {
      asked.push(details.description);
      registry.messageBus.respondToConfirmation({ id, approved: true, alwaysAllow: true });
    });
    const run = (command: string, session: { sessionId: string }) =>
      registry.call("Bash", { command }, session);
    await run("echo parent", PARENT);
    await asAgent(async (context) => {
      for (const command of ["echo parent", "echo child", "echo child"]) {
        expect((await run(command, context)).error).toBeUndefined();
      }
    });
    expect(asked).toEqual(["Execute: echo parent", "Execute: echo child"]);
    await run("echo child", PARENT);
    // A later agent does not have the grant.
    await asAgent((context) => run("echo child", context));
    expect(asked).toHaveLength(3);
  });

  test("has grants for itself alone, even where grants are remembered", async () => {
    const { registry, asAgent } = registryWith({ rememberGrants: "project" });
    const asked: string[] = [];
    registry.messageBus.on("request", ({ id, details }) => {
      asked.push(details.description);
      registry.messageBus.respondToConfirmation({ id, approved: true, alwaysAllow: true });
    });
    const run = (session: { sessionId: string }) =>
      registry.call("Bash", { command: "echo x" }, session);
    await asAgent(run);
    await run(PARENT);
    await run({ sessionId: "other" });
    expect(asked).toHaveLength(2);
  });

  test("does not share the record of read files with its parent", async () => {
    const { registry, asAgent } = registryWith({ permissionMode: "bypassPermissions" });
    const file_path = workspace.write("a.txt", "one\n");
    const other = workspace.write("b.txt", "one\n");
    await registry.call("Read", { file_path }, PARENT);
    const types: (string | undefined)[] = [];
    await asAgent(async ({ sessionId }) => {
      const input = { file_path, content: "two\n" };
      types.push((await registry.call("Write", input, { sessionId })).error?.type);
      await registry.call("Read", { file_path: other }, { sessionId });
    });
    const late = { file_path: other, content: "two\n" };
    types.push((await registry.call("Write", late, PARENT)).error?.type);
    expect(types).toEqual(["NotReadError", "NotReadError"]);
    expect(readFileSync(file_path, "utf8")).toBe("one\n");
  });

  test("makes no calls once it has ended", async () => {
    const { registry, asAgent } = registryWith({ permissionMode: "bypassPermissions" });
    const context = deferred<AgentContext>();
    const running = deferred<CallResult | Promise<CallResult>>();
    await asAgent(async (it) => {
      context.resolve(it);
      const command = "touch started; exec sleep 600";
      running.resolve(registry.call("Bash", { command }, { sessionId: it.sessionId }));
      // Waits for the start, because a call that has not started when its agent ends has another result.
      await expect
        .poll(() => existsSync(workspace.path("started")), { timeout: 30_000 })
        .toBe(true);
    });
    const { sessionId } = await context.promise;
    expect((await running.promise).error?.type).toBe("Cancelled");
    const input = { file_path: workspace.path("a.txt"), content: "x" };
    const { error } = await registry.call("Write", input, { sessionId });
    expect(error).toMatchObject({
      type: "AgentError",
      message: `agent \`${sessionId}\` has ended, and its conversation takes no more calls`,
    });
    expect(registry.isAllowed("Read", { sessionId })).toBe(false);
    expect(registry.explain("Read", { file_path: input.file_path }, { sessionId }).action).toBe(
      "deny",
    );
    expect(() => registry.setPermissionMode("plan", { sessionId })).toThrow(/has ended/);
    expect(existsSync(input.file_path)).toBe(false);
  });
});

describe("a session that is limited to tools", () => {
  test("has only these, and so have agents below it", async () => {
    const { registry, asAgent } = registryWith({ permissionMode: "bypassPermissions" });
    registry.register(tool({ name: "mine", inputSchema: {}, handler: () => "mine" }));
    const types: (string | undefined)[] = [];
    const tryAll = async (session: { sessionId: string }) => {
      const calls: [string, object][] = [
        ["FileRead", { file_path: workspace.write("a.txt", "a") }],
        ["mine", {}],
        ["Bash", { command: "true" }],
      ];
      for (const [name, input] of calls) {
        types.push((await registry.call(name, input, session)).error?.type);
      }
    };
    await asAgent(async ({ sessionId }) => {
      registry.limitTools(["Read", "Agent", "mine"], { sessionId });
      registry.limitTools(["Read", "Agent", "Bash"], { sessionId });
      await tryAll({ sessionId });
      await asAgent(tryAll, {}, { sessionId });
    });
    const limited = [undefined, "ToolDisabled", "ToolDisabled"];
    expect(types).toEqual([...limited, ...limited]);
  });

  test("does not list other tools over MCP", async () => {
    const { registry, asAgent } = registryWith({ permissionMode: "bypassPermissions" });
    const file_path = workspace.write("a.txt", "a");
    await asAgent(async ({ sessionId }) => {
      registry.limitTools(["FileRead"], { sessionId });
      const allowed = ["Read", "FileRead", "Bash"].map((it) =>
        registry.isAllowed(it, { sessionId }),
      );
      expect(allowed).toEqual([true, true, false]);
      const config = registry.toMcpServerConfig({ sessionId });
      expect(config.tools.map(({ name }) => name)).toEqual(["Read"]);
      const { client } = await connectClient(config.instance);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(["Read"]);
      const result = await client.callTool({ name: "Bash", arguments: { command: "true" } });
      expect(result.isError).toBe(true);
      const read = await client.callTool({ name: "Read", arguments: { file_path } });
      expect(read.isError).toBeFalsy();
      await client.close();
      // The read was made in the agent's session.
      const write = await registry.call("Write", { file_path, content: "b" }, { sessionId });
      expect(write.error?.type).toBe("ToolDisabled");
    });
  });

  test("the object that a tool gets for a session makes calls in that session alone", async () => {
    const { registry } = registryWith({ permissionMode: "bypassPermissions" });
    registry.setPermissionMode("plan", PARENT);
    const config = registry.toMcpServerConfig(PARENT);
    const write = config.tools.find(({ name }) => name === "Write");
    const input = { file_path: workspace.path("a.txt"), content: "x" };
    const result = await write?.handler(input, { sessionId: "other", toolUseId: "t" });
    expect(result?.error?.type).toBe("PolicyDenied");
    const { error } = (await write?.createInvocation(input).execute()) ?? {};
    expect(error?.type).toBe("PolicyDenied");
  });

  test.each<[string, unknown, unknown]>([
    ["an unknown tool", ["Nope"], PARENT],
    ["no session", ["Read"], {}],
    ["an invalid name", [7], PARENT],
  ])("refuses %s", (_what, names, options) => {
    const { registry } = registryWith();
    expect(() => registry.limitTools(names as string[], options as { sessionId: string })).toThrow(
      expect.objectContaining({ type: "InvalidOptions" }),
    );
  });
});
