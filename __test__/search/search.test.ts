import { execFileSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { CallResult } from "../../index.js";
import { callsInChild } from "../support/child-calls.js";
import { found, texts } from "../support/results.js";
import { useRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();

/** The texts of an answer, with paths relative to the workspace. */
const shown = (result: CallResult) => found(result, workspace.root);

const registryHere = useRegistries(workspace);

describe("Grep", () => {
  test("returns the same facts as text and as data", async () => {
    workspace.plant({ "a.ts": "one\ntwo\nthree\n", "src/b.ts": "two\n" });
    const result = await registryHere().call("Grep", {
      pattern: "two",
      output_mode: "content",
      "-A": 1,
    });
    expect(result).toEqual({
      content: [
        { type: "text", text: "a.ts:2:two\na.ts-3-three\n--\nsrc/b.ts:1:two" },
        { type: "text", text: `[paths are relative to \`${workspace.root}\`]` },
      ],
      structuredContent: {
        mode: "content",
        root: workspace.root,
        files: [
          {
            file: "a.ts",
            lines: [
              { line: 2, text: "two" },
              { line: 3, text: "three", context: true },
            ],
          },
          { file: "src/b.ts", lines: [{ line: 1, text: "two" }] },
        ],
        totalFiles: 2,
        totalMatches: 2,
        complete: true,
      },
      display: "Found 2 matches",
    });
  });

  test("says how to continue, and continues there", async () => {
    workspace.plant(
      Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`${i % 7}/f${i}.txt`, "x\ny x\n"])),
    );
    const registry = registryHere();
    const call = (limits: object) =>
      registry.call("Grep", { pattern: "x", output_mode: "content", heading: false, ...limits });
    const all = texts(await call({ head_limit: 0 }))[0]?.split("\n") ?? [];
    expect(all).toHaveLength(60);
    expect(all).toEqual(all.toSorted());
    const pages: string[] = [];
    for (let offset = 0; offset < 60; offset += 7) {
      const result = await call({ head_limit: 7, offset });
      const [page = "", note] = shown(result);
      pages.push(...page.split("\n"));
      const last = offset + 7;
      expect(note).toBe(
        last < 60
          ? `[lines ${offset + 1}-${last} are shown; continue with offset ${last}]`
          : undefined,
      );
    }
    expect(pages).toEqual(all);
  });

  test("returns the same bytes every time, whichever thread is first", async () => {
    workspace.plant(
      Object.fromEntries(
        Array.from({ length: 400 }, (_, i) => [`${i % 23}/f${i}.txt`, "x\n".repeat(i % 9)]),
      ),
    );
    const registry = registryHere();
    for (const output_mode of ["content", "count", "files_with_matches"] as const) {
      const call = () =>
        registry.call("Grep", { pattern: "x", output_mode, head_limit: 50, offset: 20 });
      const first = JSON.stringify(await call());
      for (let round = 0; round < 10; round += 1) {
        expect(JSON.stringify(await call())).toBe(first);
      }
    }
  });

  test("files with matches come newest first, ties by path", async () => {
    workspace.plant({ "old.txt": "x", "new.txt": "x", "b/tie.txt": "x", "a/tie.txt": "x" });
    const at = (name: string, seconds: number) =>
      utimesSync(workspace.path(name), seconds, seconds);
    at("old.txt", 1_000);
    at("new.txt", 3_000);
    at("a/tie.txt", 2_000);
    at("b/tie.txt", 2_000);
    const result = await registryHere().call("Grep", { pattern: "x" });
    expect(shown(result)).toEqual(["new.txt\na/tie.txt\nb/tie.txt\nold.txt"]);
  });

  test("an empty answer names ignored and binary files that would have matched", async () => {
    workspace.plant({
      ".gitignore": "dist/\n*.log\n",
      "dist/out.js": "needle\n",
      "a.log": "needle\n",
      "b.log": "nothing\n",
      "data.bin": "needle\0\n",
      "a.txt": "nothing\n",
    });
    const registry = registryHere();
    const result = await registry.call("Grep", { pattern: "needle" });
    expect(shown(result)).toEqual([
      "[no matches; ignored or hidden files match: `a.log`, `dist/out.js`; pass one as path to search it; " +
        "binary files match: `data.bin`; pass one as path to search it as text]",
    ]);
    expect(result.structuredContent).toMatchObject({
      wouldMatch: { ignoredOrHidden: ["a.log", "dist/out.js"], binary: ["data.bin"] },
      skipped: { binary: 1 },
      totalFiles: 0,
      complete: true,
    });
    expect(shown(await registry.call("Grep", { pattern: "absent" }))).toEqual([
      "[no matches; 1 binary file skipped]",
    ]);
  });

  test("a path or a glob that names an ignored directory searches it", async () => {
    workspace.plant({
      ".gitignore": "dist/\n",
      "dist/out.js": "needle\n",
      "dist/sub/x.js": "needle\n",
    });
    const registry = registryHere();
    const files = async (input: { path?: string; glob?: string }) => {
      const { structuredContent } = await registry.call("Grep", { pattern: "needle", ...input });
      return (structuredContent as { files: string[] }).files.toSorted();
    };
    expect(await files({})).toEqual([]);
    expect(await files({ path: "dist" })).toEqual(["dist/out.js", "dist/sub/x.js"]);
    expect(await files({ glob: "dist/**/*.js" })).toEqual(["dist/out.js", "dist/sub/x.js"]);
  });

  test("a bad pattern is an error with the position of the mistake", async () => {
    const result = await registryHere().call("Grep", { pattern: "a(b[c-" });
    expect(result.error?.type).toBe("GrepError");
    expect(result.error?.message).toContain("    a(b[c-\n       ^");
  });

  test.each([
    ["(a{1000}){1000}", "too large when compiled"],
    ["(".repeat(5_000) + ")".repeat(5_000), "nest"],
  ])("a pattern that would take all memory is refused", async (pattern, why) => {
    const result = await registryHere().call("Grep", { pattern });
    expect(result.error?.type).toBe("GrepError");
    expect(result.error?.message).toContain(why);
  });

  test.each(["Grep", "Glob", "glob", "grep"])("%s refuses 20,000 nested braces", async (tool) => {
    const nested = "{".repeat(20_000) + "}".repeat(20_000);
    const shallower = "{".repeat(500) + "}".repeat(500);
    for (const glob of [nested, shallower]) {
      const input = {
        Grep: { pattern: "x", glob },
        Glob: { pattern: glob },
        glob: { pattern: glob },
        grep: { pattern: "x", filePattern: glob },
      }[tool];
      const result = await registryHere().call(tool, input);
      expect(result.error?.type).toBe("ValidationError");
    }
  });

  test("ignore files with hostile lines do no harm", async () => {
    workspace.plant({
      ".gitignore": `${"{".repeat(50_000)}\n${"[".repeat(9_000)}\n*.log\n`,
      "a.log": "x\n",
      "a.txt": "x\n",
    });
    const result = await registryHere().call("Grep", { pattern: "x" });
    expect(shown(result)).toEqual([
      "a.txt",
      "[ignore rules not applied: `.gitignore` (line 1 has more than 4096 bytes or braces that are nested too deeply)]",
    ]);
    expect(result.structuredContent).toMatchObject({
      complete: true,
      skipped: { rules: { count: 1, files: [{ path: ".gitignore" }] } },
    });
  });

  test("an unknown type suggests close ones", async () => {
    const result = await registryHere().call("Grep", { pattern: "x", type: "typescrip" });
    expect(result.error?.type).toBe("ValidationError");
    expect(result.error?.message).toContain("`typescript`");
  });
});

