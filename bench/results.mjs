// The cost of passing a small and a large result from Rust to JavaScript.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createToolRegistry } from "../index.mjs";
import { Suite, concurrent, sequential } from "./harness.mjs";
import { textResult } from "./plain-registry.mjs";

export const results = new Suite("results");

const LINE = "The quick brown fox jumps over the lazy dog, and back it comes.\n";
/** Long enough that 250 KB fit into the 2,000 lines that Read shows at once. */
const LONG_LINE = LINE.trimEnd().padEnd(2 * LINE.length - 1, " and") + "\n";
const projectPath = mkdtempSync(join(tmpdir(), "toolwright-bench-"));
process.once("exit", () => rmSync(projectPath, { recursive: true, force: true }));
const registry = createToolRegistry({
  projectPath,
  permissionMode: "bypassPermissions",
  toolsets: ["claude", "diagnostic"],
});

for (const [size, bytes] of [
  ["10 KB", 10_000],
  ["1 MB", 1_000_000],
]) {
  const repeat = Math.round(bytes / LINE.length);
  const build = async () => textResult(LINE.repeat(repeat));
  results.task({
    title: `a result of ${size}`,
    baseline: "JS: build, JSON.stringify, JSON.parse",
    contenders: {
      "JS: build, JSON.stringify, JSON.parse": sequential(async () =>
        JSON.parse(JSON.stringify(await build())),
      ),
      "JS: build, structuredClone": sequential(async () => structuredClone(await build())),
      "toolwright: call": sequential(() =>
        registry.call("diagnostic_echo", { text: LINE, repeat }),
      ),
      "toolwright: createInvocation + execute": sequential(() =>
        registry.createInvocation("diagnostic_echo", { text: LINE, repeat }).execute(),
      ),
    },
  });
}

for (const [size, bytes] of [
  ["10 KB", 10_000],
  ["250 KB", 250_000],
]) {
  const file = join(projectPath, `${bytes}.txt`);
  writeFileSync(file, LONG_LINE.repeat(Math.floor(bytes / LONG_LINE.length)));
  const readInJs = async () => textResult(numbered(await readFile(file, "utf8")));
  const readNatively = () => registry.call("Read", { file_path: file });
  await refuseDifferentWork(readInJs, readNatively);
  const width = 20;
  results.task({
    title: `Read a file of ${size}, one after the other`,
    baseline: "JS: readFile and number the lines",
    contenders: {
      "JS: readFile and number the lines": sequential(readInJs),
      "toolwright: Read": sequential(readNatively),
    },
  });
  results.task({
    title: `Read a file of ${size}, ${width} at once`,
    baseline: "JS: readFile and number the lines",
    width,
    contenders: {
      "JS: readFile and number the lines": concurrent(width, readInJs),
      "toolwright: Read": concurrent(width, readNatively),
    },
  });
}

/** Numbers the lines as Read does. */
function numbered(text) {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line, index) => `${index + 1}\t${line}`).join("\n");
}

async function refuseDifferentWork(...contenders) {
  const [first, ...others] = await Promise.all(contenders.map((contender) => contender()));
  for (const { content } of others) {
    if (JSON.stringify(content) !== JSON.stringify(first.content)) {
      throw new Error("the contenders return different texts, so they cannot be compared");
    }
  }
}
