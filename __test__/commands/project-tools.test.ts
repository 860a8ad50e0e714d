// The `project` set on real repositories, harmless and hostile.
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ToolRegistryOptions } from "../../index.js";
import { useAskingRegistries, useRegistries } from "../support/registries.js";
import { texts } from "../support/results.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace, { toolsets: ["project"] });
const askingRegistryHere = useAskingRegistries(workspace);

/** Runs git as a person would, without the configuration of the user who runs the tests. */
function git(directory: string, ...args: string[]): string {
  return execFileSync("git", args, {
    cwd: directory,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"],
      HOME: workspace.root,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_AUTHOR_NAME: "a",
      GIT_AUTHOR_EMAIL: "a@example.org",
      GIT_COMMITTER_NAME: "a",
      GIT_COMMITTER_EMAIL: "a@example.org",
    },
  });
}

/** A repository with one commit of two files. */
function repository(name = "."): string {
  const directory = workspace.path(name);
  mkdirSync(directory, { recursive: true });
  git(directory, "init", "--quiet", "--initial-branch=main");
  workspace.plant({ [join(name, "a.txt")]: "one\n", [join(name, "src/b.txt")]: "two\n" });
  git(directory, "add", ".");
  git(directory, "commit", "--quiet", "-m", "first");
  return directory;
}

async function answer(name: string, input: object = {}, options: ToolRegistryOptions = {}) {
  const result = await registryHere(options).call(name, input);
  return { ...result, text: texts(result).join("\n") };
}

