import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  openSync,
  closeSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { ToolError, createToolRegistry, type CallResult } from "../support/unasked";
import { make, pdf } from "../fixtures/facts/fixture.mjs";
import { failure, rows, texts } from "../support/results.js";
import { root as repository, runScript } from "../support/runtimes.js";
import { useRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

const KIB_256 = 256 * 1024;
/** The picture of the fixture. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const workspace = useWorkspace();

const registryHere = useRegistries(workspace);

interface Part {
  offset?: number;
  limit?: number;
  pages?: string;
}

/** Reads a file of the workspace with `Read`. */
function read(name: string, part: Part = {}): Promise<CallResult> {
  return registryHere().call("Read", { file_path: workspace.path(name), ...part });
}

/** Reads a file of the workspace with `read_file`. */
function readRaw(path: string, part: { startLine?: number; endLine?: number } = {}) {
  return registryHere().call("read_file", { path, ...part });
}

function facts(result: CallResult): unknown {
  const { _meta: meta } = result;
  return meta?.["toolwright/file"];
}

function numbered(lines: string[], first = 1): string {
  return lines.map((line, index) => `${first + index}\t${line}`).join("\n");
}

function manyLines(count: number, line: (number: number) => string): string[] {
  return Array.from({ length: count }, (_, index) => line(index + 1));
}

describe("text", () => {
  test("is shown as numbered lines, with facts about the file", async () => {
    const file = workspace.write("a.txt", "one\n\n\tthree\n");
    const known = {
      path: file,
      bytes: 12,
      encoding: "UTF-8",
      totalLines: 3,
      firstLine: 1,
      lastLine: 3,
      complete: true,
    };
    expect(await read("a.txt")).toEqual({
      content: [{ type: "text", text: "1\tone\n2\t\n3\t\tthree" }],
      structuredContent: known,
      display: `Read 3 lines of ${file}`,
      _meta: { "toolwright/file": known },
    });
  });

  test("is returned unchanged by read_file", async () => {
    for (const text of ["one\n\n\tthree\n", "no end", "\r\n\r\n", "\n", "a\rb"]) {
      workspace.write("a.txt", text);
      expect((await readRaw("a.txt")).content).toEqual([{ type: "text", text }]);
    }
  });

  test("with CRLF has rows without carriage returns, and a lone one stays", async () => {
    workspace.write("a.txt", "one\r\ntwo\rhalf\r\n\r\nend\r");
    expect(texts(await read("a.txt"))).toEqual(["1\tone\n2\ttwo\rhalf\n3\t\n4\tend\r"]);
  });

  test("is returned with the same bytes for the same call", async () => {
    workspace.write("a.txt", manyLines(3_000, (n) => `line ${n}`).join("\n"));
    expect(await read("a.txt")).toEqual(await read("a.txt"));
  });

  test("starts at an offset and ends at a limit, and says how to continue", async () => {
    workspace.write("a.txt", "a\nb\nc\nd\n");
    const part = await read("a.txt", { offset: 2, limit: 2 });
    expect(texts(part)).toEqual([
      "2\tb\n3\tc",
      "[lines 2-3 of 4 are shown; continue with offset 4]",
    ]);
    expect(facts(part)).toMatchObject({
      firstLine: 2,
      lastLine: 3,
      totalLines: 4,
      complete: false,
    });
    expect(texts(await read("a.txt", { offset: 3 }))).toEqual(["3\tc\n4\td"]);
    expect(texts(await read("a.txt", { offset: 0, limit: 1 }))[0]).toBe("1\ta");
    expect(texts(await read("a.txt", { limit: 4 }))).toEqual(["1\ta\n2\tb\n3\tc\n4\td"]);
    expect(texts(await read("a.txt", { offset: 4, limit: 2 ** 53 - 1 }))).toEqual(["4\td"]);
  });

  test("of a range is returned without a note by read_file", async () => {
    workspace.write("a.txt", "a\nb\nc\nd\n");
    expect(texts(await readRaw("a.txt", { startLine: 2, endLine: 3 }))).toEqual(["b\nc"]);
    expect(texts(await readRaw("a.txt", { startLine: 3 }))).toEqual(["c\nd\n"]);
    expect(texts(await readRaw("a.txt", { endLine: 1 }))).toEqual(["a"]);
    expect(texts(await readRaw("a.txt", { startLine: 2, endLine: 99 }))).toEqual(["b\nc\nd\n"]);
  });

  test("a range that ends before it starts is refused", async () => {
    workspace.write("a.txt", "a\nb\n");
    expect(await readRaw("a.txt", { startLine: 2, endLine: 1 })).toEqual(
      failure(
        "ValidationError",
        "parameter `endLine`: expected at least `startLine`, which is 2, got `1`",
      ),
    );
  });

  test("an offset past the end is a note and no error", async () => {
    workspace.write("a.txt", "a\nb\n");
    const result = await read("a.txt", { offset: 3 });
    expect(result.isError).toBeUndefined();
    expect(texts(result)).toEqual(["[offset 3 is past the end: the file has 2 lines]"]);
    const raw = await readRaw("a.txt", { startLine: 30 });
    expect(raw.isError).toBeUndefined();
    expect(texts(raw).join("")).toBe("[startLine 30 is past the end: the file has 2 lines]");
  });

  test("an empty file is a note and no error, and is empty for read_file", async () => {
    workspace.write("empty.txt", "");
    const result = await read("empty.txt");
    expect(result.isError).toBeUndefined();
    expect(texts(result)).toEqual(["[the file is empty]"]);
    expect((await readRaw("empty.txt")).content).toEqual([{ type: "text", text: "" }]);
  });

  test("an invocation describes which part of which file it reads", () => {
    const registry = registryHere();
    const file = workspace.path("a.txt");
    const describe = (part: Part) =>
      registry.createInvocation("Read", { file_path: file, ...part }).getDescription();
    expect(describe({})).toBe(`Read ${file}`);
    expect(describe({ offset: 5 })).toBe(`Read ${file} (from line 5)`);
    expect(describe({ offset: 5, limit: 6 })).toBe(`Read ${file} (lines 5-10)`);
  });
});

describe("encodings", () => {
  const utf16le = (text: string) => Buffer.from(text, "utf16le");
  const utf16be = (text: string) => utf16le(text).swap16();
  const hex = (bytes: string) => Buffer.from(bytes, "hex");

  test.each<[string, Buffer, string]>([
    ["UTF-8 with BOM", Buffer.from("\ufeffgrüße"), "grüße"],
    ["UTF-16LE with BOM", utf16le("\ufeffgrüße 日本 😀"), "grüße 日本 😀"],
    ["UTF-16BE with BOM", utf16be("\ufeffgrüße 日本 😀"), "grüße 日本 😀"],
    [
      "windows-1252",
      Buffer.from("un café crème, s'il vous plaît", "latin1"),
      "un café crème, s'il vous plaît",
    ],
    [
      "windows-1252",
      hex("6e61ef766520636166e92096209371756f74656494208035"),
      "naïve café – “quoted” €5",
    ],
    [
      "Shift_JIS",
      hex("82b182ea82cd93fa967b8cea82cc95b68fcd82c582b78142"),
      "これは日本語の文章です。",
    ],
    ["EUC-JP", hex("a4b3a4eca4cfc6fccbdcb8eca4cecab8becfa4c7a4b9a1a3"), "これは日本語の文章です。"],
    [
      "GBK",
      hex("d5e2cac7d2bbb8f6d3c3d6d0cec4d0b4b5c4cec4bcfea3acc4dac8ddbadcbcf2b5a5a1a3"),
      "这是一个用中文写的文件，内容很简单。",
    ],
    [
      "Big5",
      hex("b36fac4fa440add3a5cec163c5e9a4a4a4e5bc67aabac0c9aed7a143"),
      "這是一個用繁體中文寫的檔案。",
    ],
    [
      "EUC-KR",
      hex("c0ccb0cdc0ba20c7d1b1b9beeeb7ce20beb2bfa9c1f820c6c4c0cfc0d4b4cfb4d92e"),
      "이것은 한국어로 쓰여진 파일입니다.",
    ],
    [
      "windows-1251",
      hex("ddf2ee20f4e0e9eb20ede020f0f3f1f1eaeeec20ffe7fbeae52e"),
      "Это файл на русском языке.",
    ],
  ])("%s is read and reported", async (encoding, bytes, text) => {
    workspace.write("a.txt", bytes);
    const result = await read("a.txt");
    expect(texts(result)).toEqual([`1\t${text}`, `[the file is encoded in ${encoding}]`]);
    expect(facts(result)).toMatchObject({ encoding, bytes: bytes.length });
    expect(texts(await readRaw("a.txt"))).toEqual([text, `[the file is encoded in ${encoding}]`]);
  });

  test("a file with a few bad bytes in much good text is UTF-8", async () => {
    const good = "größer und schöner ".repeat(20);
    workspace.write("a.txt", Buffer.concat([Buffer.from(good), hex("ff"), Buffer.from("ü\n")]));
    const result = await read("a.txt");
    expect(texts(result)).toEqual([
      `1\t${good}\ufffdü`,
      "[the file is encoded in UTF-8 with invalid bytes]",
    ]);
  });

  test("a character across the boundary of a chunk stays whole", async () => {
    for (const shift of [0, 1, 2, 3]) {
      const text = "x".repeat(shift) + "😀日é\n".repeat(20_000);
      workspace.write("a.txt", text);
      const tail = await readRaw("a.txt", { startLine: 19_000, endLine: 19_999 });
      expect(texts(tail)).toEqual([text.split("\n").slice(18_999, 19_999).join("\n")]);
      expect(facts(tail)).toMatchObject({ encoding: "UTF-8", totalLines: 20_000 });
    }
  });

  test("a file whose first bad byte comes late is decoded again as a whole", async () => {
    const head = manyLines(20_000, (n) => `line ${n}`).join("\n");
    workspace.write("a.txt", Buffer.concat([Buffer.from(head), hex("0a636166e90a")]));
    const result = await read("a.txt", { offset: 20_000 });
    expect(texts(result)).toEqual([
      "20000\tline 20000\n20001\tcafé",
      "[the file is encoded in windows-1252]",
    ]);
  });
});

describe("caps", () => {
  /** Reads from the beginning to the end by following each answer. */
  async function readOn(step: (start: number | undefined) => Promise<CallResult>, next: RegExp) {
    const answers: CallResult[] = [];
    let start: number | undefined;
    do {
      const answer = await step(start);
      expect(answer.isError).toBeUndefined();
      answers.push(answer);
      const found = next.exec(texts(answer).slice(1).join(""));
      start = found ? Number(found[1]) : undefined;
    } while (start !== undefined && answers.length < 100);
    return answers;
  }

  test("2,000 lines are shown, with the totals and where to continue", async () => {
    const lines = manyLines(2_500, (n) => `line ${n}`);
    workspace.write("a.txt", lines.join("\n"));
    const result = await read("a.txt");
    expect(texts(result)).toEqual([
      numbered(lines.slice(0, 2_000)),
      "[lines 1-2000 of 2500 are shown; continue with offset 2001]",
    ]);
    expect(facts(result)).toMatchObject({ totalLines: 2_500, lastLine: 2_000, complete: false });
    expect(texts(await readRaw("a.txt"))).toEqual([
      `${lines.slice(0, 2_000).join("\n")}\n`,
      "[lines 1-2000 of 2500 are shown; continue with startLine 2001]",
    ]);
  });

  test("exactly 2,000 lines are a whole file", async () => {
    const lines = manyLines(2_000, (n) => `line ${n}`);
    workspace.write("a.txt", `${lines.join("\n")}\n`);
    expect(texts(await read("a.txt"))).toEqual([numbered(lines)]);
    expect(texts(await readRaw("a.txt"))).toEqual([`${lines.join("\n")}\n`]);
  });

  test("more than 2,000 lines are shown on request", async () => {
    const lines = manyLines(3_000, (n) => `line ${n}`);
    workspace.write("a.txt", lines.join("\n"));
    expect(texts(await read("a.txt", { limit: 3_000 }))).toEqual([numbered(lines)]);
    const raw = await readRaw("a.txt", { startLine: 1, endLine: 3_000 });
    expect(texts(raw)).toEqual([lines.join("\n")]);
  });

  test("256 KiB are shown, cut between lines, whatever was requested", async () => {
    const lines = manyLines(1_000, (n) => `${n} ${"é".repeat(200)}`);
    workspace.write("a.txt", lines.join("\n"));
    for (const limit of [undefined, 1_000]) {
      const result = await read("a.txt", limit === undefined ? {} : { limit });
      const shown = rows(result);
      expect(Buffer.byteLength(texts(result)[0] as string)).toBeLessThanOrEqual(KIB_256);
      expect(shown.length).toBeGreaterThan(500);
      expect(shown).toEqual(numbered(lines.slice(0, shown.length)).split("\n"));
      expect(texts(result)[1]).toBe(
        `[lines 1-${shown.length} of 1000 are shown; continue with offset ${shown.length + 1}]`,
      );
    }
    const [raw = ""] = texts(await readRaw("a.txt", { startLine: 1, endLine: 1_000 }));
    expect(Buffer.byteLength(raw)).toBeLessThanOrEqual(KIB_256);
    expect(`${lines.join("\n")}\n`.startsWith(raw.endsWith("\n") ? raw : `${raw}\n`)).toBe(true);
  });

  test("following the offsets to the end returns the whole file", async () => {
    const lines = manyLines(7_000, (n) => `${n} ${"0123456789 ü".repeat(n % 40)}`);
    workspace.write("a.txt", `${lines.join("\n")}\n`);
    const answers = await readOn(
      (offset) => read("a.txt", offset === undefined ? {} : { offset }),
      /continue with offset (\d+)/,
    );
    expect(answers.length).toBeGreaterThan(4);
    expect(answers.flatMap(rows)).toEqual(numbered(lines).split("\n"));
  });

  test("following the start lines to the end returns the whole file with read_file", async () => {
    const text = `${manyLines(7_000, (n) => `${n} ${"0123456789 ü".repeat(n % 40)}`).join("\r\n")}\r\n`;
    workspace.write("a.txt", text);
    const answers = await readOn(
      (startLine) => readRaw("a.txt", startLine === undefined ? {} : { startLine }),
      /continue with startLine (\d+)/,
    );
    expect(answers.length).toBeGreaterThan(4);
    expect(answers.map((answer) => texts(answer)[0]).join("")).toBe(text);
  });

  test("a long line is shown up to 2,000 characters and says how many more there are", async () => {
    const text = `${"😀".repeat(2_500)}\n${"b".repeat(2_000)}\nshort\n`;
    workspace.write("a.txt", text);
    const result = await read("a.txt");
    expect(rows(result)).toEqual([
      `1\t${"😀".repeat(2_000)}… [500 more characters]`,
      `2\t${"b".repeat(2_000)}`,
      "3\tshort",
    ]);
    expect(texts(result)[1]).toMatch(/^\[1 line longer than 2000 characters is cut; see the rest /);
    expect(facts(result)).toMatchObject({ totalLines: 3, complete: false });
    expect(texts(await readRaw("a.txt"))).toEqual([text]);
  });

  test("a line longer than an answer is cut between characters by read_file, and this is reported", async () => {
    workspace.write("a.txt", `${"日".repeat(100_000)}\nnext\n`);
    const [shown = "", note = ""] = texts(await readRaw("a.txt"));
    expect(shown).toMatch(/^日+$/);
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(KIB_256);
    expect(Buffer.byteLength(shown)).toBeGreaterThan(KIB_256 - 4);
    expect(note).toContain("line 1 is cut");
    expect(note).toContain("continue with startLine 2");
  });

  test("a file of 300 MB is read near its end without loading it into memory", async () => {
    const file = workspace.write("huge.txt", manyLines(1_000, (n) => `line ${n}`).join("\n"));
    truncateSync(file, 300 * 1024 * 1024);
    const descriptor = openSync(file, "a");
    writeSync(descriptor, `\n${manyLines(1_000, (n) => `tail ${n}`).join("\n")}\n`);
    closeSync(descriptor);
    const script = `
      const { readFileSync } = require("node:fs");
      const { createToolRegistry } = require(${JSON.stringify(repository)});
      const peak = () => Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]);
      const registry = createToolRegistry({ projectPath: ${JSON.stringify(workspace.root)} });
      const file_path = ${JSON.stringify(file)};
      (async () => {
        await registry.call("Read", { file_path: file_path + ".missing" });
        const before = peak();
        const result = await registry.call("Read", { file_path, offset: 1999 });
        console.log(JSON.stringify({ text: result.content[0].text, grownKiB: peak() - before }));
      })();`;
    const ended = await runScript(process.execPath, ["-e", script]);
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    const seen = JSON.parse(ended.stdout) as { text: string; grownKiB: number };
    expect(seen.text).toBe("1999\ttail 999\n2000\ttail 1000");
    expect(seen.grownKiB).toBeLessThan(64 * 1024);
  });

  test("an abort ends a long read and closes the file", async () => {
    const file = workspace.write("endless.txt", "text\n".repeat(4_000));
    truncateSync(file, 64 * 1024 ** 3);
    const controller = new AbortController();
    const call = registryHere().call(
      "Read",
      { file_path: file, offset: 5_000 },
      {
        signal: controller.signal,
        onProgress: ({ type }) => type === "start" && controller.abort(),
      },
    );
    await expect(call).rejects.toBeInstanceOf(ToolError);
    await expect(call).rejects.toMatchObject({ type: "Cancelled", name: "AbortError" });
    const openFiles = () =>
      readdirSync("/proc/self/fd").flatMap((fd) => {
        try {
          return [readlinkSync(`/proc/self/fd/${fd}`)];
        } catch {
          return [];
        }
      });
    await vi.waitFor(() => expect(openFiles()).not.toContain(file), {
      timeout: 5_000,
      interval: 5,
    });
  });
});

describe("binary files", () => {
  test("are refused with size and type, by content and not by name", async () => {
    const zip = Buffer.concat([Buffer.from("PK\x03\x04\x14\0\0\0\x08\0"), Buffer.alloc(100)]);
    const gzip = Buffer.from("1f8b08000000000000034bcb2f020021655700030000", "hex");
    const ole = Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), Buffer.alloc(504)]);
    for (const [name, bytes, type] of [
      ["archive.txt", zip, "application/zip"],
      ["packed.md", gzip, "application/gzip"],
      ["table.xls", ole, "application/x-ole-storage"],
      ["unknown.ts", Buffer.from("text\0more"), "application/octet-stream"],
    ] as const) {
      const file = workspace.write(name, bytes);
      const message = `\`${file}\` is a binary file (${type}, ${bytes.length} bytes); only text, images, PDFs and notebooks can be read`;
      expect(await read(name)).toEqual(failure("FileReadError", message));
      expect(await readRaw(name)).toEqual(failure("FileReadError", message));
    }
  });

  test("a name of a binary file does not make a text binary", async () => {
    workspace.write("text.exe", "just text\n");
    expect(texts(await read("text.exe"))).toEqual(["1\tjust text"]);
  });

  test("a NUL after the first 8 KiB does not make a text binary", async () => {
    workspace.write("late.txt", `${"x".repeat(9_000)}\n\0\nend`);
    expect(rows(await read("late.txt", { offset: 2 }))).toEqual(["2\t\0", "3\tend"]);
  });
});

