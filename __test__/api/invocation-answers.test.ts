// An invocation before it runs: its description, and the confirmation that it needs.
import { describe, expect, test } from "vitest";
import { MessageBus, tool } from "../../index.mjs";
import type { PermissionMode, ToolRegistry, ToolRegistryOptions } from "../../index.js";
import { useAskingRegistries } from "../support/registries";
import { useWorkspace } from "../support/workspace";

const workspace = useWorkspace();
const made = useAskingRegistries(workspace);

function registryOf(options: ToolRegistryOptions = {}): ToolRegistry {
  const registry = made(options);
  const inputSchema = { type: "object", properties: { target: { type: "string" } } };
  registry.register(tool({ name: "hosted", inputSchema, handler: () => "ran" }));
  // A schema with references is validated off the event loop.
  const referring = { ...inputSchema, $defs: { a: { type: "string" } } };
  referring.properties = { target: { $ref: "#/$defs/a" } } as never;
  registry.register(tool({ name: "referring", inputSchema: referring, handler: () => "ran" }));
  registry.register({
    name: "declared",
    schema: { parameters: inputSchema },
    createInvocation: ({ target }: { target: string }) => ({
      getDescription: () => `Do it to ${target}`,
      toolLocations: () => [target],
      execute: () => ({ llmContent: "ran", returnDisplay: "ran" }),
    }),
  });
  return registry;
}

/** A call of each kind of tool that needs confirmation by default. */
const CALLS: Record<string, () => Record<string, unknown>> = {
  Bash: () => ({ command: "make all" }),
  shell: () => ({ command: "make all", cwd: workspace.root }),
  Write: () => ({ file_path: workspace.path("new.txt"), content: "x" }),
  write_file: () => ({ path: "new.txt", content: "x" }),
  edit_file: () => ({ path: "a.txt", edits: [{ target: "one", replacement: "two" }] }),
  hosted: () => ({ target: "there" }),
  referring: () => ({ target: "there" }),
  declared: () => ({ target: "there" }),
};

const ways: Record<string, (registry: ToolRegistry, name: string) => void> = {
  "a deny rule": (registry, name) => registry.setPolicy({ deny: [name] }),
  "a deny rule for everything": (registry) =>
    registry.setPolicy({ rules: [{ tool: "*", action: "deny" }] }),
  "a default that denies": (registry) => registry.setPolicy({ defaultAction: "deny" }),
  "a disabled tool": (registry, name) => registry.disable(name),
  "the mode dontAsk": (registry) => registry.setPermissionMode("dontAsk"),
};

describe("a call that will be refused", () => {
  const cases = Object.keys(ways).flatMap((way) =>
    Object.keys(CALLS).map((name) => [way, name] as const),
  );

  test.each(cases)("by %s: %s is described as if it were allowed", async (way, name) => {
    workspace.write("a.txt", "one\n");
    const input = CALLS[name]?.();
    const allowed = registryOf({ permissionMode: "bypassPermissions" });
    const refused = registryOf();
    ways[way]?.(refused, name);
    const [expected, invocation] = [allowed, refused].map((it) => it.createInvocation(name, input));
    expect(invocation?.getDescription()).toBe(expected?.getDescription());
    expect(invocation?.getDescription()).toMatch(/make all|new\.txt|a\.txt|there/);
    expect(invocation?.toolLocations()).toEqual(expected?.toolLocations());
    const type = way === "a disabled tool" ? "ToolDisabled" : "PolicyDenied";
    const error = await invocation?.shouldConfirmExecute().catch((error: unknown) => error);
    expect(error).toMatchObject({ name: "ToolError", type });
    const answer = await invocation?.execute();
    const { message, details } = error as { message: string; details: unknown };
    expect(answer?.error).toEqual({ type, message, ...(details ? { details } : {}) });
  });

  test("by the mode plan: edits have a description", async () => {
    const registry = registryOf({ permissionMode: "plan", allowedTools: ["Edit", "hosted"] });
    for (const name of ["Write", "write_file", "hosted", "declared", "referring"]) {
      const invocation = registry.createInvocation(name, CALLS[name]?.());
      expect(invocation.getDescription()).toMatch(/new\.txt|there/);
      await expect(invocation.shouldConfirmExecute()).rejects.toMatchObject({
        type: "PolicyDenied",
      });
    }
  });

  test("by a hook: it has a description, and no hook runs before the call", async () => {
    let asked = 0;
    const blocks = () => {
      asked += 1;
      return { decision: "block" as const, reason: "no" };
    };
    const registry = registryOf({ hooks: { PreToolUse: [blocks] } });
    const invocation = registry.createInvocation("Bash", { command: "make all" });
    expect(invocation.getDescription()).toBe("Execute: make all");
    expect(await invocation.shouldConfirmExecute()).toMatchObject({
      description: "Execute: make all",
    });
    expect(asked).toBe(0);
    expect((await invocation.execute()).error?.type).toBe("HookBlocked");
  });

  test.each([
    ["Read", { file_path: "/outside/of/it" }, "/outside/of/it"],
    ["Read", { file_path: "relative.txt" }, "relative.txt"],
    ["read_many_files", { paths: ["a", "b"], unknown: 1 }, "a, b"],
    ["Bash", { command: "make all", unknown: 1 }, "make all"],
    ["Write", { file_path: "/outside/a\u202eb", content: "" }, "/outside/a\\u{202e}b"],
    ["hosted", { target: 5 }, '{"target":5}'],
  ])("by its own input: %s %j", async (name, input, shown) => {
    const registry = registryOf();
    const invocation = registry.createInvocation(name, input);
    expect(invocation.getDescription()).toContain(shown);
    expect(invocation.toolLocations()).toEqual([]);
    // The error is reported when the call runs.
    expect(await invocation.shouldConfirmExecute()).toBe(false);
    expect((await invocation.execute()).error).toBeDefined();
  });
});

