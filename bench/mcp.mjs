// tools/call of a small read over stdio, against the official file server with the same client.
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { createToolRegistry } from "../index.mjs";
import { Suite, concurrent, sequential } from "./harness.mjs";

/** The highest ratio of our time to that of the official server. */
const STDIO_BUDGET = 0.6;
const IN_PROCESS_BUDGET = 0.1;
const WIDTH = 20;

export const mcp = new Suite("mcp");

const projectPath = realpathSync(mkdtempSync(join(tmpdir(), "toolwright-bench-")));
process.once("exit", () => rmSync(projectPath, { recursive: true, force: true }));
const file = join(projectPath, "notes.txt");
writeFileSync(file, "The quick brown fox jumps over the lazy dog.\n".repeat(20));

const local = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** A client of a server in a separate process. Both end after the last task. */
async function clientOfProcess(...args) {
  const client = new Client({ name: "bench", version: "1" });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args,
    cwd: projectPath,
    stderr: "ignore",
  });
  await client.connect(transport);
  return client;
}

async function clientOfInstance(instance) {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await instance.connect(theirs);
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(ours);
  return client;
}

const official = await clientOfProcess(
  local("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"),
  projectPath,
);
const ours = await clientOfProcess(local("bin/toolwright.js"), "mcp", "--project", projectPath);
const registry = createToolRegistry({ projectPath, userPolicyFile: false });
const inProcess = await clientOfInstance(registry.toMcpServerConfig().instance);

const readOfficially = () =>
  official.callTool({ name: "read_text_file", arguments: { path: file } });
const readOverStdio = () => ours.callTool({ name: "Read", arguments: { file_path: file } });
const readInProcess = () => inProcess.callTool({ name: "Read", arguments: { file_path: file } });
const readDirectly = () => registry.call("Read", { file_path: file });

for (const read of [readOfficially, readOverStdio, readInProcess, readDirectly]) {
  const { content, isError } = await read();
  if (isError || !content[0]?.text?.includes("quick brown fox")) {
    throw new Error(`a contender does not read the file: ${JSON.stringify(content)}`);
  }
}

mcp.task({
  title: "read a file of 900 bytes, one call after the other",
  baseline: "server-filesystem: read_text_file over stdio",
  budgets: [
    { contender: "toolwright mcp: Read over stdio", atMost: STDIO_BUDGET },
    { contender: "toolwright: call in the process", atMost: IN_PROCESS_BUDGET },
  ],
  contenders: {
    "server-filesystem: read_text_file over stdio": sequential(readOfficially),
    "toolwright mcp: Read over stdio": sequential(readOverStdio),
    "toolwright: the same client on `instance`": sequential(readInProcess),
    "toolwright: call in the process": sequential(readDirectly),
  },
});

mcp.task({
  title: `the same, ${WIDTH} at once`,
  baseline: "server-filesystem: read_text_file over stdio",
  width: WIDTH,
  contenders: {
    "server-filesystem: read_text_file over stdio": concurrent(WIDTH, readOfficially),
    "toolwright mcp: Read over stdio": concurrent(WIDTH, readOverStdio),
    "toolwright: call in the process": concurrent(WIDTH, readDirectly),
  },
  cleanUp: async () => {
    await Promise.all([official.close(), ours.close(), inProcess.close()]);
    await registry.close();
  },
});
