import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { PolicyEngine, ToolError, createToolRegistry, tool } from "../../index.mjs";
import type {
  PermissionMode,
  PolicyConfig,
  ToolRegistry,
  ToolRegistryOptions,
} from "../../index.js";
import { connectClient } from "../support/mcp-clients.js";
import { texts } from "../support/results";
import { root } from "../support/runtimes.js";
import { useWorkspace } from "../support/workspace";

const workspace = useWorkspace();
const registries: ToolRegistry[] = [];
afterEach(async () => {
  await Promise.all(registries.splice(0).map((registry) => registry.close()));
});

function registryOf(options: ToolRegistryOptions = {}): ToolRegistry {
  const registry = createToolRegistry({
    projectPath: workspace.root,
    toolsets: ["claude", "classic", "diagnostic"],
    userPolicyFile: false,
    ...options,
  });
  registries.push(registry);
  return registry;
}

const hostTool = (name: string) =>
  tool({ name, description: "", inputSchema: {}, handler: () => "ran" });

describe("rule objects", () => {
  test("the documented example works as described", async () => {
    const document = readFileSync(join(root, "docs/policy.md"), "utf8");
    const example = document.match(/```js\n(policy: \{[\s\S]*?\n\}),?\n```/)?.[1];
    const { policy } = new Function(`return { ${example} };`)() as { policy: PolicyConfig };
    const registry = registryOf({ policy, toolsets: ["claude"] });
    const judge = (command: string) => registry.explain("Bash", { command });
    expect(judge("npm test -- --watch").action).toBe("allow");
    expect(judge("git push").action).toBe("ask");
    expect(judge("npm test; rm -r x").action).toBe("deny");
    expect(judge("cat .env").action).toBe("deny");
    expect(judge("npm test && yarn add left-pad")).toMatchObject({
      action: "deny",
      message: "use npm",
      rule: {
        place: "rules[0]",
        text: "shell",
        conditions: [{ commandPrefix: "yarn" }],
      },
    });
    const { error } = await registry.call("Bash", { command: "yarn add left-pad" });
    expect(error?.message).toContain("use npm");
    expect(await registry.initialize()).toMatchObject({ success: true, errors: [] });
    expect(registry.lintPolicy()).toEqual([]);
  });

  test("a condition on paths applies to every entry point", async () => {
    workspace.write("secret/key.txt", "needle");
    workspace.write("open.txt", "needle");
    const registry = registryOf({
      policy: {
        rules: [{ tool: "Read", action: "deny", conditions: [{ pathWithin: "secret" }] }],
        allow: ["Bash(cat:*)"],
      },
    });
    const answers = await Promise.all([
      registry.call("Grep", { pattern: "needle", path: workspace.root }),
      registry.call("Glob", { pattern: "**/*.txt", path: workspace.root }),
      registry.call("grep", { pattern: "needle" }),
      registry.call("glob", { pattern: "**/*.txt" }),
      registry.call("ls", { path: ".", recursive: true }),
      registry.call("Bash", { command: "cat open.txt" }),
    ]);
    for (const answer of answers) {
      expect(answer.isError).toBeUndefined();
      expect(JSON.stringify(answer)).not.toContain("key.txt");
    }
    const denied: [string, Record<string, unknown>][] = [
      ["Read", { file_path: workspace.path("secret/key.txt") }],
      ["read_file", { path: "secret/key.txt" }],
      ["grep", { pattern: "needle", directory: "secret" }],
      ["ls", { path: "secret" }],
      ["write_file", { path: "secret/key.txt", content: "", overwrite: true }],
      ["Bash", { command: "cat secret/key.txt" }],
      ["shell", { command: "cat < secret/key.txt" }],
    ];
    for (const [name, input] of denied) {
      const { error } = await registry.call(name as string, input);
      expect([name, error?.type]).toEqual([name, "PolicyDenied"]);
    }
  });

  test("a denied Edit leaves no other way to change a file", async () => {
    const registry = registryOf({
      policy: { rules: [{ tool: "Edit", action: "deny" }] },
      permissionMode: "bypassPermissions",
      readBeforeWrite: false,
    });
    const file_path = workspace.write("a.txt", "one");
    const calls: [string, Record<string, unknown>][] = [
      ["Edit", { file_path, old_string: "one", new_string: "two" }],
      ["Write", { file_path, content: "two" }],
      ["write_file", { path: "a.txt", content: "two", overwrite: true }],
      ["edit_file", { path: "a.txt", edits: [{ target: "one", replacement: "two" }] }],
    ];
    for (const [name, input] of calls) {
      const { error } = await registry.call(name as string, input);
      expect([name, error?.type]).toEqual([name, "PolicyDenied"]);
    }
    expect(readFileSync(file_path, "utf8")).toBe("one");
  });
});

