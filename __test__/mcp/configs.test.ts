// The settings that `toolwright mcp --config` prints are those in the docs, and start a working server.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { LineServer } from "../support/mcp-lines.js";
import { root } from "../support/runtimes.js";
import { useWorkspace } from "../support/workspace.js";

const internal = createRequire(import.meta.url);
const { clientConfig } = internal("../../lib/cli/mcp-clients.js") as {
  clientConfig: (client: string, url?: string) => { text: string };
};
const { DEFAULT_URL } = internal("../../lib/cli/mcp.js") as { DEFAULT_URL: string };

const workspace = useWorkspace();
const docs = readFileSync(join(root, "docs/mcp-clients.md"), "utf8");
const cli = join(root, "bin/toolwright.js");
const CLIENTS = ["claude-code", "cursor", "vscode", "zed", "codex", "gemini"];
const started: LineServer[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.kill()));
});

function printed(...args: string[]): string {
  const ran = spawnSync(process.execPath, [cli, "mcp", "--config", ...args], { encoding: "utf8" });
  expect([ran.status, ran.stderr]).toEqual([0, expect.any(String)]);
  return ran.stdout.trimEnd();
}

/** The command in the settings of a client, wherever they have it. */
function commandIn(client: string, text: string): { command: string; args: string[] } {
  if (client === "codex") {
    const value = (name: string) => JSON.parse(new RegExp(`^${name} = (.*)$`, "m").exec(text)![1]!);
    return { command: value("command"), args: value("args") };
  }
  const settings = JSON.parse(text) as Record<string, Record<string, never>>;
  const servers = settings["mcpServers"] ?? settings["servers"] ?? settings["context_servers"];
  return servers!["toolwright"]!;
}

test.each(CLIENTS)("the settings of %s are in the docs", (client) => {
  for (const url of [undefined, DEFAULT_URL]) {
    expect(docs).toContain(`\n${clientConfig(client, url).text}\n\`\`\``);
  }
  const { command, args } = commandIn(client, clientConfig(client).text);
  expect([command, ...args].slice(0, 4)).toEqual(["npx", "-y", "toolwright", "mcp"]);
  expect(clientConfig(client, "http://127.0.0.1:9/mcp").text).toContain("http://127.0.0.1:9/mcp");
});

test.each(["claude-code", "cursor"])("what is printed for %s starts a server", async (client) => {
  const { args } = commandIn(client, printed(client));
  // What npx and the client would replace.
  const own = args.slice(2).map((it) => it.replace("${workspaceFolder}", workspace.root));
  const server = new LineServer(process.execPath, [cli, ...own], { cwd: workspace.root });
  started.push(server);
  const { result } = await server.initialize();
  expect(result?.["instructions"]).toContain(workspace.root);
  expect(await server.end()).toBe(0);
});

test("options of the server are in the settings, with absolute paths", () => {
  const { args } = commandIn("cursor", printed("cursor", "--set", "claude", "-p", "."));
  expect(args.slice(3)).toEqual(["--project", process.cwd(), "--set", "claude"]);
  const rule = "Bash(echo it's:*)";
  const codex = commandIn("codex", printed("codex", "--no-plugins", "--disallow", rule));
  expect(codex.args.slice(3)).toEqual(["--no-plugins", "--disallow", rule]);
  const words = [cli, "mcp", "--config", "zed", "--http", "--allow", "Bash"];
  const ran = spawnSync(process.execPath, words, { encoding: "utf8" });
  expect([ran.status, ran.stdout]).toEqual([2, ""]);
  expect(ran.stderr).toContain("`--allow` is for the server: give it to `toolwright serve`");
});

test("an unknown client is refused with a list of the known ones", () => {
  const ran = spawnSync(process.execPath, [cli, "mcp", "--config", "emacs"], { encoding: "utf8" });
  expect([ran.status, ran.stdout]).toEqual([2, ""]);
  for (const client of CLIENTS) expect(ran.stderr).toContain(client);
});
