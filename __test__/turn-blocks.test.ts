import { describe, expect, test } from "vitest";
import { useRegistries } from "./support/registries.js";
import { useWorkspace } from "./support/workspace.js";

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
    ["is no object", null, "call_1"],
    ["is undefined", undefined, "call_1"],
    ["is a text", "diagnostic_echo", "call_1"],
    ["has no id", { name: "diagnostic_echo", input: { text: "x" } }, "call_1"],
    ["has a number for an id", { id: 5, name: "diagnostic_echo", input: {} }, "call_1"],
    ["has no name", { id: "bad" }, "bad"],
    ["has a number for a name", { id: "bad", name: 5, input: {} }, "bad"],
    ["has half a character in its name", { id: "bad", name: "diagnostic_\ud800" }, "bad"],
    ["has half a character in its id", { id: "bad\ud800", name: "diagnostic_echo" }, "bad\ufffd"],
    ["has a function that is none", { id: "bad", function: {} }, "bad"],
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
    ["throws when it is looked at", throwing, "call_1"],
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

  test("a hole in the array, and one that throws, are answered too", async () => {
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
