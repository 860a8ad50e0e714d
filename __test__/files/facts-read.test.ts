import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createToolRegistry } from "../support/unasked";
import { make } from "../fixtures/facts/fixture.mjs";
import { rows } from "../support/results.js";
import { useWorkspace } from "../support/workspace.js";

interface Fact {
  id: string;
  tool: string;
  input: Record<string, unknown>;
  expect: { error: boolean; lines?: string[] };
}

const file = new URL("../fixtures/facts/cases.json", import.meta.url);
const facts = (JSON.parse(readFileSync(file, "utf8")) as Fact[]).filter(
  ({ tool }) => tool === "Read",
);
const workspace = useWorkspace();

describe("facts observed on the most used coding agent", () => {
  test("there are facts about Read", () => {
    expect(facts).toHaveLength(18);
  });

  test.each(facts)("$id", async ({ input, expect: expected }) => {
    // A subdirectory, because `make` deletes and recreates it.
    const root = join(workspace.root, "tree");
    make(root);
    const registry = createToolRegistry({ projectPath: root });
    const filled = JSON.parse(JSON.stringify(input).replaceAll("{{ROOT}}", root)) as unknown;
    const result = await registry.call("Read", filled as { file_path: string });
    const seen = { error: result.isError === true, lines: rows(result) };
    expect(seen).toEqual({ error: expected.error, lines: expected.lines ?? [] });
  });
});
