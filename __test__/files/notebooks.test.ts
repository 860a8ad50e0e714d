// Random notebooks in the layouts of different programs, and random changes of their cells.
// `TOOLWRIGHT_SEED=… npx vitest run files/notebooks` repeats a run.

import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createToolRegistry } from "../support/unasked";
import { failure, refusal } from "../support/results.js";
import { useWorkspace } from "../support/workspace.js";

const seed = Number(process.env["TOOLWRIGHT_SEED"] ?? Date.now() % 2 ** 31);
const workspace = useWorkspace();

interface Cell {
  id?: string;
  cell_type: string;
  metadata: unknown;
  source: string | string[];
  outputs?: unknown[];
  execution_count?: number | null;
  [unknown: string]: unknown;
}

const words = fc.constantFrom("x = 1", "print('é')", "# 日本 😀", '"quoted"', "\\n", "a\tb", "");
const source = fc.array(words, { maxLength: 4 }).map((lines) => lines.join("\n"));
/** Jupyter's form: lines that keep their ends. */
const inLines = (text: string) => text.split(/(?<=\n)/).filter((line) => line !== "");
const sourceField = fc
  .tuple(source, fc.boolean())
  .map(([text, asLines]) => (asLines ? inLines(text) : text));
const unknown = fc.constantFrom({}, { "x-unknown": [1, { deep: null }] }, { attachments: {} });

const code = fc.record({
  cell_type: fc.constant("code"),
  metadata: fc.constantFrom({}, { collapsed: true, "x-tool": ["a", 1.5] }),
  source: sourceField,
  outputs: fc.constantFrom([], [{ output_type: "stream", name: "stdout", text: ["hi\n"] }]),
  execution_count: fc.constantFrom(null, 7),
});
const markdown = fc.record({
  cell_type: fc.constant("markdown"),
  metadata: fc.constantFrom({}, { slide: "skip" }),
  source: sourceField,
});

const notebook = fc
  .record({
    cells: fc.array(fc.tuple(fc.oneof(code, markdown), unknown), { minLength: 1, maxLength: 5 }),
    withIds: fc.boolean(),
    indent: fc.constantFrom<string | number>(0, 1, 2, 4, "\t"),
    ending: fc.constantFrom("\n", "\r\n"),
    mark: fc.constantFrom("", "\ufeff"),
    endsWithNewline: fc.boolean(),
  })
  .map(({ cells, withIds, indent, ending, mark, endsWithNewline }) => {
    const data = {
      cells: cells.map(([cell, extra], n): Cell => {
        const id = withIds ? { id: `id${n}` } : {};
        return Object.assign({}, id, cell, extra) as unknown as Cell;
      }),
      metadata: { kernelspec: { name: "python3" }, "x-unknown": [0.1, true] },
      nbformat: 4,
      nbformat_minor: withIds ? 5 : 4,
      "x-more": "kept",
    };
    const text = JSON.stringify(data, null, indent) + (endsWithNewline ? "\n" : "");
    return { data, withIds, text: mark + text.replaceAll("\n", ending) };
  });
const place = fc.nat({ max: 100 });

const textOf = ({ source }: Cell) => (Array.isArray(source) ? source.join("") : source);
const withText = (cell: Cell) => ({ ...cell, source: textOf(cell) });
const parsed = (file: string) =>
  JSON.parse(readFileSync(file, "utf8").replace(/^\ufeff/, "")) as { cells: Cell[] };

/** The lengths of the common beginning and the common end of two texts. */
function expectSameAround(before: string, after: string, cell: { first: string; last: string }) {
  expect(after.slice(0, cell.first.length)).toBe(cell.first);
  expect(after.slice(after.length - cell.last.length)).toBe(cell.last);
  expect(before.startsWith(cell.first) && before.endsWith(cell.last)).toBe(true);
}

/** The text before the cells and the text after them. */
function around(text: string): { first: string; last: string } {
  return {
    first: text.slice(0, text.indexOf("[") + 1),
    last: text.slice(text.lastIndexOf('"kernelspec"')),
  };
}

