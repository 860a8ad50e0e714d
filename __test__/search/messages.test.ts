// Messages of searches about things that are missing, hidden, or not what they seem.
import { describe, expect, test } from "vitest";
import { createToolRegistry } from "../support/unasked";
import { found, texts } from "../support/results.js";
import { usePlantedRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();

const plant = usePlantedRegistries(workspace);

test("a hidden name is not suggested for a similar one", async () => {
  const registry = plant(
    { "secret.txt": "needle\n", "secrets.md": "needle\n" },
    { policy: { deny: ["Read(secret.txt)"] } },
  );
  const missing = workspace.path("secre.txt");
  for (const [tool, input] of [
    ["Grep", { pattern: "needle", path: "secre.txt" }],
    ["Glob", { pattern: "*", path: "secre.txt" }],
    ["ls", { path: "secre.txt" }],
    ["Read", { file_path: missing }],
    ["read_file", { path: "secre.txt" }],
  ] as const) {
    const { error } = await registry.call(tool, input);
    // The tool is part of the comparison, so that a failure names it.
    expect({ tool, type: error?.type }).toEqual({ tool, type: "FileNotFoundError" });
    expect(`${tool}: ${error?.message}`).not.toContain("secret.txt");
  }
  const near = await registry.call("Grep", { pattern: "needle", path: "secrets.m" });
  expect(near.error?.message).toContain("`secrets.md`");
});

test.skipIf(process.platform !== "linux")("files of the kernel are not opened", async () => {
  const registry = createToolRegistry({ projectPath: "/", toolsets: ["claude"] });
  for (const path of ["/proc/self/status", "/proc/self", "/sys/kernel/uevent_seqnum"]) {
    const { error } = await registry.call("Grep", { pattern: ".", path });
    expect(`${path}: ${error?.message}`).toContain("kernel files are not searched");
  }
});

describe("a pattern with a line end in it", () => {
  const FILES = { "a.txt": "foo\nbar\n" };

  test("that other parts could match without is an error", async () => {
    const registry = plant(FILES);
    for (const pattern of ["foo|bar\\n", "foo(\\nbar)?"]) {
      const { error } = await registry.call("Grep", { pattern });
      expect(error).toEqual({
        type: "GrepError",
        message:
          "part of the pattern contains a line break, but a match is limited to one line; set multiline to match across lines",
      });
    }
    const { error } = await registry.call("grep", { pattern: "foo|bar\\n" });
    expect(error?.message).toContain("search for a part within one line");
  });

  test.each([
    ["files_with_matches", { files: [], totalFiles: 0 }],
    ["count", { counts: [], totalFiles: 0, totalMatches: 0 }],
    ["content", { files: [], totalFiles: 0, totalMatches: 0 }],
  ] as const)("in every part matches nothing, with all fields of %s", async (output_mode, data) => {
    const result = await plant(FILES).call("Grep", { pattern: "foo\\nbar", output_mode });
    expect(texts(result)[0]).toContain("set multiline to match across lines");
    expect(result.structuredContent).toMatchObject({ mode: output_mode, ...data, complete: true });
  });
});

test("for a line that is too long only useful hints are given", async () => {
  const registry = plant({ "a.txt": `needle${"x".repeat(600)}\n` });
  const grep = async (input: { pattern: string; "-o"?: boolean }) =>
    texts(await registry.call("Grep", { output_mode: "content", ...input }))[0];
  const long = "a.txt:1:[606 characters, too long to show";
  expect(await grep({ pattern: "needle" })).toBe(`${long}; show only the match with -o]`);
  expect(await grep({ pattern: "needle.*", "-o": true })).toBe(
    `${long}; use a pattern with a shorter match]`,
  );
  expect(found(await registry.call("grep", { pattern: "needle" }), workspace.root)).toEqual([
    "a.txt:1: [606 characters, too long to show]",
  ]);
});

test("a path through a file names the file", async () => {
  const registry = plant({ "a.txt": "needle\n" });
  const { error } = await registry.call("Grep", { pattern: "needle", path: "a.txt/b/c" });
  expect(error?.message).toBe(`\`${workspace.path("a.txt")}\` is a file, not a directory`);
});

test("a file that is named is searched only if it matches filePattern", async () => {
  const registry = plant({ "src/a.txt": "needle\n" });
  const grep = async (filePattern: string) =>
    found(
      await registry.call("grep", { pattern: "needle", directory: "src/a.txt", filePattern }),
      workspace.root,
    );
  for (const fitting of ["*.txt", "**/*.txt", "src/*.txt"]) {
    expect(await grep(fitting)).toEqual(["1: needle"]);
  }
  expect(await grep("*.md")).toEqual(["[no matches; `src/a.txt` does not match the file pattern]"]);
});
