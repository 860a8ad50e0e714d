// A turn of a model: calls in a provider's format, with results in the same order.
import { describe, expect, test } from "vitest";
import { rejectionOf } from "../support/misuse.js";
import { nestedArrays } from "../support/nested.js";
import { EVERY_SET, useRegistries } from "../support/registries.js";
import { failure, texts } from "../support/results.js";
import { ToolRegistry, tool, type ToolProgress } from "../support/unasked.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace, { toolsets: EVERY_SET });

describe("executeTools", () => {
  const blocks = [
    { type: "tool_use", id: "a", name: "diagnostic_echo", input: { text: "one" } },
    { type: "tool_use", id: "b", name: "nope", input: {} },
    { type: "tool_use", id: "c", name: "read_file", input: { path: "missing.txt" } },
    { type: "tool_use", id: "d", name: "diagnostic_echo", input: { text: "two" } },
  ];

  test("answers Anthropic blocks in order, with errors in their places", async () => {
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

  test("answers OpenAI tool calls, and marks errors", async () => {
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

  test("an image is an image block for Anthropic", async () => {
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

  test("an image of a kind that Anthropic rejects is described in words", async () => {
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

  test("runs the calls one after the other, and passes id and session to the handler", async () => {
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

  test("reports each call as it runs", async () => {
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
      "arguments that are not JSON",
      { id: "x", function: { name: "diagnostic_echo", arguments: "{oops" } },
    ],
    [
      "arguments that are not an object",
      { id: "x", function: { name: "diagnostic_echo", arguments: "[1]" } },
    ],
    ["half a surrogate pair", { id: "x", name: "diagnostic_echo", input: { text: "\ud800" } }],
    ["NaN", { id: "x", name: "diagnostic_echo", input: { text: "a", repeat: Number.NaN } }],
    ["a BigInt", { id: "x", name: "diagnostic_echo", input: { text: 1n } }],
    ["too deep nesting", { id: "x", name: "diagnostic_echo", input: { text: nestedArrays(200) } }],
  ])("input with %s fails its own call alone", async (_what, block) => {
    const good = { id: "good", name: "diagnostic_echo", input: { text: "fine" } };
    const results = await registryHere().executeTools([block, good], { format: "mcp" });
    expect(results.map(({ error }) => error?.type)).toEqual(["ValidationError", undefined]);
    expect(texts(results[1] as (typeof results)[0])).toEqual(["fine"]);
  });

  test("NaN in a call's input is reported as for a single call", async () => {
    const registry = registryHere();
    const input = { text: "a", repeat: Number.NaN };
    const [result] = await registry.executeTools([{ id: "x", name: "diagnostic_echo", input }], {
      format: "mcp",
    });
    expect(result).toEqual(await registry.call("diagnostic_echo", input));
  });

  test.each([
    ["blocks that are not an array", () => new ToolRegistry().executeTools({} as never)],
    ["an unknown format", () => new ToolRegistry().executeTools([], { format: "xml" as never })],
    [
      "a format that is not a string",
      () => new ToolRegistry().executeTools([], { format: 5 as never }),
    ],
    ["an invalid signal", () => new ToolRegistry().executeTools([], { signal: {} as never })],
    [
      "a session that is not a string",
      () => new ToolRegistry().executeTools([], { sessionId: 5 as never }),
    ],
    ["an invalid listener", () => new ToolRegistry().executeTools([], { onProgress: 5 as never })],
  ])("refuses %s", async (_what, misuse) => {
    expect((await rejectionOf(misuse())).type).toBe("InvalidOptions");
  });
});
