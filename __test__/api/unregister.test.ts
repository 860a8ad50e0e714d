import { createRequire } from "node:module";
import { describe, expect, test } from "vitest";
import { useRegistries } from "../support/registries.js";
import { ToolRegistry, tool } from "../support/unasked.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace);

type Method = (...args: unknown[]) => unknown;

const native = createRequire(import.meta.url)("../../native/binding.js") as {
  NativeRegistry: { prototype: Record<string, Method> };
};

describe("unregister", () => {
  test("calls the addon once for each tool, however many there are", async () => {
    const registry = new ToolRegistry();
    const handler = () => "x";
    const names = Array.from({ length: 500 }, (_, number) => `t${number}`);
    for (const name of names) registry.register(tool({ name, handler }));
    for (const toolName of names) registry.registerMcpTool({ serverName: "s", toolName, handler });
    const counts = new Map<string, number>();
    const { prototype } = native.NativeRegistry;
    const originals = Object.entries(Object.getOwnPropertyDescriptors(prototype)).filter(
      ([name, { value }]) => typeof value === "function" && name !== "constructor",
    );
    for (const [name, { value }] of originals) {
      prototype[name] = function (this: unknown, ...args: unknown[]) {
        counts.set(name, (counts.get(name) ?? 0) + 1);
        return Reflect.apply(value as Method, this, args);
      };
    }
    try {
      expect(names.every((name) => registry.unregister(name))).toBe(true);
      expect(registry.unregisterMcpTools("mcp__s__")).toBe(500);
    } finally {
      for (const [name, descriptor] of originals)
        Object.defineProperty(prototype, name, descriptor);
    }
    expect(Object.fromEntries(counts)).toEqual({ unregister: 500, unregisterMcpTools: 1 });
    expect(registry.names()).toEqual([]);
    await registry.close();
  });

  test("by an alias removes the object of the tool's name", () => {
    const registry = registryHere();
    const read = registry.get("Read");
    expect(registry.unregister("FileRead")).toBe(true);
    expect([registry.get("Read"), registry.hasTool("Read")]).toEqual([undefined, false]);
    expect(read?.name).toBe("Read");
  });
});
