import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rows } from "../support/results.js";
import { useRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

const RUNS = { numRuns: 200 };
const workspace = useWorkspace();

const registryHere = useRegistries(workspace);

/** Any text of a file. A NUL would make it binary, and a leading U+FEFF is a mark and no content. */
const content = fc
  .array(
    fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 30 }),
      fc.string({ unit: "binary", maxLength: 10 }),
      fc.constantFrom("\n", "\n\n", "\r\n", "\r", "\t", " ", "日本語", "😀", "\u2028", "\u0085"),
    ),
    { maxLength: 40 },
  )
  .map((pieces) =>
    pieces
      .join("")
      .replaceAll("\0", "")
      .replace(/^\ufeff+/, ""),
  );

/** The lines as `Read` counts them: the line end of the last line starts no further one. */
function linesOf(text: string): string[] {
  const lines = text.split("\n");
  const last = lines.pop() as string;
  const ended = lines.map((line) => line.replace(/\r$/, ""));
  return last === "" ? ended : [...ended, last];
}

describe("seed properties of reading", () => {
  // Feature: stage-03-tools-policy, Property 6: File Read Round Trip
  test("Property 6: read_file returns what was written to a file", async () => {
    const registry = registryHere();
    await fc.assert(
      fc.asyncProperty(content, async (text) => {
        workspace.write("round-trip.txt", text);
        const { llmContent, error } = await registry
          .createInvocation("read_file", { path: "round-trip.txt" })
          .execute();
        expect({ llmContent, error }).toEqual({ llmContent: text, error: undefined });
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 6: File Read Round Trip
  test("Property 6: the numbered rows of Read contain every line of the file", async () => {
    const registry = registryHere();
    await fc.assert(
      fc.asyncProperty(content, async (text) => {
        const file = workspace.write("numbered.txt", text);
        const result = await registry.call("Read", { file_path: file });
        expect(rows(result)).toEqual(linesOf(text).map((line, index) => `${index + 1}\t${line}`));
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 7: File Read Line Range Slicing
  test("Property 7: a range of lines is exactly the lines within it", async () => {
    const registry = registryHere();
    const slice = content
      .filter((text) => text !== "")
      .chain((text) => {
        const last = text.split("\n").length;
        return fc
          .tuple(
            fc.integer({ min: 1, max: linesOf(text).length }),
            fc.integer({ min: 1, max: last }),
          )
          .filter(([startLine, endLine]) => startLine <= endLine)
          .map(([startLine, endLine]) => ({ text, startLine, endLine }));
      });
    await fc.assert(
      fc.asyncProperty(slice, async ({ text, startLine, endLine }) => {
        workspace.write("slice.txt", text);
        const result = await registry
          .createInvocation("read_file", { path: "slice.txt", startLine, endLine })
          .execute();
        const expected = text
          .split("\n")
          .slice(startLine - 1, endLine)
          .join("\n");
        expect(result.llmContent).toBe(expected);
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 8: File Read Error Handling
  test("Property 8: reading a file that does not exist is a FileNotFoundError", async () => {
    const registry = registryHere();
    const name = fc.stringMatching(/^[a-c1-3 é_-]{1,20}$/);
    const path = fc.array(name, { minLength: 1, maxLength: 5 }).map((parts) => parts.join("/"));
    await fc.assert(
      fc.asyncProperty(path, async (missing) => {
        const results = [
          await registry.call("read_file", { path: missing }),
          await registry.call("Read", { file_path: workspace.path(missing) }),
        ];
        const invocation = registry.createInvocation("read_file", { path: missing });
        expect((await invocation.execute()).error?.type).toBe("FileNotFoundError");
        for (const { isError, error } of results) {
          expect(isError).toBe(true);
          expect(error?.type).toBe("FileNotFoundError");
          expect(error?.message).toContain(missing);
        }
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 9: Multiple File Read Formatting
  test("Property 9: read_many_files shows each path as a header above its content", async () => {
    const registry = registryHere();
    const file = fc.record({ name: fc.stringMatching(/^[a-z]{1,8}\.txt$/), text: content });
    const files = fc.uniqueArray(file, {
      selector: ({ name }) => name,
      minLength: 1,
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(files, async (files) => {
        for (const { name, text } of files) workspace.write(name, text);
        const { llmContent } = await registry
          .createInvocation("read_many_files", { paths: files.map(({ name }) => name) })
          .execute();
        const shown = files.map(({ name, text }) => `=== ${name} ===\n${text}\n`).join("\n");
        expect(llmContent).toBe(`${shown}[paths are relative to \`${workspace.root}\`]`);
      }),
      { numRuns: 100 },
    );
  });
});