describe("searches of hostile trees", () => {
  test("links are not followed, wherever they lead", async () => {
    workspace.plant({ "a/x.txt": "needle\n" });
    symlinkSync("..", workspace.path("a/up"));
    symlinkSync("x.txt", workspace.path("a/link.txt"));
    symlinkSync("/etc", workspace.path("a/etc"));
    symlinkSync("loop", workspace.path("a/loop"));
    const registry = registryHere();
    const grep = await registry.call("Grep", { pattern: "needle|root" });
    expect(shown(grep)).toEqual(["a/x.txt"]);
    const glob = await registry.call("glob", { pattern: "**/*" });
    expect(shown(glob)).toEqual(["a/x.txt"]);
  });

  test.skipIf(process.platform === "win32")("FIFOs are never opened", async () => {
    workspace.plant({ "x.txt": "needle\n" });
    execFileSync("mkfifo", [workspace.path("pipe"), workspace.path(".gitignore")]);
    const registry = registryHere();
    expect(shown(await registry.call("Grep", { pattern: "needle" }))).toEqual(["x.txt"]);
    const named = await registry.call("Grep", { pattern: "needle", path: workspace.path("pipe") });
    expect(named.error?.type).toBe("GrepError");
  });

  test("a path of 4,000 characters is searched and found", async () => {
    const deep = Array.from({ length: 18 }, (_, i) => `${i}`.padEnd(220, "d"));
    execFileSync(
      "bash",
      [
        "-c",
        `for part in "$@"; do mkdir "$part" && cd -P "./$part" || exit 1; done; echo needle > file.txt`,
        "bash",
        ...deep,
      ],
      { cwd: workspace.root },
    );
    const path = `${deep.join("/")}/file.txt`;
    expect(path.length).toBeGreaterThan(3_900);
    const registry = registryHere();
    expect(shown(await registry.call("Grep", { pattern: "needle" }))).toEqual([path]);
    expect(shown(await registry.call("glob", { pattern: "**/*.txt" }))).toEqual([path]);
  });

  test("1,000 nested directories are searched to the end", async () => {
    const deepest = "d/".repeat(1_000);
    mkdirSync(workspace.path(deepest), { recursive: true });
    for (const depth of [1, 500, 999]) workspace.plant({ [`${"d/".repeat(depth)}b.txt`]: "x\n" });
    workspace.plant({ [`${deepest}c.txt`]: "needle\n" });
    const result = await registryHere().call("Grep", { pattern: "needle", output_mode: "count" });
    expect(shown(result)).toEqual([`${deepest}c.txt:1`, "[1 match in 1 file]"]);
  });

  test("100,000 entries in one directory", { timeout: 120_000 }, async () => {
    const folder = workspace.path("many");
    mkdirSync(folder);
    for (let i = 0; i < 100_000; i += 1) closeSync(openSync(join(folder, `f${i}`), "w"));
    workspace.plant({ "many/needle": "needle\n" });
    const registry = registryHere();
    expect(shown(await registry.call("Grep", { pattern: "needle" }))).toEqual(["many/needle"]);
    const glob = await registry.call("Glob", { pattern: "f*" });
    expect(glob.structuredContent).toMatchObject({ total: 100_000, complete: false });
    const ls = await registry.call("ls", { path: "many" });
    expect(ls.structuredContent).toMatchObject({ total: 100_001, complete: false });
  });

  test.skipIf(process.platform !== "linux")(
    "names that are not UTF-8 are shown in a form that every tool accepts",
    async () => {
      const name = Buffer.concat([
        Buffer.from(`${workspace.root}/bad-`),
        Buffer.from([0xff, 0xfe]),
      ]);
      writeFileSync(name, "needle\n");
      workspace.plant({ "line\nbreak.txt": "needle\n" });
      const result = await registryHere().call("Grep", {
        pattern: "needle",
        output_mode: "content",
      });
      const [rows] = texts(result);
      expect(rows).toBe("$'bad-\\xff\\xfe':1:needle\n$'line\\nbreak.txt':1:needle");
      const path = rows?.split(":")[0];
      const there = await registryHere().call("Grep", { pattern: "needle", path });
      expect(shown(there)).toEqual([path]);
      const file = `${workspace.root}/$'bad-\\xff\\xfe'`;
      expect(texts(await registryHere().call("Read", { file_path: file }))).toEqual(["1\tneedle"]);
    },
  );

  test.skipIf(process.platform === "win32")(
    "unreadable files are reported, and the rest is searched",
    async () => {
      workspace.plant({
        "open.txt": "needle\n",
        "shut.txt": "needle\n",
        "closed/x.txt": "needle\n",
      });
      if (process.getuid?.() === 0) chmodSync(workspace.root, 0o755);
      chmodSync(workspace.path("shut.txt"), 0);
      chmodSync(workspace.path("closed"), 0);
      const calls: [string, Record<string, unknown>][] = [
        ["Grep", { pattern: "needle" }],
        ["Glob", { pattern: "**/*.txt" }],
        ["ls", { path: "closed" }],
      ];
      const after = await callsInChild(workspace.root, calls, { unprivileged: true });
      chmodSync(workspace.path("closed"), 0o755);
      const [grep, glob, ls] = after.results;
      expect(shown(grep as CallResult)[0]).toBe("open.txt");
      expect(grep?.structuredContent).toMatchObject({ skipped: { unreadable: 2 } });
      expect(glob?.structuredContent).toMatchObject({ total: 2, skipped: { unreadable: 1 } });
      expect(ls).toMatchObject({ isError: true });
    },
  );

  test("files that are truncated or deleted meanwhile are never fatal", async () => {
    workspace.plant(
      Object.fromEntries(
        Array.from({ length: 200 }, (_, i) => [`f${i}.txt`, "needle\n".repeat(20_000)]),
      ),
    );
    const registry = registryHere();
    const searches = Array.from({ length: 4 }, () =>
      registry.call("Grep", { pattern: "needle", output_mode: "count" }),
    );
    for (let i = 0; i < 200; i += 2) {
      truncateSync(workspace.path(`f${i}.txt`), 0);
      unlinkSync(workspace.path(`f${i + 1}.txt`));
    }
    for (const result of await Promise.all(searches)) expect(result.isError).toBeUndefined();
  });

  test("one line of a gigabyte is reported, and memory stays small", async () => {
    // Sparse: a gigabyte of NUL would be binary, so it begins with a megabyte of text.
    const file = workspace.write("line.txt", "x".repeat(1024 * 1024));
    const descriptor = openSync(file, "r+");
    ftruncateSync(descriptor, 1024 * 1024 * 1024);
    closeSync(descriptor);
    workspace.plant({ "other.txt": "needle\n" });
    const before = process.memoryUsage().rss;
    const named = await registryHere().call("Grep", { pattern: "needle", path: file });
    expect(shown(named)[0]).toContain("longer than");
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
    const result = await registryHere().call("Grep", { pattern: "needle" });
    expect(shown(result)[0]).toBe("other.txt");
  });
});

