import { readFileSync, statSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { failure, refusal, texts } from "../support/results";
import { useRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace";

const workspace = useWorkspace();

const registryOf = useRegistries(workspace);

describe("the result of an edit", () => {
  test("the certificate is data, the diff is for the person", async () => {
    const registry = registryOf();
    const path = workspace.write("a.txt", "one\n  two\n  three\n");
    await registry.call("Read", { file_path: path });
    const result = await registry.call("Edit", {
      file_path: path,
      old_string: "two\nthree",
      new_string: "2\n3",
    });
    const message = `edited \`${path}\`: replaced lines 2-3 (matched by \`indentation-shift\`, not exactly)`;
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

  test("a replacement that equals the target after its line endings are converted is refused", async () => {
    const registry = registryOf();
    const path = workspace.write("a.txt", "one\r\ntwo\r\n");
    await registry.call("Read", { file_path: path });
    const edit = { file_path: path, old_string: "one\ntwo", new_string: "one\r\ntwo" };
    expect((await registry.call("Edit", edit)).error?.type).toBe("FileEditError");
    expect(readFileSync(path, "utf8")).toBe("one\r\ntwo\r\n");
  });

  test("content that a file already has is not written again", async () => {
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
    expect(texts(result)[0]).toContain("it contains a NUL character, so it now counts as binary");
    for (const content of ["\ufeffx\0", `${"x".repeat(10_000)}\0`]) {
      const other = await registry.call("write_file", { path: "b", content, overwrite: true });
      expect(texts(other)[0]).not.toContain("binary");
      expect((await registry.call("read_file", { path: "b" })).isError).toBeUndefined();
    }
  });

  test("a text that will be read in another encoding is mentioned", async () => {
    const registry = registryOf();
    workspace.write("a.txt", Buffer.from("Größe und Straße, déjà vu\n", "latin1"));
    await registry.call("read_file", { path: "a.txt" });
    const write = { path: "a.txt", content: "Ã©Ã©Ã© text\n", overwrite: true };
    expect(texts(await registry.call("write_file", write))[0]).toContain("another encoding");
  });

  test("names of temporary files and names that end in a slash are refused", async () => {
    const registry = registryOf();
    const name = workspace.write(".toolwright-c41f9b2e-0.tmp", "mine");
    for (const path of [name, "a/.", "a/..", ".", "a/"]) {
      const { error } = await registry.call("write_file", { path, content: "x", overwrite: true });
      expect(error?.type).toBe("ValidationError");
    }
    expect(readFileSync(name, "utf8")).toBe("mine");
    workspace.write(".toolwright-0.tmp", "mine too");
    await registry.call("write_file", { path: "a", content: "x" });
    expect(readFileSync(workspace.path(".toolwright-0.tmp"), "utf8")).toBe("mine too");
  });
});

describe("a target that differs from the file in form", () => {
  const cases = [
    ["blanks at the end of lines", "Roses  \nare red\n", "Roses\nare red", "Roses\nare blue"],
    ["typographic quotes", "“hi” — he\nare red\n", '"hi" - he\nare red', '"hi" - he\nare blue'],
    ["mixed line endings", "a\r\nare red\nc\r\nd\n", "a\nare red\nc", "a\nare blue\nc"],
    ["decomposed accents", "cafe\u0301\nare red\n", "café\nare red", "café\nare blue"],
    ["indentation", "\t a  \n\tare red\n", " a\nare red", " a\nare blue"],
  ] as const;
  test.each(cases)("%s: unchanged lines keep their bytes", async (_, text, from, to) => {
    const registry = registryOf();
    const path = workspace.write("a.txt", text);
    await registry.call("Read", { file_path: path });
    const edit = { file_path: path, old_string: from, new_string: to };
    expect((await registry.call("Edit", edit)).isError).toBeUndefined();
    expect(readFileSync(path, "utf8")).toBe(text.replace("are red", "are blue"));
  });

  test("edit_file says how the target was found", async () => {
    const registry = registryOf();
    const path = workspace.write("a.txt", "  foo();\n  bar();\nend\n");
    await registry.call("read_file", { path: "a.txt" });
    const edits = [
      { target: "foo();\nbar();", replacement: "baz();" },
      { target: "end", replacement: "END" },
    ];
    expect(texts(await registry.call("edit_file", { path: "a.txt", edits }))).toEqual([
      `applied 2 edits to \`${path}\`; edits[0].target: lines 1-2 (matched by \`indentation-shift\`, not exactly)`,
    ]);
  });
});

describe("a target that is not in the file", () => {
  test("is shown beside the nearest lines", async () => {
    const registry = registryOf();
    const path = workspace.write("a.txt", "fn main() {\n    let total = 1;\n}\n");
    await registry.call("Read", { file_path: path });
    const edit = { file_path: path, old_string: "    let totals = 1;", new_string: "x" };
    expect(await registry.call("Edit", edit)).toEqual(
      failure(
        "EditTargetNotFound",
        "old_string is not in the file; the most similar lines are 2-2 (- old_string, + file):\n" +
          "@@ -1 +1 @@\n-    let totals = 1;\n+    let total = 1;\n",
      ),
    );
  });
});

describe("edits that match several places", () => {
  test("report all of them, including overlapping ones", async () => {
    const registry = registryOf();
    workspace.write("a.txt", "aa\naa\naa\naa\n");
    await registry.call("read_file", { path: "a.txt" });
    const edit = (lineHint?: number) =>
      registry.call("edit_file", {
        path: "a.txt",
        edits: [{ target: "aa\naa", replacement: "b", ...(lineHint ? { lineHint } : {}) }],
      });
    expect(await edit()).toEqual(
      failure(
        "EditTargetAmbiguous",
        "target occurs 3 times (lines 1, 2, 3); add context or give lineHint",
      ),
    );
    expect((await edit(2)).isError).toBeUndefined();
    expect(readFileSync(workspace.path("a.txt"), "utf8")).toBe("aa\nb\naa\n");
  });

  test("a hint refers to the lines of the file as it was read", async () => {
    const registry = registryOf();
    const lines = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`);
    lines[9] = lines[19] = "dup";
    workspace.write("a.txt", lines.join("\n"));
    await registry.call("read_file", { path: "a.txt" });
    const inserted = "new\n".repeat(10);
    const edits = [
      { target: "line 1\n", replacement: `${inserted}line 1\n` },
      { target: "dup", replacement: "DUP", lineHint: 20 },
    ];
    expect((await registry.call("edit_file", { path: "a.txt", edits })).isError).toBeUndefined();
    lines[19] = "DUP";
    expect(readFileSync(workspace.path("a.txt"), "utf8")).toBe(inserted + lines.join("\n"));
  });

  test("the edit that the encoding cannot represent is named", async () => {
    const registry = registryOf();
    workspace.write("a.txt", Buffer.from("Größe und Straße, déjà vu\n", "latin1"));
    await registry.call("read_file", { path: "a.txt" });
    const edits = [
      { target: "und", replacement: "&" },
      { target: "vu", replacement: "日" },
    ];
    const { error } = await registry.call("edit_file", { path: "a.txt", edits });
    expect(error?.type).toBe("FileEditError");
    expect(error?.message).toContain("edits[1].target");
    expect(error?.message).toContain("`日`");
  });
});

describe("an edit that requests too much", () => {
  test("is refused, and the file stays as it is", async () => {
    const registry = registryOf();
    const path = workspace.write("a.txt", "a".repeat(1_000_000));
    await registry.call("Read", { file_path: path });
    const edit = (new_string: string, old_string = "a") =>
      registry.call("Edit", { file_path: path, old_string, new_string, replace_all: true });
    const { error } = await edit("b".repeat(1_000_000));
    expect(error).toMatchObject({ type: "FileEditError" });
    expect(error?.message).toContain("268435456");
    writeFileSync(path, "a".repeat(1_000_001));
    await registry.call("Read", { file_path: path });
    expect((await edit("b")).error?.message).toContain("occurs more than 1000000 times");
    expect(readFileSync(path, "utf8")).toBe("a".repeat(1_000_001));
    // Shifted text has indentation in every line.
    const indented = `${" ".repeat(1_000_000)}x\n`;
    writeFileSync(path, indented);
    await registry.call("Read", { file_path: path });
    const shifted = await edit("y\n".repeat(100_000), "\tx\n");
    expect(shifted.error?.message).toContain("268435456");
    expect(readFileSync(path, "utf8")).toBe(indented);
  });

  test("two changes far apart are reported as two", async () => {
    const registry = registryOf();
    const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index}\n`).join("");
    workspace.write("a.txt", lines);
    await registry.call("read_file", { path: "a.txt" });
    const edits = [
      { target: "line 2\n", replacement: "two\n" },
      { target: "line 19998\n", replacement: "last\n" },
    ];
    const result = await registry.call("edit_file", { path: "a.txt", edits });
    expect(result.structuredContent).toMatchObject({ linesAdded: 2, linesRemoved: 2 });
    expect(result.display).toContain("-line 2\n+two\n");
    expect(result.display).toContain("-line 19998\n+last\n");
  });
});

describe("an edit that is aborted", () => {
  test("has changed nothing, or returns what it did", async () => {
    const registry = registryOf();
    const lines = "line\n".repeat(500_000);
    const path = workspace.write("a.txt", `${lines}0\n`);
    await registry.call("Read", { file_path: path });
    for (let round = 0, now = 0; round < 40; round += 1) {
      const abort = new AbortController();
      const edit = {
        file_path: path,
        old_string: `line\n${now}\n`,
        new_string: `line\n${now + 1}\n`,
      };
      const call = registry.call("Edit", edit, { signal: abort.signal });
      setTimeout(() => abort.abort(), round);
      const answered = await call.then(
        (result) => result.isError === undefined,
        (error) => {
          expect(error.name).toBe("AbortError");
          return false;
        },
      );
      if (answered) now += 1;
      expect(readFileSync(path, "utf8").slice(lines.length)).toBe(`${now}\n`);
    }
    await registry.close();
  });
});

describe("a file that changed since it was read", () => {
  test("is not overwritten, and the error shows what changed", async () => {
    const registry = registryOf();
    const path = workspace.write("a.txt", "one\ntwo\n");
    await registry.call("Read", { file_path: path });
    writeFileSync(path, "one\n2\n");
    expect(await registry.call("Write", { file_path: path, content: "x" })).toEqual(
      refusal(
        "StaleFileError",
        `\`${path}\` has changed since it was read; nothing was written; read it again (- as read, + as it is):\n` +
          `--- ${path}\n+++ ${path}\n@@ -1,2 +1,2 @@\n one\n-two\n+2`,
        "a host can allow it for every file with `readBeforeWrite: false`",
      ),
    );
    expect(readFileSync(path, "utf8")).toBe("one\n2\n");
  });

  test("accepts an edit whose target still occurs once, and the result shows what changed", async () => {
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

  test("counts as changed after an edit that did not show every change", async () => {
    const registry = registryOf();
    const path = workspace.write("a.txt", `${"line\n".repeat(100)}target\n`);
    await registry.call("Read", { file_path: path });
    const others = Array.from({ length: 40 }, (_, index) => `other ${index}\n`).join("");
    writeFileSync(path, `${others}target\n`);
    const edit = { file_path: path, old_string: "target", new_string: "hit" };
    expect((await registry.call("Edit", edit)).isError).toBeUndefined();
    const write = { file_path: path, content: "x" };
    expect((await registry.call("Write", write)).error?.type).toBe("StaleFileError");
    await registry.call("Read", { file_path: path });
    expect((await registry.call("Write", write)).isError).toBeUndefined();
  });

  test("counts as read after an edit that showed every change", async () => {
    const registry = registryOf();
    const path = workspace.write("a.txt", "one\ntarget\n");
    await registry.call("Read", { file_path: path });
    writeFileSync(path, "two\ntarget\n");
    const edit = { file_path: path, old_string: "target", new_string: "hit" };
    expect((await registry.call("Edit", edit)).isError).toBeUndefined();
    const write = { file_path: path, content: "x" };
    expect((await registry.call("Write", write)).isError).toBeUndefined();
  });

  test("is reported as deleted when it is written again", async () => {
    const registry = registryOf();
    const path = workspace.write("a.txt", "one\n");
    await registry.call("Read", { file_path: path });
    workspace.delete("a.txt");
    const result = await registry.call("Write", { file_path: path, content: "x\n" });
    expect(texts(result)).toEqual([
      `created \`${path}\` (1 line); the file had been deleted since it was read`,
    ]);
  });

  test("counts as unchanged when only its time changed", async () => {
    const registry = registryOf();
    const path = workspace.write("a.txt", "one\n");
    await registry.call("Read", { file_path: path });
    writeFileSync(path, "one\n");
    const result = await registry.call("Write", { file_path: path, content: "x" });
    expect(result.isError).toBeUndefined();
  });
});

describe("readBeforeWrite: false", () => {
  test("allows changes to every file", async () => {
    const registry = registryOf({ readBeforeWrite: false });
    const path = workspace.write("a.txt", "one\n");
    const edit = { file_path: path, old_string: "one", new_string: "1" };
    expect((await registry.call("Edit", edit)).isError).toBeUndefined();
    writeFileSync(path, "changed by somebody\n");
    const write = { file_path: path, content: "x" };
    expect((await registry.call("Write", write)).isError).toBeUndefined();
    expect(readFileSync(path, "utf8")).toBe("x");
  });

  test("accepts only a boolean", () => {
    expect(() => registryOf({ readBeforeWrite: "no" })).toThrow("readBeforeWrite");
    expect(() => registryOf({ readBeforeWrite: true })).not.toThrow();
  });
});
