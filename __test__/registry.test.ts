import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { z as z3 } from "zod/v3";
import {
  ToolError,
  ToolRegistry,
  createToolRegistry,
  tool,
  type DefinitionFormat,
  type ToolProgress,
  type ToolRegistryOptions,
} from "./support/unasked";
import { failure, refusal, texts } from "./support/results.js";
import { useWorkspace } from "./support/workspace.js";

const workspace = useWorkspace();

/** Definitions without the sentence that says where the workspace of this very test is. */
function wherever(definitions: unknown): unknown {
  const sentence = `\n\nThe workspace is \`${workspace.root}\`; absolute paths begin with it.`;
  const json = JSON.stringify(definitions);
  return JSON.parse(json.replace(JSON.stringify(sentence).slice(1, -1), ""));
}

function registryHere(options: ToolRegistryOptions = {}) {
  return createToolRegistry({
    projectPath: workspace.root,
    toolsets: ["claude", "classic", "diagnostic"],
    ...options,
  });
}

function greeter() {
  return tool({
    name: "greet",
    title: "Greet",
    description: "Greets somebody.",
    inputSchema: {
      type: "object",
      properties: {
        name: { type: "string", description: "Whom." },
        times: { type: "integer", minimum: 1, default: 1 },
        tone: { type: "string", enum: ["warm", "cool"] },
      },
      required: ["name"],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true },
    handler: ({ name }: { name: string }) => `hello ${name}`,
  });
}

/** What a synchronous misuse throws. */
function thrownBy(misuse: () => unknown): { type: string; message: string } {
  try {
    misuse();
  } catch (error) {
    return factsOf(error);
  }
  throw new Error("nothing was thrown");
}

/** What the promise of a misuse rejects with. */
async function rejectionOf(misuse: Promise<unknown>): Promise<{ type: string; message: string }> {
  return misuse.then(() => {
    throw new Error("nothing was rejected");
  }, factsOf);
}

function factsOf(error: unknown): { type: string; message: string } {
  expect(error).toBeInstanceOf(ToolError);
  const { type, message } = error as ToolError;
  return { type, message };
}

