// Loads with import, reads a file, calls a host's tool, and exits.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { ToolError, ToolRegistry, createSdkMcpServer, createToolRegistry, tool } from "toolwright";

const file = fileURLToPath(import.meta.url);
const required = createRequire(import.meta.url)("toolwright");
assert.equal(required.ToolRegistry, ToolRegistry, "import and require give one package");
assert.equal(required.ToolError, ToolError);
assert.equal(required.createSdkMcpServer, createSdkMcpServer);

const registry = createToolRegistry({
  permissionMode: "bypassPermissions",
  projectPath: dirname(file),
});
registry.register(
  tool({ name: "greet", inputSchema: { name: "string" }, handler: ({ name }) => `hello ${name}` }),
);

const read = await registry.call("Read", { file_path: file, limit: 1 });
assert.match(read.content[0].text, /^1\t\/\/ Loads with import/);

const news = [];
const greeting = await registry.call(
  "greet",
  { name: "you" },
  { onProgress: ({ type }) => news.push(type) },
);
assert.deepEqual(greeting, { content: [{ type: "text", text: "hello you" }] });
assert.deepEqual(news, ["start", "end"]);

const runtime = process.versions.bun ? `Bun ${process.versions.bun}` : `Node ${process.version}`;
console.log(`import: toolwright works on ${runtime}`);