describe("images", () => {
  const png = Buffer.from(PNG, "base64");
  const jpeg = Buffer.from(
    "ffd8ffe000104a46494600010100000100010000ffc0001108001e0014030122000211010311 01ffd9".replace(
      " ",
      "",
    ),
    "hex",
  );
  const gif = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
  const webp = Buffer.from("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==", "base64");

  test.each([
    ["image/png", png, "1×1"],
    ["image/jpeg", jpeg, "20×30"],
    ["image/gif", gif, "1×1"],
    ["image/webp", webp, "1×1"],
  ])("%s is shown as a picture whatever its name", async (mimeType, bytes, size) => {
    for (const name of ["picture.txt", "picture.jpg", "picture"]) {
      const file = workspace.write(name, bytes);
      const known = { path: file, bytes: bytes.length, mimeType };
      const expected = {
        content: [{ type: "image", data: bytes.toString("base64"), mimeType }],
        structuredContent: known,
        display: `Read image ${file} (${size})`,
        _meta: { "toolwright/file": known },
      };
      expect(await read(name)).toEqual(expected);
      expect(await readRaw(name)).toEqual(expected);
    }
  });

  test.each(["fake.png", "fake.jpg", "fake.JPEG", "fake.gif", "fake.webp"])(
    "%s that contains text is refused",
    async (name) => {
      const file = workspace.write(name, "not an image\n");
      expect(await read(name)).toEqual(
        failure(
          "FileReadError",
          `\`${file}\` has the name of an image, but its content is something else; rename it to read it`,
        ),
      );
    },
  );

  test("an image of too many bytes is refused with both figures", async () => {
    const bytes = Buffer.alloc(3_932_161);
    png.copy(bytes);
    const file = workspace.write("large.png", bytes);
    const { error } = await read("large.png");
    expect(error?.type).toBe("FileReadError");
    expect(error?.message).toContain(`\`${file}\` has 3932161 bytes`);
    expect(error?.message).toContain("3932160 bytes");
  });

  test("an image of too many pixels is refused with both figures", async () => {
    const bytes = Buffer.from(png);
    bytes.writeUInt32BE(8_001, 16);
    const { error } = await (workspace.write("wide.png", bytes), read("wide.png"));
    expect(error?.type).toBe("FileReadError");
    expect(error?.message).toContain("`8001x1` pixels, more than the limit of `8000x8000`");
  });

  test("a damaged image is refused", async () => {
    workspace.write("cut.png", png.subarray(0, 12));
    const { error } = await read("cut.png");
    expect(error?.type).toBe("FileReadError");
    expect(error?.message).toContain("the `image/png` image is damaged");
  });
});

