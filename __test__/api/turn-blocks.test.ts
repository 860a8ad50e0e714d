import type { Part } from "@google/genai";
import { describe, expect, test } from "vitest";
import { ToolError, type TurnBlock, type TurnResults } from "../../index.js";
import { useRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryWith = useRegistries(workspace);
const registryHere = () => registryWith({ toolsets: ["diagnostic"] });

describe("a turn", () => {
  const GOOD = { id: "good", name: "diagnostic_echo", input: { text: "fine" } };
  const throwing = new Proxy(
    {},
    {
      get: () => {
        throw Symbol("odd");
      },
      has: () => {
        throw new Error("odd");
      },
    },
  );

  test.each<[string, unknown, string]>([
    ["is not an object", null, "call_1"],
    ["is undefined", undefined, "call_1"],
    ["is a text", "diagnostic_echo", "call_1"],
    ["has no id", { name: "diagnostic_echo", input: { text: "x" } }, "call_1"],
    ["has a number for an id", { id: 5, name: "diagnostic_echo", input: {} }, "call_1"],
    ["has no name", { id: "bad" }, "bad"],
    ["has a number for a name", { id: "bad", name: 5, input: {} }, "bad"],
    ["has half a character in its name", { id: "bad", name: "diagnostic_\ud800" }, "bad"],
    ["has half a character in its id", { id: "bad\ud800", name: "diagnostic_echo" }, "bad\ufffd"],
    ["has an invalid function", { id: "bad", function: {} }, "bad"],
    ["has no name in its function call", { functionCall: { id: "bad" } }, "bad"],
    [
      "has an input that throws",
      {
        id: "bad",
        name: "diagnostic_echo",
        input: {
          toJSON: () => {
            throw Symbol("odd");
          },
        },
      },
      "bad",
    ],
    ["throws when it is read", throwing, "call_1"],
  ])(
    "a block that %s is answered with an error in its place, and the others run",
    async (_what, bad, id) => {
      const blocks = [GOOD, bad, { ...GOOD, id: "last" }] as never[];
      const registry = registryHere();
      for (const parallelReads of [false, true]) {
        const results = await registry.executeTools(blocks, { parallelReads });
        expect(results).toMatchObject([
          { tool_use_id: "good", content: [{ text: "fine" }] },
          { tool_use_id: id, is_error: true },
          { tool_use_id: "last", content: [{ text: "fine" }] },
        ]);
      }
      const [, { error } = {}] = await registry.executeTools(blocks, { format: "mcp" });
      expect(error?.type).toBe("ValidationError");
    },
  );

  test("a hole in the array, and an element that throws, are answered too", async () => {
    const sparse = [GOOD];
    sparse[2] = GOOD;
    const results = await registryHere().executeTools(sparse, { format: "mcp" });
    expect(results.map(({ error }) => error?.type)).toEqual([
      undefined,
      "ValidationError",
      undefined,
    ]);
    const blocks = Object.defineProperty([GOOD, GOOD], 1, {
      get: () => {
        throw new Error("odd");
      },
    });
    const [first, second] = await registryHere().executeTools(blocks, { format: "mcp" });
    expect([first?.error, second?.error?.type]).toEqual([undefined, "ValidationError"]);
  });
});

describe("anything but a call", () => {
  const CALL = { id: "good", name: "diagnostic_echo", input: { text: "fine" } };
  const args = JSON.stringify(CALL.input);
  const asked = { id: "x", name: "diagnostic_echo", input: { text: "not ours" } };

  // If Gemini adds a part, it is missing here, and tsc reports it.
  const PARTS: Required<Omit<Record<keyof Part, unknown>, "functionCall">> = {
    text: "Let me look.",
    thought: true,
    thoughtSignature: "c2ln",
    inlineData: { mimeType: "image/png", data: "aGk=" },
    fileData: { fileUri: "gs://a/b" },
    functionResponse: { name: "diagnostic_echo", response: {} },
    executableCode: { code: "1" },
    codeExecutionResult: { output: "1" },
    toolCall: { id: "x", args: {} },
    toolResponse: { id: "x" },
    audioTranscription: { text: "x" },
    videoMetadata: {},
    mediaResolution: {},
    mediaProcessing: {},
    partMetadata: {},
    speechMetadata: {},
  };

  const TURNS: [keyof TurnResults, call: TurnBlock, others: object[]][] = [
    [
      "anthropic",
      { type: "tool_use", ...CALL },
      [
        { type: "text", text: "Let me look." },
        { type: "thinking", thinking: "Hm.", signature: "c2ln" },
        { type: "redacted_thinking", data: "eHg=" },
        { type: "server_tool_use", ...asked },
        { type: "mcp_tool_use", server_name: "s", ...asked },
        { type: "web_search_tool_result", tool_use_id: "x", content: [] },
        { type: "tool_result", tool_use_id: "x", content: "done" },
        { type: "what_will_be_there_next_year", ...asked },
      ],
    ],
    [
      "openai",
      { type: "function", id: "good", function: { name: CALL.name, arguments: args } },
      [
        { type: "custom", id: "x", custom: { name: CALL.name, input: "not ours" } },
        { type: "text", text: "Let me look." },
      ],
    ],
    [
      "openai-responses",
      { type: "function_call", id: "fc", call_id: "good", name: CALL.name, arguments: args },
      [
        { type: "message", id: "x", role: "assistant", content: [] },
        { type: "reasoning", id: "x", summary: [] },
        { type: "web_search_call", id: "x", status: "completed" },
        { type: "mcp_call", id: "x", name: CALL.name, arguments: args, server_label: "s" },
        { type: "custom_tool_call", call_id: "x", name: CALL.name, input: "not ours" },
        { type: "function_call_output", call_id: "x", output: "done" },
      ],
    ],
    [
      "gemini",
      { functionCall: { id: "good", name: CALL.name, args: CALL.input } },
      [
        ...Object.entries(PARTS).map(([key, value]) => ({ [key]: value })),
        { text: "x", functionCall: null, type: undefined },
      ],
    ],
  ];

  test.each(TURNS)("is left out of a turn for %s", async (format, call, others) => {
    const registry = registryHere();
    const alone = await registry.executeTools([call], { format });
    expect(JSON.stringify(alone)).toContain("fine");
    for (const other of others as TurnBlock[]) {
      expect(await registry.executeTools([other], { format })).toEqual([]);
      const turn = [other, call, other];
      expect(await registry.executeTools(turn, { format, parallelReads: true })).toEqual(alone);
    }
  });

  test("function calls of Gemini may be passed without their parts", async () => {
    const calls = [{ name: CALL.name, args: CALL.input }, { name: "nope" }];
    expect(await registryHere().executeTools(calls, { format: "gemini" })).toMatchObject([
      { functionResponse: { name: CALL.name, response: { output: "fine" } } },
      { functionResponse: { name: "nope", response: { error: expect.any(String) } } },
    ]);
  });

  test("an empty answer of a model contains no calls", async () => {
    for (const nothing of [null, undefined, []]) {
      expect(await registryHere().executeTools(nothing)).toEqual([]);
    }
  });

  test.each<[string, unknown]>([
    ["a text", "diagnostic_echo"],
    ["a message instead of its content", { role: "assistant", content: [CALL] }],
    ["a number", 5],
    ["a list that is not an array", new Set([CALL])],
  ])("%s is refused as a turn", async (_what, turn) => {
    const misuse: unknown = await registryHere()
      .executeTools(turn as never)
      .catch((error: unknown) => error);
    expect(misuse).toBeInstanceOf(ToolError);
    expect(misuse).toMatchObject({
      type: "InvalidOptions",
      message: expect.stringMatching(/^executeTools\(\) takes an array .*`message\.content`/),
    });
  });

  test.each<[string, object]>([
    ["nothing", {}],
    ["only unknown fields", { foo: 1 }],
    ["a type that is not a string", { ...asked, id: 5, type: 5 }],
    ["the type of a call and no name", { type: "tool_use", id: "x" }],
    ["the type of a function and no function", { type: "function", id: "x" }],
    ["the type of a function call and no name", { type: "function_call", call_id: "x" }],
    ["an empty function call", { functionCall: {} }],
  ])("a block with %s is answered with an error in its place", async (_what, block) => {
    const turn = [CALL, block as TurnBlock];
    const [, result] = await registryHere().executeTools(turn, { format: "mcp" });
    expect(result?.error).toMatchObject({
      type: "ValidationError",
      message: expect.stringContaining("blocks[1] must be"),
    });
  });
});