describe("what a registry holds", () => {
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

  test("initialize counts the tools and tells of no errors", async () => {
    const registry = registryHere();
    const toolCount = registry.names().length;
    expect(toolCount).toBeGreaterThan(5);
    expect(await registry.initialize()).toEqual({ success: true, toolCount, errors: [] });
    expect(registry.getToolCount()).toBe(toolCount);
  });

  test("the names are in order whatever set a tool is of", () => {
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

  test("tells all about a built-in tool", () => {
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

  test("tells all about a host's tool", () => {
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
  ])("judges the annotations %o as %s with %s risk", (annotations, sideEffect, risk) => {
    const registry = new ToolRegistry();
    registry.register(tool({ name: "x", annotations, handler: () => "" }));
    expect(registry.getToolInfo("x")).toMatchObject({ sideEffect, risk });
  });

  test("believes a side effect that is stated", () => {
    const registry = new ToolRegistry();
    registry.register(tool({ name: "x", sideEffect: "mutating", handler: () => "" }));
    expect(registry.getToolInfo("x")).toMatchObject({ sideEffect: "mutating", risk: "medium" });
  });

  test("knows nothing of tools that are not there", () => {
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
  test("get gives the very object that was registered", () => {
    const registry = new ToolRegistry();
    const object = Object.freeze(greeter());
    registry.register(object);
    expect(registry.get("greet")).toBe(object);
    expect(registry.list()).toEqual([object]);
    expect(registry.list()[0]).toBe(object);
  });

  test("get gives one object for a built-in tool, its name and its alias", () => {
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

  test("a second registration replaces the first, also of a built-in tool", async () => {
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

  test("a name in another case is another tool", async () => {
    const registry = new ToolRegistry();
    for (const name of ["GREET", "greet"]) {
      registry.register(tool({ name, handler: () => name }));
    }
    expect(registry.names()).toEqual(["greet", "GREET"]);
    expect(texts(await registry.call("GREET"))).toEqual(["GREET"]);
    expect(registry.unregister("GREET")).toBe(true);
    expect(registry.names()).toEqual(["greet"]);
  });

  test("a call that runs is not disturbed when its tool is replaced", async () => {
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
    "takes %j as a name",
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

  test("a refused tool leaves the registry as it was", () => {
    const registry = new ToolRegistry();
    const object = greeter();
    registry.register(object);
    thrownBy(() => registry.register({ ...object, inputSchema: { type: "string" } }));
    expect(registry.get("greet")).toBe(object);
    expect(registry.getToolCount()).toBe(1);
  });

  test.each(["get", "unregister", "hasTool", "getToolInfo", "isAllowed", "isDisabled"] as const)(
    "%s refuses a name that is no string",
    (method) => {
      expect(thrownBy(() => new ToolRegistry()[method](5 as never))).toEqual({
        type: "InvalidOptions",
        message: "a tool's name must be a string, got number `5`",
      });
    },
  );
});

describe("input schemas", () => {
  async function schemaAndAnswer(object: Parameters<ToolRegistry["register"]>[0], input: unknown) {
    const registry = new ToolRegistry();
    registry.register(object);
    const { inputSchema } = registry.getToolInfo(object.name) ?? {};
    return { inputSchema, answer: await registry.call(object.name, input) };
  }

  test("the simple form requires every key and takes no other", async () => {
    const handler = vi.fn<() => string>(() => "ok");
    const object = tool({
      name: "simple",
      inputSchema: { s: "string", n: "number", b: "boolean", o: "object", a: "array" },
      handler,
    });
    const input = { s: "x", n: "1.5", b: "true", o: { deep: [1] }, a: [1] };
    const { inputSchema, answer } = await schemaAndAnswer(object, input);
    expect(inputSchema).toEqual({
      type: "object",
      properties: {
        s: { type: "string" },
        n: { type: "number" },
        b: { type: "boolean" },
        o: { type: "object" },
        a: { type: "array" },
      },
      required: ["s", "n", "b", "o", "a"],
      additionalProperties: false,
    });
    expect(texts(answer)).toEqual(["ok"]);
    const coerced = { s: "x", n: 1.5, b: true, o: { deep: [1] }, a: [1] };
    expect(handler).toHaveBeenCalledExactlyOnceWith(coerced, expect.anything());
    const { answer: refused } = await schemaAndAnswer(object, { ...input, s: undefined, z: 1 });
    expect(refused.error?.type).toBe("ValidationError");
    expect(refused.error?.message).toContain("missing required parameter `s`");
    expect(refused.error?.message).toContain(
      "unknown parameter `z`; known parameters: `s`, `n`, `b`, `o`, `a`",
    );
  });

  test("a tool without a schema takes no parameters", async () => {
    const object = tool({ name: "none", handler: (args) => JSON.stringify(args) });
    for (const input of [undefined, null, {}]) {
      const { inputSchema, answer } = await schemaAndAnswer(object, input);
      expect(inputSchema).toEqual({ type: "object", properties: {}, additionalProperties: false });
      expect(texts(answer)).toEqual(["{}"]);
    }
    const { answer } = await schemaAndAnswer(object, { x: 1 });
    expect(answer).toEqual(
      failure("ValidationError", "unknown parameter `x`; there are no parameters"),
    );
  });

  test("JSON Schema is kept as it is given, and `type` is added where only properties are", async () => {
    const inputSchema = { properties: { a: { type: "integer" } }, $comment: "kept" };
    const object = tool({ name: "json", inputSchema, handler: (args) => JSON.stringify(args) });
    const seen = await schemaAndAnswer(object, { a: "5" });
    expect(seen.inputSchema).toEqual({ type: "object", ...inputSchema });
    expect(texts(seen.answer)).toEqual(['{"a":5}']);
  });

  test("unknown parameters are refused unless the schema speaks of them", async () => {
    const properties = { a: { type: "integer" } };
    const answers = await Promise.all(
      [
        { type: "object", properties },
        { type: "object", properties, additionalProperties: true },
        { type: "object" },
      ].map(async (inputSchema) => {
        const object = tool({ name: "json", inputSchema, handler: (args) => JSON.stringify(args) });
        return texts((await schemaAndAnswer(object, { a: 5, b: 1 })).answer);
      }),
    );
    expect(answers).toEqual([
      ["unknown parameter `b`; known parameters: `a`"],
      ['{"a":5,"b":1}'],
      ['{"a":5,"b":1}'],
    ]);
  });

  test.each([
    [{ a: "string", b: 5 }, "`b` is number `5`"],
    [{ a: "text" }, "`a` is the string `text`"],
    [{ a: z.string(), b: "string" }, "`a` is an object"],
    ["string", "got the string `string`"],
    [["a"], "got an array"],
    [{ type: "string" }, 'got `type: "string"`'],
    [{ type: ["object", "null"] }, 'must be a JSON Schema of `type: "object"`'],
    [{ type: "object", properties: { a: { type: "nope" } } }, "is not valid JSON Schema"],
    [{ type: "object", properties: { a: { pattern: "(" } } }, "is not valid JSON Schema"],
    [{ type: "object", properties: { a: { $ref: "#/nowhere" } } }, "is not valid JSON Schema"],
    [{ type: "object", $ref: "http://127.0.0.1:1/schema" }, "is not valid JSON Schema"],
    [{ type: "object", description: "x".repeat(300_000) }, "at most 262144 are accepted"],
    [z.string(), "the Zod schema is not an object"],
  ])("refuses the schema %o", (inputSchema, cause) => {
    const refused = thrownBy(() =>
      new ToolRegistry().register(tool({ name: "x", inputSchema, handler: () => "" } as never)),
    );
    expect(refused.type).toBe("InvalidTool");
    expect(refused.message).toContain("tool `x`: ");
    expect(refused.message).toContain(cause);
  });

  test("refuses a schema that nests too deep or is circular", () => {
    let deep: Record<string, unknown> = { type: "string" };
    for (let level = 0; level < 1_000; level += 1) deep = { type: "array", items: deep };
    const circular: Record<string, unknown> = { type: "object" };
    circular["properties"] = { self: circular };
    for (const inputSchema of [{ type: "object", properties: { deep } }, circular]) {
      const object = tool({ name: "x", inputSchema, handler: () => "" });
      expect(thrownBy(() => new ToolRegistry().register(object)).type).toBe("InvalidTool");
    }
  });

  test("a pattern that would run for ever does not", async () => {
    const object = tool({
      name: "x",
      inputSchema: { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } },
      handler: () => "matched",
    });
    const { answer } = await schemaAndAnswer(object, { a: `${"a".repeat(5_000)}!` });
    expect(answer.error?.type).toBe("ValidationError");
  });

  test("validation happens before the handler, which sees coerced input", async () => {
    const handler = vi.fn<() => string>(() => "ran");
    const registry = new ToolRegistry();
    registry.register({ ...greeter(), handler: async () => handler() });
    const refused = await registry.call("greet", { name: 5, times: 0, tone: "hot", extra: 1 });
    expect(refused.error?.type).toBe("ValidationError");
    for (const cause of [
      "parameter `name`: expected a string, got `5`",
      "parameter `times`: expected an integer of at least 1, got `0`",
      "parameter `tone`: expected one of `warm`, `cool`, got the string `hot`",
      "unknown parameter `extra`; known parameters: `name`, `times`, `tone`",
    ]) {
      expect(refused.error?.message).toContain(cause);
    }
    expect(handler).not.toHaveBeenCalled();
    expect(texts(await registry.call("greet", { name: "x", times: "2" }))).toEqual(["ran"]);
  });
});

describe("Zod", () => {
  const shape = {
    city: z.string().min(2).describe("Where."),
    days: z.number().int().max(7).default(3),
    unit: z.enum(["C", "F"]).optional(),
  };
  const expected = {
    type: "object",
    properties: {
      city: { type: "string", minLength: 2, description: "Where." },
      days: { type: "integer", maximum: 7, default: 3 },
      unit: { type: "string", enum: ["C", "F"] },
    },
    required: ["city"],
    additionalProperties: false,
  };

  test.each([
    [
      "positional form",
      tool("weather", "Tells.", shape, async (args) => JSON.stringify(args), {
        annotations: { readOnlyHint: true },
      }),
    ],
    [
      "object form",
      tool({
        name: "weather",
        description: "Tells.",
        inputSchema: shape,
        handler: (args) => JSON.stringify(args),
      }),
    ],
  ])("a Zod 4 shape works in the %s", async (_form, object) => {
    const registry = new ToolRegistry();
    registry.register(object);
    expect(registry.get("weather")).toBe(object);
    expect(registry.getToolInfo("weather")?.inputSchema).toEqual(expected);
    expect(texts(await registry.call("weather", { city: "Oslo" }))).toEqual([
      '{"city":"Oslo","days":3}',
    ]);
    expect(await registry.call("weather", { days: 1 })).toEqual(
      failure(
        "ValidationError",
        "missing required parameter `city`, expected a string of at least 2 characters",
      ),
    );
  });

  test("transforms and refinements run, and their complaints name the parameter", async () => {
    const registry = new ToolRegistry();
    const even = z.number().refine((n) => n % 2 === 0, "must be even");
    const upper = z.string().transform((text) => text.toUpperCase());
    registry.register(tool("x", "", { even, upper }, (args) => JSON.stringify(args)));
    expect(texts(await registry.call("x", { even: 2, upper: "a" }))).toEqual([
      '{"even":2,"upper":"A"}',
    ]);
    expect(await registry.call("x", { even: 3, upper: "a" })).toEqual(
      failure("ValidationError", "parameter `even`: must be even"),
    );
  });

  test("a whole z.object works, with nested complaints", async () => {
    const registry = new ToolRegistry();
    const inputSchema = z.object({ at: z.object({ x: z.number(), label: z.string().trim() }) });
    registry.register(
      tool({ name: "x", inputSchema, handler: (args: z.infer<typeof inputSchema>) => args.at }),
    );
    expect(registry.getToolInfo("x")?.inputSchema).toMatchObject({
      type: "object",
      required: ["at"],
    });
    expect(texts(await registry.call("x", { at: { x: 1, label: " a " } }))).toEqual([
      JSON.stringify({ x: 1, label: "a" }, null, 2),
    ]);
    const refused = await registry.call("x", { at: { x: "one", label: "a" } });
    expect(refused.error?.type).toBe("ValidationError");
    expect(refused.error?.message).toContain("`at.x`");
  });

  test("a Zod 3 shape works", async () => {
    const registry = new ToolRegistry();
    const shape3 = {
      city: z3.string().min(2).describe("Where."),
      days: z3.number().int().max(7).default(3),
      unit: z3.enum(["C", "F"]).optional(),
      tags: z3.array(z3.object({ key: z3.string(), on: z3.boolean().nullable() })).optional(),
    };
    registry.register(tool("weather", "", shape3, (args) => JSON.stringify(args)));
    expect(registry.getToolInfo("weather")?.inputSchema).toEqual({
      type: "object",
      properties: {
        city: { type: "string", minLength: 2, description: "Where." },
        days: { type: "integer", maximum: 7 },
        unit: { type: "string", enum: ["C", "F"] },
        tags: {
          type: "array",
          items: {
            type: "object",
            properties: {
              key: { type: "string" },
              on: { anyOf: [{ type: "boolean" }, { type: "null" }] },
            },
            required: ["key", "on"],
          },
        },
      },
      required: ["city"],
      additionalProperties: false,
    });
    expect(
      texts(await registry.call("weather", { city: "Oslo", tags: [{ key: "a", on: null }] })),
    ).toEqual(['{"city":"Oslo","days":3,"tags":[{"key":"a","on":null}]}']);
  });

  test("a whole z.object of Zod 3 works", async () => {
    const registry = new ToolRegistry();
    const inputSchema = z3.object({ a: z3.number(), b: z3.literal("x").optional() });
    registry.register(tool({ name: "x", inputSchema, handler: (args: unknown) => args as object }));
    expect(registry.getToolInfo("x")?.inputSchema).toEqual({
      type: "object",
      properties: { a: { type: "number" }, b: { const: "x" } },
      required: ["a"],
    });
    expect(texts(await registry.call("x", { a: 1 }))).toEqual(['{\n  "a": 1\n}']);
  });

  test("a schema of a library that cannot be converted to JSON Schema is refused", () => {
    const field = {
      "~standard": {
        version: 1 as const,
        vendor: "valibot",
        validate: (value: unknown) => ({ value }),
      },
    };
    expect(
      thrownBy(() => tool({ name: "x", inputSchema: { a: field }, handler: () => "" })),
    ).toEqual({
      type: "InvalidTool",
      message:
        "tool `x`: a valibot schema cannot be converted to JSON Schema; use Zod 4 or give inputSchema as JSON Schema",
    });
  });
});

describe("declarative tools", () => {
  function declarative() {
    return {
      name: "declared",
      displayName: "Declared",
      schema: {
        name: "declared",
        description: "Describes its calls.",
        parameters: {
          type: "object",
          properties: { path: { type: "string" } },
          required: ["path"],
        },
      },
      createInvocation: ({ path }: { path: string }) => ({
        getDescription: () => `touch ${path}`,
        toolLocations: () => [path],
        execute: async (_signal: AbortSignal, updateOutput?: (text: string) => void) => {
          updateOutput?.("half");
          return { llmContent: `touched ${path}`, returnDisplay: "Done" };
        },
      }),
    };
  }

  test("are registered, retrieved, described and run", async () => {
    const registry = new ToolRegistry();
    const object = declarative();
    registry.register(object);
    expect(registry.get("declared")).toBe(object);
    expect(registry.getFunctionSchemas()).toEqual([object.schema]);
    const invocation = registry.createInvocation("declared", { path: "a.txt" });
    expect(invocation.getDescription()).toBe("touch a.txt");
    expect(invocation.toolLocations()).toEqual(["a.txt"]);
    const outputs: string[] = [];
    expect(await invocation.execute(undefined, (text) => outputs.push(text))).toEqual({
      llmContent: "touched a.txt",
      returnDisplay: "Done",
    });
    expect(outputs).toEqual(["half"]);
    expect(await registry.call("declared", { path: "a.txt" })).toEqual({
      content: [{ type: "text", text: "touched a.txt" }],
      display: "Done",
    });
  });

  test("have their input checked first", async () => {
    const registry = new ToolRegistry();
    registry.register(declarative());
    expect((await registry.call("declared", {})).error).toEqual({
      type: "ValidationError",
      message: "missing required parameter `path`, expected a string",
    });
  });

  test("a built-in tool of one registry can be registered in another", async () => {
    workspace.write("a.txt", "hi");
    const read = registryHere().get("read_file");
    const other = new ToolRegistry();
    other.register(read as NonNullable<typeof read>);
    expect(other.get("read_file")).toBe(read);
    expect(texts(await other.call("read_file", { path: "a.txt" }))).toEqual(["hi"]);
  });
});

describe("allowed and disabled tools", () => {
  test("tools that only look are allowed and others become so", () => {
    const registry = registryHere({
      allowedTools: ["diagnostic_echo"],
      permissionMode: "default",
    });
    registry.register(greeter());
    const allowed = () => registry.names().filter((name) => registry.isAllowed(name));
    expect(allowed()).toEqual([
      "diagnostic_echo",
      "glob",
      "Glob",
      "grep",
      "Grep",
      "ls",
      "Read",
      "read_file",
      "read_many_files",
      "task_output",
      "task_stop",
      "TaskOutput",
      "TaskStop",
    ]);
    expect(registry.withAllowed("greet", "later")).toBe(registry);
    expect(registry.isAllowed("greet")).toBe(true);
    expect(registry.isAllowed("later")).toBe(true);
  });

  test("a disabled tool is told to no model and refused on call", async () => {
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
  test("a call is answered with the closest names", async () => {
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

  test("createInvocation throws what a call would answer", async () => {
    const registry = registryHere();
    const { error } = await registry.call("nope", {});
    expect(thrownBy(() => registry.createInvocation("nope", {}))).toEqual(error);
  });

  test("a name that is no string is a misuse", async () => {
    const registry = new ToolRegistry();
    const misuse = {
      type: "InvalidOptions",
      message: "a tool's name must be a string, got undefined",
    };
    expect(await rejectionOf(registry.call(undefined as never))).toEqual(misuse);
    expect(thrownBy(() => registry.createInvocation(undefined as never))).toEqual(misuse);
  });
});

describe("tools of MCP servers", () => {
  test("are registered as mcp__server__tool and called by their own name", async () => {
    const registry = new ToolRegistry();
    const callTool = vi.fn<(...args: unknown[]) => Promise<object>>(async () => ({
      content: [{ type: "text", text: "found" }],
      structuredContent: { hits: 1 },
    }));
    const name = registry.registerMcpTool({
      serverName: "docs",
      toolName: "search",
      description: "Searches.",
      inputSchema: { type: "object", properties: { q: { type: "string" } } },
      client: { callTool },
    });
    expect(name).toBe("mcp__docs__search");
    expect(registry.getToolInfo(name)).toMatchObject({
      name,
      source: "mcp",
      serverName: "docs",
      description: "Searches.",
    });
    expect(await registry.call(name, { q: "x" })).toEqual({
      content: [{ type: "text", text: "found" }],
      structuredContent: { hits: 1 },
    });
    expect(callTool).toHaveBeenCalledExactlyOnceWith(
      { name: "search", arguments: { q: "x" } },
      undefined,
      { signal: expect.any(AbortSignal) },
    );
    const object = registry.get(name);
    expect(object).toMatchObject({ name, source: "mcp" });
    expect(registry.get(name)).toBe(object);
  });

  test("a server's error is an error result", async () => {
    const registry = new ToolRegistry();
    const name = registry.registerMcpTool({
      serverName: "docs",
      toolName: "fails",
      handler: async () => ({ content: [{ type: "text", text: "no such page" }], isError: true }),
    });
    expect(await registry.call(name)).toEqual(failure("ToolFailed", "no such page"));
  });

  test("long and odd names are made safe, stay the same and stay their own", () => {
    const registry = new ToolRegistry();
    const add = (serverName: string, toolName: string) =>
      registry.registerMcpTool({ serverName, toolName, handler: () => "" });
    const names = [
      add("server", "x".repeat(100)),
      add("server", "x".repeat(101)),
      add("server", "a.b"),
      add("server", "a b"),
      add("server", "a_b"),
      add("sérver", "tool"),
    ];
    for (const name of names) expect(name).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/);
    expect(new Set(names).size).toBe(names.length);
    expect(names[4]).toBe("mcp__server__a_b");
    expect(add("server", "x".repeat(100))).toBe(names[0]);
    expect(registry.getToolCount()).toBe(names.length);
  });

  test("unregisterMcpTools removes by prefix and leaves other tools alone", () => {
    const registry = new ToolRegistry();
    const handler = () => "";
    for (const [serverName, toolName] of [
      ["a", "x"],
      ["a", "y"],
      ["ab", "x"],
    ] as const) {
      registry.registerMcpTool({ serverName, toolName, handler });
    }
    registry.register(tool({ name: "mcp__a__mine", handler }));
    expect(registry.unregisterMcpTools("mcp__a__")).toBe(2);
    expect(registry.names()).toEqual(["mcp__a__mine", "mcp__ab__x"]);
    expect(registry.unregisterMcpTools("mcp__a__")).toBe(0);
    expect(registry.unregisterMcpTools("mcp__")).toBe(1);
    expect(registry.names()).toEqual(["mcp__a__mine"]);
  });

  test.each([
    undefined,
    {},
    { serverName: "a", toolName: "b" },
    { serverName: 1, toolName: "b", handler: () => "" },
    { serverName: "a", toolName: "b", client: {} },
  ])("registerMcpTool refuses %o", (it) => {
    expect(thrownBy(() => new ToolRegistry().registerMcpTool(it as never)).type).toBe(
      "InvalidTool",
    );
  });
});

describe("definitions", () => {
  function oneTool() {
    const registry = new ToolRegistry();
    registry.register(greeter());
    return registry;
  }
  const parameters = {
    type: "object",
    properties: {
      name: { type: "string", description: "Whom." },
      times: { type: "integer", minimum: 1, default: 1 },
      tone: { type: "string", enum: ["warm", "cool"] },
    },
    required: ["name"],
    additionalProperties: false,
  };
  const strict = {
    type: "object",
    properties: {
      name: { type: "string", description: "Whom." },
      times: { type: ["integer", "null"], minimum: 1 },
      tone: { type: ["string", "null"], enum: ["warm", "cool", null] },
    },
    required: ["name", "times", "tone"],
    additionalProperties: false,
  };
  const description = "Greets somebody.";

  test("for MCP", () => {
    const expected = [
      {
        name: "greet",
        title: "Greet",
        description,
        inputSchema: parameters,
        annotations: { readOnlyHint: true },
      },
    ];
    expect(oneTool().definitions("mcp")).toEqual(expected);
    expect(oneTool().definitions()).toEqual(expected);
  });

  test("for Anthropic", () => {
    expect(oneTool().definitions("anthropic")).toEqual([
      { name: "greet", description, input_schema: parameters },
    ]);
  });

  test("for OpenAI's chat completions, strict and not", () => {
    const registry = oneTool();
    expect(registry.definitions("openai")).toEqual([
      { type: "function", function: { name: "greet", description, parameters, strict: false } },
    ]);
    expect(registry.definitions("openai", { strict: true })).toEqual([
      {
        type: "function",
        function: { name: "greet", description, parameters: strict, strict: true },
      },
    ]);
  });

  test("for OpenAI's responses, strict and not", () => {
    const registry = oneTool();
    expect(registry.definitions("openai-responses")).toEqual([
      { type: "function", name: "greet", description, parameters, strict: false },
    ]);
    expect(registry.definitions("openai-responses", { strict: true })).toEqual([
      { type: "function", name: "greet", description, parameters: strict, strict: true },
    ]);
  });

  test("for Gemini", () => {
    expect(oneTool().definitions("gemini")).toEqual([
      { functionDeclarations: [{ name: "greet", description, parametersJsonSchema: parameters }] },
    ]);
  });

  test("a name that Gemini refuses gets a prefix, by which it can be called", async () => {
    const registry = new ToolRegistry();
    registry.register(tool({ name: "1st", handler: () => "first" }));
    const [{ functionDeclarations } = { functionDeclarations: [] }] =
      registry.definitions("gemini");
    expect(functionDeclarations.map(({ name }) => name)).toEqual(["_1st"]);
    expect(texts(await registry.call("_1st"))).toEqual(["first"]);
  });

  test.each<DefinitionFormat>(["mcp", "anthropic", "openai", "openai-responses", "gemini"])(
    "of the built-in tools for %s are what they were",
    (format) => {
      expect(wherever(registryHere().definitions(format))).toMatchSnapshot("guided");
    },
  );

  test.each(["openai", "openai-responses"] as const)(
    "of the built-in tools for %s in strict mode are what they were",
    (format) => {
      const definitions = registryHere().definitions(format, { strict: true });
      expect(wherever(definitions)).toMatchSnapshot("strict");
    },
  );

  test("nulls that a strict model sends for what it leaves out are taken as absent", async () => {
    const registry = oneTool();
    const input = { name: "you", times: null, tone: null };
    expect(texts(await registry.call("greet", input))).toEqual(["hello you"]);
  });

  test("an unknown format is refused with those there are", () => {
    expect(thrownBy(() => oneTool().definitions("xml" as never))).toEqual({
      type: "InvalidOptions",
      message:
        "no format is named `xml`; there are `mcp`, `anthropic`, `openai`, `openai-responses`, `gemini`",
    });
  });
});

describe("executeTools", () => {
  const blocks = [
    { type: "tool_use", id: "a", name: "diagnostic_echo", input: { text: "one" } },
    { type: "tool_use", id: "b", name: "nope", input: {} },
    { type: "tool_use", id: "c", name: "read_file", input: { path: "missing.txt" } },
    { type: "tool_use", id: "d", name: "diagnostic_echo", input: { text: "two" } },
  ];

  test("answers Anthropic blocks in order, errors in their place", async () => {
    const results = await registryHere().executeTools(blocks);
    const text = (text: string) => [{ type: "text", text }];
    expect(results).toEqual([
      { type: "tool_result", tool_use_id: "a", content: text("one") },
      {
        type: "tool_result",
        tool_use_id: "b",
        content: [
          { type: "text", text: expect.stringMatching(/^no tool is named `nope`; the closest/) },
        ],
        is_error: true,
      },
      {
        type: "tool_result",
        tool_use_id: "c",
        content: text(`no file at \`${workspace.path("missing.txt")}\``),
        is_error: true,
      },
      { type: "tool_result", tool_use_id: "d", content: text("two") },
    ]);
  });

  test("answers OpenAI tool calls, whose errors say so", async () => {
    const calls = blocks.map(({ id, name, input }) => ({
      id,
      type: "function",
      function: { name, arguments: JSON.stringify(input) },
    }));
    const results = await registryHere().executeTools(calls, { format: "openai" });
    expect(results).toEqual([
      { role: "tool", tool_call_id: "a", content: "one" },
      {
        role: "tool",
        tool_call_id: "b",
        content: expect.stringMatching(/^Error: no tool is named/),
      },
      { role: "tool", tool_call_id: "c", content: expect.stringMatching(/^Error: no file at/) },
      { role: "tool", tool_call_id: "d", content: "two" },
    ]);
  });

  test("answers in MCP's shape", async () => {
    const registry = registryHere();
    const results = await registry.executeTools(blocks, { format: "mcp" });
    const single = await Promise.all(blocks.map(({ name, input }) => registry.call(name, input)));
    expect(results).toEqual(single);
  });

  test("an image is an image to Anthropic", async () => {
    const registry = new ToolRegistry();
    const image = { type: "image" as const, data: "aGk=", mimeType: "image/png" };
    registry.register(tool({ name: "draw", handler: () => ({ content: [image] }) }));
    expect(await registry.executeTools([{ id: "a", name: "draw", input: {} }])).toEqual([
      {
        type: "tool_result",
        tool_use_id: "a",
        content: [
          { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } },
        ],
      },
    ]);
  });

  test("an image of a kind that Anthropic refuses is told in words", async () => {
    const registry = new ToolRegistry();
    const kinds = [
      "image/JPG",
      "image/gif",
      "image/webp",
      "image/svg+xml",
      "image/bmp",
      "nonsense",
    ];
    const content = kinds.map((mimeType) => ({ type: "image" as const, data: "aGk=", mimeType }));
    registry.register(tool({ name: "draw", handler: () => ({ content }) }));
    const [result] = await registry.executeTools([{ id: "a", name: "draw", input: {} }]);
    expect(
      result?.content.map((it) => (it.type === "text" ? it.text : it.source.media_type)),
    ).toEqual([
      "image/jpeg",
      "image/gif",
      "image/webp",
      "[image/svg+xml image, 4 bytes in base64]",
      "[image/bmp image, 4 bytes in base64]",
      "[nonsense image, 4 bytes in base64]",
    ]);
  });

  test("an empty turn has no results", async () => {
    expect(await new ToolRegistry().executeTools([])).toEqual([]);
  });

  test("runs one call after the other and tells the handler its id and session", async () => {
    const registry = new ToolRegistry();
    const log: string[] = [];
    registry.register(
      tool({
        name: "log",
        handler: async (_args, { toolUseId, sessionId }) => {
          log.push(`${toolUseId} begins in ${sessionId}`);
          await new Promise((resolve) => setImmediate(resolve));
          log.push(`${toolUseId} ends`);
        },
      }),
    );
    await registry.executeTools(
      ["a", "b"].map((id) => ({ id, name: "log", input: {} })),
      { sessionId: "s" },
    );
    expect(log).toEqual(["a begins in s", "a ends", "b begins in s", "b ends"]);
  });

  test("tells of each call as it runs", async () => {
    const news: ToolProgress[] = [];
    const turn = [blocks[0], blocks[3]].map((block) => block as (typeof blocks)[0]);
    await registryHere().executeTools(turn, { onProgress: (it) => news.push(it) });
    expect(news.map((it) => [it.type, "toolUseId" in it && it.toolUseId])).toEqual([
      ["start", "a"],
      ["end", "a"],
      ["start", "d"],
      ["end", "d"],
    ]);
  });

  test("an abort ends the running call and fills the rest with errors", async () => {
    const registry = registryHere();
    const controller = new AbortController();
    const turn = [
      { id: "a", name: "diagnostic_echo", input: { text: "done" } },
      { id: "b", name: "diagnostic_sleep", input: { ms: 600_000 } },
      { id: "c", name: "diagnostic_echo", input: { text: "never" } },
    ];
    const results = await registry.executeTools(turn, {
      format: "mcp",
      signal: controller.signal,
      onProgress: (news) =>
        news.type === "start" && news.tool === "diagnostic_sleep" && controller.abort(),
    });
    const cancelled = failure("Cancelled", "the call was cancelled");
    expect(results).toEqual([{ content: [{ type: "text", text: "done" }] }, cancelled, cancelled]);
  });

  test("a signal aborted before fills everything with errors", async () => {
    const results = await registryHere().executeTools(blocks, {
      format: "openai",
      signal: AbortSignal.abort(),
    });
    expect(results).toEqual(
      blocks.map(({ id }) => ({
        role: "tool",
        tool_call_id: id,
        content: "Error: the call was cancelled",
      })),
    );
  });

  test.each([
    [
      "arguments that are no JSON",
      { id: "x", function: { name: "diagnostic_echo", arguments: "{oops" } },
    ],
    [
      "arguments that are no object",
      { id: "x", function: { name: "diagnostic_echo", arguments: "[1]" } },
    ],
    ["half a surrogate pair", { id: "x", name: "diagnostic_echo", input: { text: "\ud800" } }],
    ["NaN", { id: "x", name: "diagnostic_echo", input: { text: "a", repeat: Number.NaN } }],
    ["a BigInt", { id: "x", name: "diagnostic_echo", input: { text: 1n } }],
    ["too deep a nest", { id: "x", name: "diagnostic_echo", input: { text: nest(200) } }],
  ])("input with %s fails its own call alone", async (_what, block) => {
    const good = { id: "good", name: "diagnostic_echo", input: { text: "fine" } };
    const results = await registryHere().executeTools([block, good], { format: "mcp" });
    expect(results.map(({ error }) => error?.type)).toEqual(["ValidationError", undefined]);
    expect(texts(results[1] as (typeof results)[0])).toEqual(["fine"]);
  });

  test("NaN in a call's input is named as it is in a single call", async () => {
    const registry = registryHere();
    const input = { text: "a", repeat: Number.NaN };
    const [result] = await registry.executeTools([{ id: "x", name: "diagnostic_echo", input }], {
      format: "mcp",
    });
    expect(result).toEqual(await registry.call("diagnostic_echo", input));
  });

  test.each([
    ["blocks that are no array", () => new ToolRegistry().executeTools({} as never)],
    ["an unknown format", () => new ToolRegistry().executeTools([], { format: "xml" as never })],
    ["a format that is no text", () => new ToolRegistry().executeTools([], { format: 5 as never })],
    ["a signal that is none", () => new ToolRegistry().executeTools([], { signal: {} as never })],
    [
      "a session that is no text",
      () => new ToolRegistry().executeTools([], { sessionId: 5 as never }),
    ],
    [
      "a listener that is none",
      () => new ToolRegistry().executeTools([], { onProgress: 5 as never }),
    ],
  ])("refuses %s", async (_what, misuse) => {
    expect((await rejectionOf(misuse())).type).toBe("InvalidOptions");
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

  test("its tools run the whole path with what the host passes", async () => {
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
    const { promise: started, resolve } = withResolvers();
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

  test("tells a host's handler that its call has ended", async () => {
    const registry = new ToolRegistry();
    const { promise: told, resolve } = withResolvers();
    const { promise: began, resolve: begin } = withResolvers();
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

  test("an async disposal closes", async () => {
    const registry = registryHere();
    await registry[Symbol.asyncDispose]();
    expect((await rejectionOf(registry.call("diagnostic_echo", {}))).type).toBe("RegistryClosed");
  });
});

describe("options", () => {
  test.each<[string, object, string]>([
    ["an option that is not there yet", { mcpServers: {} }, "unknown option `mcpServers`"],
    ["a misspelt option", { projectpath: "/" }, "unknown option `projectpath`"],
    ["an unknown option that is a function", { plugins: () => {} }, "unknown option `plugins`"],
    ["an unknown limit", { limits: { depth: 1 } }, "unknown option `depth`"],
    [
      "an unknown tool set",
      { toolsets: ["nope"] },
      "no tool set is named `nope`; there are `claude`",
    ],
    ["a tool set that is no list", { toolsets: "claude" }, "option `toolsets`: expected an array"],
    ["a workspace that is not there", { projectPath: "/nowhere/at/all" }, "`/nowhere/at/all`"],
    ["a workspace that is a file", { projectPath: process.execPath }, "cannot be used"],
    ["a workspace that is a number", { projectPath: 5 }, "option `projectPath`: expected a string"],
    ["a root that is not there", { additionalDirectories: ["/nowhere"] }, "`/nowhere`"],
    ["a name that is a number", { serverName: 5 }, "option `serverName`: expected a string"],
    [
      "NaN as a limit",
      { limits: { callTimeoutMs: Number.NaN } },
      "option `limits.callTimeoutMs`: expected an integer",
    ],
    [
      "a negative limit",
      { limits: { callTimeoutMs: -1 } },
      "option `limits.callTimeoutMs`: expected an integer",
    ],
    [
      "a limit beyond 32 bits",
      { limits: { callTimeoutMs: 2 ** 32 } },
      "option `limits.callTimeoutMs`: expected an integer",
    ],
    [
      "a negative size",
      { limits: { maxResultBytes: -1 } },
      "option `limits.maxResultBytes`: expected an integer",
    ],
    [
      "a function as a known option",
      { toolsets: () => [] },
      "option `toolsets`: expected an array",
    ],
    ["a BigInt", { limits: { callTimeoutMs: 1n } }, "cannot be written as JSON"],
  ])("refuses %s", (_what, options, cause) => {
    const refused = thrownBy(() => createToolRegistry(options));
    expect(refused.type).toBe("InvalidOptions");
    expect(refused.message).toContain(cause);
  });

  test.each([null, 5, "claude"])("refuses %s in place of options", (options) => {
    expect(thrownBy(() => new ToolRegistry(options as never)).type).toBe("InvalidOptions");
  });

  test("an option that is undefined is an option not given", () => {
    const registry = createToolRegistry({
      toolsets: undefined,
      limits: undefined,
      version: undefined,
    } as never);
    expect(registry.names()).toEqual(createToolRegistry().names());
  });

  test("a limit on results cuts at a line and says so", async () => {
    const registry = registryHere({ limits: { maxResultBytes: 1_000 } });
    const result = await registry.call("diagnostic_echo", { text: "0123456789\n", repeat: 200 });
    const [shown = "", note] = texts(result);
    expect(shown).toMatch(/^(0123456789\n)+$/);
    expect(shown.length).toBeLessThanOrEqual(1_000);
    expect(shown.length).toBeGreaterThan(700);
    expect(note).toMatch(/^\[result cut: \d+ of 2200 bytes of text are shown; /);
  });

  test("a limit on time ends a call", async () => {
    const registry = registryHere({ limits: { callTimeoutMs: 20 } });
    expect(await registry.call("diagnostic_sleep", { ms: 600_000 })).toEqual(
      failure("TimeoutError", "the call was stopped after its limit of 20 ms"),
    );
  });
});

function nest(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

function withResolvers() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}