describe("aborted searches", () => {
  test("settle at once, and their threads stop", async () => {
    const line = `${"lorem ipsum dolor ".repeat(8)}\n`;
    const content = line.repeat(60_000);
    workspace.plant(
      Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`${i}.txt`, content])),
    );
    const registry = registryHere();
    const times: number[] = [];
    for (let round = 0; round < 10; round += 1) {
      const controller = new AbortController();
      const search = registry.call(
        "Grep",
        { pattern: "(l.r.m|d.l.r) .*x{3}y", output_mode: "count" },
        { signal: controller.signal },
      );
      await new Promise((resolve) => setTimeout(resolve, 20));
      const aborted = performance.now();
      controller.abort();
      await expect(search).rejects.toMatchObject({ name: "AbortError" });
      times.push(performance.now() - aborted);
    }
    // The quickest of several: a busy machine delays some, and a search that continues delays all.
    expect(Math.min(...times)).toBeLessThan(50);
    expect(Math.max(...times)).toBeLessThan(1_000);
    // Work that continued would use a processor: after the abort, none is used for long.
    await new Promise((resolve) => setTimeout(resolve, 200));
    const idle = process.cpuUsage();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(process.cpuUsage(idle).user).toBeLessThan(150_000);
  });
});

describe("Glob", () => {
  test("lists the newest first, and says what it does not show", async () => {
    for (let i = 0; i < 120; i += 1) {
      const file = workspace.write(`src/f${i}.ts`, "");
      utimesSync(file, 1_000 + i, 1_000 + i);
    }
    const result = await registryHere().call("Glob", { pattern: "*.ts" });
    const [files = "", note] = shown(result);
    const newest = Array.from({ length: 100 }, (_, i) => `src/f${119 - i}.ts`);
    expect(files.split("\n")).toEqual(newest);
    expect(note).toBe(
      "[showing the 100 most recently modified of 120 files; narrow the pattern or give a path to see more]",
    );
  });

  test("accepts absolute patterns, and patterns in a directory", async () => {
    workspace.plant({ "src/a.ts": "", "src/deep/b.ts": "", "c.ts": "" });
    const registry = registryHere();
    const find = async (input: { pattern: string; path?: string }) =>
      (texts(await registry.call("Glob", input))[0] ?? "").split("\n").toSorted();
    expect(await find({ pattern: `${workspace.root}/src/*.ts` })).toEqual(["src/a.ts"]);
    expect(await find({ pattern: `${workspace.root}/src/**/*.ts` })).toEqual([
      "src/a.ts",
      "src/deep/b.ts",
    ]);
    expect(await find({ pattern: "*.ts", path: "src" })).toEqual(["src/a.ts", "src/deep/b.ts"]);
    expect(await find({ pattern: "deep/*.ts", path: workspace.path("src") })).toEqual([
      "src/deep/b.ts",
    ]);
  });

  test("finds ignored files only if the pattern spells out their directory", async () => {
    workspace.plant({
      ".gitignore": "node_modules/\n",
      "node_modules/p/index.js": "",
      "index.js": "",
    });
    const registry = registryHere();
    expect(shown(await registry.call("glob", { pattern: "**/*.js" }))).toEqual(["index.js"]);
    expect(shown(await registry.call("glob", { pattern: "node_modules/**/*.js" }))).toEqual([
      "node_modules/p/index.js",
    ]);
    expect(shown(await registry.call("glob", { pattern: "**/p/*.js" }))).toEqual([
      "[no files match, but ignored or hidden ones do: `node_modules/p/index.js`; " +
        "to list one, give its path as pattern, without directory]",
    ]);
  });
});