describe("PDFs", () => {
  const pages = (numbers: number[], total: number) =>
    numbers.map((number) => `--- page ${number} of ${total} ---\nPage ${number}\n`).join("");

  test("reports a page whose text cannot be decoded", async () => {
    // Without the name of a font, its codes are those of a Type 3 font: glyphs without characters.
    const bare = pdf(2).replaceAll("/Subtype /Type1", "/Subtype /Type3");
    workspace.write("undecoded.pdf", bare);
    expect(texts(await read("undecoded.pdf"))[0]).toMatch(
      /--- page 2 of 2 ---\n\[no readable text on this page: \d+ characters are in a font without a readable encoding\]\n/,
    );
  });

  test("of a few pages are read whole, as text by page", async () => {
    const file = workspace.write("p3.pdf", pdf(3));
    const known = { path: file, bytes: pdf(3).length, totalPages: 3 };
    expect(await read("p3.pdf")).toEqual({
      content: [{ type: "text", text: pages([1, 2, 3], 3) }],
      structuredContent: known,
      display: `Read 3 pages of ${file}`,
      _meta: { "toolwright/file": known },
    });
    expect(texts(await readRaw("p3.pdf"))).toEqual([pages([1, 2, 3], 3)]);
  });

  test("are recognised by content, whatever their name", async () => {
    workspace.write("document.txt", pdf(2));
    expect(texts(await read("document.txt"))).toEqual([pages([1, 2], 2)]);
    workspace.write("long-document.txt", pdf(12));
    expect(texts(await read("long-document.txt", { pages: "12" }))).toEqual([pages([12], 12)]);
  });

  test("of more than 10 pages need a range of pages", async () => {
    const file = workspace.write("p12.pdf", pdf(12));
    expect(await read("p12.pdf")).toEqual(
      failure(
        "FileReadError",
        `\`${file}\`: the PDF has 12 pages, more than 10; set pages, for example \`1-10\``,
      ),
    );
    workspace.write("p10.pdf", pdf(10));
    expect((await read("p10.pdf")).isError).toBeUndefined();
  });

  test.each([
    ["3", [3]],
    ["2-4", [2, 3, 4]],
    [" 2 - 4 ", [2, 3, 4]],
    ["12", [12]],
    ["11-30", [11, 12]],
  ])("return the pages %j", async (range, numbers) => {
    workspace.write("p12.pdf", pdf(12));
    expect(texts(await read("p12.pdf", { pages: range }))).toEqual([pages(numbers, 12)]);
  });

  test("return at most 20 pages for a call", async () => {
    workspace.write("p30.pdf", pdf(30));
    const twenty = manyLines(20, String).map(Number);
    expect(texts(await read("p30.pdf", { pages: "1-20" }))).toEqual([pages(twenty, 30)]);
    const { error } = await read("p30.pdf", { pages: "1-25" });
    expect(error?.message).toContain(
      "pages `1-25` asks for 25 pages; at most 20 can be read at once",
    );
  });

  test.each([
    ["garbage", "is not a page or a range; give `3` or `1-5`"],
    ["1,3", "is not a page or a range; give `3` or `1-5`"],
    ["-", "is not a page or a range; give `3` or `1-5`"],
    ["", "is empty; give a page such as `3` or a range such as `1-5`"],
    ["0", "asks for page 0; pages are counted from 1"],
    ["5-2", "ends before it starts; give `2-5`"],
    ["3-", "is open-ended; give both ends, such as `1-5`"],
    ["-3", "is open-ended; give both ends, such as `1-5`"],
    ["99999999999", "holds a number that is too large for a page"],
  ])("refuse the pages %j", async (range, cause) => {
    workspace.write("p12.pdf", pdf(12));
    const { error } = await read("p12.pdf", { pages: range });
    expect(error?.type).toBe("ValidationError");
    expect(error?.message).toContain("parameter `pages`");
    expect(error?.message).toContain(cause);
  });

  test("refuse pages beyond the last", async () => {
    workspace.write("p12.pdf", pdf(12));
    const { error } = await read("p12.pdf", { pages: "13" });
    expect(error?.message).toContain("which has 12 pages; choose pages within `1-12`");
  });

  test("a range of pages has no effect on other files", async () => {
    workspace.write("a.txt", "text");
    expect(texts(await read("a.txt", { pages: "garbage" }))).toEqual(["1\ttext"]);
  });

  test("whose content does not match their name are refused", async () => {
    const file = workspace.write("fake.pdf", "not a pdf\n");
    expect(await read("fake.pdf")).toEqual(
      failure(
        "FileReadError",
        `\`${file}\` has the name of a PDF, but its content is something else; rename it to read it`,
      ),
    );
  });

  test("that are damaged are an error or are read in part, and never crash", async () => {
    const whole = pdf(3);
    for (const cut of [9, 100, 400, whole.length - 200, whole.length - 20]) {
      workspace.write("cut.pdf", whole.slice(0, cut));
      const result = await read("cut.pdf");
      expect([undefined, "FileReadError"]).toContain(result.error?.type);
    }
  });

  test("stay within 256 KiB of text and name the remaining pages", async () => {
    const page = "x".repeat(100);
    // Small enough to fit on the page.
    const long = pdf(4).replaceAll(/BT .*?\(Page (\d)\) Tj ET/g, (_all, number) => {
      const line = `(${number}${page}) Tj 0 -0.1 Td `;
      return `BT /F1 0.1 Tf 20 150 Td ${line.repeat(1_000)} ET`;
    });
    // The offsets of the objects are now wrong, which a reader has to tolerate.
    const fixed = long.replaceAll(
      /<< \/Length \d+ >>\nstream\n([^]*?)\nendstream/g,
      (_all, body) => {
        return `<< /Length ${(body as string).length} >>\nstream\n${body}\nendstream`;
      },
    );
    workspace.write("long.pdf", fixed);
    const result = await read("long.pdf");
    expect(result.isError).toBeUndefined();
    const [shown = "", note = ""] = texts(result);
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(KIB_256);
    expect(shown).toContain("--- page 2 of 4 ---");
    expect(note).toMatch(/^\[pages 3-4 did not fit; read them with pages "3-4"\]$/);
    expect(texts(await read("long.pdf", { pages: "3-4" }))[0]).toContain("--- page 4 of 4 ---");
  });
});

