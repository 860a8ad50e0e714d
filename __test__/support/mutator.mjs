// Changes a tree at random, in a separate process. Reads lines `<seed> <count>` and answers each with a line when
// that many changes are complete. Arguments: the tree, and `free` to change it continuously until it ends.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

const [root, mode] = process.argv.slice(2);
const WORDS = [
  "foo",
  "bar",
  "Foo",
  "needle",
  "naïve",
  "日本語",
  "foo bar",
  "needle.bar",
  "42",
  "x",
];
const NAMES = ["a.ts", "b.js", "main.py", "c.rs", "keep.log", "x.txt", "y.md", ".dot.ts", "z.d.ts"];
const FOLDERS = ["src", "lib", "build", "docs", ".hid", "new", "deep", "été"];
const RULES = [
  "*.log",
  "build/",
  "/lib",
  "!keep.log",
  "*.d.ts",
  "src/**",
  "docs/*.md",
  "**/deep",
  "*",
  "!*.ts",
  "",
];

let state = 1;

function below(limit) {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 4_294_967_296) * limit);
}

const pick = (from) => from[below(from.length)];
const text = () =>
  Array.from({ length: 1 + below(6) }, () => `${pick(WORDS)} ${pick(WORDS)}\n`).join("") +
  (below(12) === 0 ? "\0" : "") +
  (below(15) === 0 ? "filler needle\n".repeat(9_000) : "");

/** Every file and directory, without those of `.git`. */
function entries(folder = root, found = { files: [], folders: [root] }) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === ".git") continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      found.folders.push(path);
      entries(path, found);
    } else if (entry.isFile()) found.files.push(path);
  }
  return found;
}

const CHANGES = {
  create: ({ folder }) => fs.writeFileSync(join(folder, pick(NAMES)), text()),
  overwrite: ({ file }) => fs.writeFileSync(file, text()),
  append: ({ file }) => fs.appendFileSync(file, text()),
  writeInPlace({ file }) {
    // The length stays the same, and often the time too, at its resolution.
    const descriptor = fs.openSync(file, "r+");
    fs.writeSync(descriptor, "needle", below(4));
    fs.closeSync(descriptor);
  },
  truncate: ({ file }) => fs.truncateSync(file, below(20)),
  remove: ({ file }) => fs.unlinkSync(file),
  rename: ({ file, folder }) => fs.renameSync(file, join(folder, pick(NAMES))),
  replace({ file }) {
    fs.writeFileSync(`${file}.tmp`, text());
    fs.renameSync(`${file}.tmp`, file);
  },
  // In the same directory: changes through names in ignored directories may be noticed late.
  link: ({ file }) => fs.linkSync(file, join(dirname(file), `linked-${pick(NAMES)}`)),
  writeThroughLink({ file }) {
    // The name that is used for writing is removed before another process can see it.
    const other = join(dirname(file), "passing-link");
    fs.linkSync(file, other);
    fs.appendFileSync(other, text());
    fs.unlinkSync(other);
  },
  symlink: ({ file, folder }) => fs.symlinkSync(file, join(folder, `sym-${pick(NAMES)}`)),
  makeFolder({ folder }) {
    const path = join(folder, pick(FOLDERS), pick(FOLDERS));
    fs.mkdirSync(path, { recursive: true });
    fs.writeFileSync(join(path, pick(NAMES)), text());
  },
  moveFolder: ({ sub, folder }) => sub && fs.renameSync(sub, join(folder, pick(FOLDERS))),
  removeFolder: ({ sub }) => sub && below(3) === 0 && fs.rmSync(sub, { recursive: true }),
  touch: ({ file }) => fs.utimesSync(file, below(2_000_000_000), below(2_000_000_000)),
  rules: ({ folder }) =>
    fs.writeFileSync(
      join(folder, pick([".gitignore", ".gitignore", ".ignore", ".rgignore"])),
      `${pick(RULES)}\n${pick(RULES)}\n`,
    ),
  removeRules: ({ folder }) =>
    fs.rmSync(join(folder, pick([".gitignore", ".ignore", ".rgignore"])), { force: true }),
  excludes() {
    const path = join(root, ".git/info/exclude");
    fs.mkdirSync(dirname(path), { recursive: true });
    fs.writeFileSync(path, `${pick(RULES)}\n`);
  },
  repository: ({ sub }) => sub && below(4) === 0 && fs.mkdirSync(join(sub, ".git")),
  checkOut() {
    const path = join(root, "checkout");
    const git = (...args) =>
      execFileSync("git", ["-C", path, "-c", "user.name=a", "-c", "user.email=a@b", ...args], {
        stdio: "ignore",
      });
    if (!fs.existsSync(join(path, ".git"))) {
      fs.mkdirSync(path, { recursive: true });
      git("init", "-b", "one");
      for (const branch of ["one", "two"]) {
        if (branch === "two") git("checkout", "-b", "two");
        for (let at = 0; at < 30; at += 1) {
          if (branch === "two" && at % 3 === 0) fs.rmSync(join(path, `f${at}.ts`), { force: true });
          else fs.writeFileSync(join(path, `f${at}.ts`), `${branch} ${text()}`);
        }
        git("add", "-A");
        git("commit", "-m", branch);
      }
    }
    git("checkout", "-f", pick(["one", "two"]));
  },
};

function change() {
  const { files, folders } = entries();
  const given = { file: pick(files), folder: pick(folders), sub: pick(folders.slice(1)) };
  // A checkout takes as long as a hundred other changes.
  const name =
    below(60) === 0 ? "checkOut" : pick(Object.keys(CHANGES).filter((it) => it !== "checkOut"));
  try {
    if (given.file !== undefined || ["create", "makeFolder"].includes(name)) CHANGES[name](given);
  } catch {
    // Some changes are not possible: a directory cannot become its own child.
  }
}

if (mode === "free") {
  const go = () => {
    for (let count = 0; count < 20; count += 1) change();
    setImmediate(go);
  };
  process.stdin.on("end", () => process.exit(0)).resume();
  go();
} else {
  for await (const line of createInterface({ input: process.stdin })) {
    const [seed, count] = line.split(" ").map(Number);
    state = seed;
    for (let done = 0; done < count; done += 1) change();
    console.log("done");
  }
}
