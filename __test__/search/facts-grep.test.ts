import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type CallResult, createToolRegistry } from "../support/unasked";
import { make } from "../fixtures/facts/fixture.mjs";
import { texts } from "../support/results.js";
import { useWorkspace } from "../support/workspace.js";

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

const file = new URL("../fixtures/facts/cases.json", import.meta.url);
const facts = (JSON.parse(readFileSync(file, "utf8")) as Fact[]).filter(
  ({ tool }) => tool === "Grep",
);
const workspace = useWorkspace();

/** The requested rows. A note in brackets is not a row. */
function rows(text: string | undefined): string[] {
  return text === undefined || text.startsWith("[") ? [] : text.split("\n");
}

/** Replaces a line that is too long to be shown, because each program shows something else instead. */
function withoutLongLines(lines: string[]): string[] {
  return lines.map((line) => (/\[\d+ characters, too long/.test(line) ? "{{LONG}}" : line));
}

/** Groups of lines have no order in the facts, so gaps between files are ignored. */
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

/** A fact in comparable form. */
function inOrder(expected: Expected): Expected {
  const lines = expected.lines && comparable(expected.lines, expected.ordered);
  return { ...expected, lines };
}

/** The parts of a result that the fact describes. */
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
    // Text and data must agree.
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
    // A subdirectory, because `make` deletes and recreates it.
    const root = join(workspace.root, "tree");
    make(root);
    const registry = createToolRegistry({ projectPath: root });
    const filled = JSON.parse(JSON.stringify(input).replaceAll("{{ROOT}}", root)) as typeof input;
    const result = await registry.call("Grep", filled);
    expect(observed(result, expected)).toEqual({ ...NOTHING, ...inOrder(expected) });
  });
});