describe("shouldConfirmExecute", () => {
  type Word = "allow" | "ask" | "deny";

  /** The expected outcome for each decision, in each mode: a rule, or no rule at all. */
  const expectations: Record<PermissionMode, Record<Word | "silent", Word>> = {
    default: { allow: "allow", ask: "ask", deny: "deny", silent: "ask" },
    // It is unknown what a host's tool touches, so it is no edit.
    acceptEdits: { allow: "allow", ask: "ask", deny: "deny", silent: "ask" },
    dontAsk: { allow: "allow", ask: "deny", deny: "deny", silent: "deny" },
    bypassPermissions: { allow: "allow", ask: "ask", deny: "deny", silent: "allow" },
    plan: { allow: "deny", ask: "deny", deny: "deny", silent: "deny" },
  };
  const modes = Object.keys(expectations) as PermissionMode[];
  const said = ["allow", "ask", "deny", "silent"] as const;
  const names = ["Write", "hosted", "referring", "declared"];
  const cases = modes.flatMap((mode) =>
    said.flatMap((word) =>
      names.flatMap((name) => [true, false].map((listens) => ({ mode, word, name, listens }))),
    ),
  );

  test.each(cases)("$mode, $word: $name, listener: $listens", async (it) => {
    const { mode, word, name, listens } = it;
    const policy = word === "silent" ? {} : { rules: [{ tool: name, action: word }] };
    const registry = registryOf({ permissionMode: mode, policy });
    const requests: unknown[] = [];
    if (listens) registry.messageBus.on("request", (request) => requests.push(request));
    const acceptsEdit = mode === "acceptEdits" && word === "silent" && name === "Write";
    const expected = acceptsEdit ? "allow" : expectations[mode][word];
    const invocation = registry.createInvocation(name, CALLS[name]?.());
    const confirmation = await invocation
      .shouldConfirmExecute(new AbortController().signal)
      .catch((error: unknown) => error);
    const details = {
      toolName: name,
      description: invocation.getDescription(),
      risk: name === "Write" ? "medium" : "high",
      locations: invocation.toolLocations(),
    };
    const answers = {
      allow: false,
      ask: details,
      deny: { name: "ToolError", type: "PolicyDenied" },
    };
    expect({ confirmation }).toMatchObject({ confirmation: answers[expected] });
    // Asking for the details requests no confirmation.
    expect(requests).toEqual([]);
  });

  test("returns the details that a person would see", async () => {
    const registry = registryOf();
    const input = { file_path: workspace.path("a.txt"), content: "x\n" };
    const asked: Record<string, unknown>[] = [];
    registry.messageBus.on("request", ({ id, details }) => {
      asked.push({ ...details });
      registry.messageBus.respondToConfirmation({ id, approved: false });
    });
    const invocation = registry.createInvocation("Write", input);
    const details = await invocation.shouldConfirmExecute();
    await invocation.execute();
    const { input: _input, toolUseId: _id, sessionId: _session, ...shown } = asked[0] ?? {};
    expect(details).toEqual(shown);
    expect(shown).toMatchObject({ diff: expect.stringContaining("+x") });
  });

  test("is up to date: changes since the invocation was made take effect", async () => {
    const registry = registryOf();
    const invocation = registry.createInvocation("hosted", {});
    expect(await invocation.shouldConfirmExecute()).toMatchObject({ toolName: "hosted" });
    registry.withAllowed("hosted");
    expect(await invocation.shouldConfirmExecute()).toBe(false);
    registry.disable("hosted");
    await expect(invocation.shouldConfirmExecute()).rejects.toMatchObject({ type: "ToolDisabled" });
    registry.unregister("hosted");
    await expect(invocation.shouldConfirmExecute()).rejects.toMatchObject({ type: "UnknownTool" });
    await registry.close();
    await expect(invocation.shouldConfirmExecute()).rejects.toMatchObject({
      type: "RegistryClosed",
    });
  });

  test("rejects when its signal is aborted, and refuses anything that is no signal", async () => {
    const invocation = registryOf().createInvocation("hosted", {});
    const reason = new Error("no more");
    await expect(invocation.shouldConfirmExecute(AbortSignal.abort(reason))).rejects.toMatchObject({
      name: "AbortError",
      type: "Cancelled",
      cause: reason,
    });
    await expect(invocation.shouldConfirmExecute("stop" as never)).rejects.toMatchObject({
      type: "InvalidOptions",
    });
  });
});

