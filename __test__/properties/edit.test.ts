import { readFileSync, statSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { useRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

const RUNS = { numRuns: 100 };
const workspace = useWorkspace();

const registryHere = useRegistries(workspace);

/** Text without special characters: NUL (binary), a leading byte order mark, U+FFFD. */
const text = fc
  .array(
    fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 20 }),
      fc.constantFrom("\n", "\r\n", "\t", "é"),
    ),
    {
      maxLength: 20,
    },
  )
  .map((pieces) => pieces.join("").replaceAll(/[\0\ufeff\ufffd]/g, ""));

/** Words that occur nowhere in the text above. */
const word = fc.integer({ min: 0, max: 999_999 }).map((n) => `⟦target-${n}⟧`);

const segments = fc.array(fc.constantFrom("a", "b", "c", "1"), { minLength: 1, maxLength: 5 });

describe("seed properties of changing files", () => {
  // Feature: stage-03-tools-policy, Property 6: File Read Round Trip
  test("Property 6: read_file returns what write_file wrote", async () => {
    const registry = registryHere();
    await fc.assert(
      fc.asyncProperty(text, async (content) => {
        const written = await registry.call("write_file", {
          path: "a.txt",
          content,
          overwrite: true,
        });
        expect(written.error).toBeUndefined();
        const { llmContent } = await registry
          .createInvocation("read_file", { path: "a.txt" })
          .execute();
        expect(llmContent).toBe(content);
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 10: File Write Overwrite Protection
  test("Property 10: an existing file is not written without the flag", async () => {
    const registry = registryHere();
    await fc.assert(
      fc.asyncProperty(text, text, async (old, content) => {
        const file = workspace.write("kept.txt", old);
        const result = await registry.call("write_file", { path: "kept.txt", content });
        expect(result.error?.type).toBe("FileExistsError");
        expect(readFileSync(file, "utf8")).toBe(old);
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 11: File Write Overwrite Behavior
  test("Property 11: with the flag, the new content replaces what was read", async () => {
    const registry = registryHere();
    await fc.assert(
      fc.asyncProperty(text, text, async (old, content) => {
        const file = workspace.write("replaced.txt", old);
        await registry.call("read_file", { path: "replaced.txt" });
        const result = await registry.call("write_file", {
          path: "replaced.txt",
          content,
          overwrite: true,
        });
        expect(result.error).toBeUndefined();
        expect(readFileSync(file, "utf8")).toBe(content);
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 12: Parent Directory Creation
  test("Property 12: missing parent directories are created", async () => {
    const registry = registryHere();
    let run = 0;
    await fc.assert(
      fc.asyncProperty(segments, async (names) => {
        run += 1;
        const path = [`run-${run}`, ...names, "file.txt"].join("/");
        const result = await registry.call("write_file", { path, content: "x" });
        expect(result.error).toBeUndefined();
        expect(statSync(workspace.path(path)).isFile()).toBe(true);
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 13: File Edit Target Uniqueness
  test("Property 13: a target that occurs once is replaced, and nothing else changes", async () => {
    const registry = registryHere();
    await fc.assert(
      fc.asyncProperty(text, word, text, text, async (before, target, after, replacement) => {
        const file = workspace.write("edited.txt", before + target + after);
        await registry.call("read_file", { path: "edited.txt" });
        // Line endings follow the file, which is another property; here there are none to follow.
        const flat = replacement.replaceAll(/[\r\n]/g, "");
        const result = await registry.call("edit_file", {
          path: "edited.txt",
          edits: [{ target, replacement: flat }],
        });
        expect(result.error).toBeUndefined();
        expect(readFileSync(file, "utf8")).toBe(before + flat + after);
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 14: File Edit Target Not Found
  test("Property 14: a target that does not occur is not found, and the file stays", async () => {
    const registry = registryHere();
    await fc.assert(
      fc.asyncProperty(text, word, async (content, target) => {
        const file = workspace.write("missing.txt", content);
        await registry.call("read_file", { path: "missing.txt" });
        const edits = [{ target, replacement: "x" }];
        const result = await registry.call("edit_file", { path: "missing.txt", edits });
        expect(result.error?.type).toBe("EditTargetNotFound");
        expect(readFileSync(file, "utf8")).toBe(content);
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 15: File Edit Target Ambiguity
  test("Property 15: a target that occurs several times is ambiguous, and the file stays", async () => {
    const registry = registryHere();
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { minLength: 3, maxLength: 5 }),
        word,
        async (parts, target) => {
          const content = parts.join(target);
          const file = workspace.write("ambiguous.txt", content);
          await registry.call("read_file", { path: "ambiguous.txt" });
          const edits = [{ target, replacement: "x" }];
          const result = await registry.call("edit_file", { path: "ambiguous.txt", edits });
          expect(result.error?.type).toBe("EditTargetAmbiguous");
          expect(readFileSync(file, "utf8")).toBe(content);
        },
      ),
      RUNS,
    );
  });
});
