// The contents of a registry, registering and removing tools, and closing.
import { describe, expect, test } from "vitest";
import { deferred } from "../support/promises.js";
import { greeter } from "../support/greeter.js";
import { rejectionOf, thrownBy } from "../support/misuse.js";
import { EVERY_SET, useRegistries } from "../support/registries.js";
import { failure, refusal, texts } from "../support/results.js";
import { ToolRegistry, createToolRegistry, tool } from "../support/unasked.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace, { toolsets: EVERY_SET });

describe("the contents of a registry", () => {
  test("new ToolRegistry is empty and createToolRegistry has the claude set", () => {
    expect(new ToolRegistry().names()).toEqual([]);
    expect(createToolRegistry().names()).toContain("Read");
    expect(
      new Set(
        createToolRegistry()
          .listTools()
          .map((it) => it.toolset),
      ),
    ).toEqual(new Set(["claude"]));
    const classic = new ToolRegistry({ toolsets: ["classic"] });
    expect(classic.names()).toContain("read_file");
    expect(new Set(classic.listTools().map((it) => it.toolset))).toEqual(new Set(["classic"]));
  });

  test("initialize counts the tools and reports no errors", async () => {
    const registry = registryHere();
    const toolCount = registry.names().length;
    expect(toolCount).toBeGreaterThan(5);
    expect(await registry.initialize()).toEqual({ success: true, toolCount, errors: [] });
    expect(registry.getToolCount()).toBe(toolCount);
  });

  test("the names are sorted across sets", () => {
    const registry = registryHere();
    registry.register(greeter());
    const names = [...registry.names()].sort((a, b) => a.localeCompare(b, "en"));
    expect(names).toEqual(
      expect.arrayContaining(["diagnostic_echo", "greet", "Read", "read_file"]),
    );
    expect(registry.names()).toEqual(names);
    expect(registry.list().map(({ name }) => name)).toEqual(names);
    expect(registry.listTools().map(({ name }) => name)).toEqual(names);
  });

  test("returns all information about a built-in tool", () => {
    const info = registryHere().getToolInfo("Read");
    expect(info).toEqual({
      name: "Read",
      title: "Read File",
      description: expect.stringMatching(/^Reads a file/),
      source: "builtin",
      toolset: "claude",
      aliases: ["FileRead"],
      inputSchema: expect.objectContaining({ type: "object", required: ["file_path"] }),
      annotations: { title: "Read File", readOnlyHint: true },
      sideEffect: "none",
      risk: "none",
      allowed: true,
      disabled: false,
    });
  });

  test("returns all information about a host's tool", () => {
    const registry = new ToolRegistry({ permissionMode: "default" });
    registry.register(greeter());
    expect(registry.listTools()).toEqual([
      {
        name: "greet",
        title: "Greet",
        description: "Greets somebody.",
        source: "host",
        inputSchema: greeter().inputSchema,
        annotations: { readOnlyHint: true },
        sideEffect: "read-only",
        risk: "low",
        allowed: false,
        disabled: false,
      },
    ]);
  });

  test.each([
    [{}, "network", "high"],
    [{ readOnlyHint: true }, "read-only", "low"],
    [{ destructiveHint: true }, "spawns", "critical"],
    [{ readOnlyHint: true, destructiveHint: true }, "read-only", "low"],
  ])("classifies the annotations %o as %s with %s risk", (annotations, sideEffect, risk) => {
    const registry = new ToolRegistry();
    registry.register(tool({ name: "x", annotations, handler: () => "" }));
    expect(registry.getToolInfo("x")).toMatchObject({ sideEffect, risk });
  });

  test("uses a side effect that is declared", () => {
    const registry = new ToolRegistry();
    registry.register(tool({ name: "x", sideEffect: "mutating", handler: () => "" }));
    expect(registry.getToolInfo("x")).toMatchObject({ sideEffect: "mutating", risk: "medium" });
  });

  test("returns nothing for unknown tools", () => {
    const registry = new ToolRegistry();
    expect(registry.get("nope")).toBeUndefined();
    expect(registry.getToolInfo("nope")).toBeUndefined();
    expect(registry.hasTool("nope")).toBe(false);
    expect(registry.unregister("nope")).toBe(false);
    expect(registry.isAllowed("nope")).toBe(false);
    expect(registry.isDisabled("nope")).toBe(false);
  });
});

