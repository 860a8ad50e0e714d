// Searches end when they are aborted, keep no more than they show, and report what they did not search.
import { closeSync, ftruncateSync, openSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type CallResult } from "../support/unasked";
import { found, texts } from "../support/results.js";
import { usePlantedRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();

/** The texts of an answer, with paths relative to the workspace. */
const shown = (result: CallResult) => found(result, workspace.root);

const plant = usePlantedRegistries(workspace);

describe("a search that is slow in one file", () => {
  // Each match is one letter with a lookahead over all that follow: minutes, unless it is stopped.
  const SLOW = { pattern: ".*[^A-Z]|[A-Z]", path: "slow.txt", head_limit: 0 };

  test.each([
    ["in one line", { "-o": true, output_mode: "content" }],
    ["over lines", { multiline: true, output_mode: "count" }],
  ] as const)("stops when it is aborted, %s, and does not block others", async (_, how) => {
    const registry = plant({ "slow.txt": "A".repeat(3_000_000), "sub/a.txt": "needle\n" });
    const controller = new AbortController();
    // Awaited together and before they end: an unhandled rejection fails the run.
    const searches = Promise.allSettled(
      Array.from({ length: 4 }, () =>
        registry.call("Grep", { ...SLOW, ...how }, { signal: controller.signal }),
      ),
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    controller.abort();
    for (const search of await searches) {
      expect(search).toMatchObject({ status: "rejected", reason: { name: "AbortError" } });
    }
    const other = await registry.call("Grep", { pattern: "needle", path: "sub" });
    expect(shown(other)).toEqual(["sub/a.txt"]);
  });
});

describe("matches over lines", () => {
  test("show the first of very many, without work for each line", async () => {
    const registry = plant({ "many.txt": "foo\n".repeat(400_000) });
    const result = await registry.call("Grep", {
      pattern: "o\\nf",
      multiline: true,
      "-o": true,
      output_mode: "content",
      head_limit: 3,
    });
    expect(shown(result)).toEqual([
      "many.txt:1:o\nmany.txt:2:f\nmany.txt:2:o",
      "[lines 1-3 are shown; continue with offset 3]",
    ]);
  });

  test("make no rows that are not shown", async () => {
    const lines = Buffer.alloc(15_000_000, "\n");
    const registry = plant({ "0/a": lines, "1/a": lines, "2/a": lines, "3/a": lines });
    const before = process.memoryUsage().rss;
    const result = await registry.call("Grep", {
      pattern: "[\\s\\S]+",
      multiline: true,
      output_mode: "content",
      head_limit: 1,
    });
    expect(shown(result)[0]).toBe("0/a:1:");
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024);
  });

  test("of a file that is too large: it is named with the reason, and the answer is incomplete", async () => {
    const registry = plant({ "big.txt": "short line\n".repeat(1_600_000), "a.txt": "x\ny\n" });
    const result = await registry.call("Grep", {
      pattern: "x\\ny",
      multiline: true,
      output_mode: "count",
    });
    expect(shown(result)).toEqual([
      "a.txt:1",
      "[1 match in 1 file; not searched: `big.txt` (it has more than 16777216 bytes, the limit for matches that span lines)]",
    ]);
    expect(result.structuredContent).toMatchObject({
      complete: false,
      totalMatches: 1,
      skipped: { unreadable: 1 },
    });
  });
});

describe("a file that turns out to be binary", () => {
  const LATE = `${"needle\n".repeat(12_000)}\0\nneedle\n`;

  test("after some matches is reported, with a way to search the rest", async () => {
    const registry = plant({ "late.txt": LATE, "z.txt": "needle\n" });
    const result = await registry.call("Grep", {
      pattern: "needle",
      output_mode: "content",
      heading: false,
      head_limit: 0,
    });
    const [rows, note] = shown(result);
    expect(rows?.split("\n").at(-1)).toBe("z.txt:1:needle");
    expect(note).toBe(
      "[`late.txt` is binary from about byte 84000 on and was searched up to there; " +
        "pass it as path to search all of it]",
    );
    const { structuredContent } = result;
    expect(structuredContent).toMatchObject({
      complete: false,
      totalFiles: 2,
      skipped: { partly: { count: 1, files: [{ file: "late.txt", binaryFrom: 84_000 }] } },
    });
    expect(structuredContent).not.toHaveProperty("totalMatches");
    const named = await registry.call("Grep", {
      pattern: "needle",
      path: "late.txt",
      output_mode: "content",
      head_limit: 0,
    });
    expect(named.structuredContent).toMatchObject({ complete: true, totalMatches: 12_001 });
  });

  test("after the part that is shown is not reported", async () => {
    const registry = plant({ "late.txt": LATE });
    const result = await registry.call("Grep", { pattern: "needle", output_mode: "content" });
    expect(shown(result)[1]).toBe("[lines 1-250 are shown; continue with offset 250]");
    expect(result.structuredContent).not.toHaveProperty("skipped");
  });
});

describe("an offset", () => {
  test("that an answer names is accepted, and no other is named", async () => {
    const registry = plant({
      "a/a.txt": "needle\n".repeat(60_000),
      "b.txt": "needle\n".repeat(60_000),
    });
    const call = (offset: number) =>
      registry.call("Grep", {
        pattern: "needle",
        output_mode: "content",
        heading: false,
        offset,
      });
    const before = await call(99_750);
    expect(shown(before)).toEqual([
      expect.stringContaining("b.txt:39751:needle\n"),
      "[lines 99751-100000 are shown; continue with offset 100000]",
    ]);
    const last = await call((before.structuredContent as { nextOffset: number }).nextOffset);
    expect(shown(last)[1]).toBe("[lines 100001-100250 are shown; narrow the search to see more]");
    expect(last.structuredContent).toMatchObject({ complete: false });
    expect(last.structuredContent).not.toHaveProperty("nextOffset");
  });

  test("far from the start returns the same rows, with their context, as all rows there", async () => {
    const lines = "needle\nother\nother\nother\n".repeat(900);
    const names = Array.from({ length: 3 }, (_, i) => [`${i}/a.txt`, `${i}/b.txt`]).flat();
    const registry = plant(Object.fromEntries(names.map((it) => [it, lines])));
    const call = async (offset: number, head_limit: number) => {
      const rows = { output_mode: "content", heading: false, "-A": 1, offset, head_limit } as const;
      const result = await registry.call("Grep", { pattern: "needle", ...rows });
      return (texts(result)[0] ?? "").split("\n");
    };
    const all = await call(0, 0);
    expect(all).toHaveLength(6 * (900 * 3 - 1) + 5);
    for (const offset of [4_999, 5_001, 10_797, 10_798, 10_799, 10_800, 10_801, 16_190]) {
      expect(await call(offset, 20)).toEqual(all.slice(offset, offset + 20));
    }
  });
});

test("an empty answer says that not all ignored files were searched", async () => {
  const registry = plant({ ".gitignore": "*.log\n", "a.txt": "x\n", "a.log": "x\n" });
  expect(shown(await registry.call("Grep", { pattern: "needle" }))).toEqual(["[no matches]"]);
  // Sparse, and too large to be searched just for an explanation.
  const descriptor = openSync(workspace.write("b.log", "needle\n"), "r+");
  ftruncateSync(descriptor, 200 * 1024 * 1024);
  closeSync(descriptor);
  const result = await registry.call("Grep", { pattern: "needle" });
  expect(shown(result)).toEqual([
    "[no matches; not all ignored, hidden and binary files were checked; pass a path to search there]",
  ]);
  expect(result.structuredContent).toMatchObject({ wouldMatch: { incomplete: true } });
});
