// The input schemas of a host's tools: accepted forms, refused forms, and validation of a call's input.
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { z as z3 } from "zod/v3";
import { greeter } from "../support/greeter.js";
import { thrownBy } from "../support/misuse.js";
import { failure, texts } from "../support/results.js";
import { ToolRegistry, tool } from "../support/unasked.js";

describe("input schemas", () => {
  async function schemaAndAnswer(object: Parameters<ToolRegistry["register"]>[0], input: unknown) {
    const registry = new ToolRegistry();
    registry.register(object);
    const { inputSchema } = registry.getToolInfo(object.name) ?? {};
    return { inputSchema, answer: await registry.call(object.name, input) };
  }

  test("the simple form requires every key and accepts no other", async () => {
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

  test("a tool without a schema accepts no parameters", async () => {
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

  test("JSON Schema is kept unchanged, and `type` is added if there are only properties", async () => {
    const inputSchema = { properties: { a: { type: "integer" } }, $comment: "kept" };
    const object = tool({ name: "json", inputSchema, handler: (args) => JSON.stringify(args) });
    const seen = await schemaAndAnswer(object, { a: "5" });
    expect(seen.inputSchema).toEqual({ type: "object", ...inputSchema });
    expect(texts(seen.answer)).toEqual(['{"a":5}']);
  });

  test("unknown parameters are refused unless the schema allows them", async () => {
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

  test("a pattern with catastrophic backtracking does not hang", async () => {
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

  test("a library's schema that cannot be converted to JSON Schema is refused", () => {
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