describe("git-status", () => {
  test("lists the same as `git status --porcelain`", async () => {
    const root = repository();
    workspace.plant({ "a.txt": "changed\n", "new file.txt": "", "src/ü.txt": "", "d/e.txt": "" });
    git(root, "rm", "--quiet", "src/b.txt");
    git(root, "add", "src/ü.txt");
    const { text, structuredContent } = await answer("git-status");
    const plain = git(root, "-c", "core.quotePath=false", "status", "--porcelain");
    expect(text).toBe(
      `${plain.trimEnd().replaceAll('"', "")}\n[paths are relative to \`${root}\`]`,
    );
    expect(structuredContent).toMatchObject({ root, total: 5 });
  });

  test("reports a rename, and nothing for a clean tree", async () => {
    const root = repository();
    expect((await answer("git-status")).text).toBe("[no changes]");
    git(root, "mv", "a.txt", "moved.txt");
    const { text, structuredContent } = await answer("git-status");
    expect(text).toContain("R  a.txt -> moved.txt");
    expect(structuredContent).toMatchObject({ entries: [{ path: "moved.txt", from: "a.txt" }] });
  });

  test("can be limited to one directory", async () => {
    repository();
    workspace.plant({ "a.txt": "x", "src/b.txt": "y" });
    const { text } = await answer("git-status", { path: "src" });
    expect(text).toMatch(/^ M src\/b\.txt\n\[/);
  });

  test.each([
    ["../", "PathOutsideWorkspace"],
    ["/etc", "PathOutsideWorkspace"],
    ["missing", "FileNotFoundError"],
    ["a.txt", "ValidationError"],
    ["a\0b", "PathOutsideWorkspace"],
  ])("refuses the path %j", async (path, type) => {
    repository();
    const { error } = await answer("git-status", { path });
    expect(error?.type).toBe(type);
  });

  test("shows at most 2,000 of many entries, and says so", async () => {
    repository();
    for (let at = 0; at < 2_100; at += 1) workspace.write(`n${at}.txt`, "");
    const { text, structuredContent } = await answer("git-status");
    expect(text).toContain("showing 2000 of 2100 entries");
    expect(structuredContent).toMatchObject({ total: 2_100 });
  });

  test("does not list files that policy denies to read", async () => {
    repository();
    workspace.plant({ "a.txt": "x", "secrets/key.txt": "y", ".env": "z" });
    const registry = askingRegistryHere({
      toolsets: ["project"],
      policy: { deny: ["Read(.env)", "Read(a.txt)"] },
    });
    const status = texts(await registry.call("git-status", {})).join("\n");
    expect(status).toContain("secrets/");
    expect(status).not.toMatch(/\.env|a\.txt/);
    expect(texts(await registry.call("git-diff-summary", {})).join("\n")).toBe(
      "[no unstaged changes]",
    );
  });
});

describe("git-diff-summary", () => {
  test("summarizes unstaged and staged changes", async () => {
    const root = repository();
    workspace.plant({ "a.txt": "one\ntwo\n" });
    git(root, "add", "a.txt");
    workspace.plant({ "src/b.txt": "zwei\n" });
    const unstaged = await answer("git-diff-summary");
    expect(unstaged.text).toBe(
      `${git(root, "diff", "--stat").trimEnd()}\n[paths are relative to \`${root}\`]`,
    );
    const staged = await answer("git-diff-summary", { staged: true });
    expect(staged.text).toContain(" a.txt | 1 +");
    expect(staged.text).not.toContain("b.txt");
  });

  test("reports that nothing has changed", async () => {
    repository();
    expect((await answer("git-diff-summary")).text).toBe("[no unstaged changes]");
    expect((await answer("git-diff-summary", { staged: true })).text).toBe("[no staged changes]");
  });
});

describe("workspace-info", () => {
  test("reports the project, the branch and the remote without its password", async () => {
    const root = repository();
    git(root, "remote", "add", "origin", "https://me:secret@example.org/a.git");
    const { text, structuredContent } = await answer("workspace-info");
    const data = {
      projectPath: root,
      additionalDirectories: [],
      gitRoot: root,
      gitBranch: "main",
      gitCommit: git(root, "rev-parse", "HEAD").trim(),
      gitRemoteUrl: "https://example.org/a.git",
    };
    expect(JSON.parse(text)).toEqual(data);
    expect(structuredContent).toEqual(data);
  });

  test("reports a detached head, a repository without commits, and a missing repository", async () => {
    const none = await answer("workspace-info");
    expect(JSON.parse(none.text)).toMatchObject({ gitRoot: null, gitBranch: null });
    const root = workspace.root;
    git(root, "init", "--quiet", "--initial-branch=main");
    const young = await answer("workspace-info");
    expect(JSON.parse(young.text)).toMatchObject({ gitBranch: "main", gitCommit: null });
    repository();
    git(root, "checkout", "--quiet", "--detach");
    const detached = await answer("workspace-info");
    expect(JSON.parse(detached.text)).toMatchObject({ gitBranch: null, gitRemoteUrl: null });
  });
});

describe("every kind of repository", () => {
  test("a worktree", async () => {
    const main = repository("main");
    git(main, "worktree", "add", "--quiet", "-b", "side", "../side");
    workspace.write("side/a.txt", "changed\n");
    const options = { projectPath: workspace.path("side") };
    expect((await answer("git-status", {}, options)).text).toMatch(/^ M a\.txt/);
    const info = await answer("workspace-info", {}, options);
    expect(JSON.parse(info.text)).toMatchObject({ gitBranch: "side" });
  });

  test("a directory below the top", async () => {
    const root = repository();
    workspace.plant({ "a.txt": "x", "src/b.txt": "y" });
    const { text } = await answer("git-status", {}, { projectPath: workspace.path("src") });
    expect(text).toBe(` M src/b.txt\n[paths are relative to \`${root}\`]`);
  });

  test("one with a submodule", async () => {
    const root = repository("top");
    const part = repository("part");
    git(root, "-c", "protocol.file.allow=always", "submodule", "add", "--quiet", part, "part");
    git(root, "commit", "--quiet", "-m", "part");
    const options = { projectPath: root };
    expect((await answer("git-status", {}, options)).text).toBe("[no changes]");
    workspace.write("top/part/a.txt", "changed\n");
    const inside = await answer("git-status", { path: "part" }, options);
    expect(inside.text).toMatch(/^ M a\.txt/);
    git(workspace.path("top/part"), "commit", "--quiet", "-am", "second");
    expect((await answer("git-status", {}, options)).text).toMatch(/^ M part/);
  });

  test("a bare one, and none", async () => {
    const bare = workspace.path("bare.git");
    git(workspace.root, "init", "--quiet", "--bare", "--initial-branch=main", bare);
    const { error } = await answer("git-status", {}, { projectPath: bare });
    expect(error).toMatchObject({
      type: "GitError",
      message: `\`${bare}\` is a bare git repository, which has no working tree`,
    });
    const info = await answer("workspace-info", {}, { projectPath: bare });
    expect(JSON.parse(info.text)).toMatchObject({ gitRoot: null, gitBranch: "main" });
    mkdirSync(workspace.path("plain"));
    const none = await answer("git-status", {}, { projectPath: workspace.path("plain") });
    expect(none.error?.message).toBe(`\`${workspace.path("plain")}\` is not in a git repository`);
  });

  test("git's own files", async () => {
    repository();
    const { error } = await answer("git-status", { path: ".git" });
    expect(error?.message).toContain("is not in a working tree");
  });
});

describe("a hostile repository runs nothing", () => {
  /** A program that creates a file as a mark, and the path of the mark. */
  function trap() {
    const mark = workspace.path("mark");
    const program = workspace.write("trap.sh", `#!/bin/sh\necho "$0 $*" >> '${mark}'\nexit 1\n`);
    chmodSync(program, 0o755);
    return { mark, program };
  }

  const TRAPS: [string, (root: string, program: string) => void][] = [
    ["fsmonitor", (root, program) => git(root, "config", "core.fsmonitor", program)],
    [
      "hooks",
      (root, program) => {
        for (const hook of ["post-index-change", "reference-transaction", "fsmonitor-watchman"]) {
          writeFileSync(join(root, ".git/hooks", hook), `#!/bin/sh\n${program}\n`, { mode: 0o755 });
        }
        git(root, "config", "core.fsmonitor", ".git/hooks/fsmonitor-watchman");
      },
    ],
    [
      "a clean filter",
      (root, program) => {
        writeFileSync(join(root, ".gitattributes"), "* filter=evil\n");
        git(root, "config", "filter.evil.clean", program);
      },
    ],
    [
      "a required process filter with a strange name",
      (root, program) => {
        writeFileSync(join(root, ".gitattributes"), "* filter=it's;$(x)\n");
        git(root, "config", "filter.it's;$(x).process", program);
        git(root, "config", "filter.it's;$(x).required", "true");
      },
    ],
    [
      "a filter whose name has a `=` in it",
      (root, program) => {
        writeFileSync(join(root, ".gitattributes"), "* filter=a=b\n");
        appendFileSync(join(root, ".git/config"), `[filter "a=b"]\n\tclean = ${program}\n`);
      },
    ],
    [
      "a filter whose name is not text",
      (root, program) => {
        const name = Buffer.from([0xff]);
        const lines = (before: string, after: string) =>
          Buffer.concat([Buffer.from(before), name, Buffer.from(after)]);
        writeFileSync(join(root, ".gitattributes"), lines("* filter=", "\n"));
        const setting = lines('[filter "', `"]\n\tclean = ${program}\n`);
        appendFileSync(join(root, ".git/config"), setting);
      },
    ],
    [
      "a filter in an included file",
      (root, program) => {
        writeFileSync(join(root, ".git/more"), `[filter "evil"]\n\tclean = ${program}\n`);
        git(root, "config", "include.path", "more");
        mkdirSync(join(root, ".git/info"), { recursive: true });
        writeFileSync(join(root, ".git/info/attributes"), "* filter=evil\n");
      },
    ],
    [
      "textconv and a diff driver",
      (root, program) => {
        writeFileSync(join(root, ".gitattributes"), "* diff=evil\n");
        git(root, "config", "diff.evil.textconv", program);
        git(root, "config", "diff.evil.command", program);
      },
    ],
    ["an external diff", (root, program) => git(root, "config", "diff.external", program)],
    [
      "a missing object of a partial clone",
      (root, program) => {
        git(root, "config", "core.repositoryformatversion", "1");
        git(root, "config", "extensions.partialClone", "origin");
        git(root, "config", "remote.origin.url", "ssh://example.org/a");
        git(root, "config", "remote.origin.promisor", "true");
        git(root, "config", "core.sshCommand", program);
        const blob = git(root, "rev-parse", "HEAD:a.txt").trim();
        execFileSync("rm", ["-f", join(root, ".git/objects", blob.slice(0, 2), blob.slice(2))]);
      },
    ],
    [
      "a submodule with its own configuration",
      (root, program) => {
        const part = repository("part");
        git(root, "-c", "protocol.file.allow=always", "submodule", "add", "--quiet", part, "part");
        git(root, "commit", "--quiet", "-m", "part");
        const inside = join(root, "part");
        git(inside, "config", "core.fsmonitor", program);
        git(inside, "config", "filter.evil.clean", program);
        writeFileSync(join(inside, ".gitattributes"), "* filter=evil\n");
        writeFileSync(join(inside, "a.txt"), "changed\n");
      },
    ],
  ];

  test.each(TRAPS)("by %s", async (_name, set) => {
    const root = repository("hostile");
    const { mark, program } = trap();
    set(root, program);
    workspace.plant({ "hostile/a.txt": "changed, longer\n", "hostile/new.txt": "" });
    for (const [name, input] of [
      ["git-status", {}],
      ["git-diff-summary", {}],
      ["git-diff-summary", { staged: true }],
      ["workspace-info", {}],
      ["file-reader", { path: "a.txt" }],
    ] as const) {
      await answer(name, input, { projectPath: root });
      expect(`${name}: ${existsSync(mark)}`).toBe(`${name}: false`);
    }
    // The trap works: plain git runs it.
    for (const command of [["status"], ["diff"]]) {
      try {
        git(root, ...command);
      } catch {
        // Some traps make plain git fail.
      }
    }
    expect(existsSync(mark)).toBe(true);
  });

  test("that is a bare one planted in a directory", async () => {
    const root = repository();
    const { mark, program } = trap();
    git(root, "init", "--quiet", "--bare", "planted");
    git(workspace.path("planted"), "config", "core.bare", "false");
    git(workspace.path("planted"), "config", "core.worktree", workspace.root);
    git(workspace.path("planted"), "config", "core.fsmonitor", program);
    await answer("git-status", { path: "planted" });
    expect(existsSync(mark)).toBe(false);
  });

  test("and variables of the host have no effect", async () => {
    const root = repository("here");
    const other = repository("other");
    workspace.write("other/a.txt", "changed\n");
    process.env["GIT_DIR"] = join(other, ".git");
    process.env["GIT_WORK_TREE"] = other;
    try {
      const { text } = await answer("git-status", {}, { projectPath: root });
      expect(text).toBe("[no changes]");
    } finally {
      delete process.env["GIT_DIR"];
      delete process.env["GIT_WORK_TREE"];
    }
  });

  test("a working tree elsewhere is not read", async () => {
    const root = repository("here");
    mkdirSync(workspace.path("private"));
    workspace.write("private/secret.txt", "");
    git(root, "config", "core.worktree", workspace.path("private"));
    const { text, isError } = await answer("git-status", {}, { projectPath: root });
    expect(isError).toBe(true);
    expect(text).not.toContain("secret.txt");
  });
});

describe("file-reader", () => {
  test("reads a file, and a range of its lines", async () => {
    workspace.write("a.txt", "1\n2\n3\n4\n");
    expect((await answer("file-reader", { path: "a.txt" })).text).toBe("1\n2\n3\n4\n");
    const range = await answer("file-reader", { path: "a.txt", startLine: 2, endLine: 3 });
    expect(range.text).toBe("2\n3");
  });

  test.each([["../a"], ["/etc/passwd"], ["link"]])("refuses %j", async (path) => {
    symlinkSync("/etc/passwd", workspace.path("link"));
    const { error } = await answer("file-reader", { path });
    expect(error?.type).toBe("PathOutsideWorkspace");
  });
});
