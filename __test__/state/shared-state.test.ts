// Registries that share a store: what they see of each other, and what happens when the store fails.
import { mkdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { KeyValueStore, ToolRegistry, ToolRegistryOptions } from "../../index.js";
import { useAskingRegistries, useRegistries } from "../support/registries.js";
import { texts } from "../support/results.js";
import { SHARED_STORES } from "../support/stores.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace, { readBeforeWrite: false });
const registryThatAsks = useAskingRegistries(workspace);

/** A registry whose user always allows, and the number of questions. */
function agreeable(options: ToolRegistryOptions) {
  const registry = registryThatAsks({ readBeforeWrite: false, ...options });
  const asked = { count: 0 };
  registry.messageBus.on("request", ({ id }) => {
    asked.count += 1;
    registry.messageBus.respondToConfirmation({ id, approved: true, alwaysAllow: true });
  });
  return { registry, asked };
}

/** The path of another project, beside the files of this one. */
function otherProject(): string {
  const projectPath = workspace.path("other");
  mkdirSync(projectPath, { recursive: true });
  return projectPath;
}

async function write(registry: ToolRegistry, path: string) {
  const input = { path, content: "x", overwrite: true };
  const { error } = await registry.call("write_file", input);
  expect(error).toBeUndefined();
}

describe.each(SHARED_STORES)("registries that share a store: %s", (_name, options) => {
  test("lose no simultaneous change", async () => {
    const registries = [registryHere(options(workspace)), registryHere(options(workspace))];
    const added = await Promise.all(
      registries.flatMap((registry, at) =>
        Array.from({ length: 25 }, async (_, number) => {
          const task = `${at}.${number}`;
          const made = await registry.call("write_todos", { action: "add", task });
          const id = made.structuredContent?.todos[0]?.id ?? "";
          // Both complete each todo, and both store under each key.
          await Promise.all(
            registries.map(async (each) => {
              const done = await each.call("write_todos", { action: "complete", id });
              expect(done.error).toBeUndefined();
              await each.call("memory", { action: "set", key: `k${number}`, value: task });
            }),
          );
          return id;
        }),
      ),
    );
    for (const registry of registries) {
      const list = await registry.call("write_todos", { action: "list" });
      const todos = list.structuredContent?.todos ?? [];
      expect(todos.map((it) => it.id)).toEqual(added.toSorted());
      expect(todos.every((it) => it.completed)).toBe(true);
      const keys = await registry.call("memory", { action: "list" });
      expect(keys.structuredContent?.total).toBe(25);
    }
  });

  test("find the todos of a conversation again, and settings", async () => {
    const todos = [{ content: "a", status: "pending" as const, activeForm: "b" }];
    const first = registryHere(options(workspace));
    await first.call("TodoWrite", { todos }, { sessionId: "chat-7" });
    await first.call("TodoWrite", { todos });
    await first.call("Config", { setting: "theme", value: "dark" });
    await first.close();
    const second = registryHere(options(workspace));
    expect(await second.todos({ sessionId: "chat-7" })).toEqual(todos);
    expect(await second.todos()).toEqual([]);
    expect(await second.config.get("theme")).toBe("dark");
    const elsewhere = registryHere({ ...options(workspace), projectPath: otherProject() });
    expect(await elsewhere.todos({ sessionId: "chat-7" })).toEqual([]);
    expect(await elsewhere.config.get("theme")).toBeUndefined();
  });

  test("have the memories of one project under its id, in any directory", async () => {
    const here = registryHere({ ...options(workspace), projectId: "shop" });
    const there = registryHere({
      ...options(workspace),
      projectId: "shop",
      projectPath: otherProject(),
    });
    await here.call("memory", { action: "set", key: "k", value: "v" });
    expect(texts(await there.call("memory", { action: "get", key: "k" }))).toEqual(["v"]);
  });

  test("use earlier grants of the project, and not those of another project", async () => {
    const remembering = { ...options(workspace), rememberGrants: "project" } as const;
    const first = agreeable(remembering);
    await write(first.registry, "a.txt");
    expect(first.asked.count).toBe(1);
    await first.registry.close();

    const second = agreeable(remembering);
    await write(second.registry, "a.txt");
    expect(second.asked.count).toBe(0);
    const forgetful = agreeable(options(workspace));
    await write(forgetful.registry, "a.txt");
    expect(forgetful.asked.count).toBe(1);
    const elsewhere = agreeable({ ...remembering, projectPath: otherProject() });
    await write(elsewhere.registry, "a.txt");
    expect(elsewhere.asked.count).toBe(1);

    const [grant] = await second.registry.grants();
    expect(await second.registry.forgetGrant(grant?.rule ?? "")).toBe(true);
    const third = agreeable(remembering);
    await write(third.registry, "a.txt");
    expect(third.asked.count).toBe(1);
  });
});

describe("a store that fails", () => {
  const broken = async (): Promise<never> => {
    throw new Error("unplugged");
  };
  const store: KeyValueStore = { get: broken, set: broken, delete: broken, list: broken };

  test("fails the tools that need it, each with its own type of error", async () => {
    const registry = registryHere({ store });
    const todos = [{ content: "a", status: "pending", activeForm: "b" }];
    const types: [string, object, object | undefined, string][] = [
      ["memory", { action: "get", key: "k" }, undefined, "MemoryError"],
      ["memory", { action: "set", key: "k", value: "v" }, undefined, "MemoryError"],
      ["write_todos", { action: "list" }, undefined, "TodoError"],
      ["write_todos", { action: "add", task: "t" }, undefined, "TodoError"],
      ["TodoWrite", { todos }, { sessionId: "a" }, "TodoError"],
      ["Config", { setting: "theme" }, undefined, "ConfigError"],
    ];
    for (const [name, input, options, type] of types) {
      const { error } = await registry.call<string>(name, input, options);
      expect([error?.type, error?.message]).toEqual([type, expect.stringContaining("unplugged")]);
    }
    await expect(registry.config.list()).rejects.toMatchObject({ type: "ConfigError" });
    await expect(registry.todos({ sessionId: "a" })).rejects.toMatchObject({ type: "TodoError" });
    await expect(registry.forgetGrant("Bash")).rejects.toMatchObject({ type: "StoreError" });
  });

  test("loses an always allow, with a warning, but not the call", async () => {
    const warnings: string[] = [];
    const hear = ({ message }: Error) => warnings.push(message);
    process.on("warning", hear);
    try {
      const { registry, asked } = agreeable({ store, rememberGrants: "project" });
      expect(await registry.initialize()).toMatchObject({ success: true });
      for (const path of ["a.txt", "b.txt", "a.txt"]) await write(registry, path);
      expect(asked.count).toBe(2);
      await expect.poll(() => warnings.length).toBe(3);
      expect(warnings[0]).toMatch(/^earlier "always allow" answers could not be read, .*unplugged/);
      expect(warnings[1]).toMatch(
        /^`Edit\(.\/a.txt\)` is allowed in this session only, .*unplugged/,
      );
      expect(warnings[2]).toMatch(
        /^`Edit\(.\/b.txt\)` is allowed in this session only, .*unplugged/,
      );
    } finally {
      process.off("warning", hear);
    }
  });
});
