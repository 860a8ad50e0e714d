// Failures while a file is changed: the error is clear, and the old bytes are still there. A change also
// keeps everything of a file besides its bytes.

import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type CallResult, type ErrorType, createToolRegistry } from "../support/unasked";
import { NOBODY, attributes, callsInChild, mayMount } from "../support/child-calls.js";
import { failure, texts, refusal as allowableRefusal } from "../support/results.js";
import { useRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const isRoot = process.getuid?.() === 0;

// The unprivileged user's calls keep their locks here.
afterAll(() => rmSync(`/tmp/toolwright-locks-${NOBODY}`, { recursive: true, force: true }));

const registryHere = useRegistries(workspace);

/** A call of each tool that changes text, on one file; `new.txt` and its folder are created. */
function changes(folder: string, size: number): [string, Record<string, unknown>][] {
  const file_path = `${folder}/old.txt`;
  const much = "x".repeat(size);
  return [
    ["Edit", { file_path, old_string: "old", new_string: much }],
    ["edit_file", { path: "old.txt", edits: [{ target: "old", replacement: much }] }],
    ["Write", { file_path, content: much }],
    ["write_file", { path: "old.txt", content: much, overwrite: true }],
    ["Write", { file_path: `${folder}/a/b/new.txt`, content: much }],
    ["Edit", { file_path: `${folder}/new.txt`, old_string: "", new_string: much }],
  ];
}

describe("not enough space", () => {
  const old = `old ${"content-".repeat(1_000)}\n`;

  test("on the disk: every tool says so, and nothing is changed or left behind", async ({
    skip,
  }) => {
    if (!mayMount()) skip("this user may not mount a small file system");
    const folder = workspace.path("disk");
    mkdirSync(folder);
    const shell = `mount -t tmpfs -o size=256k none ${folder}
      printf '%s' ${JSON.stringify(old.trimEnd())} > ${folder}/old.txt; echo >> ${folder}/old.txt`;
    const calls = changes(folder, 1_000_000);
    const after = await callsInChild(
      folder,
      [["Read", { file_path: `${folder}/old.txt` }], ...calls],
      {
        shell,
        ownMounts: true,
      },
    );
    const full = (name: string) =>
      failure(
        "FileWriteError",
        `no space to write \`${folder}/${name}\`: No space left on device (os error 28)`,
      );
    expect(after.results.slice(1)).toEqual([
      ...Array.from({ length: 4 }, () => full("old.txt")),
      full("a/b/new.txt"),
      full("new.txt"),
    ]);
    expect(after.files).toEqual({ "old.txt": old });
  });

  test("by a limit on the size of files: the same", async () => {
    const folder = workspace.root;
    workspace.write("old.txt", old);
    const calls = changes(folder, 1_000_000);
    const after = await callsInChild(
      folder,
      [["Read", { file_path: `${folder}/old.txt` }], ...calls],
      {
        shell: "ulimit -f 100",
      },
    );
    const full = (name: string) =>
      failure(
        "FileWriteError",
        `no space to write \`${folder}/${name}\`: File too large (os error 27)`,
      );
    expect(after.results.slice(1)).toEqual([
      ...Array.from({ length: 4 }, () => full("old.txt")),
      full("a/b/new.txt"),
      full("new.txt"),
    ]);
    expect(after.files).toEqual({ "old.txt": old });
  });

  test("for a file that is written in place: the old bytes are put back", async () => {
    const file = workspace.write("old.txt", old);
    linkSync(file, workspace.path("other.txt"));
    const calls = changes(workspace.root, 1_000_000).slice(0, 4);
    const after = await callsInChild(workspace.root, [["Read", { file_path: file }], ...calls], {
      shell: "ulimit -f 100",
    });
    const full = failure(
      "FileWriteError",
      `no space to write \`${file}\`: File too large (os error 27)`,
    );
    expect(after.results.slice(1)).toEqual([full, full, full, full]);
    expect(after.files).toEqual({ "old.txt": old, "other.txt": old });
  });
});

describe("missing permission", () => {
  const read = (folder: string): [string, Record<string, unknown>] => [
    "Read",
    { file_path: `${folder}/old.txt` },
  ];
  const denied = (path: string, cause: string) =>
    failure("PermissionError", `\`${path}\` may not be written: ${cause}`);

  /** A folder of the unprivileged user with a file in it. */
  function folderOfNobody(modes: { folder: number; file: number }): string {
    const folder = workspace.path("theirs");
    mkdirSync(folder);
    writeFileSync(join(folder, "old.txt"), "old content\n");
    if (isRoot) {
      for (const path of [workspace.root, folder, join(folder, "old.txt")]) {
        chownSync(path, NOBODY, NOBODY);
      }
    }
    chmodSync(join(folder, "old.txt"), modes.file);
    chmodSync(folder, modes.folder);
    return folder;
  }

  test("to write into the directory", async () => {
    const folder = folderOfNobody({ folder: 0o555, file: 0o644 });
    const calls = changes(folder, 10);
    const after = await callsInChild(folder, [read(folder), ...calls], { unprivileged: true });
    const cause = "Permission denied (os error 13)";
    expect(after.results.slice(1)).toEqual([
      ...Array.from({ length: 4 }, () => denied(`${folder}/old.txt`, cause)),
      denied(`${folder}/a/b/new.txt`, cause),
      denied(`${folder}/new.txt`, cause),
    ]);
    expect(after.files).toEqual({ "old.txt": "old content\n" });
    chmodSync(folder, 0o755);
  });

  test("to write the file, although its directory would allow replacing it", async () => {
    const folder = folderOfNobody({ folder: 0o755, file: 0o444 });
    const calls = changes(folder, 10).slice(0, 4);
    const after = await callsInChild(folder, [read(folder), ...calls], { unprivileged: true });
    const refused = denied(`${folder}/old.txt`, "Permission denied (os error 13)");
    expect(after.results.slice(1)).toEqual([refused, refused, refused, refused]);
    expect(after.files).toEqual({ "old.txt": "old content\n" });
  });

  test("to read the file", async () => {
    const folder = folderOfNobody({ folder: 0o755, file: 0o000 });
    const calls = changes(folder, 10).slice(0, 4);
    const after = await callsInChild(folder, calls, { unprivileged: true });
    expect(after.results.map(({ error }) => error?.type)).toEqual(
      Array.from({ length: 4 }, () => "PermissionError"),
    );
    expect(after.files).toEqual({ "old.txt": "EACCES" });
    chmodSync(join(folder, "old.txt"), 0o644);
    expect(readFileSync(join(folder, "old.txt"), "utf8")).toBe("old content\n");
  });

  test("on a file system that is mounted read-only", async ({ skip }) => {
    if (!mayMount()) skip("this user may not mount a file system");
    const folder = workspace.path("disk");
    mkdirSync(folder);
    const shell = `mount -t tmpfs -o size=1m none ${folder}
      echo old content > ${folder}/old.txt
      mount -o remount,ro ${folder}`;
    const calls = changes(folder, 10);
    const after = await callsInChild(folder, [read(folder), ...calls], { shell, ownMounts: true });
    const cause = "Read-only file system (os error 30)";
    expect(after.results.slice(1)).toEqual([
      ...Array.from({ length: 4 }, () => denied(`${folder}/old.txt`, cause)),
      denied(`${folder}/a/b/new.txt`, cause),
      denied(`${folder}/new.txt`, cause),
    ]);
    expect(after.files).toEqual({ "old.txt": "old content\n" });
  });
});

describe("a file that was replaced by something else since it was read", () => {
  const names: string[] = ["old.txt"];

  async function afterReading(change: (file: string) => void): Promise<CallResult[]> {
    const file = workspace.write("old.txt", "old content\n");
    const registry = registryHere();
    await registry.call("Read", { file_path: file });
    change(file);
    const results: CallResult[] = [];
    for (const [tool, input] of changes(workspace.root, 10).slice(0, 4)) {
      results.push(await registry.call(tool as string, input));
    }
    return results;
  }

  test("a directory is refused, and its contents stay", async () => {
    const results = await afterReading((file) => {
      rmSync(file);
      mkdirSync(file);
      writeFileSync(join(file, "inside.txt"), "inside");
    });
    const refused = failure(
      "FileWriteError",
      `\`${workspace.path("old.txt")}\` is a directory, not a file`,
    );
    expect(results).toEqual([refused, refused, refused, refused]);
    expect(readdirSync(workspace.root)).toEqual(names);
    expect(readFileSync(workspace.path("old.txt/inside.txt"), "utf8")).toBe("inside");
  });

  test("a link out of the workspace is refused, and its target stays", async () => {
    const outside = `${workspace.root}-outside`;
    mkdirSync(outside);
    try {
      writeFileSync(join(outside, "secret.txt"), "old secret");
      const results = await afterReading((file) => {
        rmSync(file);
        symlinkSync(join(outside, "secret.txt"), file);
      });
      expect(results.map(({ error }) => error?.type)).toEqual(
        Array.from({ length: 4 }, () => "PathOutsideWorkspace"),
      );
      expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("old secret");
      expect(readdirSync(outside)).toEqual(["secret.txt"]);
      expect(readdirSync(workspace.root)).toEqual(names);
    } finally {
      rmSync(outside, { recursive: true });
    }
  });

  test("changed content is not overwritten, and an edit that still matches is made with a note", async () => {
    const results = await afterReading((file) => writeFileSync(file, "new\nold content\n"));
    const file = workspace.path("old.txt");
    expect(results.map(({ error }) => error?.type)).toEqual([
      undefined,
      // The target is gone, because Edit has replaced it.
      "EditTargetNotFound",
      undefined,
      undefined,
    ]);
    expect(texts(results[0] as CallResult)).toEqual([
      `edited \`${file}\`: replaced line 2; the file had changed since it was read (- as read, + as it is):\n` +
        `--- ${file}\n+++ ${file}\n@@ -1 +1,2 @@\n+new\n old content`,
    ]);
    const registry = registryHere();
    await registry.call("Read", { file_path: file });
    writeFileSync(file, "other\n");
    for (const [tool, input] of changes(workspace.root, 10).slice(2, 4)) {
      const { error } = await registry.call(tool as string, input);
      expect(error?.type).toBe("StaleFileError");
      expect(error?.message).toContain(`\`${file}\` has changed since it was read`);
      expect(error?.message).toContain("+other");
    }
    expect(readFileSync(file, "utf8")).toBe("other\n");
  });

  /** Makes a call and disturbs it until it has settled. */
  async function disturbed(call: Promise<CallResult>, disturb: () => void, calm: () => void) {
    const state = { settled: false };
    const done = call.finally(() => {
      state.settled = true;
    });
    while (!state.settled) {
      disturb();
      await new Promise((resolve) => setImmediate(resolve));
      calm();
      await new Promise((resolve) => setImmediate(resolve));
    }
    return done;
  }

  /** Runs an operation that may fail because the call under test was faster. */
  function attempt(action: () => void): boolean {
    try {
      action();
      return true;
    } catch {
      return false;
    }
  }

  test("a directory that appears and disappears during a write: the file is never incomplete", async () => {
    const file = workspace.write("old.txt", "0\n");
    const [aside, directory] = [workspace.path("aside.txt"), workspace.path("directory")];
    mkdirSync(directory);
    const registry = registryHere();
    for (let run = 1; run <= 100; run += 1) {
      await registry.call("Read", { file_path: file });
      const content = `${run}\n`.repeat(20_000);
      const { error } = await disturbed(
        registry.call("Write", { file_path: file, content }),
        () => {
          renameSync(file, aside);
          attempt(() => renameSync(directory, file));
        },
        () => {
          attempt(() => renameSync(file, directory));
          renameSync(aside, file);
        },
      );
      const causes = ["FileWriteError", "StaleFileError", "FileExistsError", "FileNotFoundError"];
      expect([undefined, ...causes]).toContain(error?.type);
      expect(readdirSync(workspace.root)).toEqual(["directory", "old.txt"]);
      // The disturbance moves whatever has a name at that moment. If the call is just giving a name back, file and
      // directory can end with each other's names.
      const isSwapped = statSync(file).isDirectory();
      if (isSwapped)
        for (const [from, to] of [
          [file, aside],
          [directory, file],
          [aside, directory],
        ] as const)
          renameSync(from, to);
      expect(statSync(directory).isDirectory()).toBe(true);
      const now = readFileSync(file, "utf8");
      const [first = ""] = now.split("\n");
      expect(now).toBe(first === "0" ? "0\n" : `${first}\n`.repeat(20_000));
    }
  });

  test("a folder that becomes a link out of the workspace redirects no write", async () => {
    const outside = `${workspace.root}-outside`;
    const [folder, aside] = [workspace.path("folder"), workspace.path("aside")];
    mkdirSync(outside);
    mkdirSync(folder);
    try {
      const registry = registryHere();
      for (let run = 0; run < 200; run += 1) {
        const file_path = join(folder, `${run}.txt`);
        await disturbed(
          registry.call("Write", { file_path, content: "x" }),
          () => {
            // The call removes a folder that it made, and one of ours may be there, empty, at that moment.
            while (!attempt(() => renameSync(folder, aside))) attempt(() => mkdirSync(folder));
            attempt(() => symlinkSync(outside, folder));
          },
          () => {
            // The call may create the folder again, and write into it, at any moment.
            while (!attempt(() => renameSync(aside, folder))) {
              attempt(() => rmSync(folder, { recursive: true, force: true }));
            }
          },
        );
      }
      expect(readdirSync(outside)).toEqual([]);
    } finally {
      rmSync(outside, { recursive: true });
    }
  });
});

describe("attributes of a file besides its bytes", () => {
  const tools = ["Edit", "edit_file", "Write", "write_file"];

  /** Reads a file, changes it with each tool in turn, and returns the results. */
  async function changeByAll(path: string): Promise<string[]> {
    const registry = registryHere();
    const read = await registry.call("Read", { file_path: path });
    expect(read.error).toBeUndefined();
    const inputs: Record<string, unknown>[] = [
      { file_path: path, old_string: "old", new_string: "edited" },
      { path, edits: [{ target: "edited", replacement: "edited again" }] },
      { file_path: path, content: "written" },
      { path, content: "written again", overwrite: true },
    ];
    const contents = ["edited\n", "edited again\n", "written", "written again"];
    const answers: string[] = [];
    for (const [index, tool] of tools.entries()) {
      const result = await registry.call(tool, inputs[index]);
      expect(result.error).toBeUndefined();
      expect(readFileSync(path, "utf8")).toBe(contents[index]);
      answers.push(...texts(result));
    }
    return answers;
  }

  const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8);

  // Without root, a file that may not be written is refused, which is tested above.
  const modes = ["755", "600", "664", "4755", ...(isRoot ? ["444"] : [])];
  test.each(modes)("mode %s", async (mode) => {
    const file = workspace.write("a.txt", "old\n");
    chmodSync(file, Number.parseInt(mode, 8));
    const answers = await changeByAll(file);
    // A changed program loses its set-id bits, because they were granted to the old content.
    expect(modeOf(file)).toBe(mode === "4755" ? "755" : mode);
    expect(answers.map((text) => text.includes("could not keep its set-id bits"))).toEqual(
      tools.map((tool) => mode === "4755" && tool === "Edit"),
    );
  });

  test("the umask determines the mode of a new file", async () => {
    const folder = workspace.root;
    const calls: [string, Record<string, unknown>][] = [
      ["Write", { file_path: `${folder}/a.txt`, content: "x" }],
      ["Edit", { file_path: `${folder}/b.txt`, old_string: "", new_string: "x" }],
      ["write_file", { path: "sub/c.txt", content: "x" }],
    ];
    await callsInChild(folder, calls, { shell: "umask 027" });
    const made = ["a.txt", "b.txt", "sub", "sub/c.txt"];
    expect(made.map((name) => modeOf(workspace.path(name)))).toEqual(["640", "640", "750", "640"]);
  });

  test("its owner and group", async ({ skip }) => {
    if (!isRoot) skip("only root may give a file to others");
    const file = workspace.write("a.txt", "old\n");
    chownSync(file, 1_234, 5_678);
    await changeByAll(file);
    const { uid, gid } = statSync(file);
    expect({ uid, gid }).toEqual({ uid: 1_234, gid: 5_678 });
  });

  test("an owner that cannot be kept is reported", async ({ skip }) => {
    if (!isRoot) skip("only root may give a file to others");
    const file = workspace.write("a.txt", "old\n");
    chownSync(workspace.root, NOBODY, NOBODY);
    chownSync(file, 1_234, NOBODY);
    chmodSync(file, 0o666);
    const { results, files } = await callsInChild(
      workspace.root,
      [
        ["Read", { file_path: file }],
        ["Edit", { file_path: file, old_string: "old", new_string: "new" }],
      ],
      { unprivileged: true },
    );
    expect(texts(results[1] as CallResult)).toEqual([
      `edited \`${file}\`: replaced line 1; the file could not keep its owner`,
    ]);
    expect(files).toEqual({ "a.txt": "new\n" });
  });

  test("the link that leads to it", async () => {
    const file = workspace.write("real/a.txt", "old\n");
    symlinkSync("real/a.txt", workspace.path("link.txt"));
    symlinkSync("link.txt", workspace.path("link to link.txt"));
    await changeByAll(workspace.path("link to link.txt"));
    expect(readlinkSync(workspace.path("link.txt"))).toBe("real/a.txt");
    expect(readlinkSync(workspace.path("link to link.txt"))).toBe("link.txt");
    expect(lstatSync(file).isFile()).toBe(true);
    expect(readdirSync(workspace.path("real"))).toEqual(["a.txt"]);
  });

  test("its other names, with a note that it was written in place", async () => {
    const file = workspace.write("a.txt", "old\n");
    linkSync(file, workspace.path("b.txt"));
    const { ino } = statSync(file);
    const answers = await changeByAll(file);
    const inPlace = "; the file has other hard links, so it was written in place";
    expect(answers.map((text) => text.endsWith(inPlace))).toEqual(tools.map(() => true));
    const after = ["a.txt", "b.txt"].map((name) => {
      const { ino, nlink } = statSync(workspace.path(name));
      return { ino, nlink, content: readFileSync(workspace.path(name), "utf8") };
    });
    const expected = { ino, nlink: 2, content: "written again" };
    expect(after).toEqual([expected, expected]);
  });

  test("its extended attributes", async ({ skip }) => {
    if (!attributes.areThere()) skip("there is no Python to set attributes with");
    const file = workspace.write("a.txt", "old\n");
    if (!attributes.set(file, "user.origin", "example.com")) skip("no attributes on this disk");
    await changeByAll(file);
    expect(attributes.get(file, "user.origin")).toBe("example.com");
  });

  test("a file that is a mount point is written in place", async ({ skip }) => {
    if (!mayMount()) skip("this user may not mount");
    const file = workspace.write("a.txt", "old\n");
    const source = workspace.write("source", "old\n");
    const { results, files } = await callsInChild(
      workspace.root,
      [
        ["Read", { file_path: file }],
        ["Edit", { file_path: file, old_string: "old", new_string: "new" }],
      ],
      { shell: `mount --bind ${source} ${file}`, ownMounts: true },
    );
    expect(texts(results[1] as CallResult)).toEqual([
      `edited \`${file}\`: replaced line 1; the file cannot be replaced by renaming, so it was written in place`,
    ]);
    expect(files).toEqual({ "a.txt": "new\n", source: "new\n" });
    expect(readFileSync(file, "utf8")).toBe("old\n");
  });
});

