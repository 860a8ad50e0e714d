// A registry whose tools run on another machine: two processes, each with its own policy.
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, describe, expect, test } from "vitest";
import type { ToolRegistry, ToolRegistryOptions } from "../../index.js";
import { alive, eventually, marker } from "../support/processes.js";
import { rejection } from "../support/promises.js";
import { useAskingRegistries } from "../support/registries.js";
import { texts } from "../support/results.js";
import { root } from "../support/runtimes.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryOf = useAskingRegistries(workspace);
const servers: ChildProcess[] = [];
afterEach(async () => {
  const ended = servers.splice(0).map(async (server) => {
    const exit = server.exitCode === null && once(server, "exit");
    server.kill();
    await exit;
  });
  await Promise.all(ended);
});

interface Served {
  mcp: { url: string; headers: Record<string, string> };
}

/** `toolwright serve` in a separate process with its own project: the remote machine. */
async function farMachine(...options: string[]): Promise<Served["mcp"]> {
  const args = ["serve", "--json", "--project", workspace.path("far"), "--set", "claude"];
  const bin = join(root, "bin/toolwright.js");
  const env = { PATH: process.env["PATH"] ?? "", HOME: workspace.root };
  const server = spawn(process.execPath, [bin, ...args, ...options], {
    stdio: ["ignore", "pipe", "inherit"],
    env,
  });
  servers.push(server);
  const [line] = await once(createInterface({ input: server.stdout }), "line");
  return (JSON.parse(line as string) as Served).mcp;
}

/** A registry of this process that uses the tools of the remote machine. */
async function nearRegistry(
  mcp: Served["mcp"],
  options: ToolRegistryOptions = {},
): Promise<{ registry: ToolRegistry; errors: readonly unknown[] }> {
  const registry = registryOf({
    toolsets: [],
    permissionMode: "bypassPermissions",
    mcpServers: { there: { type: "http", ...mcp } },
    ...options,
  });
  const { errors } = await registry.initialize();
  return { registry, errors };
}

const UNASKED = ["--permission-mode", "bypassPermissions"];

describe("the tools of a remote machine", () => {
  test("run where their files are", async () => {
    const file_path = workspace.write("far/notes.txt", "alpha\n");
    const { registry, errors } = await nearRegistry(await farMachine());
    expect(errors).toEqual([]);
    expect(registry.hasTool("Read")).toBe(false);
    const result = await registry.call("mcp__there__Read", { file_path });
    expect(texts(result)).toEqual(["1\talpha"]);
  });

  test("are refused by a rule on either side", async () => {
    workspace.write("far/secret.txt", "hush");
    const far = await farMachine(...UNASKED, "--disallow", "Read(secret.txt)");
    const file_path = workspace.path("far/new.txt");
    const isNew = { param: "file_path", operator: "equals", value: file_path } as const;
    const rules = [{ tool: "mcp__there__Write", action: "deny", conditions: [isNew] }] as const;
    const { registry } = await nearRegistry(far, { policy: { rules } });
    const secret = workspace.path("far/secret.txt");
    const read = await registry.call("mcp__there__Read", { file_path: secret });
    expect(read.isError).toBe(true);
    expect(JSON.stringify(read)).not.toContain("hush");

    const write = await registry.call("mcp__there__Write", { file_path, content: "x" });
    expect(write.error?.type).toBe("PolicyDenied");
    expect(existsSync(file_path)).toBe(false);

    // Without the rule on this side, the same call runs.
    const { registry: other } = await nearRegistry(far);
    const written = await other.call("mcp__there__Write", { file_path, content: "x" });
    expect(written.isError).toBeUndefined();
    expect(existsSync(file_path)).toBe(true);
  });

  test("end when their call is aborted here", async () => {
    workspace.write("far/notes.txt", "");
    const { registry } = await nearRegistry(await farMachine(...UNASKED));
    const id = marker();
    const controller = new AbortController();
    const outcome = rejection(
      registry.call("mcp__there__Bash", { command: `sleep ${id}` }, { signal: controller.signal }),
    );
    expect(await eventually(() => alive(id).length > 0, 60_000)).toBe(true);
    controller.abort();
    await outcome;
    expect(await eventually(() => alive(id).length === 0, 60_000)).toBe(true);
  });

  test("do not exist without the token", async () => {
    workspace.write("far/notes.txt", "");
    const { url } = await farMachine();
    const { registry, errors } = await nearRegistry({ url, headers: {} });
    expect(errors).toHaveLength(1);
    expect(registry.names()).toEqual([]);
  });
});
