// Every entry point that starts a program: what the kernel enforces there, by default and by option.
import { readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ToolRegistry } from "../../index.js";
import { pluginFile, shellTool, textOf } from "../support/plugins.js";
import { useRegistries } from "../support/registries.js";
import { root } from "../support/runtimes.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace);

const SECRET = "needle-9d2c";
const HELD = /Permission denied\npid:\[/;
const OURS = readlinkSync("/proc/self/ns/pid");

/** A registry that hides `.env`, and whose user approves every confirmation. */
async function registryThatHides(options: object = {}): Promise<ToolRegistry> {
  workspace.plant({
    ".env": SECRET,
    "way.sh": "cat .env 2>&1; readlink /proc/self/ns/pid",
    "tools/p.json": pluginFile("p", shellTool("plugged", "bash ./way.sh")),
  });
  const registry = registryHere({
    sandbox: "required",
    policy: { deny: ["Read(.env)"] },
    pluginDir: workspace.path("tools"),
    ...options,
  });
  registry.messageBus.on("request", ({ id }) => {
    registry.messageBus.respondToConfirmation({ id, approved: true });
  });
  expect((await registry.initialize()).errors).toEqual([]);
  return registry;
}

describe("a file that a rule denies", () => {
  test.each([
    ["Bash", { command: "bash ./way.sh" }],
    ["shell", { command: "bash ./way.sh" }],
    ["plugged", {}],
  ])("cannot be read by %s", async (tool, input) => {
    const registry = await registryThatHides();
    const text = textOf(await registry.call(tool, input));
    expect(text).toMatch(HELD);
    expect(text).not.toContain(SECRET);
  });

  test("cannot be read by a background command", async () => {
    const registry = await registryThatHides();
    const started = await registry.call("Bash", {
      command: "bash ./way.sh",
      run_in_background: true,
    });
    const task = registry.tasks()[0]?.id ?? textOf(started);
    const output = await registry.call("TaskOutput", { task_id: task, block: true });
    expect(textOf(output)).toMatch(HELD);
  });

  test.each([
    ["processes", SECRET, false],
    ["commands", "Permission denied", false],
    ["off", SECRET, true],
  ])("and hooks with `hooks: %s`", async (hooks, said, shared) => {
    const registry = await registryThatHides({
      sandbox: { mode: "required", ...(hooks === "processes" ? {} : { hooks }) },
      hooks: {
        PreToolUse: [{ type: "command", command: "bash ./way.sh > hooked", matcher: "Glob" }],
      },
    });
    await registry.call("Glob", { pattern: "*.sh" });
    const lines = readFileSync(workspace.path("hooked"), "utf8").trimEnd().split("\n");
    expect(lines.join()).toContain(said);
    expect(lines.join().includes(OURS)).toBe(shared);
  });

  test.each([
    ["commands", "Permission denied", false],
    ["processes", SECRET, false],
    ["off", SECRET, true],
  ])("and MCP servers with `mcpServers: %s`", async (mcpServers, said, shared) => {
    const server = join(root, "__test__/hosts/mcp-server.mjs");
    const command = `bash ./way.sh > served; exec node ${server} stdio`;
    const registry = await registryThatHides({
      sandbox: { mode: "required", ...(mcpServers === "commands" ? {} : { mcpServers }) },
      mcpServers: { peer: { command: "sh", args: ["-c", command] } },
    });
    expect(textOf(await registry.call("mcp__peer__echo", { text: "hi" }))).toBe("hi");
    const lines = readFileSync(workspace.path("served"), "utf8").trimEnd().split("\n");
    expect(lines.join()).toContain(said);
    expect(lines.join().includes(OURS)).toBe(shared);
  });
});

describe("explain", () => {
  test("lists what the sandbox will enforce, and what not", async () => {
    const registry = await registryThatHides();
    const { sandbox } = registry.explain("Bash", { command: "bash ./way.sh" });
    expect(sandbox).toMatchObject({
      level: "namespaces",
      hidden: [workspace.path(".env")],
      network: "allow",
      holds: expect.arrayContaining([expect.any(String)]),
      doesNotHold: expect.arrayContaining([expect.any(String)]),
    });
  });

  test("reports that nothing will be enforced if the sandbox is off", async () => {
    const registry = await registryThatHides({ sandbox: "off" });
    const { sandbox } = registry.explain("Bash", { command: "true" });
    expect(sandbox).toMatchObject({ level: "none", hidden: [], readOnly: [] });
  });
});
