// The cost of one small change, in a small file and in a large one.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { open, readFile, rename, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createToolRegistry } from "../index.mjs";
import { Suite, sequential } from "./harness.mjs";

export const edit = new Suite("edit");

const projectPath = mkdtempSync(join(tmpdir(), "toolwright-bench-"));
process.once("exit", () => rmSync(projectPath, { recursive: true, force: true }));
const options = { projectPath, permissionMode: "bypassPermissions" };
const registry = createToolRegistry({ ...options, index: "off" });

/** Source text of about the given size, with one unique line in its middle. */
function source(bytes) {
  const lines = [];
  for (let size = 0, n = 0; size < bytes; n += 1) {
    const line = `    const value${n} = compute(${n}, "some text to make it a usual line");`;
    lines.push(line);
    size += line.length + 1;
  }
  lines.splice(lines.length >> 1, 0, ...PLACE.split("\n"));
  return `${lines.join("\n")}\n`;
}

const PLACE = `    function theOnlyOne(argument) {\n        return argument + 1;\n    }`;
const CHANGED = `    function theOnlyOne(argument) {\n        return argument + 2;\n    }`;
const asItIs = (text) => text;
/** The same text without its indentation, as models sometimes write it. */
const unindented = (text) => text.replaceAll(/^ {4}/gm, "");

async function replaceInJs(file, from, to) {
  const text = await readFile(file, "utf8");
  if (text.indexOf(from) !== text.lastIndexOf(from)) throw new Error("not the only place");
  await writeFile(
    file,
    text.replace(from, () => to),
  );
}

/** The same, but safe: a crash leaves either the old or the new file. */
async function replaceAtomicallyInJs(file, from, to) {
  const text = await readFile(file, "utf8");
  if (text.indexOf(from) !== text.lastIndexOf(from)) throw new Error("not the only place");
  const handle = await open(`${file}.tmp`, "w");
  await handle.writeFile(text.replace(from, () => to));
  await handle.sync();
  await handle.close();
  await rename(`${file}.tmp`, file);
}

const indentation = (line) => line.slice(0, line.length - line.trimStart().length);

/** Compares trimmed lines, as several agents do, and indents the new text like the old one. */
async function replaceLinesInJs(file, from, to) {
  const lines = (await readFile(file, "utf8")).split("\n");
  const wanted = from.split("\n").map((line) => line.trim());
  const places = [];
  for (let at = 0; at + wanted.length <= lines.length; at += 1) {
    if (wanted.every((line, index) => lines[at + index].trim() === line)) places.push(at);
  }
  if (places.length !== 1) throw new Error(`${places.length} places`);
  const missing = indentation(lines[places[0]]).slice(indentation(from).length);
  lines.splice(places[0], wanted.length, ...to.split("\n").map((line) => missing + line));
  await writeFile(file, lines.join("\n"));
}

const replaceBy = (editor) => async (file_path, old_string, new_string) => {
  const result = await editor.call("Edit", { file_path, old_string, new_string });
  if (result.isError) throw new Error(result.error.message);
};
const replaceNatively = replaceBy(registry);

/** Makes a contender with its own file, which it changes back and forth. */
async function contender(name, text, given, replace, reader = registry, folder = projectPath) {
  const file = join(folder, `${edit.tasks.length}-${name.replaceAll(/\W+/g, "-")}.ts`);
  writeFileSync(file, text);
  await reader.call("Read", { file_path: file, limit: 1 });
  const both = [given(PLACE), given(CHANGED)];
  const operation = async () => {
    await replace(file, both[0], both[1]);
    both.reverse();
  };
  await operation();
  if (readFileSync(file, "utf8") !== text.replace(PLACE, CHANGED)) {
    throw new Error(`${name} writes a different file than the others, so they cannot be compared`);
  }
  return [name, sequential(operation)];
}

for (const [size, bytes] of [
  ["10 KB", 10_000],
  ["10 MB", 10_000_000],
]) {
  const text = source(bytes);
  edit.task({
    title: `one small change of a file of ${size}`,
    baseline: "JS: readFile, String.replace, writeFile",
    contenders: Object.fromEntries([
      await contender("JS: readFile, String.replace, writeFile", text, asItIs, replaceInJs),
      await contender(
        "JS: the same with temp file, fsync, rename",
        text,
        asItIs,
        replaceAtomicallyInJs,
      ),
      await contender("JS: trimmed lines compared", text, asItIs, replaceLinesInJs),
      await contender("toolwright: Edit", text, asItIs, replaceNatively),
    ]),
  });
  edit.task({
    title: `the same, given without its indentation`,
    baseline: "JS: trimmed lines compared",
    contenders: Object.fromEntries([
      await contender("JS: trimmed lines compared", text, unindented, replaceLinesInJs),
      await contender("toolwright: Edit", text, unindented, replaceNatively),
    ]),
  });
}

/** A registry with a separate workspace of many files, whose index follows every change. */
async function editorWith(index) {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-bench-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (let at = 0; at < 2_000; at += 1) writeFileSync(join(folder, `${at}.ts`), source(2_000));
  const editor = createToolRegistry({ ...options, projectPath: folder, index });
  await editor.initialize();
  const isReady = () => ["warm", "off"].includes(editor.indexStatus()[0].state);
  while (!isReady()) await new Promise((resolve) => setTimeout(resolve, 5));
  return { editor, folder };
}

const text = source(10_000);
const without = await editorWith("off");
const indexed = await editorWith("on");
const editedBy = (name, { editor, folder }) =>
  contender(name, text, asItIs, replaceBy(editor), editor, folder);
edit.task({
  title: "one small change beside 2,000 files, which an index knows",
  baseline: "toolwright: Edit, no index",
  budgets: [{ contender: "toolwright: Edit, with an index", atMost: 1.05 }],
  contenders: Object.fromEntries([
    await editedBy("toolwright: Edit, no index", without),
    await editedBy("toolwright: Edit, with an index", indexed),
  ]),
});