describe("register, get and unregister", () => {
  test("get returns the registered object itself", () => {
    const registry = new ToolRegistry();
    const object = Object.freeze(greeter());
    registry.register(object);
    expect(registry.get("greet")).toBe(object);
    expect(registry.list()).toEqual([object]);
    expect(registry.list()[0]).toBe(object);
  });

  test("get returns the same object for the name and the alias of a built-in tool", () => {
    const registry = registryHere();
    const read = registry.get("FileRead");
    expect(read).toMatchObject({ name: "Read", displayName: "Read File", source: "builtin" });
    expect(registry.get("Read")).toBe(read);
    expect(registry.get("FileRead")).toBe(read);
    expect(registry.list().find(({ name }) => name === "Read")).toBe(read);
  });

  test("an alias works wherever the name does", async () => {
    const registry = registryHere();
    const file = workspace.write("a.txt", "hi");
    const result = await registry.call("FileRead", { file_path: file });
    expect(result).toEqual(await registry.call("Read", { file_path: file }));
    expect(texts(result)).toEqual(["1\thi"]);
    expect(registry.hasTool("FileRead")).toBe(true);
    expect(registry.getToolInfo("FileRead")).toEqual(registry.getToolInfo("Read"));
    expect(registry.isAllowed("FileRead")).toBe(true);
    expect(registry.names()).not.toContain("FileRead");
  });

  test("a second registration replaces the first, also for a built-in tool", async () => {
    const registry = registryHere();
    const builtin = registry.get("Read");
    const count = registry.getToolCount();
    const mine = tool({ name: "Read", description: "mine", handler: () => "mine" });
    registry.register(mine);
    expect(registry.get("Read")).toBe(mine);
    expect(registry.getToolCount()).toBe(count);
    expect(registry.getToolInfo("Read")).toMatchObject({ source: "host", description: "mine" });
    expect(await registry.call("Read", {} as never)).toEqual({
      content: [{ type: "text", text: "mine" }],
    });
    expect(builtin).not.toBe(mine);
  });

  test("names are case-sensitive", async () => {
    const registry = new ToolRegistry();
    for (const name of ["GREET", "greet"]) {
      registry.register(tool({ name, handler: () => name }));
    }
    expect(registry.names()).toEqual(["greet", "GREET"]);
    expect(texts(await registry.call("GREET"))).toEqual(["GREET"]);
    expect(registry.unregister("GREET")).toBe(true);
    expect(registry.names()).toEqual(["greet"]);
  });

  test("a running call is not affected when its tool is replaced", async () => {
    const registry = new ToolRegistry();
    let release = (_text: string) => {};
    let began = () => {};
    const running = new Promise<void>((resolve) => (began = resolve));
    const answer = new Promise<string>((resolve) => (release = resolve));
    registry.register(
      tool({
        name: "x",
        handler: () => {
          began();
          return answer;
        },
      }),
    );
    const call = registry.call("x");
    await running;
    registry.register(tool({ name: "x", handler: () => "new" }));
    release("old");
    expect(texts(await call)).toEqual(["old"]);
    expect(texts(await registry.call("x"))).toEqual(["new"]);
  });

  test("unregister removes a built-in tool as well", async () => {
    const registry = registryHere();
    expect(registry.unregister("Read")).toBe(true);
    expect(registry.hasTool("Read")).toBe(false);
    expect(registry.hasTool("FileRead")).toBe(false);
    expect((await registry.call("Read", { file_path: "/x" })).error?.type).toBe("UnknownTool");
  });

  test.each(["", " ", "a b", "a.b", "a/b", "é", "a\n", "x".repeat(65), "__proto__ ", "\0"])(
    "refuses %j as a name",
    (name) => {
      const { type, message } = thrownBy(() =>
        new ToolRegistry().register(tool({ name, handler: () => "" })),
      );
      expect(type).toBe("InvalidTool");
      expect(message).toContain("cannot be a tool's name; use 1 to 64 letters, digits, `_` or `-`");
    },
  );

  test.each(["a", "x".repeat(64), "1st", "-dash", "_", "__proto__", "constructor", "toString"])(
    "accepts %j as a name",
    async (name) => {
      const registry = new ToolRegistry();
      const object = tool({ name, handler: () => name });
      expect(registry.get(name)).toBeUndefined();
      registry.register(object);
      expect(registry.get(name)).toBe(object);
      expect(texts(await registry.call(name))).toEqual([name]);
    },
  );

  test.each([undefined, null, 5, "greet", true, Symbol("tool")])("refuses to register %s", (it) => {
    expect(thrownBy(() => new ToolRegistry().register(it as never)).type).toBe("InvalidTool");
  });

  test.each<[object, string]>([
    [{}, "a tool's name must be a string, got undefined"],
    [{ name: 5, handler: () => "" }, "a tool's name must be a string, got number `5`"],
    [{ name: "x" }, "tool `x`: handler must be a function, got undefined"],
    [{ name: "x", handler: "run" }, "tool `x`: handler must be a function, got the string `run`"],
    [
      { name: "x", description: 5, handler: () => "" },
      "tool `x`: description must be a string, got number `5`",
    ],
    [
      { name: "x", timeoutMs: Number.NaN, handler: () => "" },
      "tool `x`: timeoutMs must be a whole number of milliseconds, got number `NaN`",
    ],
    [
      { name: "x", timeoutMs: -1, handler: () => "" },
      "tool `x`: timeoutMs must be a whole number of milliseconds, got number `-1`",
    ],
  ])("refuses the tool %o and says why", (it, message) => {
    const refused = { type: "InvalidTool", message };
    expect(thrownBy(() => new ToolRegistry().register(it as never))).toEqual(refused);
    expect(thrownBy(() => tool(it as never))).toEqual(refused);
  });

  test("a refused tool leaves the registry unchanged", () => {
    const registry = new ToolRegistry();
    const object = greeter();
    registry.register(object);
    thrownBy(() => registry.register({ ...object, inputSchema: { type: "string" } }));
    expect(registry.get("greet")).toBe(object);
    expect(registry.getToolCount()).toBe(1);
  });

  test.each(["get", "unregister", "hasTool", "getToolInfo", "isAllowed", "isDisabled"] as const)(
    "%s refuses a name that is not a string",
    (method) => {
      expect(thrownBy(() => new ToolRegistry()[method](5 as never))).toEqual({
        type: "InvalidOptions",
        message: "a tool's name must be a string, got number `5`",
      });
    },
  );
});

