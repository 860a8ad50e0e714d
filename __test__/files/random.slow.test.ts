// Random files and random changes. The expected bytes are computed here, by the test's own encoders.
// `TOOLWRIGHT_SEED=… npx vitest run files/random` repeats a run.

import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ToolRegistry } from "../support/unasked";
import { type Written, encodings } from "../support/encodings.js";
import { failure, rows, texts } from "../support/results.js";
import { useRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

const seed = Number(process.env["TOOLWRIGHT_SEED"] ?? Date.now() % 2 ** 31);
const runs = (numRuns: number) => ({ numRuns, seed });
const workspace = useWorkspace();

const registryHere = useRegistries(workspace);

interface Lines {
  /** Numbered lines before the others, so that files have several blocks. */
  many: number;
  style: "\n" | "\r\n" | "mixed";
  lines: { indent: string; words: string[]; trail: string; mixedEnding: string }[];
  endsWithNewline: boolean;
}

function joined({ many, style, lines, endsWithNewline }: Lines, it: Written): string {
  const { preamble, words } = it;
  const numbered = Array.from({ length: many }, (_, n) => `${n} ${words[n % words.length]}`);
  const written = [
    ...[...preamble, ...numbered].map((text) => ({ text, mixedEnding: "\n" })),
    ...lines.map(({ indent, words, trail, mixedEnding }) => ({
      text: words.length === 0 ? "" : indent + words.join(" ") + trail,
      mixedEnding,
    })),
  ];
  return written
    .map(({ text, mixedEnding }, index) => {
      const last = index === written.length - 1 && !endsWithNewline;
      return text + (last ? "" : style === "mixed" ? mixedEnding : style);
    })
    .join("");
}

/** Lines of an encoding's words, some of them empty. A `\r` inside a line does not end it. */
function fileText(it: Written): fc.Arbitrary<string> {
  const word = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...it.words) },
    { weight: 1, arbitrary: fc.constant("a\rb") },
  );
  return fc
    .record({
      many: fc.oneof(
        { weight: 5, arbitrary: fc.constant(0) },
        { weight: 1, arbitrary: fc.integer({ min: 100, max: 900 }) },
      ),
      style: fc.constantFrom("\n" as const, "\r\n" as const, "mixed" as const),
      lines: fc.array(
        fc.record({
          indent: fc.constantFrom("", "  ", "\t"),
          words: fc.array(word, { maxLength: 5 }),
          trail: fc.constantFrom("", "", " ", "\t "),
          mixedEnding: fc.constantFrom("\n", "\r\n"),
        }),
        { maxLength: 12 },
      ),
      endsWithNewline: fc.boolean(),
    })
    .map((lines) => joined(lines, it));
}

/** New text as a model writes it: lines end in `\n`, whatever the file has. */
function newText({ words }: Written): fc.Arbitrary<string> {
  const piece = fc.oneof(fc.constantFrom(...words), fc.constantFrom("\n", "\n\n", " ", "\t", ""));
  return fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(""));
}

/** Where a text is cut, as shares of its length. */
const cut = fc.record({
  start: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.integer({ min: 1, max: 40 }),
  asShown: fc.boolean(),
});
type Cut = typeof cut extends fc.Arbitrary<infer Value> ? Value : never;

interface Span {
  start: number;
  end: number;
}

function countOf(text: string, target: string): number {
  let count = 0;
  for (let at = text.indexOf(target); at >= 0; at = text.indexOf(target, at + 1)) count += 1;
  return count;
}

/** Whether the cut splits neither a character nor `\r\n`. */
function isBoundary(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return !(code >= 0xdc00 && code < 0xe000) && !(text[at] === "\n" && text[at - 1] === "\r");
}

