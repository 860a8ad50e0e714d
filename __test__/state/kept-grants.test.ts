import { describe, expect, test } from "vitest";
import { createToolRegistry } from "../../index.mjs";
import type { Grant, ToolRegistry, ToolRegistryOptions } from "../../index.js";
import { useAskingRegistries } from "../support/registries.js";
import { STORES } from "../support/stores.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryOf = useAskingRegistries(workspace);

describe.each(STORES)("always allow, on the store %s", (_name, options) => {
  /** A registry whose user always allows, and the number of questions so far. */
  function agreeable(more: ToolRegistryOptions = {}) {
    const registry = registryOf({ readBeforeWrite: false, ...options(workspace), ...more });
    const asked = { count: 0 };
    registry.messageBus.on("request", ({ id }) => {
      asked.count += 1;
      registry.messageBus.respondToConfirmation({ id, approved: true, alwaysAllow: true });
    });
    return { registry, asked };
  }

  async function write(registry: ToolRegistry, sessionId: string) {
    const input = { path: "a.txt", content: "x", overwrite: true };
    const { error } = await registry.call("write_file", input, { sessionId });
    expect(error).toBeUndefined();
  }

  test("applies to the session by default, and is listed", async () => {
    const { registry, asked } = agreeable();
    await write(registry, "a");
    await write(registry, "a");
    expect(asked.count).toBe(1);
    await write(registry, "b");
    expect(asked.count).toBe(2);
    expect(await registry.grants()).toEqual([
      { rule: "Edit(./a.txt)", scope: "session", sessionId: "a" },
      { rule: "Edit(./a.txt)", scope: "session", sessionId: "b" },
    ]);
  });

  test("is stored for the project, reported, listed and removed", async () => {
    const { registry, asked } = agreeable({ rememberGrants: "project" });
    await registry.initialize();
    const told = new Promise<Grant>((resolve) => registry.on("grant", resolve));
    await write(registry, "a");
    await write(registry, "b");
    expect(asked.count).toBe(1);
    const [kept, ...others] = await registry.grants();
    expect(kept).toEqual({
      rule: "Edit(./a.txt)",
      scope: "project",
      grantedAt: expect.any(Number) as number,
    });
    expect(await told).toEqual(kept);
    expect(others).toEqual([{ rule: "Edit(./a.txt)", scope: "session", sessionId: "a" }]);
    const input = { path: "a.txt", content: "x" };
    expect(registry.explain("write_file", input, { sessionId: "b" })).toMatchObject({
      action: "allow",
      rule: { layer: "kept" },
    });

    expect(await registry.forgetGrant("Edit(./a.txt)")).toBe(true);
    expect(await registry.forgetGrant("Edit(./a.txt)")).toBe(false);
    expect(await registry.grants()).toEqual([]);
    await write(registry, "a");
    expect(asked.count).toBe(2);
  });

  test("is stored for the user, except for grants that name a file of the project", async () => {
    const { registry } = agreeable({ rememberGrants: "user" });
    await write(registry, "a");
    await registry.call("write_todos", { action: "list" }, { sessionId: "a" });
    const kept = (await registry.grants()).filter((it) => it.scope !== "session");
    expect(kept.map(({ rule, scope }) => [rule, scope])).toEqual([
      ["Edit(./a.txt)", "project"],
      ["write_todos", "user"],
    ]);
  });
});

test("misuse is an error", async () => {
  expect(() => createToolRegistry({ rememberGrants: "forever" as never })).toThrow(
    /rememberGrants/,
  );
  const registry = registryOf({});
  await expect(registry.forgetGrant(1 as never)).rejects.toMatchObject({ type: "InvalidOptions" });
  await registry.close();
  await expect(registry.grants()).rejects.toMatchObject({ type: "RegistryClosed" });
});
