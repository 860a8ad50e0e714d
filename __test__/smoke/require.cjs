// Loads with require, reads a file, calls a host's tool, and exits.
const assert = require("node:assert/strict");
const { version } = require("../../package.json");
const { ToolError, createToolRegistry, tool } = require("../../index.js");

const registry = createToolRegistry({
  permissionMode: "bypassPermissions",
  projectPath: __dirname,
});
registry.register(
  tool({ name: "add", inputSchema: { a: "number", b: "number" }, handler: ({ a, b }) => a + b }),
);

async function main() {
  const read = await registry.call("Read", { file_path: __filename, limit: 1 });
  assert.match(read.content[0].text, /^1\t\/\/ Loads with require/);

  const sum = await registry.call("add", { a: 1, b: "2" });
  assert.deepEqual(sum, { content: [{ type: "text", text: "3" }] });

  const missing = await registry.call("Read", { file_path: `${__filename}.missing` });
  assert.equal(missing.error.type, "FileNotFoundError");

  await assert.rejects(registry.call("add", {}, { signal: AbortSignal.abort() }), ToolError);
  console.log(`require: toolwright ${version} works on ${runtime()}`);
}

function runtime() {
  return process.versions.bun ? `Bun ${process.versions.bun}` : `Node ${process.version}`;
}

// The registry stays open and its tools registered: neither may keep the process alive.
main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