/** A span that starts at the cut and grows until its text occurs only once. */
function uniqueSpan(text: string, { start: share, length }: Cut, from: number): Span | undefined {
  let start = from + Math.floor(share * Math.max(0, text.length - from - 1));
  while (!isBoundary(text, start)) start -= 1;
  let end = Math.min(text.length, start + length);
  for (;;) {
    while (!isBoundary(text, end)) end += 1;
    const target = text.slice(start, end);
    // A text that begins with `\n` could match the end of a `\r\n` elsewhere.
    const torn = target.startsWith("\n") && text.includes(`\r${target}`);
    if (target !== "" && !torn && countOf(text, target) === 1) return { start, end };
    if (end === text.length && start === from) return undefined;
    end = Math.min(text.length, end + 1);
    if (end === text.length && start > from) {
      start -= 1;
      while (!isBoundary(text, start)) start -= 1;
    }
  }
}

const unix = (text: string) => text.replaceAll("\r\n", "\n");

/** The ending of new lines: as most of those replaced, else as the line of the edit, else as the one before. */
function endingAt(text: string, { start, end }: Span): string {
  const most = (part: string) => {
    const all = part.split("\n").length - 1;
    const returns = part.split("\r\n").length - 1;
    return all === 0 ? undefined : returns > all - returns ? "\r\n" : "\n";
  };
  const next = /\r?\n/.exec(text.slice(end))?.[0];
  const before = text.slice(0, start).match(/\r?\n/g)?.at(-1);
  return most(text.slice(start, end)) ?? next ?? before ?? "\n";
}

const mixesEndings = (text: string) => /\r\n/.test(text) && /(?<!\r)\n/.test(text);

/**
 * The target as the model gives it: as in the file, or with the line endings that Read shows. With mixed
 * endings each line keeps its own; another test covers them.
 */
function given(text: string, { start, end }: Span, { asShown }: Cut): string {
  const target = text.slice(start, end);
  const shown = unix(target);
  const isAmbiguous = text.includes(shown) || countOf(unix(text), shown) !== 1;
  return asShown && !isAmbiguous && !mixesEndings(target) ? shown : target;
}

interface Planned {
  target: string;
  replacement: string;
  span: Span;
  inserted: string;
}

/** One edit with a certain outcome; undefined if no text of the file occurs only once. */
function plan(text: string, cut: Cut, replacement: string, from: number): Planned | undefined {
  const span = uniqueSpan(text, cut, from);
  if (span === undefined) return undefined;
  const target = given(text, span, cut);
  const ended = (lines: string) => lines.replaceAll("\n", endingAt(text, span));
  // An edit that changes nothing is refused, even if only its line endings differ.
  const isNone = replacement === target || ended(replacement) === text.slice(span.start, span.end);
  const other = isNone ? `${replacement}x` : replacement;
  return { target, replacement: other, span, inserted: ended(other) };
}

/** Both tools that read return the file's text. */
async function expectReadBack(registry: ToolRegistry, file: string, text: string, it: Written) {
  const isMentioned = it.label !== undefined && text !== "";
  const note = isMentioned ? [`[the file is encoded in ${it.label}]`] : [];
  const raw = await registry.call("read_file", { path: file });
  expect(texts(raw)).toEqual([text, ...note]);
  const shown = await registry.call("Read", { file_path: file });
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  const numbered = lines.map((line, index) => `${index + 1}\t${line}`);
  expect(rows(shown).join("\n")).toBe(numbered.join("\n"));
}

/** As text with one character per byte, which compares fast and is readable in a failure. */
function expectBytes(file: string, expected: Buffer): void {
  expect(readFileSync(file, "latin1")).toBe(expected.toString("latin1"));
}

/** The length of the first lines, by which the encoding is recognised. */
function preambleLength(text: string, { preamble }: Written): number {
  const last = preamble.at(-1);
  return last === undefined ? 0 : text.indexOf(last) + last.length;
}