describe("rules about tools that do not exist", () => {
  test("are reported by lint and by initialize, until the tool exists", async () => {
    const registry = registryOf({
      allowedTools: ["mine", "Read"],
      policy: {
        deny: ["bash", "Edit(src/**)"],
        rules: [{ tool: "Wirte", action: "ask", conditions: [{ pathGlob: "a" }] }],
      },
    });
    const told = async () => {
      const { success, errors } = await registry.initialize();
      expect(success).toBe(true);
      const found = registry.lintPolicy().filter(({ kind }) => kind === "unknown-tool");
      expect(found.map(({ rule }) => rule.text)).toEqual(errors.map(({ toolName }) => toolName));
      return errors;
    };
    expect(await told()).toEqual([
      {
        source: "rules[0] of the policy (options)",
        toolName: "Wirte",
        message: "no tool is named `Wirte`, so the rule never applies; did you mean `Write`?",
      },
      {
        source: "deny[0] of the policy (options)",
        toolName: "bash",
        message: "no tool is named `bash`, so the rule never applies; did you mean `Bash`?",
      },
      {
        source: "allowedTools[0] of the policy (options)",
        toolName: "mine",
        message: expect.stringContaining("no tool is named `mine`"),
      },
    ]);
    registry.register(hostTool("mine"));
    registry.setPolicy(null);
    expect(await told()).toEqual([]);
  });

  test("a text that ends in the middle of a name is reported", () => {
    const engine = new PolicyEngine({
      rules: [
        {
          tool: "Write",
          action: "allow",
          conditions: [{ param: "file_path", operator: "startsWith", value: "/srv" }],
        },
      ],
    });
    expect(engine.evaluate("Write", { file_path: "/srv-evil/x" })).toBe("allow");
    expect(engine.lint()).toMatchObject([
      {
        kind: "too-broad",
        message: "`startsWith: /srv` also matches `/srv-evil`; write `/srv/`, or `pathWithin`",
      },
    ]);
  });
});

