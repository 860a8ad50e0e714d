// Tools of MCP servers that a host registers one by one.
import { describe, expect, test, vi } from "vitest";
import { thrownBy } from "../support/misuse.js";
import { failure } from "../support/results.js";
import { ToolRegistry, tool } from "../support/unasked.js";

describe("tools of MCP servers", () => {
  test("are registered as mcp__server__tool and called by their own name", async () => {
    const registry = new ToolRegistry();
    const callTool = vi.fn<(...args: unknown[]) => Promise<object>>(async () => ({
      content: [{ type: "text", text: "found" }],
      structuredContent: { hits: 1 },
    }));
    const name = registry.registerMcpTool({
      serverName: "docs",
      toolName: "search",
      description: "Searches.",
      inputSchema: { type: "object", properties: { q: { type: "string" } } },
      client: { callTool },
    });
    expect(name).toBe("mcp__docs__search");
    expect(registry.getToolInfo(name)).toMatchObject({
      name,
      source: "mcp",
      serverName: "docs",
      description: "Searches.",
    });
    expect(await registry.call(name, { q: "x" })).toEqual({
      content: [{ type: "text", text: "found" }],
      structuredContent: { hits: 1 },
    });
    expect(callTool).toHaveBeenCalledExactlyOnceWith(
      { name: "search", arguments: { q: "x" } },
      undefined,
      { signal: expect.any(AbortSignal) },
    );
    const object = registry.get(name);
    expect(object).toMatchObject({ name, source: "mcp" });
    expect(registry.get(name)).toBe(object);
  });

  test("a server's error is an error result", async () => {
    const registry = new ToolRegistry();
    const name = registry.registerMcpTool({
      serverName: "docs",
      toolName: "fails",
      handler: async () => ({ content: [{ type: "text", text: "no such page" }], isError: true }),
    });
    expect(await registry.call(name)).toEqual(failure("ToolFailed", "no such page"));
  });

  test("long and odd names are made valid, stable and unique", () => {
    const registry = new ToolRegistry();
    const add = (serverName: string, toolName: string) =>
      registry.registerMcpTool({ serverName, toolName, handler: () => "" });
    const names = [
      add("server", "x".repeat(100)),
      add("server", "x".repeat(101)),
      add("server", "a.b"),
      add("server", "a b"),
      add("server", "a_b"),
      add("sérver", "tool"),
    ];
    for (const name of names) expect(name).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/);
    expect(new Set(names).size).toBe(names.length);
    expect(names[4]).toBe("mcp__server__a_b");
    expect(add("server", "x".repeat(100))).toBe(names[0]);
    expect(registry.getToolCount()).toBe(names.length);
  });

  test("unregisterMcpTools removes by prefix and keeps other tools", () => {
    const registry = new ToolRegistry();
    const handler = () => "";
    for (const [serverName, toolName] of [
      ["a", "x"],
      ["a", "y"],
      ["ab", "x"],
    ] as const) {
      registry.registerMcpTool({ serverName, toolName, handler });
    }
    registry.register(tool({ name: "mcp__a__mine", handler }));
    expect(registry.unregisterMcpTools("mcp__a__")).toBe(2);
    expect(registry.names()).toEqual(["mcp__a__mine", "mcp__ab__x"]);
    expect(registry.unregisterMcpTools("mcp__a__")).toBe(0);
    expect(registry.unregisterMcpTools("mcp__")).toBe(1);
    expect(registry.names()).toEqual(["mcp__a__mine"]);
  });

  test.each([
    undefined,
    {},
    { serverName: "a", toolName: "b" },
    { serverName: 1, toolName: "b", handler: () => "" },
    { serverName: "a", toolName: "b", client: {} },
  ])("registerMcpTool refuses %o", (it) => {
    expect(thrownBy(() => new ToolRegistry().registerMcpTool(it as never)).type).toBe(
      "InvalidTool",
    );
  });
});
