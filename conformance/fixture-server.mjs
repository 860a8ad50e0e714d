// `node conformance/fixture-server.mjs`: serves the fixture tools and prints the address of its MCP endpoint.
// It exits when its stdin is closed.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createToolRegistry } from "../index.mjs";
import { registerFixtureTools } from "./fixture-tools.mjs";
import { openTokenProxy } from "./token-proxy.mjs";

const projectPath = mkdtempSync(join(tmpdir(), "toolwright-conformance-"));
const registry = createToolRegistry({
  projectPath,
  toolsets: [],
  userPolicyFile: false,
  serverName: "toolwright-conformance",
});
registerFixtureTools(registry);
const server = await registry.serve();
const proxy = await openTokenProxy(new URL(server.url), server.token);
console.log(new URL("/mcp", proxy.url).href);

process.stdin.resume();
process.stdin.on("end", async () => {
  await proxy.close();
  await registry.close();
  rmSync(projectPath, { recursive: true, force: true });
});