describe("allowed and disabled tools", () => {
  test("read-only tools are allowed, and others can be", () => {
    const registry = registryHere({
      allowedTools: ["diagnostic_echo"],
      permissionMode: "default",
    });
    registry.register(greeter());
    const allowed = () => registry.names().filter((name) => registry.isAllowed(name));
    expect(allowed()).toEqual([
      "AskUserQuestion",
      "diagnostic_echo",
      "glob",
      "Glob",
      "grep",
      "Grep",
      "ListMcpResources",
      "ls",
      "Read",
      "read_file",
      "read_many_files",
      "ReadMcpResource",
      "task_output",
      "task_stop",
      "TaskOutput",
      "TaskStop",
    ]);
    expect(registry.withAllowed("greet", "later")).toBe(registry);
    expect(registry.isAllowed("greet")).toBe(true);
    expect(registry.isAllowed("later")).toBe(true);
  });

  test("a disabled tool is in no definition and refused when it is called", async () => {
    const registry = registryHere({ disallowedTools: ["read_file", "greet"] });
    registry.register(greeter());
    expect(registry.isDisabled("read_file")).toBe(true);
    expect(registry.getToolInfo("greet")?.disabled).toBe(true);
    const enabled = registry.names().filter((name) => !["read_file", "greet"].includes(name));
    expect(enabled).toHaveLength(registry.getToolCount() - 2);
    expect(registry.definitions("anthropic").map(({ name }) => name)).toEqual(enabled);
    expect(registry.getFunctionSchemas().map(({ name }) => name)).toEqual(enabled);
    expect(registry.toMcpServerConfig().tools.map(({ name }) => name)).toEqual(enabled);
    expect(registry.getAllowedToolNames()).toEqual(
      enabled.map((name) => `mcp__toolwright__${name}`),
    );
    const refused = refusal(
      "ToolDisabled",
      "`read_file` is switched off here; use another tool, or ask the user",
      "a host can allow it by `registry.enable`, or by taking the tool out of `disallowedTools`",
      "the host has disabled `read_file` (`disallowedTools`)",
    );
    workspace.write("a.txt", "hi");
    expect(await registry.call("read_file", { path: "a.txt" })).toEqual(refused);
    const invocation = registry.createInvocation("read_file", { path: "a.txt" });
    await expect(invocation.shouldConfirmExecute()).rejects.toMatchObject({ ...refused.error });
    expect((await invocation.execute()).error).toEqual(refused.error);
    expect((await registry.call("greet", { name: "x" })).error?.type).toBe("ToolDisabled");
  });

  test("a tool disabled by its alias is disabled", async () => {
    const registry = registryHere({ disallowedTools: ["FileRead"] });
    const file = workspace.write("a.txt", "hi");
    expect(registry.isDisabled("Read")).toBe(true);
    expect(registry.isDisabled("FileRead")).toBe(true);
    expect(registry.definitions("mcp").map(({ name }) => name)).not.toContain("Read");
    expect((await registry.call("Read", { file_path: file })).error?.type).toBe("ToolDisabled");
    expect((await registry.call("FileRead", { file_path: file })).error?.type).toBe("ToolDisabled");
  });
});

