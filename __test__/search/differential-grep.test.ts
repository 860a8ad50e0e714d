import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type CallResult, createToolRegistry } from "../support/unasked";
import { Random } from "../support/random.js";
import { type GrepQuestion as Input, grepQuestion } from "../support/search-questions.js";
import { countsOf, filesOf, partlySearched, ripgrep, rowsOf } from "../support/ripgrep.js";
import { type Tree, plantTree } from "../support/search-trees.js";
import { useWorkspace } from "../support/workspace.js";

// A longer run: TOOLWRIGHT_SEARCH_CASES=2000 npx vitest run differential-grep
const CASES = Number(process.env.TOOLWRIGHT_SEARCH_CASES ?? 200);
const SEED = Number(process.env.TOOLWRIGHT_SEARCH_SEED ?? Date.now() % 1_000_000);
const CASES_PER_TREE = 10;

/** A glob with a literal directory searches it even if it is ignored. ripgrep needs another glob for that. */
function spelledOut(glob: string): string[] {
  if (glob.startsWith("!") || !glob.replace(/^\//, "").includes("/")) return [];
  const parts = glob.replace(/^\//, "").split("/");
  const literal = parts.slice(
    0,
    parts.findIndex((part) => part === "" || /[*?[{\\]/.test(part)),
  );
  return literal.map((_, index) => `/${literal.slice(0, index + 1).join("/")}/`);
}

function ripgrepArguments(input: Input, tree: Tree): string[] {
  const args = ["--hidden", "--sort", "path"];
  if (!tree.repository) args.push("--no-require-git");
  for (const glob of input.glob?.split(/[ ,](?![^{]*})/) ?? []) {
    for (const named of [...spelledOut(glob), glob]) args.push("-g", named);
  }
  // The last glob has priority: ours never search `.git`.
  args.push("-g", "!.git");
  if (input.type) args.push("--type", input.type);
  if (input["-i"]) args.push("-i");
  if (input.multiline) args.push("-U", "--multiline-dotall");
  // A file that is named is searched, whatever its content.
  if (input.path !== undefined && tree.files.includes(input.path)) args.push("-a");
  switch (input.output_mode) {
    case "content":
      args.push("-n", "--with-filename", "--null", "--no-heading");
      if (input["-o"]) args.push("-o");
      if (input["-C"] !== undefined) args.push("-C", String(input["-C"]));
      else {
        if (input["-A"] !== undefined) args.push("-A", String(input["-A"]));
        if (input["-B"] !== undefined) args.push("-B", String(input["-B"]));
      }
      break;
    case "files_with_matches":
      args.push("-l", "--null");
      break;
    case "count":
      args.push("-c", "--with-filename", "--null");
      break;
  }
  return [...args, "-e", input.pattern, "--", `./${input.path ?? ""}`];
}

interface Answer {
  complete: boolean;
  skipped?: { partly?: { count: number; files: { file: string; binaryFrom: number }[] } };
  files?: unknown[];
  counts?: { file: string; count: number }[];
}

interface FileLines {
  file: string;
  lines: { line: number; text?: string; characters?: number; context?: boolean }[];
}

/** The results, one text for each row; for a line that is too long to show, its length. */
function ours(input: Input, answer: Answer): string[] {
  switch (input.output_mode) {
    case "files_with_matches":
      return (answer.files as string[]).toSorted();
    case "count":
      return (answer.counts ?? []).map(({ file, count }) => JSON.stringify([file, count]));
    case "content":
      return (answer.files as FileLines[]).flatMap(({ file, lines }) =>
        lines.map(({ line, text, characters, context }) =>
          JSON.stringify([file, line, characters ?? text, context === true]),
        ),
      );
  }
}

function theirs(input: Input, output: Buffer): string[] {
  switch (input.output_mode) {
    case "files_with_matches":
      return filesOf(output).toSorted();
    case "count":
      return countsOf(output).map(({ file, count }) => JSON.stringify([file, count]));
    case "content":
      return rowsOf(output).map(({ file, line, text, context }) => {
        const length = [...text].length;
        return JSON.stringify([file, line, length > 500 ? length : text, context]);
      });
  }
}

const SAME = { error: undefined, ours: [], theirs: [], more: 0 };
/** How many partly searched files an answer names. */
const NAMED = 5;

/** The rows around the first difference; all of them would fill the screen. */
function compared(input: Input, result: CallResult, args: string[], root: string) {
  const { error } = result;
  if (error) return { ...SAME, error };
  const answer = result.structuredContent as unknown as Answer;
  const found = ours(input, answer);
  const output = ripgrep(root, args);
  const expected = theirs(input, output);
  // An answer that is too long contains the first rows, and then there must be more.
  const cut = !answer.complete && found.length < expected.length;
  const wanted = cut ? expected.slice(0, found.length) : expected;
  const at = found.findIndex((row, index) => row !== wanted[index]);
  // Lists and counts report no partly searched file: one match is enough, or the file is not counted.
  const isContent = input.output_mode === "content";
  const stopped = isContent ? partlySearched(root, args, rowsOf(output)) : [];
  const partly = answer.skipped?.partly ?? { count: 0, files: [] };
  if (!cut && (answer.complete || partly.count > 0)) {
    const expectedPartly = { count: stopped.length, files: stopped.slice(0, NAMED) };
    const [one, other] = [JSON.stringify(partly), JSON.stringify(expectedPartly)];
    if (one !== other) return { ...SAME, ours: [one], theirs: [other] };
  }
  const isWhole = !cut && stopped.length === 0;
  if (at < 0 && found.length === wanted.length && isWhole === answer.complete) return SAME;
  const from = at < 0 ? found.length : at;
  return {
    error,
    ours: found.slice(from, from + 3),
    theirs: wanted.slice(from, from + 3),
    more: found.length - wanted.length,
  };
}

const workspace = useWorkspace();

describe("the same results as ripgrep", () => {
  test(
    `${CASES} searches of generated trees, from seed ${SEED}`,
    { timeout: 3_600_000 },
    async () => {
      const random = new Random(SEED);
      for (let done = 0; done < CASES;) {
        const root = join(workspace.root, "tree");
        const tree = plantTree(root, random);
        const registry = createToolRegistry({ projectPath: root });
        for (let count = 0; count < CASES_PER_TREE && done < CASES; count += 1, done += 1) {
          const input = grepQuestion(random, tree);
          const result = await registry.call("Grep", input);
          // The input is part of the comparison, so that a failure shows it.
          const about = { case: done, input, repository: tree.repository };
          const seen = {
            ...about,
            ...compared(input, result, ripgrepArguments(input, tree), root),
          };
          expect(seen).toEqual({ ...about, ...SAME });
        }
        await registry.close();
      }
    },
  );

  test("a match over several lines with a binary byte, of which ripgrep shows only the context", async () => {
    const before = `before\nfoo\n${"filler\n".repeat(10_000)}`;
    workspace.write("a.rs", `${before}\0bar\n`);
    const input: Input = {
      pattern: "foo.*bar",
      output_mode: "content",
      multiline: true,
      "-B": 1,
      head_limit: 0,
    };
    const tree = { repository: false, files: ["a.rs"], folders: [], swallowed: new Set<string>() };
    const args = ripgrepArguments(input, tree);
    const registry = createToolRegistry({ projectPath: workspace.root });
    const result = await registry.call("Grep", input);
    await registry.close();
    expect(compared(input, result, args, workspace.root)).toEqual(SAME);
    expect(ripgrep(workspace.root, args).toString()).toBe("./a.rs\u00001-before\n");
    expect((result.structuredContent as unknown as Answer).skipped?.partly?.files).toEqual([
      { file: "a.rs", binaryFrom: before.length },
    ]);
  });

  // Seed 48011: the searcher looks for binary bytes in the first 64 KiB and in matches.
  test("matches of only line ends, in a file with a binary byte that no match contains", async () => {
    workspace.write("a.rs", `before\n\nafter\n${"filler\n".repeat(10_000)}\0bar\n`);
    const input: Input = {
      pattern: "\\n\\n",
      output_mode: "content",
      multiline: true,
      "-o": true,
      "-C": 1,
      head_limit: 0,
    };
    const tree = { repository: false, files: ["a.rs"], folders: [], swallowed: new Set<string>() };
    const registry = createToolRegistry({ projectPath: workspace.root });
    const result = await registry.call("Grep", input);
    await registry.close();
    const args = ripgrepArguments(input, tree);
    expect(compared(input, result, args, workspace.root)).toEqual(SAME);
    expect((result.structuredContent as unknown as Answer).complete).toBe(true);
  });
});