describe("paths that lead out of the workspace", () => {
  // The root has an accented letter, which has two Unicode forms.
  const ROOT = "r\u00e9po";
  const notebook = JSON.stringify({ cells: [], metadata: {}, nbformat: 4, nbformat_minor: 5 });

  /** Everything below a folder: names, contents and targets of links. */
  function everything(folder: string): Record<string, string> {
    const found: Record<string, string> = {};
    // Step by step, because Bun's recursive readdir follows links.
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      const stat = lstatSync(path);
      if (stat.isSymbolicLink()) found[path] = `-> ${readlinkSync(path)}`;
      else if (stat.isDirectory()) Object.assign(found, { [path]: "/" }, everything(path));
      else found[path] = readFileSync(path, "utf8");
    }
    return found;
  }

  function tree(): void {
    workspace.write(`${ROOT}/a.txt`, "old\n");
    workspace.write("outside/secret.txt", "old\n");
    workspace.write("outside/secret.ipynb", notebook);
    for (const name of [`${ROOT}-evil`, ROOT.toUpperCase(), ROOT.normalize("NFD")]) {
      workspace.write(`${name}/secret.txt`, "old\n");
      workspace.write(`${name}/secret.ipynb`, notebook);
    }
    const links: Record<string, string> = {
      "out.txt": "../outside/secret.txt",
      "absolute.txt": workspace.path("outside/secret.txt"),
      "chain.txt": "out.txt",
      up: "..",
      "dangling.txt": "nowhere.txt",
      "dangling-out.txt": "../outside/new.txt",
      "dangling-folder": "../outside/no-such-folder",
    };
    for (const [name, target] of Object.entries(links)) {
      symlinkSync(target, workspace.path(`${ROOT}/${name}`));
    }
  }

  /** One call of each tool that changes files, on one path. */
  async function callAll(file_path: string): Promise<CallResult[]> {
    const registry = registryHere({ projectPath: workspace.path(ROOT) });
    return [
      await registry.call("Write", { file_path, content: "evil" }),
      await registry.call("Edit", { file_path, old_string: "old", new_string: "evil" }),
      await registry.call("Edit", { file_path, old_string: "", new_string: "evil" }),
      await registry.call("NotebookEdit", {
        notebook_path: file_path,
        new_source: "evil",
        edit_mode: "insert",
        cell_type: "code",
      }),
      await registry.call("write_file", { path: file_path, content: "evil", overwrite: true }),
      await registry.call("edit_file", {
        path: file_path,
        edits: [{ target: "old", replacement: "evil" }],
      }),
    ];
  }

  /** The results of all tools for a path, and the files afterwards. */
  async function outcome(asked: string) {
    return { results: await callAll(asked), files: everything(workspace.root) };
  }

  /** Every tool refuses, and nothing is changed. */
  function refusal(message: string, type: ErrorType = "PathOutsideWorkspace") {
    const refused = message.endsWith("ask the user")
      ? allowableRefusal(type, message, MORE_DIRECTORIES)
      : failure(type, message);
    return { results: Array.from({ length: 6 }, () => refused), files: everything(workspace.root) };
  }

  const outside = (asked: string) =>
    `\`${asked}\` is outside the workspace (\`${workspace.path(ROOT)}\`); use a path inside it, or ask the user`;
  const MORE_DIRECTORIES = "a host can allow further directories with `additionalDirectories`";

  test.each([
    ["a link to a file outside", `${ROOT}/out.txt`],
    ["an absolute link", `${ROOT}/absolute.txt`],
    ["a link to such a link", `${ROOT}/chain.txt`],
    ["a folder that is a link, to an existing file", `${ROOT}/up/outside/secret.txt`],
    ["a folder that is a link, to a new file", `${ROOT}/up/outside/new.txt`],
    ["a folder that is a link, to a notebook", `${ROOT}/up/outside/secret.ipynb`],
    ["a name that starts with the root's", `${ROOT}-evil/secret.txt`],
    ["a new file beside it", `${ROOT}-evil/new.txt`],
    ["the root in upper case", `${ROOT.toUpperCase()}/secret.txt`],
    ["the root with its accent in another Unicode form", `${ROOT.normalize("NFD")}/secret.txt`],
    ["a missing folder", "no-such-folder/new.txt"],
    ["the root's parent", "new.txt"],
  ])("%s: refused, nothing touched", async (_what, name) => {
    tree();
    // Concatenated, because `join` would resolve the dots.
    const asked = `${workspace.root}/${name}`;
    const refused = refusal(outside(asked));
    expect(await outcome(asked)).toEqual(refused);
  });

  test.each([
    ["..", "/../outside/secret.txt"],
    [".. to a new file", "/../outside/new.txt"],
    [".. after a folder", "/up/../outside/secret.txt"],
    ["many ..", `/${"../".repeat(30)}etc/hostname`],
    ["doubled slashes", "//..//outside//secret.txt"],
  ])("%s: refused, nothing touched", async (_what, rest) => {
    tree();
    const asked = `${workspace.path(ROOT)}${rest}`;
    const refused = refusal(outside(asked));
    expect(await outcome(asked)).toEqual(refused);
  });

  test.each(["dangling.txt", "dangling-out.txt", "dangling-folder/new.txt"])(
    "%s, a dangling link: refused, nothing touched",
    async (name) => {
      tree();
      const asked = workspace.path(`${ROOT}/${name}`);
      const message = `\`${asked}\` is a dangling symbolic link, so where it leads cannot be checked`;
      const refused = refusal(message);
      expect(await outcome(asked)).toEqual(refused);
    },
  );

  test("dots after a folder that does not exist: refused, nothing touched", async () => {
    tree();
    const before = everything(workspace.root);
    const results = await callAll(`${workspace.path(ROOT)}/no-such-folder/../../outside/new.txt`);
    expect(results.map(({ error }) => error?.type)).toEqual(
      results.map(() => "PathOutsideWorkspace"),
    );
    expect(everything(workspace.root)).toEqual(before);
  });

  test("a NUL is no part of a path: refused, nothing touched", async () => {
    tree();
    const file = workspace.path(`${ROOT}/a.txt`);
    const message = `\`${file}\\0.png\` contains a NUL character, so it cannot be a path inside the workspace`;
    const refused = refusal(message);
    expect(await outcome(`${file}\0.png`)).toEqual(refused);
  });

  test("an additional directory of the host is inside, and its siblings are not", async () => {
    tree();
    const registry = createToolRegistry({
      projectPath: workspace.path(ROOT),
      additionalDirectories: [workspace.path("outside")],
    });
    const inside = workspace.path("outside/secret.txt");
    await registry.call("Read", { file_path: inside });
    const written = await registry.call("Write", { file_path: inside, content: "allowed" });
    expect(written.error).toBeUndefined();
    expect(readFileSync(inside, "utf8")).toBe("allowed");
    const neighbour = workspace.path(`${ROOT}-evil/new.txt`);
    const refused = await registry.call("Write", { file_path: neighbour, content: "evil" });
    expect(refused.error?.type).toBe("PathOutsideWorkspace");
  });
});
