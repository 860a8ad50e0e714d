import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type CallResult, createToolRegistry } from "./support/unasked";
import { make } from "./fixtures/facts/fixture.mjs";
import { texts } from "./support/results.js";
import { useWorkspace } from "./support/workspace.js";

interface Expected {
  error: boolean;
  files?: string[];
  lines?: string[];
  counts?: Record<string, number>;
  total?: number;
  files_total?: number;
  ordered?: boolean;
  truncated?: boolean;
}

interface Fact {
  id: string;
  tool: string;
  input: { pattern: string };
  expect: Expected;
}

interface Answer {
  files?: string[];
  counts?: { file: string; count: number }[];
  totalMatches?: number;
  totalFiles?: number;
  complete: boolean;
}

const file = new URL("fixtures/facts/cases.json", import.meta.url);
const facts = (JSON.parse(readFileSync(file, "utf8")) as Fact[]).filter(
  ({ tool }) => tool === "Grep",
);
const workspace = useWorkspace();

/** Rows as they were asked for; a note in brackets is no row. */
function rows(text: string | undefined): string[] {
  return text === undefined || text.startsWith("[") ? [] : text.split("\n");
}

/** A line that is too long to be shown is the same to both, whatever stands in its place. */
function withoutLongLines(lines: string[]): string[] {
  return lines.map((line) => (/\[\d+ characters, too long/.test(line) ? "{{LONG}}" : line));
}

/** Groups of lines come in any order in the facts, so gaps between files say nothing. */
function comparable(lines: string[], ordered: boolean | undefined): string[] {
  return ordered === true ? lines : lines.filter((line) => line !== "--").toSorted();
}

const NOTHING = {
  files: undefined,
  lines: undefined,
  counts: undefined,
  total: undefined,
  files_total: undefined,
  ordered: undefined,
  truncated: undefined,
};

/** A fact as it can be compared. */
function inOrder(expected: Expected): Expected {
  const lines = expected.lines && comparable(expected.lines, expected.ordered);
  return { ...expected, lines };
}

/** The parts of a result that the fact speaks of. */
function observed(result: CallResult, expected: Expected): Expected {
  const { ordered } = expected;
  const error = result.isError === true;
  if (error) return { ...NOTHING, error };
  const answer = result.structuredContent as unknown as Answer;
  const shown = rows(texts(result)[0]);
  const counts = (answer.counts ?? []).map(({ file, count }) => [file, count] as const);
  const said = <T>(key: keyof Expected, value: T) => (key in expected ? value : undefined);
  return {
    error,
    ordered,
    // The same as text and as data, or neither is right.
    files: said("files", shown.join() === (answer.files ?? []).join() ? shown : undefined),
    lines: said("lines", comparable(withoutLongLines(shown), ordered)),
    counts: said("counts", Object.fromEntries(counts)),
    total: said("total", answer.totalMatches),
    files_total: said("files_total", answer.totalFiles),
    truncated: said("truncated", !answer.complete),
  };
}

describe("facts observed on the most used coding agent", () => {
  test("there are facts about Grep", () => {
    expect(facts).toHaveLength(51);
  });

  test.each(facts)("$id", async ({ input, expect: expected }) => {
    // The fixture replaces the directory it is given.
    const root = join(workspace.root, "tree");
    make(root);
    const registry = createToolRegistry({ projectPath: root });
    const filled = JSON.parse(JSON.stringify(input).replaceAll("{{ROOT}}", root)) as typeof input;
    const result = await registry.call("Grep", filled);
    expect(observed(result, expected)).toEqual({ ...NOTHING, ...inOrder(expected) });
  });
});
