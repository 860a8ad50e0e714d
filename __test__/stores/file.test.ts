// The option `store`, and the default file of the store.
import {
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { MapStore } from "../support/map-store.js";
import { thrownBy } from "../support/misuse.js";
import { useAskingRegistries, useRegistries } from "../support/registries.js";
import { texts } from "../support/results.js";
import { root, runScript, runtimes } from "../support/runtimes.js";
import { createToolRegistry } from "../support/unasked.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace);
const registryThatAsks = useAskingRegistries(workspace);

const SET = { action: "set", key: "colour", value: "blue" } as const;
const GET = { action: "get", key: "colour" } as const;

const dataDirectory = () => process.env["XDG_DATA_HOME"] ?? "";

beforeEach(() => rmSync(join(dataDirectory(), "toolwright"), { recursive: true, force: true }));

describe("the option `store`", () => {
  test.each<[string, unknown, string]>([
    ["a text", "redis://localhost", '`store` must be "memory", settings or an object with methods'],
    ["a number", 5, "`store` must be"],
    ["an unknown setting", { file: "x" }, "unknown option `file`"],
    ["an invalid path", { path: 5 }, "`store.path` must be a path, got number `5`"],
    ["an empty path", { path: "" }, "`store.path` must be a path"],
    ["no room", { maxEntries: 0 }, "option `store.maxEntries`: expected an integer"],
    ["negative room", { maxBytes: -1 }, "option `store.maxBytes`: expected an integer"],
    ["no time", { timeoutMs: 0 }, "option `store.timeoutMs`: expected an integer"],
    ["a map", new Map(), "`store.list` must be a function, got undefined"],
    ["half a store", { get() {} }, "`store.set` must be a function"],
    [
      "a store timeout of 0",
      Object.assign(new MapStore(), { timeoutMs: "5s" }),
      "option `store.timeoutMs`",
    ],
  ])("refuses %s", (_what, store, cause) => {
    const refused = thrownBy(() => createToolRegistry({ store: store as "memory" }));
    expect(refused.type).toBe("InvalidOptions");
    expect(refused.message).toContain(cause);
  });

  test("in memory, a value lasts as long as the registry", async () => {
    const registry = registryHere({ store: "memory" });
    await registry.call("memory", SET);
    expect(texts(await registry.call("memory", GET))).toEqual(["blue"]);
    const other = registryHere({ store: "memory" });
    expect(texts(await other.call("memory", GET))).toEqual(["Key not found"]);
    expect(existsSync(join(dataDirectory(), "toolwright"))).toBe(false);
  });

  test("a full store is reported", async () => {
    const registry = registryHere({ store: { path: workspace.path("s.sqlite"), maxEntries: 1 } });
    await registry.call("memory", SET);
    const full = await registry.call("memory", { ...SET, key: "shape" });
    expect(full.error?.message).toContain("the store is full: it has 1 entries");
    expect(texts(await registry.call("memory", { ...SET, value: "red" }))).toEqual([
      "Stored colour",
    ]);
  });
});

describe("the file", () => {
  test("is in the user's data directory, and there is none before a value is set", async () => {
    const registry = registryHere();
    const folder = join(dataDirectory(), "toolwright");
    expect(texts(await registry.call("memory", GET))).toEqual(["Key not found"]);
    expect(existsSync(folder)).toBe(false);
    await registry.call("memory", SET);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, "store.sqlite")).mode & 0o777).toBe(0o600);
    const other = registryHere();
    expect(texts(await other.call("memory", GET))).toEqual(["blue"]);
  });

  test("with a relative path is resolved once, against the current directory", async () => {
    const before = process.cwd();
    process.chdir(workspace.root);
    try {
      const registry = registryHere({ store: { path: "folder/s.sqlite" } });
      process.chdir(before);
      await registry.call("memory", SET);
    } finally {
      process.chdir(before);
    }
    expect(existsSync(workspace.path("folder/s.sqlite"))).toBe(true);
  });

  test.runIf(process.platform === "linux")("is closed with the last registry", async () => {
    const path = workspace.path("s.sqlite");
    const registries = [1, 2, 3].map(() => registryHere({ store: { path } }));
    await Promise.all(registries.map((it) => it.call("memory", SET)));
    expect(openBelow(workspace.root).length).toBeGreaterThan(0);
    for (const registry of registries) await registry.close();
    expect(openBelow(workspace.root)).toEqual([]);
  });

  test("that was truncated is moved aside, which the answer says, and the next call works", async () => {
    const path = workspace.path("s.sqlite");
    const first = registryHere({ store: { path } });
    await first.call("memory", SET);
    await first.close();
    truncateSync(path, 5_000);
    const damaged = readFileSync(path);
    const registry = registryHere({ store: { path } });
    const failed = await registry.call("memory", GET);
    expect(failed).toMatchObject({ isError: true, error: { type: "MemoryError" } });
    const [, aside = ""] = /is kept as `(.*?)`/.exec(failed.error?.message ?? "") ?? [];
    expect(readFileSync(aside).equals(damaged)).toBe(true);
    expect(texts(await registry.call("memory", GET))).toEqual(["Key not found"]);
    expect(texts(await registry.call("memory", SET))).toEqual(["Stored colour"]);
  });

  test("of another program stays unchanged", async () => {
    const path = workspace.write("diary.txt", "dear diary\n");
    const registry = registryHere({ store: { path } });
    const failed = await registry.call("memory", SET);
    expect(failed.error?.message).toContain(`\`${path}\` is not a store of this package`);
    expect(readFileSync(path, "utf8")).toBe("dear diary\n");
  });

  test("is never changed by other tools without confirmation, even before it exists", () => {
    const registry = registryThatAsks({
      store: { path: workspace.path("s.sqlite") },
      permissionMode: "acceptEdits",
      allowedTools: ["Write", "Bash"],
    });
    const write = (name: string) =>
      registry.explain("Write", { file_path: workspace.path(name), content: "" }).action;
    const names = ["s.sqlite", "s.sqlite-wal", "s.sqlite-shm", "s.sqlite-journal", "s.sqlite.lock"];
    expect(names.map(write)).toEqual(names.map(() => "ask"));
    expect(write("other.sqlite")).toBe("allow");
    expect(registry.explain("Bash", { command: "rm s.sqlite" }).action).toBe("ask");
    expect(registry.explain("Bash", { command: "rm other.sqlite" }).action).toBe("allow");
  });
});