describe("notebooks", () => {
  const cellsOf = (ids: string[]) => [
    {
      type: "text",
      text: `<cell id="${ids[0]}" type="markdown"># Head
text</cell>
<cell id="${ids[1]}" type="code" language="python" execution_count="1">print(1)
print(2)</cell>
<output>1
2
</output>
<cell id="${ids[2]}" type="code" language="python" execution_count="1">raise X</cell>
<error>X: boom
tb1
tb2</error>
<cell id="${ids[3]}" type="code" language="python" execution_count="1">plot()</cell>
<image type="image/png"/>
`,
    },
    { type: "image", data: PNG, mimeType: "image/png" },
    { type: "text", text: "<output><Figure></output>\n" },
  ];

  function fixture() {
    const root = workspace.path("tree");
    make(root);
    return root;
  }

  test("are shown cell by cell with ids, outputs and images", async () => {
    const root = fixture();
    expect(await read("tree/nb.ipynb")).toMatchObject({
      content: cellsOf(["c-md", "c-code", "c-err", "c-img"]),
      display: `Read notebook ${join(root, "nb.ipynb")} (4 cells)`,
    });
    expect((await readRaw("tree/nb.ipynb")).content).toEqual(
      cellsOf(["c-md", "c-code", "c-err", "c-img"]),
    );
  });

  test("without ids have numbered cells", async () => {
    fixture();
    expect((await read("tree/nb-noid.ipynb")).content).toEqual(
      cellsOf(["cell-0", "cell-1", "cell-2", "cell-3"]),
    );
  });

  test.each([
    ["{not json", "the notebook is not valid JSON"],
    ["[]", "the file is not a notebook"],
    ['{"cells":5}', "its `cells` is not an array"],
    ['{"nbformat":3,"worksheets":[]}', "nbformat `3`, which is not supported"],
  ])("with the content %j are refused", async (content, cause) => {
    workspace.write("bad.ipynb", content);
    const { error } = await read("bad.ipynb");
    expect(error?.type).toBe("FileReadError");
    expect(error?.message).toContain(cause);
  });

  test("stay within 256 KiB and name the remaining cells", async () => {
    const cells = manyLines(40, (n) => `${n} ${"x".repeat(10_000)}`).map((source, index) => ({
      cell_type: "raw",
      id: `c${index}`,
      source,
    }));
    workspace.write("long.ipynb", JSON.stringify({ nbformat: 4, cells }));
    const shown = texts(await read("long.ipynb")).join("");
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(KIB_256);
    expect(shown).toMatch(/\[\d+ of 40 cells left out, from cell `c\d+` on: .*\]\n$/);
  });
});