function readRegistry(file: string) {
  const registry = createToolRegistry({ projectPath: workspace.root });
  return { registry, read: registry.call("Read", { file_path: file }) };
}

describe(`random notebooks (seed ${seed})`, () => {
  const runs = { numRuns: 200, seed };

  test("a replaced cell has its new source and no outputs; everything else stays", async () => {
    await fc.assert(
      fc.asyncProperty(notebook, place, source, async ({ data, withIds, text }, n, new_source) => {
        const index = n % data.cells.length;
        const file = workspace.write("a.ipynb", text);
        const { registry, read } = readRegistry(file);
        await read;
        const result = await registry.call("NotebookEdit", {
          notebook_path: file,
          cell_id: withIds && n % 2 === 0 ? `id${index}` : `cell-${index}`,
          new_source,
        });
        expect(result.error).toBeUndefined();
        const cells = data.cells.map((cell, at) => {
          if (at !== index) return cell;
          const cleared = cell.cell_type === "code" ? { outputs: [], execution_count: null } : {};
          const source = Array.isArray(cell.source) ? inLines(new_source) : new_source;
          return { ...cell, source, ...cleared };
        });
        expect(parsed(file)).toEqual({ ...data, cells });
        expect(Object.keys(parsed(file))).toEqual(Object.keys(data));
        expectSameAround(text, readFileSync(file, "utf8"), around(text));
      }),
      runs,
    );
  });

  test("a deleted cell is gone; everything else stays", async () => {
    await fc.assert(
      fc.asyncProperty(notebook, place, async ({ data, text }, n) => {
        const index = n % data.cells.length;
        const file = workspace.write("a.ipynb", text);
        const { registry, read } = readRegistry(file);
        await read;
        const result = await registry.call("NotebookEdit", {
          notebook_path: file,
          cell_id: `cell-${index}`,
          edit_mode: "delete",
        });
        expect(result.error).toBeUndefined();
        expect(parsed(file)).toEqual({ ...data, cells: data.cells.toSpliced(index, 1) });
        expectSameAround(text, readFileSync(file, "utf8"), around(text));
      }),
      runs,
    );
  });

  test("an inserted cell is where it was requested; everything else stays", async () => {
    const cell_type = fc.constantFrom("code" as const, "markdown" as const);
    await fc.assert(
      fc.asyncProperty(notebook, place, source, cell_type, async (it, n, new_source, kind) => {
        const { data, withIds, text } = it;
        const index = n % (data.cells.length + 1);
        const file = workspace.write("a.ipynb", text);
        const { registry, read } = readRegistry(file);
        await read;
        const result = await registry.call("NotebookEdit", {
          notebook_path: file,
          ...(index === 0 ? {} : { cell_id: `cell-${index - 1}` }),
          new_source,
          cell_type: kind,
          edit_mode: "insert",
        });
        expect(result.error).toBeUndefined();
        const after = parsed(file);
        const [made] = after.cells.splice(index, 1) as [Cell];
        expect(after).toEqual(data);
        const { id, ...rest } = withText(made);
        const own = kind === "code" ? { outputs: [], execution_count: null } : {};
        expect(rest).toEqual({ cell_type: kind, metadata: {}, source: new_source, ...own });
        expect(`${id}`).toMatch(withIds ? /^[0-9a-f]{8}$/ : /^undefined$/);
        expectSameAround(text, readFileSync(file, "utf8"), around(text));
      }),
      runs,
    );
  });
});

