// An ignored path is shown if the input names it, and hidden otherwise.
import { describe, expect, test } from "vitest";
import type { CallResult } from "../../index.js";
import { found } from "../support/results.js";
import { usePlantedRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();

const plant = usePlantedRegistries(workspace);

/** The files of an answer by name. */
function files(result: CallResult): string[] {
  return (result.structuredContent as { files: string[] }).files.toSorted();
}

const IGNORED = {
  ".gitignore": ".env\n*.log\ndist/*\nnode_modules/\n",
  ".env": "needle\n",
  "debug.log": "needle\n",
  "logs/x.log": "needle\n",
  "dist/a.js": "needle\n",
  "dist/b.log": "needle\n",
  "dist/sub/c.js": "needle\n",
  ".venv/.gitignore": "# made by a tool\n*\n",
  ".venv/lib/d.py": "needle\n",
  "node_modules/p/.env": "needle\n",
  "src/e.ts": "needle\n",
};

describe("a pattern that names ignored files", () => {
  test.each([
    [".env", [".env"]],
    ["**/.env", [".env"]],
    ["{.env,.envrc}", [".env"]],
    ["debug.log", ["debug.log"]],
    ["*.log", []],
    ["logs/*.log", []],
    ["logs/x.log", ["logs/x.log"]],
    ["dist/*.js", ["dist/a.js"]],
    ["dist/**/*.js", ["dist/a.js", "dist/sub/c.js"]],
    ["dist/**", ["dist/a.js", "dist/sub/c.js"]],
    [".venv/**", [".venv/.gitignore", ".venv/lib/d.py"]],
    ["node_modules/*/.env", ["node_modules/p/.env"]],
  ])("Glob %s", async (pattern, expected) => {
    const registry = plant(IGNORED);
    expect(files(await registry.call("Glob", { pattern }))).toEqual(expected);
  });

  test("the path in the hint of an empty answer finds the file", async () => {
    const registry = plant(IGNORED);
    for (const [input, named] of [
      [{ pattern: "logs/*.log" }, "logs/x.log"],
      [{ pattern: "*.log", path: "logs" }, "logs/x.log"],
      [{ pattern: "**/d.*" }, ".venv/lib/d.py"],
    ] as const) {
      expect(found(await registry.call("Glob", input), workspace.root)).toEqual([
        `[no files match, but ignored or hidden ones do: \`${named}\`; ` +
          "to list one, give its path as pattern, without path]",
      ]);
      for (const tool of ["Glob", "glob"]) {
        expect(files(await registry.call(tool, { pattern: named }))).toEqual([named]);
      }
    }
  });
});

describe("a path whose content is ignored", () => {
  test.each([
    ["dist", ["dist/a.js", "dist/sub/c.js"]],
    ["dist/sub", ["dist/sub/c.js"]],
    [".venv", [".venv/lib/d.py"]],
    [".venv/lib", [".venv/lib/d.py"]],
    ["logs", []],
  ])("%s is searched if it is the path", async (path, expected) => {
    const registry = plant(IGNORED);
    expect(files(await registry.call("Grep", { pattern: "needle", path }))).toEqual(expected);
    const glob = await registry.call("Glob", { pattern: "*.{js,py,log}", path });
    expect(files(glob)).toEqual(expected);
    const grep = await registry.call("grep", { pattern: "needle", directory: path });
    const lines = grep.structuredContent as unknown as { files: { file: string }[] };
    expect(lines.files.map((it) => it.file)).toEqual(expected);
  });

  test("is listed", async () => {
    const registry = plant(IGNORED);
    const list = async (path: string) =>
      found(await registry.call("ls", { path }), workspace.path(path));
    expect(await list("dist")).toEqual(["- a.js\nd sub"]);
    expect(await list(".venv")).toEqual(["d lib"]);
  });

  test("is searched if a glob spells it out", async () => {
    const registry = plant(IGNORED);
    const grep = async (glob: string) =>
      files(await registry.call("Grep", { pattern: "needle", glob }));
    expect(await grep("dist/**/*.js")).toEqual(["dist/a.js", "dist/sub/c.js"]);
    expect(await grep(".venv/**/*.py")).toEqual([".venv/lib/d.py"]);
    expect(await grep("**/*.ts")).toEqual(["src/e.ts"]);
  });

  test("is left out of a search of everything", async () => {
    const registry = plant(IGNORED);
    expect(files(await registry.call("Grep", { pattern: "needle" }))).toEqual(["src/e.ts"]);
    expect(files(await registry.call("Glob", { pattern: "**/*.{js,py}" }))).toEqual([]);
  });

  test("keeps the rules that include some of its files again", async () => {
    const registry = plant({
      "pkg/.gitignore": "/*\n!/src/\n",
      "pkg/src/a.ts": "needle\n",
      "pkg/out/b.js": "needle\n",
      "tmp/.gitignore": "*\n!.gitignore\n",
      "tmp/c.txt": "needle\n",
    });
    const grep = async (path: string) =>
      files(await registry.call("Grep", { pattern: "needle", path }));
    expect(await grep("pkg")).toEqual(["pkg/src/a.ts"]);
    expect(await grep("pkg/out")).toEqual(["pkg/out/b.js"]);
    expect(await grep("tmp")).toEqual(["tmp/c.txt"]);
    expect(await grep(".")).toEqual(["pkg/src/a.ts"]);
  });
});

describe(".git", () => {
  const REPOSITORY = {
    ".git/config": "needle\n",
    "sub/.git/HEAD": "needle\n",
    "a.txt": "needle\n",
  };

  test.each(["*", "**", "**/*", "*,!*.md", ".*", "sub/**"])("is not in %s", async (glob) => {
    const registry = plant({ ...REPOSITORY, "sub/b.txt": "needle\n" });
    const found = files(await registry.call("Grep", { pattern: "needle", glob }));
    expect(found.filter((it) => it.includes(".git/"))).toEqual([]);
  });

  test.each([
    [{ path: ".git" }, [".git/config"]],
    [{ glob: ".git/**" }, [".git/config"]],
    [{ glob: "**/.git/HEAD" }, ["sub/.git/HEAD"]],
  ])("is searched if it is named: %j", async (place, expected) => {
    const registry = plant(REPOSITORY);
    expect(files(await registry.call("Grep", { pattern: "needle", ...place }))).toEqual(expected);
  });
});

test.each([
  ["{a,b}{,.d}.ts", ["a.d.ts", "a.ts", "b.ts", "src/b.d.ts"]],
  ["**.ts", ["a.d.ts", "a.ts", "b.ts", "src/b.d.ts", "src/my_test.ts"]],
  ["**test**", ["src/my_test.ts"]],
  ["src/**test**", ["src/my_test.ts"]],
])("Glob %s finds every matching file", async (pattern, expected) => {
  const names = ["a.ts", "a.d.ts", "b.ts", "src/b.d.ts", "src/my_test.ts", "src/other.js"];
  const registry = plant(Object.fromEntries(names.map((it) => [it, ""])));
  expect(files(await registry.call("Glob", { pattern }))).toEqual(expected);
});