describe("consistent answers about what is allowed", () => {
  const modes: PermissionMode[] = [
    "default",
    "acceptEdits",
    "plan",
    "dontAsk",
    "bypassPermissions",
  ];

  test.each(modes)("isAllowed, explain and a call agree in mode %s", async (permissionMode) => {
    const policies: PolicyConfig[] = [
      {},
      { allow: ["read_file", "mine", "mcp__docs__*"] },
      { allow: ["Read", "*"] },
      { rules: [{ tool: "mine", action: "allow" }], deny: ["read_file"] },
      { defaultAction: "allow", ask: ["mine"] },
      { defaultAction: "deny" },
      { rules: [{ tool: "*", action: "deny" }], allow: ["mcp__docs"] },
    ];
    for (const policy of policies) {
      const registry = registryOf({ policy, permissionMode, toolsets: ["claude", "diagnostic"] });
      registry.register(hostTool("mine"));
      registry.register(hostTool("read_file"));
      registry.register(hostTool("Bash"));
      registry.registerMcpTool({ serverName: "docs", toolName: "search", handler: () => "ran" });
      registry.disable("diagnostic_sleep");
      for (const name of registry.names()) {
        const info = registry.getToolInfo(name);
        expect(info?.allowed).toBe(registry.isAllowed(name));
        // Only tools that touch nothing can be called without an input that says what.
        const touchesNothing = info?.source !== "builtin" || name.startsWith("diagnostic_");
        if (!touchesNothing) continue;
        const input =
          name === "diagnostic_echo" ? { text: "x" } : name === "diagnostic_sleep" ? { ms: 0 } : {};
        if (name === "diagnostic_panic") continue;
        const { action } = registry.explain(name, input);
        expect([name, policy, registry.isAllowed(name)]).toEqual([
          name,
          policy,
          action === "allow",
        ]);
        const { error } = await registry.call(name as string, input);
        expect([name, policy, error === undefined]).toEqual([name, policy, action === "allow"]);
      }
    }
  });

  test("a host's tool is not allowed just because a built-in one has its name", async () => {
    const registry = registryOf({ toolsets: [] });
    registry.register(hostTool("read_file"));
    expect(registry.isAllowed("read_file")).toBe(false);
    expect(registry.explain("read_file").action).toBe("ask");
    expect((await registry.call("read_file" as string, {})).error?.type).toBe("PolicyDenied");
    registry.withAllowed("Read");
    expect(registry.isAllowed("read_file")).toBe(false);
    registry.withAllowed("read_file");
    expect(registry.isAllowed("read_file")).toBe(true);
    expect(texts(await registry.call("read_file" as string, {}))).toEqual(["ran"]);
    registry.setPolicy({ deny: ["Read"] });
    expect(registry.isAllowed("read_file")).toBe(false);
    expect(registry.explain("read_file").action).toBe("deny");
  });

  test("nothing in a list with a mistake is allowed", () => {
    const registry = registryOf();
    registry.register(hostTool("mine"));
    for (const wrong of ["Bash(", "Grok(x)", "", "a b", "Edit(../x)"]) {
      expect(() => registry.withAllowed("Write", "mine", wrong)).toThrow(ToolError);
      for (const name of ["Write", "mine"]) expect(registry.isAllowed(name)).toBe(false);
      expect(registry.explain("write_file", { path: "a", content: "" }).action).toBe("ask");
    }
    expect(() => registry.withAllowed("Write", 5 as never)).toThrow(ToolError);
    registry.withAllowed("Write", "mine", "Bash(ls:*)");
    expect(["Write", "write_file", "mine", "Bash"].map((it) => registry.isAllowed(it))).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  test("a call that a person always allows is allowed in that session", async () => {
    const registry = registryOf();
    registry.register(hostTool("mine"));
    registry.messageBus.on("request", ({ id }) =>
      registry.messageBus.respondToConfirmation({ id, approved: true, alwaysAllow: true }),
    );
    await registry.call("mine", {}, { sessionId: "s" });
    expect(registry.isAllowed("mine")).toBe(false);
    expect(registry.isAllowed("mine", { sessionId: "s" })).toBe(true);
    expect(registry.explain("mine", {}, { sessionId: "s" }).action).toBe("allow");
  });
});

describe("disabling and enabling tools", () => {
  const listed = async (registry: ToolRegistry, name: string) => {
    const { client } = await connectClient(registry.toMcpServerConfig().instance);
    const mcp = await client.listTools();
    const formats = (["mcp", "anthropic", "openai", "openai-responses", "gemini"] as const).map(
      (format) => JSON.stringify(registry.definitions(format)).includes(`"name":"${name}"`),
    );
    return [
      ...formats,
      registry.getFunctionSchemas().some((it) => it.name === name),
      registry.toMcpServerConfig().tools.some((it) => it.name === name),
      registry.getAllowedToolNames().includes(`mcp__toolwright__${name}`),
      mcp.tools.some((it) => it.name === name),
      !registry.isDisabled(name),
      !registry.getToolInfo(name)?.disabled,
    ];
  };

  test("a disabled tool is in no definition and cannot be called until it is enabled", async () => {
    const registry = registryOf({ allowedTools: ["mine"] });
    registry.register(hostTool("mine"));
    workspace.write("a.txt", "hi");
    for (const [name, input] of [
      ["mine", {}],
      ["read_file", { path: "a.txt" }],
    ] as const) {
      const all = await listed(registry, name);
      expect(all).toEqual(all.map(() => true));
      expect(registry.disable(name)).toBe(registry);
      const none = await listed(registry, name);
      expect(none).toEqual(none.map(() => false));
      expect(registry.names()).toContain(name);
      expect((await registry.call(name as string, input)).error?.type).toBe("ToolDisabled");
      expect(registry.explain(name, input).action).toBe("deny");
      expect(registry.isAllowed(name)).toBe(false);
      expect(registry.enable(name)).toBe(registry);
      expect(await listed(registry, name)).toEqual(all);
      expect((await registry.call(name as string, input)).isError).toBeUndefined();
      expect(registry.isAllowed(name)).toBe(true);
    }
  });

  test("by an alias, before it is registered, and after disallowedTools", async () => {
    const registry = registryOf({ disallowedTools: ["FileEdit", "Bash(rm:*)", "late"] });
    registry.disable("FileRead", "later");
    registry.register(hostTool("later"));
    registry.register(hostTool("late"));
    const off = () =>
      ["Read", "FileRead", "Edit", "later", "late", "Write"].filter((it) =>
        registry.isDisabled(it),
      );
    expect(off()).toEqual(["Read", "FileRead", "Edit", "later", "late"]);
    const edit = { file_path: workspace.path("a"), old_string: "a", new_string: "b" };
    expect(registry.explain("Edit", edit).action).toBe("deny");
    registry.enable("Read", "Edit", "late");
    expect(off()).toEqual(["later"]);
    // As before it was disabled: it needs confirmation.
    expect(registry.explain("Edit", edit).action).toBe("ask");
    expect(registry.explain("Bash", { command: "rm x" }).action).toBe("deny");
    registry.enable("later");
    expect(off()).toEqual([]);
  });

  test("the tools of a server, by the prefix of their names", () => {
    const registry = registryOf({ disallowedTools: ["mcp__one__*", "mcp__two", "*"] });
    for (const serverName of ["one", "two", "three"]) {
      registry.registerMcpTool({ serverName, toolName: "a", handler: () => "ran" });
    }
    const names = ["mcp__one__a", "mcp__two__a", "mcp__three__a", "Read"];
    const off = () => names.filter((it) => registry.isDisabled(it));
    expect(off()).toEqual(["mcp__one__a", "mcp__two__a"]);
    const told = new Set(registry.definitions().map(({ name }) => name));
    expect(names.filter((it) => told.has(it))).toEqual(["mcp__three__a", "Read"]);
    registry.disable("mcp__three__*").enable("mcp__one__*");
    expect(off()).toEqual(["mcp__two__a", "mcp__three__a"]);
    registry.enable("mcp__two__*", "mcp__three");
    expect(off()).toEqual([]);
    expect(registry.explain("mcp__two__a", {}).rule?.text).toBe("*");
  });

  test("a deny rule still denies an enabled tool", () => {
    const registry = registryOf({ policy: { deny: ["Write"] } });
    registry.disable("Write").enable("Write");
    expect(registry.isDisabled("Write")).toBe(false);
    expect(registry.isAllowed("Write")).toBe(false);
    expect(registry.explain("write_file", { path: "a", content: "" }).action).toBe("deny");
  });

  test("invalid names change nothing", () => {
    const registry = registryOf();
    for (const wrong of ["Bash(rm:*)", "", "a b", "x".repeat(65)]) {
      expect(() => registry.disable("Read", wrong)).toThrow("is not a tool's name");
      expect(registry.isDisabled("Read")).toBe(false);
      registry.disable("Read");
      expect(() => registry.enable("Read", wrong)).toThrow("is not a tool's name");
      expect(registry.isDisabled("Read")).toBe(true);
      registry.enable("Read");
    }
    expect(() => registry.disable(5 as never)).toThrow(ToolError);
  });
});

test("a session's own tasks are read and stopped without confirmation", async () => {
  const registry = registryOf({ allowedTools: ["Bash(sleep:*)"] });
  const started = await registry.call("Bash", { command: "sleep 60", run_in_background: true });
  expect(started.isError).toBeUndefined();
  const [task] = registry.tasks();
  for (const mode of ["default", "acceptEdits", "dontAsk", "plan", "bypassPermissions"] as const) {
    registry.setPermissionMode(mode);
    const read = await registry.call("TaskOutput" as string, { task_id: task?.id, block: false });
    expect([mode, read.error]).toEqual([mode, undefined]);
    expect(registry.explain("TaskStop", { task_id: task?.id }).action).toBe("allow");
  }
  registry.setPermissionMode("plan");
  expect(
    (await registry.call("TaskStop" as string, { task_id: task?.id })).isError,
  ).toBeUndefined();
  expect(registry.tasks()[0]?.state).toBe("stopped");
});
