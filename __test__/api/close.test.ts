import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { CallResult, ConfirmationSettled } from "../../index.js";
import { MessageBus, createToolRegistry, tool } from "../../index.mjs";
import { RawClient, callTool } from "../support/mcp-clients.js";
import { aborted, deferred, rejection } from "../support/promises.js";
import { eventually } from "../support/processes.js";
import { failure } from "../support/results.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();

const CLOSED = failure("RegistryClosed", "the registry was closed while the call ran");

function registryHere(options: object = {}) {
  const registry = createToolRegistry({
    projectPath: workspace.root,
    userPolicyFile: false,
    allowedTools: ["mine", "closes"],
    ...options,
  });
  registry.register(tool({ name: "mine", handler: () => "x" }));
  registry.register(tool({ name: "asked", handler: () => "x" }));
  return registry;
}

/**
 * The requests of a bus that answers nothing, and how each ended. A "settled" event is not ordered with the
 * promises of calls, so tests wait for it.
 */
function watch(bus: MessageBus, count = 1) {
  const asked: string[] = [];
  const settled: ConfirmationSettled[] = [];
  const all = deferred();
  bus.on("request", ({ id }) => {
    if (asked.push(id) === count) all.resolve();
  });
  bus.on("settled", (event) => settled.push(event));
  return { asked, settled, all: all.promise };
}

describe("close() ends a call at once", () => {
  test("that waits for a confirmation, and withdraws the request", async () => {
    const registry = registryHere();
    const { asked, settled, all } = watch(registry.messageBus);
    const call = registry.call("asked");
    await all;
    await registry.close();
    await expect.poll(() => settled).toEqual([{ id: asked[0], outcome: "cancelled" }]);
    expect(await call).toEqual(CLOSED);
    expect(registry.messageBus.respondToConfirmation({ id: asked[0] ?? "", approved: true })).toBe(
      false,
    );
  });

  test("whichever way the call was made", async () => {
    const registry = registryHere();
    const client = await RawClient.initialized(registry.toMcpServerConfig().instance);
    const { settled, all } = watch(registry.messageBus, 5);
    const { signal } = new AbortController();
    const turn = [1, 2, 3].map((number) => ({ id: `${number}`, name: "asked", input: {} }));
    const calls = [
      registry.call("asked", {}, { signal, onProgress() {} }),
      registry.createInvocation("asked", {}).execute(),
      registry.executeTools(turn, { format: "mcp" }),
      registry.get("Write")?.handler({ file_path: workspace.path("a"), content: "" }),
    ];
    client.say(callTool("c", "asked", {}));
    await all;
    await registry.close();
    const later = failure("RegistryClosed", "the registry is closed; create a new one");
    const { message } = CLOSED.error ?? {};
    expect(await Promise.all(calls)).toEqual([
      CLOSED,
      { llmContent: `Error: ${message}`, returnDisplay: message, error: CLOSED.error },
      [CLOSED, later, later],
      CLOSED,
    ]);
    await expect
      .poll(() => settled.map(({ outcome }) => outcome))
      .toEqual(Array(5).fill("cancelled"));
  });

  test("that waits for a hook before it, and aborts the hook's signal", async () => {
    const began = deferred<AbortSignal>();
    const hook = (_event: unknown, _id: string, { signal }: { signal: AbortSignal }) => {
      began.resolve(signal);
      return new Promise<never>(() => {});
    };
    const registry = registryHere({ hooks: { PreToolUse: [hook] } });
    const call = registry.call("mine");
    const signal = await began.promise;
    await registry.close();
    expect(await call).toEqual(CLOSED);
    await aborted(signal);
  });

  test("that waits for a hook after it, and returns its result", async () => {
    const began = deferred();
    const hook = () => {
      began.resolve();
      return new Promise<never>(() => {});
    };
    const registry = registryHere({ hooks: { PostToolUse: [hook, hook] } });
    const call = registry.call("mine");
    await began.promise;
    await registry.close();
    expect(await call).toMatchObject({
      content: [{ type: "text", text: "x" }],
      _meta: { "toolwright/hookFailure": expect.stringContaining("cancelled") },
    });
  });

  test("that waits for a shell hook", async () => {
    const command = `touch ${workspace.path("began")}; sleep 600`;
    const registry = registryHere({ hooks: { PreToolUse: [{ type: "command", command }] } });
    const call = registry.call("mine");
    expect(await eventually(() => existsSync(workspace.path("began")), 10_000)).toBe(true);
    await registry.close();
    expect(await call).toEqual(CLOSED);
  });

  test("that was started just before", async () => {
    const registry = registryHere();
    const turn = [{ id: "a", name: "mine", input: {} }];
    const calls = [
      ...Array.from({ length: 50 }, () => registry.call("mine")),
      registry.executeTools(turn, { format: "mcp" }),
    ];
    await registry.close();
    const [first] = (await calls.pop()) as CallResult[];
    const results = [...((await Promise.all(calls)) as CallResult[]), first];
    const ends = new Set(results.map((result) => result?.error?.type ?? "answered"));
    expect(["answered", "RegistryClosed"]).toEqual(expect.arrayContaining([...ends]));
  });

  test("even if a hundred are waiting", async () => {
    const registry = registryHere();
    const { settled, all } = watch(registry.messageBus, 100);
    const calls = Array.from({ length: 100 }, () => registry.call("asked"));
    await all;
    await registry.close();
    expect(settled).toHaveLength(100);
    expect(await Promise.all(calls)).toEqual(Array(100).fill(CLOSED));
  });

  test("and leaves the requests of other registries on the same bus", async () => {
    const messageBus = new MessageBus();
    const [first, second] = [registryHere({ messageBus }), registryHere({ messageBus })];
    const { asked, settled, all } = watch(messageBus, 3);
    const calls = [first.call("asked"), second.call("asked")];
    const own = messageBus.requestConfirmation({
      toolName: "x",
      description: "x",
      risk: "low",
    });
    await all;
    await first.close();
    expect(settled).toHaveLength(1);
    const open = asked.filter((id) => id !== settled[0]?.id);
    for (const id of open) messageBus.respondToConfirmation({ id, approved: true });
    expect(await Promise.all([...calls, own])).toMatchObject([
      CLOSED,
      { content: [{ text: "x" }] },
      true,
    ]);
    await second.close();
    // The registry is unreachable, and still works.
    messageBus.on("request", ({ id }) => messageBus.respondToConfirmation({ id, approved: true }));
    expect(
      await messageBus.requestConfirmation({ toolName: "x", description: "x", risk: "low" }),
    ).toBe(true);
  });
});

