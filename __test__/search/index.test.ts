import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import { type ToolRegistryOptions, createToolRegistry } from "../support/unasked";
import { warm } from "../support/indexes.js";
import { root, runtimes } from "../support/runtimes.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const onLinux = process.platform === "linux";

function registryWith(index: ToolRegistryOptions["index"]) {
  const toolsets = ["claude", "classic"] as const;
  return createToolRegistry({ projectPath: workspace.root, toolsets, index });
}

/** The names of the files that a search finds. */
async function found(
  registry: ReturnType<typeof registryWith>,
  pattern: string,
): Promise<string[]> {
  const { structuredContent, error } = await registry.call("Grep", { pattern, head_limit: 0 });
  expect(error).toBeUndefined();
  return [...(structuredContent as { files: string[] }).files].toSorted();
}

/** How many inotify instances this process has open. */
function queues(): number {
  return readdirSync("/proc/self/fd").filter((it) => {
    try {
      return readlinkSync(`/proc/self/fd/${it}`).includes("inotify");
    } catch {
      return false;
    }
  }).length;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
}

const initially = onLinux ? queues() : 0;

// close() does not wait until an index is freed, but every index is freed.
afterEach(async () => {
  if (onLinux) await until(() => queues() === initially);
});

function mayUseNamespaces(): boolean {
  try {
    const limit = "echo 10 > /proc/sys/user/max_inotify_watches";
    execFileSync("unshare", ["-Ur", "bash", "-c", limit], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

describe("the option `index`", () => {
  test("is refused if it is invalid", () => {
    for (const index of ["always", 1, { mode: "never" }, { maxMemoryMb: 0 }, { size: 1 }]) {
      expect(() => registryWith(index as unknown as "on")).toThrow(
        expect.objectContaining({ type: "InvalidOptions" }),
      );
    }
  });

  test("off and auto build nothing for a small workspace", async () => {
    workspace.write("a.txt", "needle\n");
    for (const [index, state] of [
      ["off", "off"],
      ["auto", "cold"],
      [undefined, "cold"],
    ] as const) {
      const registry = registryWith(index);
      await registry.initialize();
      expect(await found(registry, "needle")).toEqual(["a.txt"]);
      expect(registry.indexStatus()).toMatchObject([{ root: workspace.root, state, files: 0 }]);
      await registry.close();
    }
  });
});

describe.runIf(onLinux)("an index", () => {
  test("contains every file when it is warm, and every change before an answer", async () => {
    workspace.plant({
      "a.txt": "needle\n",
      "sub/b.txt": "hay\n",
      ".gitignore": "c.txt\n",
      "c.txt": "needle\n",
    });
    const registry = registryWith({ mode: "on", maxMemoryMb: 64 });
    await registry.initialize();
    const [status] = await warm(registry);
    expect(status).toMatchObject({ state: "warm", files: 4, learned: 4 });
    expect(status!.memoryBytes).toBeGreaterThan(0);
    expect(status!.lastBuildMs).toBeTypeOf("number");
    expect(await found(registry, "needle")).toEqual(["a.txt"]);
    await registry.call("Write", { file_path: workspace.path("new/d.txt"), content: "a needle\n" });
    expect(await found(registry, "needle")).toEqual(["a.txt", "new/d.txt"]);
    writeFileSync(workspace.path("sub/b.txt"), "needle\n");
    renameSync(workspace.path("a.txt"), workspace.path("sub/e.txt"));
    expect(await found(registry, "needle")).toEqual(["new/d.txt", "sub/b.txt", "sub/e.txt"]);
    writeFileSync(workspace.path(".gitignore"), "sub/\n");
    expect(await found(registry, "needle")).toEqual(["c.txt", "new/d.txt"]);
    rmSync(workspace.path("new"), { recursive: true });
    const glob = await registry.call("Glob", { pattern: "**/*.txt" });
    expect((glob.structuredContent as { files: string[] }).files).toEqual(["c.txt"]);
    await registry.close();
  });

  test("is shared by the registries of a workspace, and freed with the last one", async () => {
    workspace.write("a.txt", "needle\n");
    const before = queues();
    const [one, two] = [registryWith("on"), registryWith("on")];
    await Promise.all([one.initialize(), two.initialize()]);
    expect((await warm(one))[0]).toMatchObject({ state: "warm", files: 1 });
    expect(two.indexStatus()).toEqual(one.indexStatus());
    expect(queues()).toBe(before + 1);
    await one.close();
    expect(one.indexStatus()).toMatchObject([{ state: "off" }]);
    expect(two.indexStatus()).toMatchObject([{ state: "warm" }]);
    await two.close();
    await until(() => queues() === before);
  });

  test("delays neither a search nor closing", async () => {
    for (let count = 0; count < 300; count += 1)
      workspace.write(`d${count % 50}/f${count}`, "needle\n");
    const before = queues();
    const registry = registryWith("on");
    await registry.initialize();
    expect(await found(registry, "needle")).toHaveLength(300);
    const other = registryWith("on");
    await other.initialize();
    await Promise.all([registry.close(), other.close()]);
    await until(() => queues() === before);
  });

  test("stays within its memory limit, and searches find everything", async () => {
    for (let count = 0; count < 60; count += 1) {
      const words = Array.from({ length: 4_000 }, (_, at) =>
        (at * 7_919 + count * 104_729).toString(36),
      );
      workspace.write(`f${count}.txt`, `${words.join(" ")}\nneedle${count % 2}\n`);
    }
    const registry = registryWith({ mode: "on", maxMemoryMb: 1 });
    await registry.initialize();
    const [status] = await warm(registry);
    expect(status!.files).toBe(60);
    expect(status!.memoryBytes).toBeLessThan(2 * 1024 * 1024);
    expect(await found(registry, "needle1")).toHaveLength(30);
    await registry.close();
  });

  test("that samples many files, and samples again when they multiply, gives the same answers", async () => {
    const words = (file: number) =>
      Array.from({ length: 30 }, (_, at) => `${(file * 31 + at * 7_919).toString(36)}_word`);
    const add = (from: number, to: number) => {
      for (let file = from; file < to; file += 1)
        workspace.write(`d${file % 40}/f${file}.txt`, `common ${words(file).join(" ")}\n`);
    };
    const registry = registryWith("on");
    const cold = registryWith("off");
    await registry.initialize();
    const compare = async (word: string) => {
      for (const input of [
        { pattern: word },
        { pattern: `${word}|nothing_like_it`, output_mode: "count" },
        { pattern: "z_word 1[0-9a-z]+_word", output_mode: "content" },
        { pattern: "no_such_word" },
      ] as const) {
        const [warmed, read] = await Promise.all(
          [registry, cold].map((it) => it.call("Grep", { ...input, head_limit: 0 })),
        );
        expect(warmed!.content).toEqual(read!.content);
      }
    };
    // Fewer files than a sample needs, then more, then eight times as many.
    for (const [from, to] of [
      [0, 500],
      [500, 1_100],
      [1_100, 9_000],
    ] as const) {
      add(from, to);
      const word = words(to - 1)[17]!;
      await compare(word);
      expect(await warm(registry)).toMatchObject([{ state: "warm", learned: to }]);
      await compare(word);
    }
    await Promise.all([registry.close(), cold.close()]);
  });

  test("that missed changes is not used, and is correct again afterwards", async () => {
    workspace.write("a.txt", "needle\n");
    const registry = registryWith("on");
    await registry.initialize();
    await warm(registry);
    // More than the kernel's queue holds.
    const limit = Number(readFileSync("/proc/sys/fs/inotify/max_queued_events", "utf8"));
    const file = workspace.path("b.txt");
    for (let count = 0; count < limit / 2 + 100; count += 1) {
      writeFileSync(file, "hay\n");
      rmSync(file);
      if (count % 1_000 === 0) workspace.write(`many/f${count}`, "needle\n");
    }
    writeFileSync(file, "needle\n");
    const all = await found(registry, "needle");
    expect(all).toContain("b.txt");
    expect(all).toHaveLength(2 + Math.ceil((limit / 2 + 100) / 1_000));
    const [status] = await warm(registry);
    expect(status).toMatchObject({ state: "warm", files: all.length });
    expect(await found(registry, "needle")).toEqual(all);
    await registry.close();
  });

  test("of a root that is removed and created again is rebuilt", async () => {
    const path = join(workspace.root, "root");
    mkdirSync(path);
    writeFileSync(join(path, "old.txt"), "needle\n");
    const registry = createToolRegistry({ projectPath: path, index: "on" });
    await registry.initialize();
    await warm(registry);
    rmSync(path, { recursive: true });
    mkdirSync(path);
    writeFileSync(join(path, "new.txt"), "needle\n");
    expect(await found(registry, "needle")).toEqual(["new.txt"]);
    // The next search notices the new root and starts indexing it.
    await until(() => {
      void registry.call("Glob", { pattern: "*" });
      return registry.indexStatus()[0]!.state === "warm";
    });
    writeFileSync(join(path, "other.txt"), "needle\n");
    expect(await found(registry, "needle")).toEqual(["new.txt", "other.txt"]);
    await registry.close();
  });

  test("of a process that was killed during the build leaves nothing behind", async () => {
    for (let count = 0; count < 200; count += 1) workspace.write(`d${count}/f`, "needle\n");
    const code = `
      const { createToolRegistry } = require("./index.js");
      const registry = createToolRegistry({ projectPath: ${JSON.stringify(workspace.root)}, index: "on" });
      registry.initialize().then(() => console.log("building"));
      setInterval(() => {}, 1_000);
    `;
    const child = spawn(runtimes[0]?.path as string, ["-e", code], { cwd: root });
    await once(child.stdout, "data");
    child.kill("SIGKILL");
    await once(child, "exit");
    const registry = registryWith("on");
    await registry.initialize();
    expect((await warm(registry))[0]).toMatchObject({ state: "warm", files: 200 });
    expect(await found(registry, "needle")).toHaveLength(200);
    await registry.close();
  });

  test.runIf(mayUseNamespaces())("that may watch 10 directories says so, and answers", async () => {
    for (let count = 0; count < 20; count += 1) workspace.write(`d${count}/f.txt`, "needle\n");
    const code = `
      const { createToolRegistry } = require("./index.js");
      const registry = createToolRegistry({ projectPath: ${JSON.stringify(workspace.root)}, index: "on", permissionMode: "bypassPermissions", userPolicyFile: false });
      (async () => {
        await registry.initialize();
        while (registry.indexStatus()[0].state === "building") await new Promise((resolve) => setTimeout(resolve, 2));
        const { structuredContent } = await registry.call("Grep", { pattern: "needle" });
        console.log(JSON.stringify({ status: registry.indexStatus()[0], structuredContent }));
        await registry.close();
      })();
    `;
    const limited = 'echo 10 > /proc/sys/user/max_inotify_watches; exec "$@"';
    const args = ["-Ur", "bash", "-c", limited, "bash", runtimes[0]?.path as string, "-e", code];
    const { stdout } = await promisify(execFile)("unshare", args, { cwd: root });
    const { status, structuredContent } = JSON.parse(stdout);
    expect(status).toMatchObject({ state: "cold", whyCold: expect.stringContaining("watched") });
    expect(structuredContent).toMatchObject({ totalFiles: 20, notIndexed: status.whyCold });
  });
});