describe("unknown tools", () => {
  test("a call fails with the closest names", async () => {
    const registry = registryHere({ disallowedTools: ["read_many_files"] });
    const { error } = await registry.call("readfile", {});
    expect(error?.type).toBe("UnknownTool");
    expect(error?.message).toContain("no tool is named `readfile`; the closest of ");
    expect(error?.message).toContain(` ${registry.names().length - 1} tools: \`read_file\`, `);
    expect(error?.message).not.toContain("read_many_files");
    expect(await new ToolRegistry().call("Read", { file_path: "/x" })).toEqual(
      failure("UnknownTool", "no tool is named `Read`; no tool is registered"),
    );
  });

  test("createInvocation throws the same error as a call", async () => {
    const registry = registryHere();
    const { error } = await registry.call("nope", {});
    expect(thrownBy(() => registry.createInvocation("nope", {}))).toEqual(error);
  });

  test("a name that is no string is an error", async () => {
    const registry = new ToolRegistry();
    const misuse = {
      type: "InvalidOptions",
      message: "a tool's name must be a string, got undefined",
    };
    expect(await rejectionOf(registry.call(undefined as never))).toEqual(misuse);
    expect(thrownBy(() => registry.createInvocation(undefined as never))).toEqual(misuse);
  });
});

describe("the MCP server config", () => {
  test("names server, version and tools", () => {
    const registry = registryHere({ serverName: "mine", version: "1.2.3" });
    const config = registry.toMcpServerConfig();
    expect(config).toMatchObject({ type: "sdk", name: "mine", version: "1.2.3" });
    expect(config.instance.connect).toBeTypeOf("function");
    expect(config.tools.map(({ name }) => name)).toEqual(registry.names());
    expect(registry.getAllowedToolNames()).toEqual(
      registry.names().map((name) => `mcp__mine__${name}`),
    );
  });

  test("its tools take the usual path, with the host's ids", async () => {
    const file = workspace.write("a.txt", "hi");
    const registry = registryHere();
    const read = registry.toMcpServerConfig().tools.find(({ name }) => name === "Read");
    const context = { toolUseId: "t", sessionId: "s" };
    const { structuredContent: _, ...told } = await registry.call("Read", { file_path: file });
    expect(await read?.handler({ file_path: file }, context)).toEqual(told);
    expect(await read?.handler({ file_path: file })).toMatchObject({
      content: [{ text: "1\thi" }],
    });
    const aborted = read?.handler({ file_path: file }, { ...context, signal: AbortSignal.abort() });
    expect((await rejectionOf(aborted as Promise<unknown>)).type).toBe("Cancelled");
  });
});

describe("close", () => {
  test("ends running calls and refuses later ones", async () => {
    const registry = registryHere();
    const { promise: started, resolve } = deferred();
    const running = registry.call(
      "diagnostic_sleep",
      { ms: 600_000 },
      { onProgress: ({ type }) => type === "start" && resolve() },
    );
    await started;
    await registry.close();
    expect(await running).toEqual(
      failure("RegistryClosed", "the registry was closed while the call ran"),
    );
    const closed = { type: "RegistryClosed", message: "the registry is closed; create a new one" };
    expect(await rejectionOf(registry.call("diagnostic_echo", {}))).toEqual(closed);
    expect(await rejectionOf(registry.executeTools([]))).toEqual(closed);
    expect(thrownBy(() => registry.createInvocation("diagnostic_echo", {}))).toEqual(closed);
    await registry.close();
  });

  test("aborts the signal of a host's handler", async () => {
    const registry = new ToolRegistry();
    const { promise: told, resolve } = deferred();
    const { promise: began, resolve: begin } = deferred();
    registry.register(
      tool({
        name: "waits",
        handler: (_args, { signal }) => {
          signal?.addEventListener("abort", () => resolve());
          begin();
          return new Promise<never>(() => {});
        },
      }),
    );
    const call = registry.call("waits");
    await began;
    await registry.close();
    await told;
    expect((await call).error?.type).toBe("RegistryClosed");
  });

  test("an async disposal closes the registry", async () => {
    const registry = registryHere();
    await registry[Symbol.asyncDispose]();
    expect((await rejectionOf(registry.call("diagnostic_echo", {}))).type).toBe("RegistryClosed");
  });
});
