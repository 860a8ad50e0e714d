import { existsSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CallResult, TaskEvent, ToolRegistry } from "../../index.js";
import { alive, childrenOf, eventually, marker, openDescriptors } from "../support/processes.js";
import { useRegistries } from "../support/registries.js";
import { texts } from "../support/results.js";
import { createToolRegistry } from "../support/unasked.js";
import { Workspace, useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace);
const hook = { type: "command", command: "true" } as const;

async function start(registry: ToolRegistry, command: string): Promise<string> {
  const result = await registry.call("Bash", { command, run_in_background: true });
  expect(result.isError).toBeUndefined();
  const { taskId } = (result._meta ?? {})["toolwright/command"] as { taskId: string };
  return taskId;
}

function facts(result: CallResult) {
  return result._meta?.["toolwright/task"] as Record<string, unknown>;
}

/** A silent task that starts before the first test, so that no test waits the whole minute for it. */
const idle = { place: new Workspace(), mark: marker(), since: 0, id: "" };
let idleRegistry: ToolRegistry;

beforeAll(async () => {
  idle.place.create();
  const options = { projectPath: idle.place.root, shell: { idleTimeoutMs: 500 } };
  idleRegistry = createToolRegistry(options);
  idle.id = await start(idleRegistry, `echo up; sleep ${idle.mark}`);
  idle.since = performance.now();
});
afterAll(async () => {
  await idleRegistry.close();
  idle.place.remove();
});

