import { describe, expect, test } from "vitest";
import { useAskingRegistries, useRegistries } from "../support/registries.js";
import { failure, texts } from "../support/results.js";
import { STORES } from "../support/stores.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace);
const registryThatAsks = useAskingRegistries(workspace);

describe.each(STORES)("memory on the store %s", (_name, options) => {
  test("returns the outcome of each action", async () => {
    const registry = registryHere(options(workspace));
    const memory = (input: object) => registry.call<string>("memory", input);
    expect(await memory({ action: "set", key: "a/b", value: "one" })).toEqual({
      content: [{ type: "text", text: "Stored a/b" }],
      display: "Stored a/b",
      structuredContent: { scope: "project", key: "a/b" },
    });
    expect(await memory({ action: "get", key: "a/b" })).toEqual({
      content: [{ type: "text", text: "one" }],
      display: "Retrieved a/b",
      structuredContent: { scope: "project", key: "a/b", found: true, value: "one" },
    });
    expect(await memory({ action: "list" })).toEqual({
      content: [{ type: "text", text: "a/b" }],
      display: "1 keys",
      structuredContent: { scope: "project", keys: ["a/b"], total: 1, complete: true },
    });
    expect(await memory({ action: "get", key: "a/b", scope: "user" })).toEqual({
      content: [{ type: "text", text: "Key not found" }],
      display: "Key not found",
      structuredContent: { scope: "user", key: "a/b", found: false },
    });
    expect(await memory({ action: "delete", key: "a/b" })).toMatchObject({
      structuredContent: { found: true },
    });
    expect(texts(await memory({ action: "delete", key: "a/b" }))).toEqual([
      "Deleted a/b",
      "[there was no such key]",
    ]);
    expect(texts(await memory({ action: "list", scope: "user" }))).toEqual([
      "[no keys in the scope user]",
    ]);
  });

  test.each([
    [{ action: "get" }, "Key required for get action"],
    [{ action: "get", key: "" }, "Key required for get action"],
    [{ action: "delete" }, "Key required for delete action"],
    [{ action: "set", key: "k" }, "Key and value required for set action"],
    [{ action: "set", key: "k", value: "" }, "Key and value required for set action"],
    [{ action: "set", value: "v" }, "Key and value required for set action"],
    [
      { action: "set", key: "k".repeat(10_000), value: "v" },
      "the key has 10000 bytes; at most 256 are allowed; choose a shorter one",
    ],
    [
      { action: "list", prefix: "ä".repeat(200) },
      "the key has 400 bytes; at most 256 are allowed; choose a shorter one",
    ],
    [
      { action: "set", key: "k", value: "v".repeat(1024 * 1024 + 1) },
      "the value has 1048577 bytes, more than the store accepts; shorten or split it",
    ],
  ])("refuses %o", async (input, message) => {
    const registry = registryHere(options(workspace));
    expect(await registry.call<string>("memory", input)).toEqual(failure("MemoryError", message));
  });

  test("refuses unknown actions and scopes", async () => {
    const registry = registryHere(options(workspace));
    for (const input of [{ action: "clear" }, { action: "list", scope: "team" }, {}]) {
      const { error } = await registry.call<string>("memory", input);
      expect(error?.type).toBe("ValidationError");
    }
  });

  test("accepts the longest key and the largest value", async () => {
    const registry = registryHere(options(workspace));
    const value = "ü\n".repeat(349_525);
    for (const key of ["k".repeat(256), "\n".repeat(256), "ä".repeat(128)]) {
      await registry.call("memory", { action: "set", key, value });
      const got = await registry.call("memory", { action: "get", key });
      expect(texts(got)[0] === value).toBe(true);
    }
  });

  test("lists many keys in parts, or by prefix", async () => {
    const registry = registryHere(options(workspace));
    const names = Array.from({ length: 1_200 }, (_, at) => `n/${String(at).padStart(4, "0")}`);
    await Promise.all(
      names.map((key) => registry.call("memory", { action: "set", key, value: "x" })),
    );
    const first = await registry.call("memory", { action: "list" });
    expect(texts(first)).toEqual([
      names.slice(0, 1_000).join("\n"),
      "[showing 1000 of 1200 keys; set after to n/0999 for the next, or a longer prefix]",
    ]);
    expect(first.display).toBe("1200 keys");
    const rest = await registry.call("memory", { action: "list", after: "n/0999" });
    expect(texts(rest)).toEqual([names.slice(1_000).join("\n")]);
    const some = await registry.call("memory", { action: "list", prefix: "n/110" });
    expect(texts(some)).toEqual([names.slice(1_100, 1_110).join("\n")]);
    const none = await registry.call("memory", { action: "list", prefix: "m" });
    expect(texts(none)).toEqual(["[no keys in the scope project begin with the prefix]"]);
    const end = await registry.call("memory", { action: "list", prefix: "n/", after: "n/1199" });
    expect(texts(end)).toEqual(["[no keys come after that one]"]);
  });

  test("bounds a list of long keys", async () => {
    const registry = registryHere(options(workspace));
    const names = Array.from({ length: 500 }, (_, at) => `${1_000 + at}${"k".repeat(246)}`);
    await Promise.all(
      names.map((key) => registry.call("memory", { action: "set", key, value: "x" })),
    );
    const list = await registry.call("memory", { action: "list" });
    expect(list.structuredContent).toMatchObject({ keys: names.slice(0, 400), total: 500 });
    expect(texts(list)[1]).toBe(
      `[showing 400 of 500 keys; set after to ${names[399]} for the next, or a longer prefix]`,
    );
  });

  test("shows unprintable keys as JSON strings", async () => {
    const registry = registryHere(options(workspace));
    for (const key of ["a\n[x] b", "[none]", '"q"', " c", "plain"]) {
      await registry.call("memory", { action: "set", key, value: "x" });
    }
    expect(texts(await registry.call("memory", { action: "list" }))).toEqual([
      ['" c"', '"\\"q\\""', '"[none]"', '"a\\n[x] b"', "plain"].join("\n"),
      "[keys in quotes are JSON strings]",
    ]);
  });

  test("an aborted call stores nothing", async () => {
    const registry = registryHere(options(workspace));
    const call = registry.call(
      "memory",
      { action: "set", key: "k", value: "v" },
      { signal: AbortSignal.abort() },
    );
    await expect(call).rejects.toMatchObject({ type: "Cancelled" });
    const got = await registry.call("memory", { action: "get", key: "k" });
    expect(texts(got)).toEqual(["Key not found"]);
  });
});

