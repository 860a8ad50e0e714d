// A store of the host, which may do anything: the error is clear, time is bounded, and the next call works.
import { describe, expect, test } from "vitest";
import { ToolError } from "../../index.mjs";
import type { KeyValueStore } from "../../index.js";
import { MapStore } from "../support/map-store.js";
import { useRegistries } from "../support/registries.js";
import { texts } from "../support/results.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace);

const SET = { action: "set", key: "colour", value: "blue" } as const;
const GET = { action: "get", key: "colour" } as const;
const LIST = { action: "list" } as const;

function registryOn(store: KeyValueStore) {
  const registry = registryHere({ store });
  return (input: typeof SET | typeof GET | typeof LIST) => registry.call<string>("memory", input);
}

/** A store with some methods replaced. */
function storeWith(methods: object): MapStore & { timeoutMs?: number } {
  return Object.assign(new MapStore(), methods);
}

test("keeps the values of every registry that uses it, and belongs to the host", async () => {
  const store = new MapStore();
  const first = registryHere({ store });
  await first.call("memory", SET);
  await first.close();
  expect(store.isClosed).toBe(false);
  const memory = registryOn(store);
  expect(texts(await memory(GET))).toEqual(["blue"]);
  expect(texts(await memory(LIST))).toEqual(["colour"]);
  expect(store.values.size).toBe(1);
});