describe("close() may be awaited", () => {
  test("by a handler, a hook and a listener of the registry itself", async () => {
    const ends = [];
    {
      const registry = registryHere();
      registry.register(tool({ name: "closes", handler: () => registry.close() }));
      ends.push(registry.call("closes"));
    }
    {
      const registry = registryHere({ hooks: { PreToolUse: [() => registry.close()] } });
      ends.push(registry.call("mine"));
    }
    {
      const registry = registryHere();
      registry.messageBus.on("request", () => registry.close());
      ends.push(registry.call("asked"));
    }
    expect(await Promise.all(ends)).toEqual([CLOSED, CLOSED, CLOSED]);
  });

  test("even if a transport never closes", async () => {
    const registry = registryHere();
    const { instance } = registry.toMcpServerConfig();
    await instance.connect({ send() {}, close: () => new Promise(() => {}) });
    await instance.connect({ send() {}, close: () => Promise.reject(new Error("no")) });
    await instance.connect({
      send() {},
      close() {
        throw new Error("no");
      },
    });
    await registry.close();
    expect(await rejection(instance.connect({ send() {} }))).toMatchObject({
      type: "RegistryClosed",
    });
  });

  test("several times, and no call starts after it", async () => {
    const registry = registryHere();
    await Promise.all([registry.close(), registry.close()]);
    await registry.close();
    expect(registry.names()).toContain("mine");
    const { instance } = registry.toMcpServerConfig();
    expect(await rejection(instance.connect({ send() {} }))).toMatchObject({
      type: "RegistryClosed",
    });
    expect(await registry.taskEvents().next()).toEqual({ done: true, value: undefined });
  });
});
