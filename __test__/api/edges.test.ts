// Edge cases that a review found broken. Each test failed before its fix.

import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type ToolContext, ToolRegistry, createToolRegistry, tool } from "../support/unasked";
import { texts } from "../support/results.js";
import { runScript, runtimes } from "../support/runtimes.js";
import { useWorkspace } from "../support/workspace.js";

function echo(name: string, inputSchema: Record<string, unknown>) {
  return tool({ name, inputSchema, handler: (args: unknown) => JSON.stringify(args) });
}

describe("much progress", () => {
  test.each(runtimes)("5,000 pieces all arrive before the result on $name", async ({ path }) => {
    const script = `
      const { ToolRegistry, tool } = require("./index.js");
      const registry = new ToolRegistry({ permissionMode: "bypassPermissions" });
      registry.register(tool({ name: "chatty", handler: (_, { updateOutput }) => {
        for (let i = 0; i < 5000; i++) updateOutput("x");
        return "done";
      } }));
      let heard = 0;
      registry.call("chatty", {}, { onProgress: ({ type }) => { heard += type === "output" ? 1 : 0; } })
        .then(({ content }) => console.log(heard, content[0].text));
    `;
    const ended = await runScript(path, ["-e", script]);
    expect(ended).toMatchObject({ code: 0, signal: null, stdout: "5000 done\n" });
  });
});

describe("a call that is aborted just before its handler starts", () => {
  test("does not start the handler, or aborts its signal", async () => {
    const registry = new ToolRegistry();
    let signal: AbortSignal | undefined;
    const handler = (_args: unknown, context: ToolContext) => {
      signal = context.signal;
      return new Promise<never>(() => {});
    };
    registry.register(tool({ name: "late", handler }));
    const controller = new AbortController();
    const call = registry.call("late", {}, { signal: controller.signal });
    // Both the handler's call and the abort are now queued behind this thread, in either order.
    const busyUntil = Date.now() + 100;
    while (Date.now() < busyUntil);
    controller.abort();
    await expect(call).rejects.toMatchObject({ type: "Cancelled" });
    if (signal !== undefined && !signal.aborted) {
      await new Promise((resolve) => signal?.addEventListener("abort", resolve));
    }
    expect(signal?.aborted ?? "not started").not.toBe(false);
  });
});

describe("answers that cannot be serialised", () => {
  test.each([
    ["toJSON that returns nothing", () => ({ content: [], toJSON() {} })],
    [
      "a revoked proxy that is thrown",
      () => {
        const { proxy, revoke } = Proxy.revocable({}, {});
        revoke();
        throw proxy as Error;
      },
    ],
  ])("%s is an error of the call", async (_what, handler) => {
    const registry = new ToolRegistry();
    registry.register(tool({ name: "odd", handler }));
    const result = await registry.call("odd", {});
    expect(result.error?.type).toBe("ToolFailed");
    expect(result.error?.message).not.toBe("");
  });
});

describe("blocks", () => {
  test("a number where another kind of block has text stays a number", async () => {
    const registry = new ToolRegistry();
    const content = [
      { type: "resource", text: 7 },
      { type: "text", text: "abcdefghij".repeat(1_000) },
    ];
    registry.register(tool({ name: "mixed", handler: () => ({ content }) as never }));
    expect((await registry.call("mixed", {})).content).toEqual(content);
  });

  test("pictures beyond the limit of an answer are left out, with a note", async () => {
    const registry = new ToolRegistry();
    const picture = { type: "image" as const, data: "A".repeat(9_000_000), mimeType: "image/png" };
    registry.register(
      tool({ name: "album", handler: () => ({ content: [picture, picture, picture] }) }),
    );
    const { content } = await registry.call("album", {});
    expect(content.map(({ type }) => type)).toEqual(["image", "image", "text"]);
    expect(texts({ content })).toEqual([
      "[result cut: 1 pictures did not fit into 20971520 bytes; ask for less at a time]",
    ]);
  });

  test("structured content is bounded too", async () => {
    const registry = new ToolRegistry({ limits: { maxResultBytes: 10_000 } });
    const structuredContent = { rows: ["x".repeat(20_000)] };
    registry.register(tool({ name: "data", handler: () => ({ content: [], structuredContent }) }));
    const result = await registry.call("data", {});
    expect(result.structuredContent).toBeUndefined();
    expect(texts(result).join("")).toContain("bytes of structured content are left out");
  });
});

describe("turns of other providers", () => {
  const registry = new ToolRegistry();
  registry.register(echo("e", { q: "string" }));

  test("an item of OpenAI's responses is answered under its call_id", async () => {
    const item = {
      type: "function_call",
      id: "fc_1",
      call_id: "call_1",
      name: "e",
      arguments: '{"q":"hi"}',
    };
    expect(await registry.executeTools([item], { format: "openai-responses" })).toEqual([
      { type: "function_call_output", call_id: "call_1", output: '{"q":"hi"}' },
    ]);
  });

  test("Gemini's function calls are answered by name", async () => {
    const parts = [
      { functionCall: { name: "e", args: { q: "hi" } } },
      { functionCall: { name: "e" } },
    ];
    expect(await registry.executeTools(parts, { format: "gemini" })).toEqual([
      { functionResponse: { id: "call_0", name: "e", response: { output: '{"q":"hi"}' } } },
      {
        functionResponse: {
          id: "call_1",
          name: "e",
          response: { error: "missing required parameter `q`, expected a string" },
        },
      },
    ]);
  });
});