test("a call has a description before it runs", () => {
  const registry = registryHere();
  const about = (params: object) =>
    registry.createInvocation<string>("memory", params).getDescription();
  expect(about({ action: "set", key: "k\u001b[2J", value: "v" })).toBe("Memory set k\\u{1b}[2J");
  expect(about({ action: "list" })).toBe("Memory list");
});

test("needs confirmation, unless a rule covers the action", async () => {
  const registry = registryThatAsks({
    policy: {
      rules: [
        {
          tool: "memory",
          action: "allow",
          conditions: [{ param: "action", operator: "equals", value: "get" }],
        },
      ],
    },
  });
  const asked: string[] = [];
  registry.messageBus.on("request", ({ id, details }) => {
    asked.push(details.description ?? "");
    registry.messageBus.respondToConfirmation({ id, approved: true });
  });
  await registry.call("memory", { action: "get", key: "k" });
  expect(asked).toEqual([]);
  await registry.call("memory", { action: "set", key: "k", value: "v" });
  expect(asked).toEqual(["Memory set k"]);
});

test("can be read in plan mode, and not changed", async () => {
  const registry = registryThatAsks({ permissionMode: "plan" });
  const decided = (input: object) => registry.explain("memory", input).action;
  expect(decided({ action: "get", key: "k" })).toBe("ask");
  expect(decided({ action: "list" })).toBe("ask");
  expect(decided({ action: "set", key: "k", value: "v" })).toBe("deny");
  expect(decided({ action: "delete", key: "k" })).toBe("deny");
});
