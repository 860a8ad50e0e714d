// Servers that registries connect to: programs of the tests, over each transport.
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach } from "vitest";
import type {
  McpServerCommonConfig,
  McpServerStatus,
  McpStdioServerConfig,
  ToolRegistry,
} from "../../index.js";

const program = (name: string) => fileURLToPath(new URL(`../hosts/${name}`, import.meta.url));

/** The server of the official SDK, started by the registry. */
export const peer: McpStdioServerConfig = {
  command: "node",
  args: [program("mcp-server.mjs"), "stdio"],
};

/** A server that misbehaves in one way. */
export function hostile(way: string, more: McpServerCommonConfig = {}): McpStdioServerConfig {
  return { command: "node", args: [program("hostile-mcp-server.mjs"), way], ...more };
}

/** Starts servers with an address, and ends them with the test. */
export function useListeningServers() {
  return startsServers(afterEach);
}

/** Starts servers with an address, and ends them after all tests. */
export function useListeningServersOfFile() {
  return startsServers(afterAll);
}

function startsServers(afterwards: (end: () => Promise<void>) => void) {
  const started: ChildProcess[] = [];
  afterwards(async () => {
    await Promise.all(started.splice(0).map(ended));
  });
  return async (transport: "http" | "sse", variables: Record<string, string> = {}) => {
    const child = spawn("node", [program("mcp-server.mjs"), transport], {
      env: { ...process.env, ...variables },
      stdio: ["ignore", "pipe", "inherit"],
    });
    started.push(child);
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const { port } = JSON.parse(String(line)) as { port: number };
    const path = transport === "sse" ? "/sse" : "/mcp";
    return { url: `http://127.0.0.1:${port}${path}`, port, end: () => ended(child) };
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

/** Resolves when a server's state matches, or if it already does. */
export function serverThat(
  registry: ToolRegistry,
  holds: (status: McpServerStatus) => boolean,
): Promise<McpServerStatus> {
  return new Promise((resolve) => {
    const look = (status: McpServerStatus) => {
      if (!holds(status)) return;
      registry.off("mcpServer", look);
      resolve(status);
    };
    registry.on("mcpServer", look);
    for (const status of registry.mcpServerStatus()) look(status);
  });
}