test("is called with its own `this`, as an object or as an instance of a class", async () => {
  class Own extends MapStore {
    #secret = "yes";
    override async get(key: string) {
      expect(this.#secret).toBe("yes");
      return super.get(key);
    }
  }
  const memory = registryOn(new Own());
  await memory(SET);
  expect(texts(await memory(GET))).toEqual(["blue"]);
});

test("loses no change when many calls change one value", async () => {
  const registry = registryHere({ store: new MapStore() });
  const add = (n: number) => registry.call("write_todos", { action: "add", task: `task ${n}` });
  const added = await Promise.all(Array.from({ length: 50 }, (_, n) => add(n)));
  expect(added.filter((it) => it.isError)).toEqual([]);
  const [list = ""] = texts(await registry.call("write_todos", { action: "list" }));
  expect(list.match(/task \d+/g)?.length).toBe(50);
});

describe("when it fails", () => {
  test.each<[string, () => unknown, string]>([
    [
      "throws",
      () => {
        throw new Error("no connection");
      },
      "`get` of the host's store failed: no connection",
    ],
    ["rejects", () => Promise.reject(new Error("no connection")), "failed: no connection"],
    [
      "throws nothing",
      () => {
        throw undefined;
      },
      "`get` of the host's store failed",
    ],
    ["answers a number", () => 5, "`get` of the host's store answered `5`"],
    ["answers only a value", () => ({ value: "x" }), "{ value, version }"],
    [
      "answers a version that is not a string",
      () => ({ value: "x", version: 1 }),
      "both of them strings",
    ],
    ["answers a list", () => [1], "answered `[1]`"],
    ["answers too much", () => "x".repeat(100_000), "xxx…`"],
    [
      "throws too much",
      () => {
        throw new Error("x".repeat(100_000));
      },
      "xxx…",
    ],
  ])("%s: the answer says so, and the next call works", async (_what, broken, message) => {
    let works = false;
    const whole = new MapStore();
    const memory = registryOn(
      storeWith({ get: (key: string) => (works ? whole.get(key) : broken()) }),
    );
    const failed = await memory(GET);
    expect(failed).toMatchObject({ isError: true, error: { type: "MemoryError" } });
    expect(failed.error?.message).toMatch(/^`get` of the host's store (?:failed|answered)/);
    expect(failed.error?.message).toContain(message);
    expect(failed.error?.message.length).toBeLessThan(2_000);
    works = true;
    expect(texts(await memory(GET))).toEqual(["Key not found"]);
  });

  test("does not answer in time: the answer says so, its signal is aborted, and the next call works", async () => {
    let hangs = true;
    let tellAborted = () => {};
    const aborted = new Promise<void>((resolve) => {
      tellAborted = resolve;
    });
    const whole = new MapStore();
    const memory = registryOn(
      storeWith({
        timeoutMs: 50,
        get: (key: string, { signal }: { signal: AbortSignal }) => {
          if (!hangs) return whole.get(key);
          signal.addEventListener("abort", () => tellAborted());
          return new Promise(() => {});
        },
      }),
    );
    const failed = await memory(GET);
    expect(failed.error?.message).toBe("the store did not answer within 50 ms; try again later");
    await aborted;
    hangs = false;
    expect(texts(await memory(GET))).toEqual(["Key not found"]);
  });

  test("does not answer a change in time: the answer says that it may have been made", async () => {
    const memory = registryOn(storeWith({ timeoutMs: 50, set: () => new Promise(() => {}) }));
    expect((await memory(SET)).error?.message).toBe(
      "the store did not answer within 50 ms, so the change may have been made; look at the value before changing it again",
    );
  });

  test("throws a ToolError: its message is the answer", async () => {
    const message = "the store in the cloud failed: no connection";
    const get = () => Promise.reject(new ToolError("ToolFailed", message));
    const memory = registryOn(storeWith({ get }));
    expect((await memory(GET)).error).toEqual({ type: "MemoryError", message });
  });

  test("never accepts a change: the call still ends", async () => {
    const memory = registryOn(storeWith({ timeoutMs: 50, set: async () => undefined }));
    expect((await memory(SET)).error?.message).toBe(
      "others kept changing the same value; try again",
    );
  });

  test.each<[string, object, string]>([
    ["endless pages", { entries: [], hasMore: true }, "no entries and said that there are more"],
    [
      "foreign keys",
      { entries: [{ key: "zzz", version: "1" }], hasMore: false },
      "does not have the requested prefix",
    ],
    ["no page", {}, "hasMore"],
  ])("lists %s: the call still ends", async (_what, page, message) => {
    const memory = registryOn(storeWith({ list: async () => page }));
    expect((await memory(LIST)).error?.message).toContain(message);
  });

  test("lists the same page repeatedly: the call still ends", async () => {
    const memory = registryOn(
      storeWith({
        list: async (prefix: string) => ({
          entries: [{ key: `${prefix}a`, value: "", version: "1" }],
          hasMore: true,
        }),
      }),
    );
    expect((await memory(LIST)).error?.message).toContain("out of order");
  });
});

test("a hanging store does not prevent a registry from closing", async () => {
  const registry = registryHere({ store: storeWith({ get: () => new Promise(() => {}) }) });
  const call = registry.call("memory", GET);
  await registry.close();
  expect((await call).error?.type).toBe("RegistryClosed");
});

test.each<[string, unknown, RegExp]>([
  [
    "a promise of a store",
    Promise.resolve(new MapStore()),
    /got an object of the class `Promise`; await it first$/,
  ],
  ["a list", [], /got an array$/],
  ["a function", () => new MapStore(), /got function /],
  ["an object of a class without methods", new Date(), /got an object of the class `Date`$/],
])("%s is refused, and never treated as settings", (_what, store, message) => {
  // Otherwise values would silently go to a file in the user's home.
  expect(() => registryHere({ store })).toThrow(
    expect.objectContaining({ type: "InvalidOptions", message: expect.stringMatching(message) }),
  );
});

test("settings without a prototype are settings", () => {
  const store = Object.assign(Object.create(null), { path: `${workspace.root}/store.sqlite` });
  expect(() => registryHere({ store })).not.toThrow();
});

test("a list of unreadable todos has an end", async () => {
  const list = async (prefix: string, { after, limit }: { after?: string; limit: number }) => {
    const first = after === undefined ? 0 : Number(after.slice(prefix.length)) + 1;
    const entries = Array.from({ length: limit }, (_, at) => {
      const key = prefix + String(first + at).padStart(12, "0");
      return { key, value: "nonsense", version: "1" };
    });
    return { entries, hasMore: true };
  };
  const registry = registryHere({ store: storeWith({ list }) });
  expect(texts(await registry.call("write_todos", { action: "list" }))).toEqual([
    "[no todos; 100000 entries cannot be read and were left as they are]",
  ]);
});
