import { readFileSync, statSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createToolRegistry } from "./support/unasked";
import { failure, texts } from "./support/results";
import { useWorkspace } from "./support/workspace";

const workspace = useWorkspace();

function registryOf(options = {}) {
  return createToolRegistry({
    projectPath: workspace.root,
    toolsets: ["claude", "classic"],
    ...options,
  });
}

describe("what an edit answers", () => {
  test("the certificate is data, the diff is for the person", async () => {
    const registry = registryOf();
    const path = workspace.write("a.txt", "one\n  two\n  three\n");
    await registry.call("Read", { file_path: path });
    const result = await registry.call("Edit", {
      file_path: path,
      old_string: "two\nthree",
      new_string: "2\n3",
    });
    const message = `edited \`${path}\`: replaced lines 2-3 (found by \`indentation-shift\`, not as given)`;
    expect(result).toEqual({
      content: [{ type: "text", text: message }],
      display: `--- ${path}\n+++ ${path}\n@@ -1,3 +1,3 @@\n one\n-  two\n-  three\n+  2\n+  3\n`,
      structuredContent: {
        message,
        path,
        created: false,
        strategy: "indentation-shift",
        occurrences: 1,
        lines: [{ first: 2, last: 3 }],
        linesAdded: 2,
        linesRemoved: 2,
      },
    });
  });

  test("several edits have a certificate each", async () => {
    const registry = registryOf();
    workspace.write("a.txt", "one\ntwo\none\n");
    await registry.call("read_file", { path: "a.txt" });
    const { structuredContent } = await registry.call("edit_file", {
      path: "a.txt",
      edits: [
        { target: "one", replacement: "1", lineHint: 3 },
        { target: "two", replacement: "2" },
      ],
    });
    expect(structuredContent).toMatchObject({
      edits: [
        { strategy: "exact", occurrences: 1, lines: [{ first: 3, last: 3 }] },
        { strategy: "exact", occurrences: 1, lines: [{ first: 2, last: 2 }] },
      ],
      linesAdded: 2,
      linesRemoved: 2,
    });
    expect(readFileSync(workspace.path("a.txt"), "utf8")).toBe("one\n2\n1\n");
  });

  test("a replacement that is there already once it has the file's line endings is refused", async () => {
    const registry = registryOf();
    const path = workspace.write("a.txt", "one\r\ntwo\r\n");
    await registry.call("Read", { file_path: path });
    const edit = { file_path: path, old_string: "one\ntwo", new_string: "one\r\ntwo" };
    expect((await registry.call("Edit", edit)).error?.type).toBe("FileEditError");
    expect(readFileSync(path, "utf8")).toBe("one\r\ntwo\r\n");
  });

  test("content that a file has already is not written again", async () => {
    const registry = registryOf();
    const path = workspace.write("a.txt", "one\n");
    await registry.call("Read", { file_path: path });
    const { mtimeNs, ino } = statSync(path, { bigint: true });
    const result = await registry.call("Write", { file_path: path, content: "one\n" });
    expect(texts(result)).toEqual([
      `\`${path}\` has this content already (1 line); nothing was written`,
    ]);
    expect(statSync(path, { bigint: true })).toMatchObject({ mtimeNs, ino });
  });

  test("a NUL that makes a file binary is mentioned", async () => {
    const registry = registryOf();
    const result = await registry.call("write_file", { path: "a", content: "x\0" });
    expect(texts(result)[0]).toContain("it has a NUL character, so it counts as binary now");
  });
});

describe("a file that changed since it was read", () => {
  test("is not written over, and the refusal shows what changed", async () => {
    const registry = registryOf();
    const path = workspace.write("a.txt", "one\ntwo\n");
    await registry.call("Read", { file_path: path });
    writeFileSync(path, "one\n2\n");
    expect(await registry.call("Write", { file_path: path, content: "x" })).toEqual(
      failure(
        "StaleFileError",
        `\`${path}\` changed since it was read, and was not written; read it again (- as read, + as it is):\n` +
          `--- ${path}\n+++ ${path}\n@@ -1,2 +1,2 @@\n one\n-two\n+2`,
      ),
    );
    expect(readFileSync(path, "utf8")).toBe("one\n2\n");
  });

  test("takes an edit whose target is still there once, and the answer shows what changed", async () => {
    const registry = registryOf();
    const path = workspace.write("a.txt", "one\ntwo\n");
    await registry.call("Read", { file_path: path });
    writeFileSync(path, "zero\none\ntwo\n");
    const result = await registry.call("Edit", {
      file_path: path,
      old_string: "two",
      new_string: "2",
    });
    expect(texts(result)[0]).toContain("the file had changed since it was read (- as read, + as");
    expect(texts(result)[0]).toContain("\n+zero\n one");
    expect(readFileSync(path, "utf8")).toBe("zero\none\n2\n");
  });

  test("explains why a target is gone", async () => {
    const registry = registryOf();
    const path = workspace.write("a.txt", "one\ntwo\n");
    await registry.call("Read", { file_path: path });
    writeFileSync(path, "one\nzwei\n");
    const edit = { file_path: path, old_string: "two", new_string: "2" };
    const result = await registry.call("Edit", edit);
    expect(result.error?.type).toBe("EditTargetNotFound");
    expect(result.error?.message).toContain("-two\n+zwei");
  });

  test("counts as fresh when only its time changed", async () => {
    const registry = registryOf();
    const path = workspace.write("a.txt", "one\n");
    await registry.call("Read", { file_path: path });
    writeFileSync(path, "one\n");
    const result = await registry.call("Write", { file_path: path, content: "x" });
    expect(result.isError).toBeUndefined();
  });
});

describe("readBeforeWrite: false", () => {
  test("lets every file be changed", async () => {
    const registry = registryOf({ readBeforeWrite: false });
    const path = workspace.write("a.txt", "one\n");
    const edit = { file_path: path, old_string: "one", new_string: "1" };
    expect((await registry.call("Edit", edit)).isError).toBeUndefined();
    writeFileSync(path, "changed by somebody\n");
    const write = { file_path: path, content: "x" };
    expect((await registry.call("Write", write)).isError).toBeUndefined();
    expect(readFileSync(path, "utf8")).toBe("x");
  });

  test("is a boolean and nothing else", () => {
    expect(() => registryOf({ readBeforeWrite: "no" })).toThrow("readBeforeWrite");
    expect(() => registryOf({ readBeforeWrite: true })).not.toThrow();
  });
});