describe("a task", () => {
  test("continues after the call, is reported, can be read and is remembered", async () => {
    const registry = registryHere();
    const id = await start(
      registry,
      "echo one; while [ ! -e go ]; do sleep 0.01; done; echo two; exit 3",
    );
    expect(registry.tasks()).toMatchObject([{ id, state: "running", contained: true }]);
    expect(await eventually(() => registry.tasks()[0]?.outputBytes === 4, 5_000)).toBe(true);
    const first = await registry.call("TaskOutput", { task_id: id, block: false });
    expect(texts(first)[0]).toBe(
      `task \`${id}\` is running\n\none\n[output from byte 0 to 4, all so far]`,
    );
    const nothing = await registry.call("TaskOutput", { task_id: id, block: false });
    expect(texts(nothing)[0]).toBe(`task \`${id}\` is running\n[no output beyond byte 4]`);
    workspace.write("go", "");
    const last = await registry.call("TaskOutput", { task_id: id });
    expect(texts(last)[0]).toBe(
      `task \`${id}\` failed with exit code 3\n\ntwo\n[output from byte 4 to 8, all so far]`,
    );
    expect(last.isError).toBeUndefined();
    const again = await registry.call("TaskOutput", { task_id: id, offset: 0 });
    expect(facts(again)).toMatchObject({ state: "failed", exitCode: 3, offset: 0, nextOffset: 8 });
    const [{ outputFile = "" } = {}] = registry.tasks();
    expect(readFileSync(outputFile, "utf8")).toBe("one\ntwo\n");
  });

  test("is read in parts by several readers, and nothing is repeated or missed", async () => {
    const registry = registryHere();
    const id = await start(registry, "for i in $(seq 1 40000); do echo line $i äöü; done");
    const expected = Array.from({ length: 40_000 }, (_, at) => `line ${at + 1} äöü`).join("\n");
    const reader = async (byOffset: boolean) => {
      let heard = "";
      let offset = 0;
      for (;;) {
        const result = await registry.call("TaskOutput", {
          task_id: id,
          block: false,
          ...(byOffset ? { offset } : {}),
        });
        const { state, nextOffset, outputBytes } = facts(result);
        heard += /^task .*?\n\n(.*)\n\[output from/s.exec(texts(result)[0] ?? "")?.[1] ?? "";
        offset = nextOffset as number;
        if (state !== "running" && nextOffset === outputBytes) return heard;
      }
    };
    const heard = await Promise.all([reader(false), reader(true), reader(true)]);
    // Answers end where output ended at that moment, which may be inside a line.
    for (const text of heard) expect(text.replaceAll("\n", "")).toBe(expected.replaceAll("\n", ""));
  });

  test("is stopped with all its children, and only once", async () => {
    const registry = registryHere();
    const mark = marker();
    const id = await start(registry, `setsid sleep ${mark} & sleep ${mark}`);
    expect(await eventually(() => alive(mark).length === 2, 5_000)).toBe(true);
    const stopped = await registry.call("TaskStop", { task_id: id });
    expect(texts(stopped)[0]).toBe(
      `task \`${id}\` stopped, ended by SIGTERM; all of its processes have ended`,
    );
    expect(alive(mark)).toEqual([]);
    const again = await registry.call("TaskStop", { task_id: id });
    expect(again.isError).toBeUndefined();
    expect(registry.tasks()).toMatchObject([{ id, state: "stopped", signal: "SIGTERM" }]);
  });

  test("that does not exist is an error that lists the existing ones", async () => {
    const registry = registryHere();
    for (const name of ["TaskOutput", "TaskStop"] as const) {
      const none = await registry.call(name, { task_id: "task_9" });
      expect(none.error).toEqual({
        type: "TaskNotFoundError",
        message: "no task has the id `task_9`; no task has been started",
      });
    }
    await start(registry, "true");
    const other = await registry.call("TaskOutput", { task_id: "x" });
    expect(other.error?.message).toBe("no task has the id `x`; the latest are `task_1`");
  });

  test("ends with the registry, and its files are removed", async () => {
    const registry = registryHere();
    const mark = marker();
    await start(
      registry,
      `trap '' TERM; (setsid sleep ${mark} &); while :; do sleep ${mark}; done`,
    );
    expect(await eventually(() => alive(mark).length === 2, 5_000)).toBe(true);
    const [{ outputFile = "" } = {}] = registry.tasks();
    expect(existsSync(outputFile)).toBe(true);
    await registry.close();
    expect([alive(mark), existsSync(outputFile)]).toEqual([[], false]);
    await expect(registry.call("Bash", { command: "true" })).rejects.toThrow(/closed/);
  });
});

describe("many tasks", () => {
  test("256 run at once, one more is refused, and all end", async () => {
    const registry = registryHere();
    const mark = marker();
    const ids = await Promise.all(
      Array.from({ length: 256 }, () => start(registry, `echo hi; sleep ${mark}`)),
    );
    expect(new Set(ids).size).toBe(256);
    const refused = await registry.call("Bash", { command: "true", run_in_background: true });
    expect(refused.error?.message).toMatch(/^256 tasks are running already/);
    expect(await eventually(() => alive(mark).length === 256, 20_000)).toBe(true);
    // What a task has written is read a moment later.
    await expect
      .poll(() => registry.tasks().every(({ outputBytes }) => outputBytes === 3))
      .toBe(true);
    const results = await Promise.all(
      ids.map((task_id) => registry.call("TaskOutput", { task_id, block: false })),
    );
    expect(results.every((it) => texts(it)[0]?.includes("\n\nhi\n"))).toBe(true);
    await Promise.all(ids.map((task_id) => registry.call("TaskStop", { task_id })));
    expect(alive(mark)).toEqual([]);
    expect(new Set(registry.tasks().map(({ state }) => state))).toEqual(new Set(["stopped"]));
  });

  test("of 300 that are started at once, 256 run", async () => {
    const registry = registryHere({ shell: { graceMs: 200 } });
    const results = await Promise.all(
      Array.from({ length: 300 }, () =>
        registry.call("Bash", { command: "exec sleep 100", run_in_background: true }),
      ),
    );
    expect(results.filter(({ isError }) => !isError).length).toBe(256);
    expect(registry.tasks().length).toBe(256);
  });

  test("5,000 commands in a row leak no zombie, descriptor or memory", async () => {
    const registry = registryHere();
    const run = async (count: number) => {
      for (let done = 0; done < count; done += 20) {
        await Promise.all(
          Array.from({ length: 20 }, (_, at) =>
            at < 10
              ? registry.call("Bash", { command: "echo hi" })
              : registry.call("Bash", { command: "echo hi", run_in_background: true }),
          ),
        );
        await eventually(() => registry.tasks().every(({ state }) => state !== "running"), 10_000);
      }
    };
    // As many as are remembered, so that remembered tasks do not count as growth.
    await run(560);
    globalThis.gc?.();
    const before = { descriptors: openDescriptors(), memory: process.memoryUsage().rss };
    await run(5_000);
    const zombies = childrenOf(process.pid).filter(({ state }) => state === "Z");
    expect(zombies).toEqual([]);
    expect(openDescriptors() - before.descriptors).toBeLessThan(10);
    expect((process.memoryUsage().rss - before.memory) / 1e6).toBeLessThan(40);
    expect(registry.tasks().length).toBeLessThanOrEqual(256);
  });
});

describe("a thousand commands", () => {
  test("that have ended have no open descriptor, in the host or in its supervisor", async () => {
    const registry = registryHere({ hooks: { PreToolUse: [{ matcher: "Glob", hooks: [hook] }] } });
    const supervisor = () =>
      childrenOf(process.pid).find(
        ({ pid, name }) => name.startsWith("toolwright-supe") && !before.has(pid),
      )?.pid ?? 0;
    const before = new Set(childrenOf(process.pid).map(({ pid }) => pid));
    const round = async () => {
      const id = await start(registry, "true");
      await registry.call("Bash", { command: "true" });
      await registry.call("TaskOutput", { task_id: id });
      await registry.call("Glob", { pattern: "*" });
    };
    await round();
    const first = [openDescriptors(), openDescriptors(supervisor())];
    for (let done = 0; done < 1_000; done += 3) await round();
    // A command's last descriptors are closed at the moment in which its end is reported.
    const areNoMore = () =>
      openDescriptors() <= (first[0] ?? 0) && openDescriptors(supervisor()) <= (first[1] ?? 0);
    expect(await eventually(areNoMore, 10_000)).toBe(true);
  }, 240_000);
});

describe("another session", () => {
  test("sees neither a task nor its output, and the host sees its owner", async () => {
    const registry = registryHere();
    const started = await registry.call(
      "Bash",
      { command: "echo private; sleep 1000", run_in_background: true },
      { sessionId: "one" },
    );
    const { taskId } = (started._meta ?? {})["toolwright/command"] as { taskId: string };
    for (const tool of ["TaskOutput", "TaskStop"]) {
      const call = async (task_id: string) =>
        await registry.call(tool, { task_id }, { sessionId: "two" });
      const [foreign, unknown] = [await call(taskId), await call("task_999")];
      expect(foreign.error?.type).toBe(unknown.error?.type);
      expect(foreign.error?.message).toBe(unknown.error?.message.replace("task_999", taskId));
    }
    expect(registry.tasks()).toMatchObject([{ id: taskId, sessionId: "one", state: "running" }]);
    const stopped = await registry.call("TaskStop", { task_id: taskId }, { sessionId: "one" });
    expect(texts(stopped)[0]).toContain("all of its processes have ended");
  });
});

describe("events of tasks", () => {
  test("arrive once each, in order and numbered, at every listener", async () => {
    const registry = registryHere();
    const heard: TaskEvent[] = [];
    const late: TaskEvent[] = [];
    registry.on("task", (event) => heard.push(event));
    const ids = await Promise.all(
      Array.from({ length: 30 }, (_, at) => start(registry, `exit ${at % 3}`)),
    );
    expect(await eventually(() => heard.length === 60, 10_000)).toBe(true);
    registry.on("task", (event) => late.push(event));
    expect(await eventually(() => late.length === 60, 5_000)).toBe(true);
    expect(late).toEqual(heard);
    expect(heard.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 60 }, (_, at) => at + 1),
    );
    for (const [at, id] of ids.entries()) {
      const own = heard.filter(({ task }) => task.id === id);
      expect(own.map(({ type, task }) => [type, task.state, task.exitCode])).toEqual([
        ["started", "running", undefined],
        ["ended", at % 3 === 0 ? "completed" : "failed", at % 3],
      ]);
    }
  });

  test("can be awaited, starting after a number, until the registry is closed", async () => {
    const registry = registryHere();
    await start(registry, "true");
    const seen: [number, string][] = [];
    const reading = (async () => {
      for await (const { sequence, type } of registry.taskEvents({ after: 1 }))
        seen.push([sequence, type]);
    })();
    expect(await eventually(() => seen.length === 1, 5_000)).toBe(true);
    await start(registry, "sleep 100");
    await registry.close();
    await reading;
    expect(seen).toEqual([
      [2, "ended"],
      [3, "started"],
      [4, "ended"],
    ]);
  });

  test("wait for a slow iterator, each once", async () => {
    const registry = registryHere();
    const slow = registry.taskEvents();
    // More events than are kept for late listeners.
    for (let round = 0; round < 30; round += 1) {
      await Promise.all(Array.from({ length: 20 }, () => start(registry, ":")));
      await eventually(() => registry.tasks().every(({ state }) => state !== "running"), 10_000);
    }
    await registry.close();
    const sequences: number[] = [];
    for await (const { sequence } of slow) sequences.push(sequence);
    expect(sequences).toEqual(Array.from({ length: 1_200 }, (_, at) => at + 1));
  });

  test("a removed listener gets nothing, and one that throws does no harm", async () => {
    const registry = registryHere();
    const heard: string[] = [];
    const gone = () => heard.push("gone");
    registry.on("task", gone).off("task", gone);
    registry.on("task", () => {
      throw new Error("on purpose");
    });
    registry.on("task", ({ type }) => heard.push(type));
    const warnings: string[] = [];
    const onWarning = (warning: Error) => warnings.push(warning.message);
    process.on("warning", onWarning);
    await start(registry, "true");
    expect(await eventually(() => heard.length === 2 && warnings.length === 2, 5_000)).toBe(true);
    process.off("warning", onWarning);
    expect(heard).toEqual(["started", "ended"]);
    expect(() => registry.on("other" as "task", gone)).toThrow(/the events are .*task/);
    expect(() => registry.on("task", 1 as never)).toThrow(/function/);
  });
});

test("a task without output for a minute is alive", async () => {
  const timeout = Math.max(0, Math.ceil(idle.since + 60_000 - performance.now()));
  const waited = await idleRegistry.call("TaskOutput", { task_id: idle.id, timeout });
  expect(facts(waited)["state"]).toBe("running");
  expect(alive(idle.mark).length).toBe(1);
});
