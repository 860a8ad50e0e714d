import {
  chmodSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { describe, expect, test } from "vitest";
import { MessageBus, PolicyEngine, ToolError, createToolRegistry, tool } from "../../index.mjs";
import type {
  ConfirmationRequest,
  ConfirmationResponse,
  ToolRegistry,
  ToolRegistryOptions,
} from "../../index.js";
import { texts } from "../support/results";
import { useWorkspace } from "../support/workspace";

const workspace = useWorkspace();

function registryOf(options: ToolRegistryOptions = {}): ToolRegistry {
  return createToolRegistry({
    projectPath: workspace.root,
    toolsets: ["claude", "classic", "diagnostic"],
    userPolicyFile: false,
    ...options,
  });
}

/** Answers every request in the same way, and records the requests. */
function answering(
  registry: ToolRegistry,
  answer: Omit<ConfirmationResponse, "id"> | ((it: ConfirmationRequest) => unknown),
): ConfirmationRequest[] {
  const asked: ConfirmationRequest[] = [];
  registry.messageBus.on("request", (request) => {
    asked.push(request);
    const given = typeof answer === "function" ? answer(request) : answer;
    registry.messageBus.respondToConfirmation({
      id: request.id,
      ...(given as Omit<ConfirmationResponse, "id">),
    });
  });
  return asked;
}

const write = (registry: ToolRegistry, path = "a.txt", sessionId?: string) =>
  registry.call("write_file", { path, content: "x\n", overwrite: true }, { sessionId });

describe("without any policy", () => {
  test("read-only tools run, everything else needs confirmation, and is refused without a listener", async () => {
    const registry = registryOf();
    workspace.write("b.txt", "b");
    expect(texts(await registry.call("read_file", { path: "b.txt" }))).toEqual(["b"]);
    const refused = await write(registry);
    expect(refused.error?.type).toBe("PolicyDenied");
    for (const way of ["Edit(./a.txt)", "listening for confirmation", "bypassPermissions"]) {
      expect(refused.error?.details?.howToAllow).toContain(way);
      expect(refused.display).toContain(way);
      expect(refused.error?.message).not.toContain(way);
    }
    expect(refused.error?.details?.suggestedRules).toEqual(["Edit(./a.txt)"]);
    expect(readdirSync(workspace.root)).toEqual(["b.txt"]);
  });

  test("a host's own tool needs confirmation as well", async () => {
    const registry = registryOf({ allowedTools: ["mine"] });
    for (const name of ["mine", "other"]) {
      registry.register(tool({ name, description: "", inputSchema: {}, handler: () => "ran" }));
    }
    expect(texts(await registry.call("mine", {}))).toEqual(["ran"]);
    expect((await registry.call("other", {})).error?.type).toBe("PolicyDenied");
  });
});

describe("confirmation", () => {
  test("shows what would change, and an approval makes the change", async () => {
    const registry = registryOf();
    const asked = answering(registry, { approved: true });
    const file = workspace.write("a.txt", "one\n");
    await registry.call("read_file", { path: "a.txt" });
    const input = { path: "a.txt", edits: [{ target: "one", replacement: "1" }] };
    const result = await registry.call("edit_file", input, {
      toolUseId: "t",
      sessionId: undefined,
    });
    expect(result.isError).toBeUndefined();
    expect(asked.map(({ details }) => details)).toEqual([
      {
        toolName: "edit_file",
        description: `Edit ${file} (1 edits)`,
        risk: "medium",
        locations: [file],
        reason: `no rule allows \`${file}\``,
        suggestedRules: ["Edit(./a.txt)"],
        input,
        toolUseId: "t",
        sessionId: "default",
        diff: `--- ${file}\n+++ ${file}\n@@ -1 +1 @@\n-one\n+1\n`,
      },
    ]);
    expect(readFileSync(file, "utf8")).toBe("1\n");
  });

  test.each([
    ["false", { approved: false }],
    ["the string true", { approved: "true" }],
    ["nothing", {}],
  ])("%s is a denial, and nothing is written", async (_what, answer) => {
    const registry = registryOf();
    answering(registry, answer as never);
    expect((await write(registry)).error).toEqual({
      type: "PolicyDenied",
      message: "the user said no to `write_file`",
    });
    expect(readdirSync(workspace.root)).toEqual([]);
  });

  test("a denial can give its reason and end the turn", async () => {
    const registry = registryOf();
    answering(registry, { approved: false, message: "use b.txt", interrupt: true });
    const blocks = ["1", "2"].map((id) => ({
      id,
      name: "write_file",
      input: { path: `${id}.txt`, content: "" },
    }));
    const results = await registry.executeTools(blocks);
    expect(results.map(({ is_error }) => is_error)).toEqual([true, true]);
    expect(JSON.stringify(results[0])).toContain("the user said no to `write_file`: use b.txt");
    expect(JSON.stringify(results[1])).toContain("not run: an earlier call of the turn");
  });

  test("a listener that throws, and one that never answers, do not approve", async () => {
    const throwing = registryOf();
    throwing.messageBus.on("request", () => {
      throw new Error("no screen");
    });
    expect((await write(throwing)).error?.message).toContain("the listener failed: no screen");
    const silent = registryOf({ limits: { confirmationTimeoutMs: 20 } });
    let late = "";
    silent.messageBus.on("request", ({ id }) => (late = id));
    expect((await write(silent)).error?.type).toBe("ConfirmationTimeout");
    expect(silent.messageBus.respondToConfirmation({ id: late, approved: true })).toBe(false);
    expect(readdirSync(workspace.root)).toEqual([]);
  });

  test("an abort during a confirmation ends the call without an effect", async () => {
    const registry = registryOf();
    const controller = new AbortController();
    registry.messageBus.on("request", () => controller.abort());
    const call = registry.call(
      "write_file",
      { path: "a", content: "" },
      { signal: controller.signal },
    );
    await expect(call).rejects.toMatchObject({ type: "Cancelled" });
    expect(readdirSync(workspace.root)).toEqual([]);
  });

  test("an edited input is checked again: denied calls stay denied, and invalid input is refused", async () => {
    const registry = registryOf({ policy: { deny: ["Edit(secret/**)"] } });
    let updatedInput: Record<string, unknown> = { path: "b.txt", content: "edited" };
    const asked = answering(registry, () => ({ approved: true, updatedInput }));
    expect((await write(registry)).isError).toBeUndefined();
    expect(readFileSync(workspace.path("b.txt"), "utf8")).toBe("edited");
    expect(asked).toHaveLength(1);
    updatedInput = { path: "secret/c.txt", content: "" };
    expect((await write(registry)).error?.type).toBe("PolicyDenied");
    updatedInput = { path: "../out.txt", content: "" };
    expect((await write(registry)).error?.type).toBe("PathOutsideWorkspace");
    updatedInput = { path: 5 };
    expect((await write(registry)).error?.type).toBe("ValidationError");
    expect(readdirSync(workspace.root)).toEqual(["b.txt"]);
  });

  test("hooks see a person's edited input, and can block it", async () => {
    const registry = registryOf({
      hooks: {
        PreToolUse: [
          ({ tool_input }) =>
            tool_input["path"] === "b.txt" ? { decision: "block", reason: "not b" } : undefined,
        ],
      },
    });
    answering(registry, { approved: true, updatedInput: { path: "b.txt", content: "" } });
    expect((await write(registry)).error).toEqual({
      type: "HookBlocked",
      message: "not b",
      details: {
        reason: "not b",
        howToAllow: "a host can allow it by another answer of its PreToolUse hooks",
      },
    });
    expect(readdirSync(workspace.root)).toEqual([]);
  });

  test("always allow stores the narrowest rule, for the session only", async () => {
    const registry = registryOf();
    const asked = answering(registry, { approved: true, alwaysAllow: true });
    await write(registry, "a.txt", "s1");
    await write(registry, "a.txt", "s1");
    expect(asked).toHaveLength(1);
    await write(registry, "b.txt", "s1");
    expect(asked).toHaveLength(2);
    await write(registry, "a.txt", "s2");
    expect(asked).toHaveLength(3);
    const { action, rule } = registry.explain(
      "write_file",
      { path: "a.txt", content: "" },
      { sessionId: "s1" },
    );
    expect({ action, layer: rule?.layer, text: rule?.text }).toEqual({
      action: "allow",
      layer: "session",
      text: "Edit(./a.txt)",
    });
  });

  test("always allow with an edited input grants what runs, never what was requested", async () => {
    const registry = registryOf();
    const asked = answering(registry, ({ details }) => ({
      approved: true,
      alwaysAllow: true,
      updatedInput: { ...details.input, path: "b.txt" },
    }));
    const action = (path: string) => registry.explain("write_file", { path, content: "" }).action;
    expect((await write(registry, "a.txt")).isError).toBeUndefined();
    expect(readdirSync(workspace.root)).toEqual(["b.txt"]);
    expect(["a.txt", "b.txt"].map(action)).toEqual(["ask", "allow"]);
    expect((await write(registry, "b.txt")).isError).toBeUndefined();
    expect(asked).toHaveLength(1);
  });

  test("an edit that is denied or blocked grants nothing", async () => {
    const registry = registryOf({
      policy: { deny: ["Edit(no.txt)"] },
      hooks: {
        PreToolUse: [
          ({ tool_input }) => ({ decision: tool_input["path"] === "b.txt" ? "block" : undefined }),
        ],
      },
    });
    let path = "no.txt";
    answering(registry, ({ details }) => ({
      approved: true,
      alwaysAllow: true,
      updatedInput: { ...details.input, path },
    }));
    expect((await write(registry, "a.txt")).error?.type).toBe("PolicyDenied");
    path = "b.txt";
    expect((await write(registry, "a.txt")).error?.type).toBe("HookBlocked");
    const actions = ["a.txt", "b.txt", "no.txt"].map(
      (it) => registry.explain("write_file", { path: it, content: "" }).action,
    );
    expect(actions).toEqual(["ask", "ask", "deny"]);
    expect(readdirSync(workspace.root)).toEqual([]);
  });

  test("always allow applies to protected paths, and is not offered if a rule asks", async () => {
    const registry = registryOf({
      policy: { ask: ["Bash(touch b:*)"] },
      permissionMode: "bypassPermissions",
    });
    const asked = answering(registry, { approved: true, alwaysAllow: true });
    const run = (command: string) => registry.call("Bash", { command });
    await run("mkdir .git");
    await run("touch b");
    await run("mkdir .git");
    await run("touch b");
    expect(asked.map(({ details }) => details.suggestedRules)).toEqual([
      ["Bash(mkdir .git)"],
      [],
      [],
    ]);
    await registry.close();
  });

  test("one bus can serve several registries", async () => {
    const messageBus = new MessageBus();
    const registries = [registryOf({ messageBus }), registryOf({ messageBus })];
    let asked = 0;
    messageBus.on("request", ({ id }) => {
      asked += 1;
      messageBus.respondToConfirmation({ id, approved: true });
    });
    for (const [index, registry] of registries.entries()) {
      expect(registry.messageBus).toBe(messageBus);
      expect((await write(registry, `${index}.txt`)).isError).toBeUndefined();
      asked += 10;
    }
    expect(asked).toBe(22);
    // @ts-expect-error a bus is one of ours
    expect(() => registryOf({ messageBus: {} })).toThrow("must be a MessageBus");
  });
});

describe("rules", () => {
  test("paths are judged by their target, whatever their name", async () => {
    workspace.write("secret/key", "k");
    mkdirSync(workspace.path("src"));
    symlinkSync(workspace.path("secret"), workspace.path("src/link"));
    const registry = registryOf({ policy: { deny: ["Read(secret/**)"], allow: ["Edit(src/**)"] } });
    for (const path of ["secret/key", "src/link/key", "./src/../secret/key"]) {
      expect((await registry.call("read_file", { path })).error?.type).toBe("PolicyDenied");
      const result = await registry.call("write_file", { path, content: "", overwrite: true });
      expect(result.error?.type).toBe("PolicyDenied");
    }
    expect((await write(registry, "src/new.txt")).isError).toBeUndefined();
  });

  test("deny applies in every mode; modes decide if no rule does", async () => {
    const outcome = async (options: ToolRegistryOptions) => {
      const registry = registryOf({ policy: { deny: ["Edit(no/**)"] }, ...options });
      const denied = await write(registry, "no/a.txt");
      expect(denied.error?.type).toBe("PolicyDenied");
      const result = await write(registry, `${options.permissionMode}.txt`);
      const sleep = await registry.call("diagnostic_sleep", { ms: 0 });
      return [result.error?.type, sleep.error?.type];
    };
    expect(await outcome({})).toEqual(["PolicyDenied", "PolicyDenied"]);
    expect(await outcome({ permissionMode: "bypassPermissions" })).toEqual([undefined, undefined]);
    expect(await outcome({ permissionMode: "acceptEdits" })).toEqual([undefined, "PolicyDenied"]);
    expect(await outcome({ permissionMode: "plan" })).toEqual(["PolicyDenied", "PolicyDenied"]);
    expect(await outcome({ permissionMode: "dontAsk" })).toEqual(["PolicyDenied", "PolicyDenied"]);
    expect(() => registryOf({ permissionMode: "yolo" as never })).toThrow(
      "no permission mode is named `yolo`",
    );
  });

  test("paths that other programs execute or trust need confirmation even if edits are accepted", async () => {
    const registry = registryOf({ permissionMode: "acceptEdits" });
    for (const path of [".git/hooks/pre-commit", ".toolwright/policy.json", ".bashrc"]) {
      expect((await write(registry, path)).error?.type).toBe("PolicyDenied");
    }
    expect(readdirSync(workspace.root)).toEqual([]);
  });

  test("a hook can allow a call if no rule asks, and never overrides a rule", async () => {
    const hooks = { PreToolUse: [() => ({ decision: "allow" as const })] };
    expect((await write(registryOf({ hooks }))).isError).toBeUndefined();
    for (const list of ["ask", "deny"]) {
      const registry = registryOf({ hooks, policy: { [list]: ["Edit(*.md)"] } });
      expect((await write(registry, "b.md")).error?.type).toBe("PolicyDenied");
    }
    const asking = registryOf({
      allowedTools: ["Write"],
      hooks: { PreToolUse: [() => ({ decision: "ask" as const, reason: "sure?" })] },
    });
    expect((await write(asking, "c.txt")).error?.message).toContain("a hook asks: sure?");
    const asked = answering(asking, { approved: true });
    expect((await write(asking, "c.txt")).isError).toBeUndefined();
    expect(asked[0]?.details.reason).toBe("a hook asks: sure?");
  });

  test("a hook's decision with a rewrite counts, and overrides no rule", async () => {
    const hooks = {
      PreToolUse: [
        ({ tool_input }: { tool_input: Record<string, unknown> }) => ({
          updatedInput: { ...tool_input, path: `x-${tool_input["path"]}` },
          decision: "allow" as const,
          additionalContext: "renamed",
        }),
      ],
    };
    const registry = registryOf({
      hooks,
      policy: { deny: ["Edit(x-no.txt)"], ask: ["Edit(x-ask.txt)"] },
    });
    expect(texts(await write(registry, "a.txt")).at(-1)).toBe("renamed");
    expect(readdirSync(workspace.root)).toEqual(["x-a.txt"]);
    expect((await write(registry, "no.txt")).error?.type).toBe("PolicyDenied");
    expect((await write(registry, "ask.txt")).error?.type).toBe("PolicyDenied");
    expect(readdirSync(workspace.root)).toEqual(["x-a.txt"]);
  });

  test("changes by the caller after the call have no effect", async () => {
    const registry = registryOf({ policy: { deny: ["Edit(no.txt)"], allow: ["Edit(yes.txt)"] } });
    const input = { path: "yes.txt", content: "x" };
    const running = registry.call("write_file", input);
    input.path = "no.txt";
    expect((await running).isError).toBeUndefined();
    expect(readdirSync(workspace.root)).toEqual(["yes.txt"]);
  });

  test("explain suggests rules that allow the call, unless it is allowed or no rule can", () => {
    const registry = registryOf({ toolsets: ["claude"], policy: { deny: ["Bash(rm:*)"] } });
    const explained = (command: string) => registry.explain("Bash", { command });
    const { action, suggestedRules } = explained("cargo build && git push");
    expect({ action, suggestedRules }).toEqual({
      action: "ask",
      suggestedRules: ["Bash(cargo build && git push)"],
    });
    expect(explained("rm a")).not.toHaveProperty("suggestedRules");
    registry.withAllowed(...(suggestedRules ?? []));
    expect(explained("cargo build && git push").action).toBe("allow");
    expect(explained("cargo build && git push")).not.toHaveProperty("suggestedRules");
  });

  test("explain returns the decision, the rule and its source", () => {
    const registry = registryOf({ policy: { deny: ["Edit(no/**)"] }, allowedTools: ["Write"] });
    expect(registry.explain("write_file", { path: "no/a", content: "" })).toMatchObject({
      action: "deny",
      rule: { layer: "options", place: "deny[0]", text: "Edit(no/**)", action: "deny" },
      risk: "medium",
      parts: [{ part: workspace.path("no/a"), action: "deny" }],
    });
    expect(
      registry.explain("Write", { file_path: workspace.path("a"), content: "" }),
    ).toMatchObject({ action: "allow", rule: { text: "Write" } });
    expect(registry.explain("read_file", { path: "a" }).action).toBe("allow");
    expect(() => registry.explain("nothing", {})).toThrow(ToolError);
    expect(() => registry.explain("read_file", {})).toThrow("missing required parameter");
    expect(readdirSync(workspace.root)).toEqual([]);
  });

  test("an invalid policy is refused with the rule, and the old one stays", () => {
    const registry = registryOf({ policy: { deny: ["Write"] } });
    const denied = () => registry.explain("write_file", { path: "a", content: "" }).action;
    expect(denied()).toBe("deny");
    for (const [policy, place] of [
      [{ rules: [{ tool: "a", action: "maybe" }] }, "rules[0]"],
      [
        {
          rules: [
            { tool: "b", action: "allow" },
            {
              tool: "a",
              action: "deny",
              conditions: [{ param: "x", operator: "matches", value: "(" }],
            },
          ],
        },
        "rules[1]",
      ],
      [{ allow: ["Bash("] }, "allow[0]"],
      [{ alow: [] }, "alow"],
      ["no", "object"],
    ] as const) {
      expect(() => registry.setPolicy(policy as never)).toThrow(place);
      expect(() => registryOf({ policy: policy as never })).toThrow(ToolError);
      expect(denied()).toBe("deny");
    }
    expect(registry.setPolicy({ allow: ["Write"] })).toBe(registry);
    expect(denied()).toBe("allow");
    registry.setPolicy(null);
    expect(denied()).toBe("ask");
    registry.withAllowed("Edit(b/**)");
    expect(registry.explain("write_file", { path: "b/c", content: "" }).action).toBe("allow");
    registry.setPermissionMode("bypassPermissions");
    expect(denied()).toBe("allow");
  });

  test("files: the project's only if it is trusted, the user's always, and both are reloaded on demand", () => {
    const policy = (rules: object) => JSON.stringify(rules);
    workspace.write(".toolwright/policy.json", policy({ allow: ["Write"], deny: ["Edit(a)"] }));
    const userPolicyFile = workspace.write("user.json", policy({ deny: ["Edit(b)"] }));
    const outcome = (registry: ToolRegistry) =>
      ["a", "b", "c"].map((path) => registry.explain("write_file", { path, content: "" }).action);
    expect(outcome(registryOf())).toEqual(["ask", "ask", "ask"]);
    expect(outcome(registryOf({ userPolicyFile }))).toEqual(["ask", "deny", "ask"]);
    const registry = registryOf({ userPolicyFile, trustProject: true });
    expect(outcome(registry)).toEqual(["deny", "deny", "allow"]);
    writeFileSync(userPolicyFile, "{ not json");
    expect(() => registry.reloadPolicy()).toThrow(userPolicyFile);
    expect(outcome(registry)).toEqual(["deny", "deny", "allow"]);
    writeFileSync(userPolicyFile, policy({}));
    registry.reloadPolicy();
    expect(outcome(registry)).toEqual(["deny", "allow", "allow"]);
    expect(() => registryOf({ userPolicyFile: workspace.path(".toolwright") })).toThrow(
      "it must be a file",
    );
  });

  test("only reloadPolicy reads the files, and a broken one does not lift any denial", () => {
    const userPolicyFile = workspace.write("user.json", JSON.stringify({ deny: ["Edit(a)"] }));
    const registry = registryOf({ userPolicyFile });
    const outcome = () =>
      ["a", "b", "c"].map((path) => registry.explain("write_file", { path, content: "" }).action);
    writeFileSync(userPolicyFile, "{ not json");
    registry.setPolicy({ deny: ["Edit(b)"] });
    registry.withAllowed("Edit(c)");
    expect(outcome()).toEqual(["deny", "deny", "allow"]);
    writeFileSync(userPolicyFile, "{}");
    registry.setPolicy(null);
    expect(outcome()).toEqual(["deny", "ask", "allow"]);
    registry.reloadPolicy();
    expect(outcome()).toEqual(["ask", "ask", "allow"]);
  });

  test.each([
    [["Edit"], "Edit", "edit_file"],
    [["FileEdit"], "Edit", "edit_file"],
    [["Edit "], "Edit", "edit_file"],
    [["edit_file"], "edit_file", "Edit"],
    [["Write"], "Write", "write_file"],
    [["shell"], "shell", "Bash"],
  ])("disallowedTools %j disables %s and denies %s", async (disallowedTools, off, denied) => {
    const registry = registryOf({
      disallowedTools,
      permissionMode: "bypassPermissions",
      readBeforeWrite: false,
    });
    const file_path = workspace.write("a.txt", "one");
    const edit = { file_path, old_string: "one", new_string: "two" };
    const edits = [{ target: "one", replacement: "two" }];
    const calls: [string, Record<string, unknown>][] = [
      ["Edit", edit],
      ["edit_file", { path: "a.txt", edits }],
      ["Write", { file_path, content: "one" }],
      ["write_file", { path: "a.txt", content: "one", overwrite: true }],
      ["Bash", { command: "true" }],
      ["shell", { command: "true" }],
    ];
    for (const [name, input] of calls) {
      workspace.write("a.txt", "one");
      const isDenied = name === off || name === denied;
      const type = name === off ? "ToolDisabled" : isDenied ? "PolicyDenied" : undefined;
      const explained = registry.explain(name, input).action;
      expect([name, explained]).toEqual([name, isDenied ? "deny" : "allow"]);
      expect([name, (await registry.call(name, input)).error?.type]).toEqual([name, type]);
      expect(registry.isDisabled(name)).toBe(name === off);
    }
    await registry.close();
  });

  test("the linter finds rules whose effect differs from their appearance", () => {
    const engine = new PolicyEngine({ allow: ["Bash(env:*)", "Bash(git push:*)"], deny: ["Bash"] });
    expect(engine.lint().map(({ kind, rule }) => [kind, rule.text])).toEqual(
      expect.arrayContaining([
        ["too-broad", "Bash(env:*)"],
        ["shadowed", "Bash(git push:*)"],
      ]),
    );
    expect(registryOf({ allowedTools: ["Bash"] }).lintPolicy()).toMatchObject([
      { kind: "too-broad", rule: { text: "Bash", layer: "options" } },
    ]);
  });

  test("a standalone engine judges commands part by part", () => {
    const engine = new PolicyEngine(
      { allow: ["Bash(git status:*)", "Bash(echo:*)"], deny: ["Bash(rm:*)"] },
      { projectPath: workspace.root },
    );
    const judge = (command: string) => engine.evaluate("Bash", { command });
    expect(judge("git status -s")).toBe("allow");
    expect(judge("git status && echo done")).toBe("allow");
    expect(judge("git status; rm -rf /")).toBe("deny");
    expect(judge("git status $(rm x)")).toBe("deny");
    expect(judge("git push")).toBe("ask");
    expect(judge("git status > out.txt")).toBe("ask");
    expect(judge("git status '")).toBe("ask");
    expect(engine.explain("Bash", { command: "git status; curl x" }).parts).toMatchObject([
      { part: "git status", action: "allow" },
      { part: "curl x", action: "ask" },
    ]);
    expect(PolicyEngine.schema).toMatchObject({ type: "object" });
  });
});

describe("every entry point", () => {
  test("a file that must not be read is not searched, not listed, and not reached by a command", async () => {
    workspace.write("secret/key.txt", "needle");
    workspace.write("open.txt", "needle");
    const registry = registryOf({
      policy: { deny: ["Read(secret/**)"], allow: ["Bash(cat:*)", "Bash(echo:*)"] },
    });
    const answers = await Promise.all([
      registry.call("Grep", { pattern: "needle", path: workspace.root }),
      registry.call("Glob", { pattern: "**/*.txt", path: workspace.root }),
      registry.call("grep", { pattern: "needle" }),
      registry.call("glob", { pattern: "**/*.txt" }),
      registry.call("ls", { path: ".", recursive: true }),
    ]);
    for (const answer of answers) {
      expect(answer.isError).toBeUndefined();
      expect(JSON.stringify(answer)).toContain("open.txt");
      expect(JSON.stringify(answer)).not.toContain("key.txt");
    }
    const commands = ["cat secret/key.txt", "cat < secret/key.txt", "echo x > secret/key.txt"];
    for (const command of commands) {
      const { error } = await registry.call("Bash", { command });
      expect(error?.type).toBe("PolicyDenied");
    }
    expect(texts(await registry.call("Bash", { command: "cat open.txt" }))[0]).toContain("needle");
    expect(readFileSync(workspace.path("secret/key.txt"), "utf8")).toBe("needle");
  });

  test("links, directories and the commands' home do not circumvent a rule", async () => {
    workspace.write("data/secret", "needle");
    workspace.write("h/secret", "needle");
    workspace.write("evil", "evil");
    mkdirSync(workspace.path("data/sub"));
    mkdirSync(workspace.path("src"));
    mkdirSync(workspace.path(".git/hooks"), { recursive: true });
    symlinkSync("data/sub", workspace.path("link"));
    symlinkSync("../.git/hooks/post-commit", workspace.path("src/log"));
    const registry = registryOf({
      env: { HOME: workspace.path("h") },
      policy: {
        deny: ["Read(data/secret)", "Read(h/secret)"],
        allow: ["Bash(cat:*)", "Bash(echo:*)", "Bash(cd:*)", "Bash(cp:*)", "Edit(src/**)"],
      },
    });
    for (const command of [
      "cat link/../secret",
      "cat ~/secret",
      "cd link && cat ../secret",
      "cp -r . /tmp/never",
      "echo hacked > src/log",
      "cd .git/hooks && cp ../../evil pre-commit",
    ]) {
      const result = await registry.call("Bash", { command });
      expect([command, result.error?.type]).toEqual([command, "PolicyDenied"]);
    }
    expect(readdirSync(workspace.path(".git/hooks"))).toEqual([]);
    expect(texts(await registry.call("Bash", { command: "cd src && cat ../evil" }))[0]).toContain(
      "evil",
    );
    await registry.close();
  });

  test("a directory that the command line creates is judged by its parent", async () => {
    workspace.write("x", "text");
    const registry = registryOf({ permissionMode: "bypassPermissions" });
    const decide = (command: string) => registry.explain("Bash", { command }).action;
    expect(decide("cd build && cp x ../y")).toBe("ask");
    expect(decide("mkdir other && cd build && cp x ../y")).toBe("ask");
    const made = "mkdir -p build/deep && cd build/deep && cp ../../x . && cd .. && rm -r ../build";
    expect(decide(made)).toBe("allow");
    expect(decide("mkdir .git/new && cd .git/new && cp x .")).toBe("ask");
    expect((await registry.call("Bash", { command: made })).isError).toBeUndefined();
    expect(readdirSync(workspace.root)).toEqual(["x"]);
    await registry.close();
  });

  test("a shell that is not bash is not parsed as bash", async () => {
    const program = workspace.write("a+=/x", "#!/bin/sh\necho ran > ran\n");
    chmodSync(program, 0o755);
    for (const path of ["/bin/bash", "/bin/sh"]) {
      const registry = registryOf({ shell: { path }, policy: { allow: ["Bash(ls:*)"] } });
      expect((await registry.call("Bash", { command: "ls" })).isError).toBeUndefined();
      const inner = await registry.call("Bash", { command: "sh -c 'a+=/x; ls'" });
      expect(inner.error?.type).toBe("PolicyDenied");
      const { error } = await registry.call("Bash", { command: "a+=/x; ls" });
      expect(error?.type).toBe(path === "/bin/sh" ? "PolicyDenied" : undefined);
      await registry.close();
    }
    expect(readdirSync(workspace.root)).toEqual(["a+="]);
  });

  test("a command is judged in its working directory", async () => {
    mkdirSync(workspace.path("sub"));
    const registry = registryOf({
      policy: { allow: ["shell(echo:*)", "Edit(./out.txt)"] },
    });
    const run = (command: string, cwd?: string) => registry.call("shell", { command, cwd });
    expect((await run("echo 1 > out.txt")).isError).toBeUndefined();
    expect((await run("echo 1 > out.txt", "sub")).error?.type).toBe("PolicyDenied");
    expect(readdirSync(workspace.path("sub"))).toEqual([]);
  });

  test("a denied command starts nothing", async () => {
    const registry = registryOf({
      policy: { deny: ["Bash(touch:*)"] },
      permissionMode: "bypassPermissions",
    });
    for (const command of [
      "touch a",
      "true && touch a",
      "/usr/bin/touch a",
      "sh -c 'touch a'",
      "x=$(touch a)",
    ]) {
      expect((await registry.call("Bash", { command })).error?.type).toBe("PolicyDenied");
    }
    expect(readdirSync(workspace.root)).toEqual([]);
    await registry.close();
  });
});

describe("executeTools", () => {
  test("reads may run in parallel; results stay in order", async () => {
    const registry = registryOf({ allowedTools: ["diagnostic_sleep", "meet"] });
    let here = 0;
    let all: () => void = () => {};
    const met = new Promise<void>((resolve) => (all = resolve));
    registry.register(
      tool({
        name: "meet",
        description: "",
        inputSchema: {},
        annotations: { readOnlyHint: true },
        handler: async (_args, { toolUseId }) => {
          here += 1;
          if (here === 3) all();
          await met;
          return toolUseId;
        },
      }),
    );
    const blocks = ["a", "b", "c"].map((id) => ({ id, name: "meet", input: {} }));
    // In sequence, the first would wait for the others for ever.
    const results = await registry.executeTools(blocks, { parallelReads: true });
    expect(results.map(({ content }) => content)).toEqual(
      ["a", "b", "c"].map((text) => [{ type: "text", text }]),
    );
  });

  test("OpenAI's errors begin with Error:", async () => {
    const registry = registryOf();
    const [message] = await registry.executeTools(
      [{ id: "1", function: { name: "write_file", arguments: '{"path":"a","content":""}' } }],
      { format: "openai" },
    );
    expect(message?.content).toMatch(/^Error: `write_file` needs a confirmation/);
  });
});
