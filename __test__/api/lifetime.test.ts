import { describe, expect, test } from "vitest";
import { alive, eventually, marker } from "../support/processes.js";
import { root, runScript, runtimes } from "../support/runtimes.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();

interface Told {
  /** How many objects of each kind there were, and how many of them were collected. */
  made: Record<string, number>;
  collected: Record<string, number>;
  supervisors?: { started: number; left: number };
  answers?: unknown[];
  perRegistry?: number;
  left?: number;
}

async function lost(runtime: string, scenario: string, count = 100, mark = ""): Promise<Told> {
  const script = `${root}/__test__/hosts/lifetime.mjs`;
  const isNode = !runtime.endsWith("bun");
  const flags = isNode ? ["--expose-gc"] : [];
  const args = [...flags, script, scenario, workspace.root, String(count), mark];
  const ended = await runScript(runtime, args, root, 120_000);
  expect(ended).toMatchObject({ code: 0, signal: null, stderr: "" });
  return JSON.parse(ended.stdout) as Told;
}

describe.each(runtimes)("on $name", ({ path }) => {
  test.each([
    ["closed registries are collected with their options", "closed"],
    ["registries that were only dropped are collected too", "dropped"],
    ["registries that share a live bus are collected", "sharedBus"],
    ["a closed registry is not kept alive by its options or its objects", "everythingElseKept"],
    ["buses are collected", "buses"],
    ["transports of a live registry are collected", "transports"],
    ["servers of a few tools are collected with their clients", "servers"],
    ["refused options leave nothing behind", "refused"],
    ["replaced and unregistered handlers are collected", "tools"],
  ])(
    "%s",
    async (_what, scenario) => {
      const { made, collected } = await lost(path, scenario);
      expect(Object.values(made).every((count) => count === 100)).toBe(true);
      expect(collected).toEqual(made);
    },
    150_000,
  );

  test("dropped registries end their supervisor and every command", async () => {
    const mark = marker();
    const told = await lost(path, "supervisors", 12, mark);
    expect(told).toMatchObject({
      collected: { registry: 12 },
      supervisors: { started: 12, left: 0 },
    });
    expect(await eventually(() => alive(mark).length === 0, 10_000)).toBe(true);
  }, 150_000);

  test("objects that are awaited are not collected", async () => {
    const { answers } = await lost(path, "pending");
    expect(answers).toEqual(["waited", true, "waited", "ended"]);
  }, 150_000);
});

test("a registry of fifty tools adds three handles to Node's event loop, and none once closed", async () => {
  const [node] = runtimes;
  expect(await lost(node?.path ?? "", "handles")).toMatchObject({ perRegistry: 3, left: 0 });
}, 150_000);