describe("anything but a file", () => {
  test("a directory is refused, with a hint how to list it", async () => {
    mkdirSync(workspace.path("sub"));
    const message = `\`${workspace.path("sub")}\` is a directory, not a file; list it with Glob, ls or Bash`;
    expect(await read("sub")).toEqual(failure("FileReadError", message));
    expect(await readRaw("sub")).toEqual(failure("FileReadError", message));
    expect((await readRaw(".")).error?.message).toContain("is a directory");
  });

  test("a FIFO is refused at once, although it has no writer", async () => {
    const fifo = workspace.path("fifo");
    execFileSync("mkfifo", [fifo]);
    expect(await read("fifo")).toEqual(
      failure("FileReadError", `\`${fifo}\` is a FIFO, not a file`),
    );
    symlinkSync("fifo", workspace.path("link"));
    expect((await read("link")).error?.message).toContain("is a FIFO");
  });

  test("a socket is refused", async () => {
    const socket = workspace.path("socket");
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    try {
      expect(await read("socket")).toEqual(
        failure("FileReadError", `\`${socket}\` is a socket, not a file`),
      );
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  test.each(["/dev/zero", "/dev/null", "/dev/random", "/dev/full"])(
    "%s is refused even if the host allows /dev",
    async (device) => {
      expect(
        await registryHere({ additionalDirectories: ["/dev"] }).call("Read", { file_path: device }),
      ).toEqual(failure("FileReadError", `\`${device}\` is a device, not a file`));
    },
  );
});

describe("paths", () => {
  test("Read refuses a relative path and suggests the absolute one", async () => {
    workspace.write("src/a.txt", "hi");
    for (const relative of ["src/a.txt", "./src/a.txt", "~/a.txt"]) {
      const { error } = await registryHere().call("Read", { file_path: relative });
      expect(error?.type).toBe("ValidationError");
      expect(error?.message).toContain(`\`${relative}\` is relative; give the absolute path`);
    }
    const { error } = await registryHere().call("Read", { file_path: "src/a.txt" });
    expect(error?.message).toContain(`\`${workspace.path("src/a.txt")}\``);
  });

  test("read_file resolves a relative path against the workspace", async () => {
    const file = workspace.write("src/a.txt", "hi");
    for (const path of ["src/a.txt", "./src/../src/a.txt", file]) {
      expect(texts(await readRaw(path))).toEqual(["hi"]);
    }
  });

  test.each([
    ["", "ValidationError", "it is empty"],
    ["a\0b", "PathOutsideWorkspace", "contains a NUL character"],
    ["new/../../x", "PathOutsideWorkspace", "goes up from a directory that does not exist"],
  ])("the path %j is refused", async (path, type, cause) => {
    const { error } = await readRaw(path);
    expect(error?.type).toBe(type);
    expect(error?.message).toContain(cause);
  });

  test("a path outside the workspace is refused, also a sibling with a longer name", async () => {
    mkdirSync(workspace.path("repo"));
    const secret = workspace.write("repo-evil/secret.txt", "secret");
    const registry = createToolRegistry({
      projectPath: workspace.path("repo"),
      toolsets: ["claude", "classic"],
    });
    const results = [
      await registry.call("Read", { file_path: secret }),
      await registry.call("Read", { file_path: "/etc/hostname" }),
      await registry.call("read_file", { path: "../repo-evil/secret.txt" }),
      await registry.call("read_file", { path: "../repo-evil/missing.txt" }),
    ];
    for (const { error } of results) {
      expect(error?.type).toBe("PathOutsideWorkspace");
      expect(error?.message).toContain("is outside the workspace");
      expect(error?.message).not.toContain("additionalDirectories");
      expect(error?.details?.howToAllow).toContain("`additionalDirectories`");
    }
  });

  test("an additional directory that the host allows is read", async () => {
    mkdirSync(workspace.path("repo"));
    const file = workspace.write("more/a.txt", "more");
    const registry = createToolRegistry({
      projectPath: workspace.path("repo"),
      additionalDirectories: [dirname(file)],
    });
    expect(texts(await registry.call("Read", { file_path: file }))).toEqual(["1\tmore"]);
  });

  test("a link inside the workspace is followed", async () => {
    workspace.write("real/a.txt", "hi");
    symlinkSync("real/a.txt", workspace.path("link.txt"));
    symlinkSync("real", workspace.path("dir"));
    for (const name of ["link.txt", "dir/a.txt"]) {
      const result = await read(name);
      expect(texts(result)).toEqual(["1\thi"]);
      expect(facts(result)).toMatchObject({ path: workspace.path("real/a.txt") });
    }
  });

  test("a link that leads out, a dangling one and a circular one are refused", async () => {
    workspace.write("outside/secret.txt", "secret");
    mkdirSync(workspace.path("repo"));
    const at = (name: string) => workspace.path(`repo/${name}`);
    symlinkSync("../outside/secret.txt", at("out.txt"));
    symlinkSync("../outside", at("outdir"));
    symlinkSync("nowhere", at("dangling"));
    symlinkSync("../outside/missing", at("dangling-out"));
    symlinkSync("loop", at("loop"));
    const registry = createToolRegistry({ projectPath: workspace.path("repo") });
    const typeOf = async (name: string) =>
      (await registry.call("Read", { file_path: at(name) })).error?.type;
    expect(await typeOf("out.txt")).toBe("PathOutsideWorkspace");
    expect(await typeOf("outdir/secret.txt")).toBe("PathOutsideWorkspace");
    expect(await typeOf("outdir/missing.txt")).toBe("PathOutsideWorkspace");
    expect(await typeOf("dangling")).toBe("PathOutsideWorkspace");
    expect(await typeOf("dangling-out")).toBe("PathOutsideWorkspace");
    expect(await typeOf("loop")).toBe("FileReadError");
  });

  test("a workspace behind a link works by either path", async () => {
    workspace.write("real/a.txt", "hi");
    symlinkSync("real", workspace.path("alias"));
    const registry = createToolRegistry({ projectPath: workspace.path("alias") });
    for (const root of ["alias", "real"]) {
      const result = await registry.call("Read", { file_path: workspace.path(`${root}/a.txt`) });
      expect(texts(result)).toEqual(["1\thi"]);
    }
  });

  test("a missing file suggests close names, the closest first", async () => {
    for (const name of ["alpha.ts", "alpha.js", "beta.ts"]) workspace.write(name, "");
    expect(await read("alpah.ts")).toEqual(
      failure(
        "FileNotFoundError",
        `no file at \`${workspace.path("alpah.ts")}\`; similar names there: \`alpha.ts\`, \`alpha.js\``,
      ),
    );
    expect((await read("Alpha.TS")).error?.message).toContain("similar names there: `alpha.ts`");
    expect((await read("beta.md")).error?.message).toContain("`beta.ts`");
    expect(await read("something-else")).toEqual(
      failure("FileNotFoundError", `no file at \`${workspace.path("something-else")}\``),
    );
  });

  test("a path below a file is refused with the reason", async () => {
    workspace.write("a.txt", "hi");
    const { error } = await read("a.txt/below");
    expect(["FileNotFoundError", "FileReadError"]).toContain(error?.type);
    expect(error?.message).toContain("a.txt");
  });

  test("names with blanks, quotes, newlines and other scripts are read", async () => {
    for (const name of ["a b.txt", "quo'te\"s.txt", "new\nline.txt", "日本語.txt", "-rf", "😀"]) {
      workspace.write(name, name);
      expect((await readRaw(name)).content).toEqual([{ type: "text", text: name }]);
    }
  });
});

describe("read_many_files", () => {
  function readMany(paths: string[]): Promise<CallResult> {
    return registryHere().call("read_many_files", { paths });
  }

  test("shows each file below its name, with errors and pictures in their places", async () => {
    workspace.write("a.txt", "one\ntwo\n");
    workspace.write("empty.txt", "");
    workspace.write("img.png", Buffer.from(PNG, "base64"));
    const result = await readMany(["a.txt", "nope.txt", "img.png", "../out", "empty.txt"]);
    expect(result.isError).toBeUndefined();
    expect(result.content).toEqual([
      {
        type: "text",
        text: `=== a.txt ===\none\ntwo\n\n\n=== nope.txt ===\nError: no file at \`${workspace.path("nope.txt")}\`\n\n=== img.png ===\n`,
      },
      { type: "image", data: PNG, mimeType: "image/png" },
      {
        type: "text",
        text: expect.stringMatching(
          /^\n=== \.\.\/out ===\nError: `\.\.\/out` is outside the workspace .*\n\n=== empty\.txt ===\n\n$/,
        ),
      },
      { type: "text", text: `[paths are relative to \`${workspace.root}\`]` },
    ]);
    expect(result.display).toBe("Read 3 of 5 files");
  });

  test("returns at most 256 KiB in all, cuts between lines and names what it left out", async () => {
    const text = manyLines(1_000, (n) => `${n} ${"é".repeat(75)}`).join("\n");
    for (const name of ["a.txt", "b.txt", "c.txt", "d.txt"]) workspace.write(name, text);
    const result = await readMany(["a.txt", "b.txt", "c.txt", "d.txt"]);
    const all = texts(result).join("");
    expect(Buffer.byteLength(all)).toBeLessThan(KIB_256 + 1_024);
    expect(all.startsWith(`=== a.txt ===\n${text}\n\n=== b.txt ===\n`)).toBe(true);
    const [, second = ""] = all.split("=== b.txt ===\n");
    const [shown = "", notes = ""] = second.split(/\n(?=\[)/s);
    expect(text.startsWith(shown)).toBe(true);
    expect(shown.length).toBeGreaterThan(1_000);
    expect(text.split("\n")).toContain(shown.split("\n").at(-1));
    expect(notes).toContain("did not fit; read this file alone with read_file");
    expect(all).toMatch(/\[2 files did not fit and were not read: `c\.txt`, `d\.txt`; .*\]$/);
  });

  test("a file that is cut by its own limit says where to continue", async () => {
    workspace.write("long.txt", manyLines(2_500, (n) => `line ${n}`).join("\n"));
    workspace.write("short.txt", "short");
    const [text = ""] = texts(await readMany(["long.txt", "short.txt"]));
    expect(text).toContain("[lines 1-2000 of 2500 are shown; continue with startLine 2001]");
    expect(text.endsWith("=== short.txt ===\nshort\n")).toBe(true);
  });

  test("refuses no files and too many", async () => {
    expect((await readMany([])).error?.type).toBe("ValidationError");
    const many = await readMany(manyLines(201, String));
    expect(many.error?.type).toBe("ValidationError");
    expect(many.error?.message).toContain("parameter `paths`");
    expect(many.error?.message).toContain("200");
  });

  test("returns a result even if all files fail", async () => {
    const result = await readMany(["x", "y"]);
    expect(result.isError).toBeUndefined();
    expect(result.display).toBe("Read 0 of 2 files");
  });

  test("an aborted signal ends it", async () => {
    const call = registryHere().call(
      "read_many_files",
      { paths: ["a"] },
      { signal: AbortSignal.abort(new Error("enough")) },
    );
    await expect(call).rejects.toMatchObject({ type: "Cancelled", cause: new Error("enough") });
  });
});