describe("schemas", () => {
  test("true and false are listed as equivalent objects", async () => {
    const registry = new ToolRegistry();
    const properties = { any: true, none: false, text: { type: "string" } };
    registry.register(
      tool({ name: "it", inputSchema: { type: "object", properties }, handler: () => "ran" }),
    );
    const [definition] = registry.definitions();
    expect(definition?.inputSchema.properties).toEqual({
      ...properties,
      any: {},
      none: { not: {} },
    });
    expect((await registry.call("it", { any: [1], text: "a" })).error).toBeUndefined();
    expect((await registry.call("it", { none: 1 })).error?.type).toBe("ValidationError");
  });

  test("a Zod shape may contain recursive and shared schemas", async () => {
    const node: z.ZodType = z.object({
      value: z.string(),
      get next(): z.ZodType {
        return node.optional();
      },
    });
    const registry = new ToolRegistry();
    registry.register(
      tool("tree", "", { a: node, b: node.optional() }, (args) => JSON.stringify(args)),
    );
    const input = { a: { value: "x", next: { value: "y" } }, b: { value: "z" } };
    expect(texts(await registry.call("tree", input))).toEqual([JSON.stringify(input)]);
    const wrong = await registry.call("tree", { a: { value: "x", next: { value: 5 } } });
    expect(wrong.error?.type).toBe("ValidationError");
  });

  test("a parameter of the simple form may be called `type`", async () => {
    const registry = new ToolRegistry();
    registry.register(echo("typed", { type: "string", name: "string" }));
    expect(texts(await registry.call("typed", { type: "a", name: "b" }))).toEqual([
      '{"type":"a","name":"b"}',
    ]);
  });

  test("null for an optional parameter is absent, however its type is declared", async () => {
    const registry = new ToolRegistry();
    registry.register(
      echo("optional", {
        type: "object",
        properties: {
          mode: { enum: ["a", "b"] },
          count: { anyOf: [{ type: "integer" }, { type: "boolean" }] },
          node: { $ref: "#/$defs/node" },
        },
        $defs: { node: { type: "object" } },
      }),
    );
    const result = await registry.call("optional", { mode: null, count: "5", node: null });
    expect(texts(result)).toEqual(['{"count":5}']);
  });

  test("a schema that is slow to validate blocks neither its abort nor other calls", async () => {
    const registry = createToolRegistry({ toolsets: ["diagnostic"] });
    const branch = { $ref: "#/$defs/node" };
    const node = {
      anyOf: [
        { type: "object", properties: { next: branch }, required: ["never"] },
        { type: "object", properties: { next: branch }, required: ["ever"] },
      ],
    };
    registry.register(
      echo("costly", { type: "object", properties: { next: branch }, $defs: { node } }),
    );
    let input: Record<string, unknown> = {};
    for (let depth = 0; depth < 22; depth += 1) input = { next: input };
    const controller = new AbortController();
    const costly = registry.call("costly", input, { signal: controller.signal });
    expect(texts(await registry.call("diagnostic_echo", { text: "meanwhile" }))).toEqual([
      "meanwhile",
    ]);
    controller.abort();
    await expect(costly).rejects.toMatchObject({ type: "Cancelled" });
  });
});

describe("wrapping", () => {
  const workspace = useWorkspace();

  test("a host's tool may wrap the built-in tool whose name it uses", async () => {
    const file = workspace.write("a.txt", "one");
    const registry = createToolRegistry({ projectPath: workspace.root });
    const read = registry.get("Read");
    let calls = 0;
    registry.register({
      ...read!,
      handler: (args, context) => {
        calls += 1;
        return read!.handler(args, context);
      },
    });
    expect(texts(await registry.call("Read", { file_path: file }))).toEqual(["1\tone"]);
    expect(calls).toBe(1);
  });

  test("servers with similar names do not share tools", () => {
    const registry = new ToolRegistry();
    const handler = () => "";
    const names = [
      registry.registerMcpTool({ serverName: "a__b", toolName: "c", handler }),
      registry.registerMcpTool({ serverName: "a", toolName: "b__c", handler }),
    ];
    expect(new Set(names).size).toBe(2);
    expect(registry.getToolCount()).toBe(2);
  });
});

describe("paths", () => {
  const workspace = useWorkspace();

  test("a path with too many parts and a slash after a file name are refused at once", async () => {
    workspace.write("a.txt", "one");
    const registry = createToolRegistry({ projectPath: workspace.root, toolsets: ["classic"] });
    const long = await registry.call("read_file", { path: "a/".repeat(100_000) });
    expect(long.error?.message).toContain("it is longer than 4,096 bytes");
    const slash = await registry.call("read_file", { path: "a.txt/" });
    expect(slash.isError).toBe(true);
  });

  test("control characters in a name are escaped for people", () => {
    const file = workspace.write("\u001b[31mred.txt", "one");
    const registry = createToolRegistry({ projectPath: workspace.root });
    const invocation = registry.createInvocation("Read", { file_path: file });
    expect(invocation.getDescription()).toContain("\\u{1b}[31mred.txt");
    expect(invocation.toolLocations().join("")).not.toContain("\u001b");
  });
});
