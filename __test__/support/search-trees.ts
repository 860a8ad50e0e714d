import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Random } from "./random.js";

const WORDS = ["foo", "bar", "Foo", "needle", "naïve", "日本語", "x1", "42", "()", "a.b", "", "  "];
const FOLDERS = ["src", "lib", "build", "docs", ".hid", "a b", "d[1]", "deep", "{x}", "été"];
const NAMES = [
  "a",
  "main",
  "test_x",
  "-dash",
  ".dot",
  "sp ace",
  "br[a]cket",
  "日本",
  "#tag",
  "!not",
];
const ENDINGS = ["ts", "js", "py", "rs", "md", "txt", "log", "d.ts", "c"];
const RULES = [
  "*.log",
  "build/",
  "/lib",
  "!keep.log",
  "!*.ts",
  "*.d.ts",
  "src/**",
  "**/deep",
  "docs/*.md",
  "/a*",
  "d?cs",
  "[a-m]*.txt",
  ".dot*",
  "test_*",
  "*/main.*",
  "# a comment",
  "\\#tag.*",
  "\\!not.js",
  "",
  "src/lib/",
  "{x}/",
  "*.{py,rs}",
  "deep/**/a.*",
];

function text(random: Random): string {
  const lines = random.several([0, 1, 2, 3, 4, 5, 6], 0, 12).map((words) => {
    if (random.chance(0.03)) return `${"long ".repeat(150)}needle ${"tail ".repeat(40)}`;
    return random.several(WORDS, words, words).join(random.pick([" ", "_", ""]));
  });
  const ending = random.pick(["\n", "\n", "\n", "\r\n"]);
  return lines.join(ending) + (random.chance(0.8) ? ending : "");
}

function content(random: Random): Buffer {
  const plain = text(random);
  switch (random.below(14)) {
    case 0:
      return Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(plain, "utf16le")]);
    case 1:
      return Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(plain, "utf16le").swap16()]);
    case 2:
      return Buffer.from(`\ufeff${plain}`);
    case 3:
      return Buffer.from(`${plain}\0${text(random)}`);
    case 4:
      return Buffer.concat([Buffer.from(plain), Buffer.from([0xe9, 0x0a, 0xff, 0xfe, 0x0a])]);
    case 5:
      // Larger than the searcher's buffer, and binary only after it.
      return Buffer.from(`${`${plain}filler\n`.repeat(70_000 / (plain.length + 7))}\0${plain}`);
    case 6:
      return Buffer.from(`${plain}filler\n`.repeat(Math.ceil(200_000 / (plain.length + 7))));
    default:
      return Buffer.from(plain);
  }
}

/** A tree with everything that can make searches differ. */
export interface Tree {
  /** Whether it is a repository. If not, ripgrep needs an option to read `.gitignore`. */
  repository: boolean;
  files: string[];
  folders: string[];
  /** Folders in which a rule above ignores everything. Our tools search one that is named; ripgrep does not. */
  swallowed: Set<string>;
}

/** Writes a tree of files into a directory, which is emptied first. */
export function plantTree(root: string, random: Random): Tree {
  rmSync(root, { recursive: true, force: true });
  mkdirSync(root, { recursive: true });
  const repository = random.chance(0.5);
  const folders = [""];
  for (let count = 3 + random.below(8); count > 0; count -= 1) {
    folders.push(join(random.pick(folders), random.pick(FOLDERS)));
  }
  if (random.chance(0.2)) folders.push("n/".repeat(40) + "deepest");
  const files = new Map<string, Buffer>();
  for (let count = 10 + random.below(30); count > 0; count -= 1) {
    const name = `${random.pick(NAMES)}.${random.pick(ENDINGS)}`;
    files.set(join(random.pick(folders), name), content(random));
  }
  files.set("keep.log", Buffer.from("foo needle\n"));
  const swallowing: string[] = [];
  const rules = (folder: string) => {
    const lines = random.several(RULES, 1, 4);
    if (lines.includes("src/**")) swallowing.push(join(folder, "src"));
    return Buffer.from(`${lines.join("\n")}\n`);
  };
  for (const folder of folders) {
    if (random.chance(0.35)) files.set(join(folder, ".gitignore"), rules(folder));
    if (random.chance(0.12)) files.set(join(folder, ".ignore"), rules(folder));
    if (random.chance(0.08)) files.set(join(folder, ".rgignore"), rules(folder));
  }
  if (repository) {
    files.set(".git/config", Buffer.from("foo needle bar\n"));
    files.set(".git/info/exclude", rules(""));
    const nested = random.pick(folders);
    if (nested !== "" && random.chance(0.4)) files.set(join(nested, ".git/HEAD"), Buffer.from("x"));
  }
  for (const folder of folders) mkdirSync(join(root, folder), { recursive: true });
  for (const [name, bytes] of files) {
    const path = join(root, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
  }
  const isSwallowed = (folder: string) =>
    swallowing.some((it) => folder === it || folder.startsWith(`${it}/`));
  return {
    repository,
    files: [...files.keys()],
    folders: folders.filter((it) => it !== ""),
    swallowed: new Set(folders.filter(isSwallowed)),
  };
}