describe("ls", () => {
  test("draws the tree by name, without files that git ignores", async () => {
    workspace.plant({
      ".gitignore": "*.log\n",
      "b.txt": "",
      "a/x.txt": "",
      "a/y.log": "",
      ".env": "",
    });
    const registry = registryHere();
    expect(await registry.call("ls", { path: ".", recursive: true })).toEqual({
      content: [
        { type: "text", text: "d a\n  - x.txt\n- b.txt" },
        { type: "text", text: `[paths are relative to \`${workspace.root}\`]` },
      ],
      structuredContent: {
        root: workspace.root,
        entries: [
          { name: "a", type: "directory", depth: 0 },
          { name: "x.txt", type: "file", depth: 1 },
          { name: "b.txt", type: "file", depth: 0 },
        ],
        total: 3,
        complete: true,
        ignoredOrHidden: 3,
      },
      display: "Listed 3 entries",
    });
  });

  test("refuses files, and suggests names for a missing directory", async () => {
    workspace.plant({ "src/a.txt": "" });
    const registry = registryHere();
    const file = await registry.call("ls", { path: "src/a.txt" });
    expect(file.error).toEqual({
      type: "LsError",
      message: `\`${workspace.path("src/a.txt")}\` is a file, not a directory`,
    });
    const missing = await registry.call("ls", { path: "scr" });
    expect(missing.error).toEqual({
      type: "FileNotFoundError",
      message: `\`${workspace.path("scr")}\` does not exist; similar names there: \`src\``,
    });
  });
});

describe("every searching tool", () => {
  test.each([
    ["Grep", { pattern: "root", path: "/etc" }],
    ["Glob", { pattern: "*", path: "/etc" }],
    ["Glob", { pattern: "/etc/*" }],
    ["grep", { pattern: "root", directory: "../.." }],
    ["glob", { pattern: "*", directory: "/etc" }],
    ["ls", { path: "/etc" }],
  ])("%s stays in the workspace", async (tool, input) => {
    const result = await registryHere().call(tool, input);
    expect(result.error?.type).toBe("PathOutsideWorkspace");
  });

  test("hidden files are searched by the claude set and not by the classic one", async () => {
    workspace.plant({
      ".hidden/a.txt": "needle\n",
      ".git/config": "needle\n",
      "b.txt": "needle\n",
    });
    const registry = registryHere();
    const grep = await registry.call("Grep", { pattern: "needle" });
    expect(shown(grep)[0]?.split("\n").toSorted()).toEqual([".hidden/a.txt", "b.txt"]);
    expect(shown(await registry.call("grep", { pattern: "needle" }))).toEqual(["b.txt:1: needle"]);
  });
});
