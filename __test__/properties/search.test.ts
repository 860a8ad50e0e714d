import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createToolRegistry } from "../support/unasked";
import { useWorkspace } from "../support/workspace.js";

const RUNS = { numRuns: 60 };
const workspace = useWorkspace();

/** A fresh tree of files, by path. */
function plant(files: Record<string, string>) {
  const root = join(workspace.root, "tree");
  rmSync(root, { recursive: true, force: true });
  mkdirSync(root);
  for (const [name, content] of Object.entries(files)) {
    const path = join(root, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
  return createToolRegistry({ projectPath: root, toolsets: ["classic"] });
}

type Registry = ReturnType<typeof plant>;

/** The rows of an answer; text in brackets is a note. */
async function rows(registry: Registry, tool: string, params: Record<string, unknown>) {
  const invocation = registry.createInvocation(tool, params);
  const { llmContent, error } = await invocation.execute();
  expect(error).toBeUndefined();
  return llmContent.split("\n").filter((line) => line !== "" && !line.startsWith("["));
}

const folder = fc.constantFrom("", "src/", "src/deep/", "docs/", ".hidden/", "src/.dot/");
const name = fc.stringMatching(/^\.?[a-e]{1,3}$/);
const extension = fc.constantFrom("ts", "js", "md", "txt");
const path = fc.tuple(folder, name, extension).map(([at, stem, end]) => `${at}${stem}.${end}`);
const line = fc.constantFrom("alpha", "Alpha beta", "beta", "gamma ALPHA", "", "delta");
const content = fc
  .array(line, { maxLength: 6 })
  .map((lines) => lines.map((it) => `${it}\n`).join(""));
const tree = fc.dictionary(path, content, { minKeys: 1, maxKeys: 25, noNullPrototype: true });

const isHidden = (file: string) => file.split("/").some((part) => part.startsWith("."));
const inOrder = (names: string[]) => names.toSorted();

/** Patterns, each with its meaning in plain JavaScript. */
const pattern = fc.constantFrom<[string, (file: string) => boolean]>(
  ["**/*", () => true],
  ["**/*.ts", (file) => file.endsWith(".ts")],
  ["*.md", (file) => !file.includes("/") && file.endsWith(".md")],
  ["src/**/*.{ts,js}", (file) => file.startsWith("src/") && /\.[tj]s$/.test(file)],
  ["src/*", (file) => /^src\/[^/]+$/.test(file)],
  ["**/[ab]*.txt", (file) => /(^|\/)[ab][^/]*\.txt$/.test(file)],
  ["*/?.ts", (file) => /^[^/]+\/[^/]\.ts$/.test(file)],
);

describe("seed properties of finding and searching files", () => {
  // Feature: stage-03-tools-policy, Property 16: Glob Pattern Matching
  test("Property 16: glob returns all matching files and no others", async () => {
    await fc.assert(
      fc.asyncProperty(tree, pattern, async (files, [glob, fits]) => {
        const registry = plant(files);
        const found = await rows(registry, "glob", { pattern: glob, includeHidden: true });
        expect(inOrder(found)).toEqual(inOrder(Object.keys(files).filter(fits)));
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 17: Glob Max Results Constraint
  test("Property 17: glob returns at most maxResults files, and counts all", async () => {
    await fc.assert(
      fc.asyncProperty(tree, fc.integer({ min: 1, max: 10 }), async (files, maxResults) => {
        const registry = plant(files);
        const params = { pattern: "**/*", includeHidden: true, maxResults };
        const total = Object.keys(files).length;
        expect(await rows(registry, "glob", params)).toHaveLength(Math.min(maxResults, total));
        const { structuredContent } = await registry.call("glob", params);
        expect(structuredContent).toMatchObject({ total, complete: total <= maxResults });
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 18: Glob Hidden File Filtering
  test("Property 18: glob returns hidden files only with includeHidden", async () => {
    await fc.assert(
      fc.asyncProperty(tree, fc.boolean(), async (files, includeHidden) => {
        const registry = plant(files);
        const found = await rows(registry, "glob", { pattern: "**/*", includeHidden });
        const expected = Object.keys(files).filter((file) => includeHidden || !isHidden(file));
        expect(inOrder(found)).toEqual(inOrder(expected));
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 19: Grep Pattern Matching
  // Feature: stage-03-tools-policy, Property 20: Grep Case Sensitivity
  test("Properties 19 and 20: grep returns every matching line with its file and number", async () => {
    const regex = fc.constantFrom("alpha", "Alpha", "be.a$", "^gamma", "a b", "x");
    await fc.assert(
      fc.asyncProperty(tree, regex, fc.boolean(), async (files, source, caseSensitive) => {
        const registry = plant(files);
        const matches = new RegExp(source, caseSensitive ? "" : "i");
        const expected = Object.entries(files)
          .filter(([file]) => !isHidden(file))
          .flatMap(([file, text]) =>
            text.split("\n").flatMap((it, index) => {
              const isLine = index < text.split("\n").length - 1;
              return isLine && matches.test(it) ? [`${file}:${index + 1}: ${it}`] : [];
            }),
          );
        const found = await rows(registry, "grep", { pattern: source, caseSensitive });
        expect(inOrder(found)).toEqual(inOrder(expected));
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 21: Grep File Pattern Filtering
  test("Property 21: grep searches only files that match filePattern", async () => {
    await fc.assert(
      fc.asyncProperty(tree, pattern, async (files, [filePattern, fits]) => {
        const registry = plant(files);
        const found = await rows(registry, "grep", { pattern: "alpha", filePattern });
        const searched = Object.entries(files).filter(([file]) => fits(file) && !isHidden(file));
        const expected = searched.filter(([, text]) => /alpha/i.test(text)).map(([file]) => file);
        const matching = new Set(found.map((row) => row.slice(0, row.indexOf(":"))));
        expect(inOrder([...matching])).toEqual(inOrder(expected));
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 22: Directory Listing Completeness
  test("Property 22: ls returns every entry, hidden ones only with includeHidden", async () => {
    await fc.assert(
      fc.asyncProperty(tree, fc.boolean(), async (files, includeHidden) => {
        const registry = plant(files);
        const entries = new Map(
          Object.keys(files).map((file) => {
            const [first = "", ...rest] = file.split("/");
            return [first, rest.length > 0 ? `d ${first}` : `- ${first}`];
          }),
        );
        const expected = [...entries].filter(([entry]) => includeHidden || !isHidden(entry));
        const listed = await rows(registry, "ls", { path: ".", includeHidden });
        expect(inOrder(listed)).toEqual(inOrder(expected.map(([, row]) => row)));
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 23: Directory Listing Recursion
  test("Property 23: ls descends to maxDepth and no deeper", async () => {
    await fc.assert(
      fc.asyncProperty(tree, fc.integer({ min: 0, max: 3 }), async (files, maxDepth) => {
        const registry = plant(files);
        const expected = new Set<string>();
        for (const file of Object.keys(files)) {
          const parts = file.split("/");
          parts.forEach((part, depth) => {
            const mark = depth === parts.length - 1 ? "-" : "d";
            if (depth <= maxDepth) expected.add(`${"  ".repeat(depth)}${mark} ${part}`);
          });
        }
        const params = { path: ".", recursive: true, includeHidden: true, maxDepth };
        const listed = new Set(await rows(registry, "ls", params));
        expect(inOrder([...listed])).toEqual(inOrder([...expected]));
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 24: Gitignore Respect
  test("Property 24: files that .gitignore names are neither found, searched nor listed", async () => {
    const rule = fc.constantFrom<[string, (file: string) => boolean]>(
      ["*.md", (file) => file.endsWith(".md")],
      ["docs/", (file) => file.startsWith("docs/")],
      ["/src", (file) => file.startsWith("src/")],
      ["deep", (file) => file.split("/").includes("deep")],
      ["src/**/*.ts", (file) => file.startsWith("src/") && file.endsWith(".ts")],
    );
    await fc.assert(
      fc.asyncProperty(tree, rule, async (files, [ignore, isIgnored]) => {
        const registry = plant({ ...files, ".gitignore": `${ignore}\n` });
        const visible = Object.keys(files).filter((file) => !isIgnored(file) && !isHidden(file));
        const found = await rows(registry, "glob", { pattern: "**/*" });
        expect(inOrder(found)).toEqual(inOrder(visible));
        const matching = visible.filter((file) => /alpha/i.test(files[file] as string));
        const searched = await rows(registry, "grep", { pattern: "alpha" });
        const searchedFiles = new Set(searched.map((row) => row.slice(0, row.indexOf(":"))));
        expect(inOrder([...searchedFiles])).toEqual(inOrder(matching));
        const listed = await rows(registry, "ls", { path: ".", recursive: true });
        const listedFiles = listed.filter((row) => row.trim().startsWith("-"));
        expect(listedFiles).toHaveLength(visible.length);
      }),
      RUNS,
    );
  });
});