describe.each(Object.entries(encodings))(`random files in %s (seed ${seed})`, (_name, it) => {
  const bytesOf = (text: string) => Buffer.concat([it.mark, it.encode(text)]);

  test("Edit changes its span and no byte outside it", async () => {
    const registry = registryHere();
    await fc.assert(
      fc.asyncProperty(fileText(it), newText(it), cut, async (text, replacement, cut) => {
        const planned = plan(text, cut, replacement, preambleLength(text, it));
        fc.pre(planned !== undefined);
        const { target, span, inserted } = planned;
        const file = workspace.write("a.txt", bytesOf(text));
        await registry.call("Read", { file_path: file });
        const result = await registry.call("Edit", {
          file_path: file,
          old_string: target,
          new_string: planned.replacement,
        });
        expect(result.error).toBeUndefined();
        const head = bytesOf(text.slice(0, span.start));
        const tail = it.encode(text.slice(span.end));
        expectBytes(file, Buffer.concat([head, it.encode(inserted), tail]));
        const after = text.slice(0, span.start) + inserted + text.slice(span.end);
        await expectReadBack(registry, file, after, it);
      }),
      runs(150),
    );
  });

  test("Edit with replace_all changes every place and no byte between them", async () => {
    const registry = registryHere();
    const word = fc.constantFrom(...it.words);
    await fc.assert(
      fc.asyncProperty(fileText(it), word, word, async (text, target, replacement) => {
        const from = preambleLength(text, it);
        const [kept, rest] = [text.slice(0, from), text.slice(from)];
        fc.pre(target !== replacement && rest.includes(target) && !kept.includes(target));
        const file = workspace.write("a.txt", bytesOf(text));
        await registry.call("Read", { file_path: file });
        const result = await registry.call("Edit", {
          file_path: file,
          old_string: target,
          new_string: replacement,
          replace_all: true,
        });
        expect(result.error).toBeUndefined();
        const parts = rest.split(target).map((part) => it.encode(part));
        const between = it.encode(replacement);
        const expected = parts.flatMap((part, index) => (index === 0 ? [part] : [between, part]));
        expectBytes(file, Buffer.concat([bytesOf(kept), ...expected]));
      }),
      runs(40),
    );
  });

  test("edit_file makes its changes in order, and changes no byte outside them", async () => {
    const registry = registryHere();
    const change = fc.tuple(cut, newText(it));
    const changes = fc.array(change, { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(fileText(it), changes, async (text, changes) => {
        const from = preambleLength(text, it);
        const edits: { target: string; replacement: string }[] = [];
        let now = text;
        let bytes = bytesOf(text);
        for (const [cut, replacement] of changes) {
          const planned = plan(now, cut, replacement, from);
          if (planned === undefined) continue;
          const { span, inserted } = planned;
          edits.push({ target: planned.target, replacement: planned.replacement });
          // By length instead of encoding the text again: bytes outside have to be copied.
          const head = bytesOf(now.slice(0, span.start)).length;
          const tail = bytesOf(now.slice(0, span.end)).length;
          bytes = Buffer.concat([
            bytes.subarray(0, head),
            it.encode(inserted),
            bytes.subarray(tail),
          ]);
          now = now.slice(0, span.start) + inserted + now.slice(span.end);
        }
        fc.pre(edits.length > 0);
        const file = workspace.write("a.txt", bytesOf(text));
        await registry.call("read_file", { path: "a.txt" });
        const result = await registry.call("edit_file", { path: "a.txt", edits });
        expect(result.error).toBeUndefined();
        expectBytes(file, bytes);
        await expectReadBack(registry, file, now, it);
      }),
      runs(60),
    );
  });

  test("edit_file changes nothing when one of its changes cannot be made", async () => {
    const registry = registryHere();
    await fc.assert(
      fc.asyncProperty(fileText(it), newText(it), cut, async (text, replacement, cut) => {
        const planned = plan(text, cut, replacement, preambleLength(text, it));
        fc.pre(planned !== undefined);
        const file = workspace.write("a.txt", bytesOf(text));
        await registry.call("read_file", { path: "a.txt" });
        const { target } = planned;
        const result = await registry.call("edit_file", {
          path: "a.txt",
          edits: [
            { target, replacement: planned.replacement },
            { target: "no such text", replacement: "x" },
          ],
        });
        expect(result.error?.type).toBe("EditTargetNotFound");
        expect(result.error?.message).toMatch(/^edits\[1\]\.target is not in the file/);
        expectBytes(file, bytesOf(text));
      }),
      runs(20),
    );
  });

  test("Write keeps encoding and byte order mark, and writes the text as given", async () => {
    const registry = registryHere();
    await fc.assert(
      fc.asyncProperty(fileText(it), fileText(it), async (text, content) => {
        const file = workspace.write("a.txt", bytesOf(text));
        await registry.call("Read", { file_path: file });
        const result = await registry.call("Write", { file_path: file, content });
        expect(result.error).toBeUndefined();
        expectBytes(file, bytesOf(content));
        await expectReadBack(registry, file, content, it);
      }),
      runs(60),
    );
  });
});

const withGaps = Object.entries(encodings).filter(([, { lacks }]) => lacks.length > 0);
describe.each(withGaps)(`a character that %s cannot represent (seed ${seed})`, (_name, it) => {
  test("is refused by every tool, and the file stays", async () => {
    const registry = registryHere();
    const lacking = fc.constantFrom(...it.lacks);
    await fc.assert(
      fc.asyncProperty(fileText(it), cut, lacking, async (text, cut, character) => {
        const planned = plan(text, cut, `x${character}y`, preambleLength(text, it));
        fc.pre(planned !== undefined);
        const { target, replacement } = planned;
        const file = workspace.write("a.txt", it.encode(text));
        await registry.call("Read", { file_path: file });
        const results = [
          await registry.call("Edit", {
            file_path: file,
            old_string: target,
            new_string: replacement,
          }),
          await registry.call("edit_file", { path: "a.txt", edits: [{ target, replacement }] }),
          await registry.call("Write", { file_path: file, content: text + character }),
        ];
        const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
        const refused = failure(
          "FileEditError",
          `the file is ${it.label}, which has no \`${character}\` (U+${code}); use other characters or convert the file to UTF-8 first`,
        );
        expect(results).toEqual([refused, refused, refused]);
        expectBytes(file, it.encode(text));
      }),
      runs(20),
    );
  });
});

describe(`random files of other kinds (seed ${seed})`, () => {
  const utf8 = encodings["UTF-8"] as Written;

  test("a new file is UTF-8, as given", async () => {
    const registry = registryHere();
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fileText(utf8), async (content) => {
        run += 1;
        const files = [workspace.path(`w${run}.txt`), workspace.path(`e${run}.txt`)] as const;
        await registry.call("Write", { file_path: files[0], content });
        expectBytes(files[0], Buffer.from(content));
        fc.pre(content !== "");
        await registry.call("Edit", { file_path: files[1], old_string: "", new_string: content });
        expectBytes(files[1], Buffer.from(content));
      }),
      runs(100),
    );
  });

  test("invalid bytes beside an edit stay unchanged", async () => {
    const registry = registryHere();
    const bad = fc
      .constantFrom("ff", "fe80", "c3", "e282", "f09f98", "80")
      .map((hex) => Buffer.concat([Buffer.from(hex, "hex"), Buffer.from(" ")]));
    const good = Buffer.from("größer und schöner als äöüßÄÖÜ éèàçùêîôûœ äöüßÄÖÜ éèàçùêîôûœ\n");
    const line = Buffer.from("\n");
    await fc.assert(
      fc.asyncProperty(
        fc.array(bad, { minLength: 1, maxLength: 4 }),
        fc.array(bad, { maxLength: 4 }),
        newText(utf8),
        async (before, after, replacement) => {
          const head = Buffer.concat([good, ...before, line]);
          const tail = Buffer.concat([line, ...after, good]);
          const file = workspace.write("a.txt", Buffer.concat([head, Buffer.from("here"), tail]));
          await registry.call("Read", { file_path: file });
          const result = await registry.call("Edit", {
            file_path: file,
            old_string: "here",
            new_string: replacement,
          });
          expect(result.error).toBeUndefined();
          expectBytes(file, Buffer.concat([head, Buffer.from(replacement), tail]));
        },
      ),
      runs(100),
    );
  });

  test("unchanged lines keep their endings, each its own", async () => {
    const registry = registryHere();
    const line = fc.record({ ending: fc.constantFrom("\n", "\r\n"), isChanged: fc.boolean() });
    const lines = fc.array(line, { minLength: 2, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(lines, fc.boolean(), async (lines, isEnded) => {
        fc.pre(lines.some(({ isChanged }) => isChanged));
        const text = (body: (index: number) => string, ending?: string) =>
          lines.map((it, index) => body(index) + (ending ?? it.ending)).join("");
        const before = (index: number) => `line ${index}`;
        const after = (index: number) =>
          lines[index]?.isChanged ? `changed ${index}` : before(index);
        const file = workspace.write("a.txt", text(before));
        await registry.call("Read", { file_path: file });
        const result = await registry.call("Edit", {
          file_path: file,
          old_string: text(before, "\n").slice(0, isEnded ? undefined : -1),
          new_string: text(after, "\n").slice(0, isEnded ? undefined : -1),
        });
        expect(result.error).toBeUndefined();
        const isExact = lines.every(
          ({ ending }, index) => ending === "\n" || (!isEnded && index === lines.length - 1),
        );
        expect(result.structuredContent).toMatchObject({
          strategy: isExact ? "exact" : "line-endings",
        });
        expect(readFileSync(file, "utf8")).toBe(text(after));
      }),
      runs(150),
    );
  });

  test("a line hint chooses the place on that line", async () => {
    const registry = registryHere();
    const lines = fc.array(fc.constantFrom("x", "same", "", "y same"), {
      minLength: 2,
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(lines, fc.nat(), fc.constantFrom("\n", "\r\n"), async (lines, n, ending) => {
        const places = lines.flatMap((line, index) => (line.includes("same") ? [index] : []));
        fc.pre(places.length > 0);
        const chosen = places[n % places.length] as number;
        const file = workspace.write("a.txt", lines.join(ending));
        await registry.call("read_file", { path: "a.txt" });
        const result = await registry.call("edit_file", {
          path: "a.txt",
          edits: [{ target: "same", replacement: "other", lineHint: chosen + 1 }],
        });
        expect(result.error).toBeUndefined();
        const expected = lines.map((line, index) =>
          index === chosen ? line.replace("same", "other") : line,
        );
        expect(readFileSync(file, "utf8")).toBe(expected.join(ending));
      }),
      runs(100),
    );
  });

  // Texts so short that their encoding is a guess. It is decided before the first edit.
  test.each([
    ["n’aàø Äcns KEEP ehÉucd ONE öbÉeøí TWO\n", "ào", "bnœ"],
    ["nhb uçcø’ KEEP å’ñéœu ONE on TWO\n", "ñß", "esdè"],
    ["ouu ’ha KEEP ub ONE trd TWO\n", "öø", "oeè"],
  ])("edit_file writes every edit of %j in the encoding the file had", async (text, one, two) => {
    const windows1252 = (it: string) =>
      Buffer.from(it.replaceAll("œ", "\u009c").replaceAll("’", "\u0092"), "latin1");
    const file = workspace.write("a.txt", windows1252(text));
    const registry = registryHere();
    expect(texts(await registry.call("read_file", { path: "a.txt" }))).toEqual([
      text,
      "[the file is encoded in windows-1252]",
    ]);
    const result = await registry.call("edit_file", {
      path: "a.txt",
      edits: [
        { target: "ONE", replacement: one },
        { target: "TWO", replacement: two },
      ],
    });
    expect(result.error).toBeUndefined();
    expectBytes(file, windows1252(text.replace("ONE", one).replace("TWO", two)));
  });
});