describe("createInvocation of a built-in tool", () => {
  test("uses the given bus, and the registry's bus by default", async () => {
    const registry = registryOf();
    const messageBus = new MessageBus();
    const asked: string[] = [];
    for (const [which, bus] of Object.entries({ own: registry.messageBus, other: messageBus })) {
      bus.on("request", ({ id, details }) => {
        asked.push(`${which}: ${details.description}`);
        bus.respondToConfirmation({ id, approved: true });
      });
    }
    const write = registry.get("Write");
    const buses = [messageBus, undefined, registry.messageBus, {} as MessageBus, messageBus];
    for (const [index, bus] of buses.entries()) {
      const params = { file_path: workspace.path(`${index}.txt`), content: "x" };
      const invocation = write?.createInvocation(params, bus);
      expect((await invocation?.execute())?.error).toBeUndefined();
    }
    const words = ["other", "own", "own", "own", "other"].map(
      (which, index) => `${which}: Write ${workspace.path(`${index}.txt`)} (1 bytes)`,
    );
    expect(asked).toEqual(words);
    // There is no listener any more.
    messageBus.removeAllListeners("request");
    const params = { file_path: workspace.path("new.txt"), content: "x" };
    const { error } = (await write?.createInvocation(params, messageBus).execute()) ?? {};
    expect(error).toMatchObject({
      type: "PolicyDenied",
      message: expect.stringContaining("no listener is registered"),
    });
  });
});

describe("a built-in tool that is wrapped under its own name", () => {
  test("is still described, confirmed and run as itself", async () => {
    const registry = registryOf();
    const inner = registry.get("Write");
    registry.register({
      name: "Write",
      schema: { parameters: inner?.inputSchema as Record<string, unknown> },
      createInvocation: (params: { file_path: string; content: string }) =>
        inner?.createInvocation(params) as never,
    });
    registry.withAllowed("Write");
    const params = { file_path: workspace.path("a.txt"), content: "x" };
    const invocation = registry.createInvocation("Write", params);
    expect(invocation.getDescription()).toBe(`Write ${params.file_path} (1 bytes)`);
    expect(invocation.toolLocations()).toEqual([params.file_path]);
    const { error } = await invocation.execute();
    expect(error).toBeUndefined();
  });

  test("passes its refusal on unchanged, thrown or returned, from both interfaces", async () => {
    const registry = registryOf({ allowedTools: ["wraps"] });
    const input = { path: "a.txt", content: "x" };
    const refused = await registry.call("write_file", input);
    expect(refused.error?.details?.suggestedRules).toBeDefined();
    const handlers = [
      () => registry.call("write_file", input),
      () => registry.createInvocation("write_file", input).execute(),
      () => ({ llmContent: "", error: refused.error }),
      () => {
        throw Object.assign(new Error("no ToolError"), refused.error);
      },
    ];
    const errors = [];
    for (const handler of handlers) {
      registry.register(tool({ name: "wraps", handler: handler as () => object }));
      errors.push((await registry.call("wraps")).error);
    }
    const { message } = refused.error as { message: string };
    const foreign = { type: "ToolFailed", message };
    expect(errors).toEqual([refused.error, refused.error, refused.error, foreign]);
    registry.disable("read_file");
    const invocation = registry.createInvocation("read_file", { path: "a.txt" });
    registry.register(tool({ name: "wraps", handler: () => invocation.shouldConfirmExecute() }));
    expect((await registry.call("wraps")).error).toMatchObject({
      type: "ToolDisabled",
      details: { howToAllow: expect.stringContaining("registry.enable") },
    });
    for (const details of ["text", null, { reason: 5 }, []]) {
      const error = { type: "PolicyDenied", message: "no", details };
      registry.register(
        tool({ name: "wraps", handler: () => ({ llmContent: "", error: error as never }) }),
      );
      expect((await registry.call("wraps")).error).toEqual({ type: "PolicyDenied", message: "no" });
    }
  });
});
