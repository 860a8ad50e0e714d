// What the author of a tree or of a pattern can make a search cost: memory stays within a bound that is measured
// from outside, and a limit that was reached is reported.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const SCRIPT = fileURLToPath(new URL("../support/peak-memory.mjs", import.meta.url));
/** The memory that any answer may take, beside twice the largest file it needs. */
const MEGABYTES = 64;

type Call = [tool: string, input: Record<string, unknown>];
type Measured = { tool: string; peak: number; text: string };

function measure(calls: Call[]): Measured[] {
  mkdirSync(workspace.path("empty"), { recursive: true });
  const plan = workspace.write("plan.json", JSON.stringify({ root: workspace.root, calls }));
  const printed = execFileSync(process.execPath, [SCRIPT, plan], { encoding: "utf8" });
  return printed
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Measured);
}

/** The calls that took more memory than allowed. */
function beyond(results: Measured[], megabytes: number): Measured[] {
  expect(results.every((it) => Number.isFinite(it.peak))).toBe(true);
  return results.filter((it) => it.peak >= megabytes);
}

function lines(count: number, line: (number: number) => string): string {
  return Array.from({ length: count }, (_, number) => line(number)).join("\n");
}

/** Makes nested directories, deeper than one path can name, each with siblings. */
function nest(levels: number): void {
  const script = `
    const { mkdirSync, writeFileSync } = require("node:fs");
    for (let level = 0; level < ${levels}; level++) {
      for (const name of ["a", "b", "c", "d"]) mkdirSync(name);
      writeFileSync("f.txt", "needle");
      process.chdir("d");
    }`;
  mkdirSync(workspace.path("deep"));
  execFileSync(process.execPath, ["-e", script], { cwd: workspace.path("deep") });
}

describe.skipIf(process.platform !== "linux")("memory and limits of", () => {
  test("ignore files of any length and content", () => {
    workspace.write(
      "classes/.gitignore",
      lines(1_000, () => "[!x]*"),
    );
    workspace.write(
      "many/.gitignore",
      lines(4_000, (it) => `[!x]*${it}?`),
    );
    workspace.write(
      "plain/.gitignore",
      lines(60_000, (it) => `/build/${it}`),
    );
    workspace.write(
      "huge/.gitignore",
      lines(600_000, (it) => `${it}*`),
    );
    for (const folder of ["classes", "many", "plain", "huge"]) {
      workspace.write(`${folder}/xsub/x.txt`, "needle\n");
    }
    const call: Call = ["Grep", { pattern: "needle", output_mode: "count" }];
    const [result] = measure([call]);
    expect(result?.peak).toBeLessThan(MEGABYTES);
    expect(result?.text).toContain(
      "ignore rules not applied: `huge/.gitignore` (it has more than 1048576 bytes)",
    );
    for (const folder of ["classes", "many", "plain", "huge"]) {
      expect(result?.text).toContain(`${folder}/xsub/x.txt:1`);
    }
  });

  test("deep trees", () => {
    nest(600);
    const results = measure([
      ["Grep", { pattern: "needle", path: "deep", output_mode: "count", head_limit: 1 }],
      ["Glob", { pattern: "**/*.txt", path: "deep" }],
      ["ls", { path: "deep", recursive: true }],
    ]);
    // Removing so deep a tree by path takes long.
    execFileSync("rm", ["-rf", workspace.path("deep")]);
    expect(beyond(results, MEGABYTES)).toEqual([]);
    expect(results[0]?.text).toContain("600 matches in 600 files");
    expect(results[1]?.text).toContain("most recently modified of 600 files");
  });

  test("patterns, which are refused before they are parsed if they are too long", () => {
    workspace.write("a.txt", "some words\n".repeat(1_000));
    const words = lines(200_000, (it) => `word${it}`).replaceAll("\n", "|");
    const results = measure([
      ["Grep", { pattern: words }],
      ["Grep", { pattern: lines(3_000, (it) => `w${it}`).replaceAll("\n", "|") }],
      ["Grep", { pattern: "\\w".repeat(1_001) }],
      ["Grep", { pattern: "[^a]".repeat(8_000) }],
      ["Grep", { pattern: "x", glob: lines(2_000, (it) => `[!x]*${it}`).replaceAll("\n", " ") }],
    ]);
    expect(beyond(results, MEGABYTES)).toEqual([]);
    expect(results[0]?.text).toContain("at most 32768 are taken");
    expect(results[2]?.text).toContain("at most 1000 are taken");
    expect(results[4]?.text).toContain("at most 4096 are taken");
  });

  test("one long line, and very many matches", () => {
    workspace.write("long.txt", "aB".repeat(5_000_000));
    workspace.write("many.txt", "needle\n".repeat(1_000_000));
    const results = measure([
      ["Grep", { pattern: "a.*[^a-zA-Z]", path: "long.txt" }],
      ["Grep", { pattern: "needle", path: "many.txt", output_mode: "content", head_limit: 0 }],
      [
        "Grep",
        { pattern: "e", "-o": true, path: "many.txt", output_mode: "content", offset: 90_000 },
      ],
    ]);
    // The larger file has 10 MB.
    expect(beyond(results, MEGABYTES + 20)).toEqual([]);
  });
});

const mayMount =
  process.platform === "linux" &&
  spawnSync("unshare", ["-rm", "mount", "--rbind", "/proc", "/tmp"]).status === 0;

test.skipIf(!mayMount)("files of the kernel are not opened under another name either", () => {
  mkdirSync(workspace.path("empty"));
  mkdirSync(workspace.path("kernel"));
  const calls: Call[] = [
    ["Grep", { pattern: "VmPeak", path: "kernel", glob: "status" }],
    ["Grep", { pattern: "VmPeak", path: "kernel/version" }],
  ];
  const plan = workspace.write("plan.json", JSON.stringify({ root: workspace.root, calls }));
  const script = 'mount --rbind /proc "$1" && shift && exec "$@"';
  const command = ["-rm", "sh", "-c", script, "sh", workspace.path("kernel")];
  const printed = execFileSync("unshare", [...command, process.execPath, SCRIPT, plan], {
    encoding: "utf8",
  });
  const texts = printed.trim().split("\n");
  expect(texts).toHaveLength(2);
  for (const text of texts) expect(text).toContain("kernel files are not searched");
});