describe("notebooks and the tools for text", () => {
  test("Edit and edit_file name the tool to use instead, and the notebook stays", async () => {
    const file = workspace.write("a.ipynb", '{"cells":[]}');
    const registry = createToolRegistry({
      projectPath: workspace.root,
      toolsets: ["claude", "classic"],
    });
    const refused = (instead: string) =>
      refusal(
        "FileEditError",
        `\`${file}\` is a notebook; ${instead}`,
        "NotebookEdit is in the toolset `claude` (`toolsets`)",
      );
    const edits = [{ target: "cells", replacement: "x" }];
    expect([
      await registry.call("Edit", { file_path: file, old_string: "cells", new_string: "x" }),
      await registry.call("edit_file", { path: "a.ipynb", edits }),
    ]).toEqual([
      refused("change its cells with NotebookEdit"),
      // The set has no such tool.
      refused("write it whole with write_file"),
    ]);
    expect(readFileSync(file, "utf8")).toBe('{"cells":[]}');
  });

  test("a notebook that was not read, an unknown cell, and a file that is no notebook are refused", async () => {
    const text =
      '{"cells":[{"id":"one","cell_type":"code","source":[],"metadata":{},"outputs":[],"execution_count":null}],"metadata":{},"nbformat":4,"nbformat_minor":5}';
    const file = workspace.write("a.ipynb", text);
    const other = workspace.write("b.ipynb", text);
    const registry = createToolRegistry({ projectPath: workspace.root });
    const edit = (notebook_path: string, cell_id: string) =>
      registry.call("NotebookEdit", { notebook_path, cell_id, new_source: "x" });
    const types = [(await edit(file, "one")).error?.type];
    await registry.call("Read", { file_path: file });
    const unknown = await edit(file, "two");
    await registry.call("Read", { file_path: other });
    workspace.write("b.ipynb", "not JSON");
    types.push((await edit(other, "one")).error?.type);
    expect(types).toEqual(["NotReadError", "FileEditError"]);
    expect(unknown).toEqual(
      failure("EditTargetNotFound", "no cell has the id `two`; there are `one`"),
    );
    expect([file, other].map((it) => readFileSync(it, "utf8"))).toEqual([text, "not JSON"]);
  });

  test("invalid bytes beside the changed cell stay", async () => {
    const cell = (id: string, text: string) =>
      `{"cell_type":"code","id":"${id}","metadata":{},"source":["${text}"],"outputs":[],"execution_count":null}`;
    const head = `{"cells":[${cell("one", "x")},`;
    const bytes = (source: string) =>
      Buffer.concat([
        Buffer.from(head.replace('["x"]', `["${source}"]`)),
        Buffer.from(
          `${cell("two", "äöü 日本 HERE")}],"metadata":{},"nbformat":4,"nbformat_minor":5}`,
        ),
      ]);
    const damaged = (source: string) => {
      const whole = bytes(source);
      whole[whole.indexOf("HERE")] = 0xff;
      return whole;
    };
    const file = workspace.write("a.ipynb", damaged("x"));
    const registry = createToolRegistry({ projectPath: workspace.root });
    await registry.call("Read", { file_path: file });
    const edit = { notebook_path: file, cell_id: "one", new_source: "y" };
    expect((await registry.call("NotebookEdit", edit)).isError).toBeUndefined();
    expect(readFileSync(file)).toEqual(damaged("y"));
    const again = await registry.call("NotebookEdit", edit);
    expect(again.content[0]).toMatchObject({
      text: expect.stringContaining("has this source already; nothing was written"),
    });
  });

  test("a new source is required, and an id has to match one cell", async () => {
    const cell = { cell_type: "markdown", id: "one", metadata: {}, source: ["x"] };
    const text = JSON.stringify({
      cells: [cell, cell],
      metadata: {},
      nbformat: 4,
      nbformat_minor: 5,
    });
    const file = workspace.write("a.ipynb", text);
    const registry = createToolRegistry({ projectPath: workspace.root });
    await registry.call("Read", { file_path: file });
    const edit = (input: object) =>
      registry.call("NotebookEdit", { notebook_path: file, cell_id: "one", ...input });
    const errors = [
      (await edit({})).error,
      (await edit({ edit_mode: "insert", cell_type: "code" })).error,
      (await edit({ new_source: "y" })).error,
    ];
    expect(errors.map((error) => error?.type)).toEqual([
      "ValidationError",
      "ValidationError",
      "EditTargetAmbiguous",
    ]);
    expect(errors[0]?.message).toContain("`new_source`");
    expect(readFileSync(file, "utf8")).toBe(text);
  });
});