function openBelow(folder: string): string[] {
  const links = readdirSync("/proc/self/fd").map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return "";
    }
  });
  return links.filter((it) => it.startsWith(folder));
}

describe.each(runtimes)("on $name", ({ path: runtime }) => {
  test("workers that share a store lose nothing, and a terminated one leaves it intact", async () => {
    const worker = `
      const { parentPort, workerData } = require("node:worker_threads");
      const { createToolRegistry } = require(${JSON.stringify(join(root, "index.js"))});
      const registry = createToolRegistry({
        toolsets: ["classic"], permissionMode: "bypassPermissions", userPolicyFile: false,
        projectPath: ${JSON.stringify(workspace.root)}, store: { path: ${JSON.stringify(workspace.path("s.sqlite"))} },
      });
      (async () => {
        for (let n = 0; n < 20; n += 1) {
          await registry.call("write_todos", { action: "add", task: "task " + workerData + n });
        }
        parentPort.postMessage("done");
        for (;;) await registry.call("memory", { action: "set", key: workerData, value: "x" });
      })();`;
    writeFileSync(workspace.path("worker.cjs"), worker);
    const host = `
      const { Worker } = require("node:worker_threads");
      const { once } = require("node:events");
      const { createToolRegistry } = require(${JSON.stringify(join(root, "index.js"))});
      const fs = require("node:fs");
      (async () => {
        const workers = ["a", "b", "c"].map((workerData) => new Worker(${JSON.stringify(workspace.path("worker.cjs"))}, { workerData }));
        await Promise.all(workers.map((it) => once(it, "message")));
        await Promise.all(workers.map((it) => it.terminate()));
        const registry = createToolRegistry({
          toolsets: ["classic"], permissionMode: "bypassPermissions", userPolicyFile: false,
          projectPath: ${JSON.stringify(workspace.root)}, store: { path: ${JSON.stringify(workspace.path("s.sqlite"))} },
        });
        const list = await registry.call("write_todos", { action: "list" });
        await registry.close();
        console.log(list.content[0].text.match(/task [abc]\\d+/g).length);
      })();`;
    const script = workspace.write("host.cjs", host);
    const ended = await runScript(runtime, [script], workspace.root);
    expect(ended).toMatchObject({ code: 0, stdout: "60\n", stderr: "" });
  });
});
