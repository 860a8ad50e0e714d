// Loading 500 plugin files, compared with reading and parsing the same files in JavaScript.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import toolwright from "../index.js";
import { Suite, sequential } from "./harness.mjs";

const FILES = 500;

/** A file of three tools, one of each kind. */
function pluginFile(at) {
  const text = { type: "string", description: "A text that a model gives", default: "TODO" };
  const inputSchema = { type: "object", properties: { a: text, path: text }, required: ["path"] };
  const tool = (name, handler) => ({ name, description: `Tool ${name}`, inputSchema, handler });
  return JSON.stringify({
    name: `plugin-${at}`,
    version: "1.0.0",
    tools: [
      tool(`shell-${at}`, { type: "shell", command: "grep -rn '{{a}}' {{path}} || true" }),
      tool(`http-${at}`, { type: "http", url: "https://example.com/{{path}}?q={{a}}" }),
      tool(`file-${at}`, { type: "file-read", basePath: "docs" }),
    ],
  });
}

export const plugins = new Suite("plugins");

const folder = mkdtempSync(join(tmpdir(), "toolwright-bench-"));
for (let at = 0; at < FILES; at += 1) {
  writeFileSync(join(folder, `plugin-${at}.json`), pluginFile(at));
}
const registry = toolwright.createToolRegistry({
  pluginDir: folder,
  toolsets: [],
  userPolicyFile: false,
});

plugins.task({
  title: `${FILES} plugin files, ${FILES * 3} tools: read, checked and registered (below 1 s)`,
  baseline: "readFile and JSON.parse",
  rounds: 5,
  contenders: {
    "readFile and JSON.parse": sequential(async () => {
      for (const name of await readdir(folder)) {
        JSON.parse(await readFile(join(folder, name), "utf8"));
      }
    }),
    reloadPlugins: sequential(async () => {
      const { toolCount, errors } = await registry.reloadPlugins();
      if (toolCount !== FILES * 3) throw new Error(JSON.stringify({ toolCount, errors }));
    }),
  },
  cleanUp: async () => {
    await registry.close();
    rmSync(folder, { recursive: true, force: true });
  },
});
