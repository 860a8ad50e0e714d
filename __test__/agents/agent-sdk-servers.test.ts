// Our server as a program and at an address, used by the real Claude Agent SDK. Its model runs on the loopback
// interface.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { query } from "@anthropic-ai/claude-agent-sdk";
import type { McpServerConfig, Options } from "@anthropic-ai/claude-agent-sdk";
import { describe, expect, test } from "vitest";
import type { ToolRegistryOptions } from "../../index.js";
import { agentSdkSpawner } from "../../lib/host/agent-sdk.mjs";
import { agentEnvironment } from "../support/agent-environment.js";
import { useAgentProcesses } from "../support/agent-processes.js";
import { type LoopbackMessagesApi, useModels } from "../support/loopback-messages-api.js";
import { PNG } from "../support/pictures.js";
import { alive, eventually, marker } from "../support/processes.js";
import { useAskingRegistries } from "../support/registries.js";
import { root } from "../support/runtimes.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const modelThatSays = useModels();
const registryOf = useAskingRegistries(workspace);
const agents = useAgentProcesses();

/** Runs an agent with our server as its only MCP server. */
async function runAgent(
  model: LoopbackMessagesApi,
  server: McpServerConfig,
  options: Options = {},
): Promise<void> {
  const agent = query({
    prompt: "Use the tools.",
    options: {
      cwd: workspace.root,
      env: agentEnvironment(model, workspace),
      spawnClaudeCodeProcess: agents.start,
      tools: [],
      settingSources: [],
      mcpServers: { toolwright: server },
      allowedTools: ["mcp__toolwright"],
      ...options,
    },
  });
  for await (const _message of agent);
}

type Mode = Pick<ToolRegistryOptions, "permissionMode">;
type Open = (mode?: Mode) => Promise<McpServerConfig>;

/** `toolwright mcp`, started by the agent. */
const program: Open = async ({ permissionMode = "default" } = {}) => ({
  type: "stdio",
  command: process.execPath,
  args: [
    join(root, "bin/toolwright.js"),
    "mcp",
    "--project",
    workspace.root,
    "--permission-mode",
    permissionMode,
  ],
  // Otherwise the agent's first request to the model does not wait for the server.
  alwaysLoad: true,
});

/** A registry in this process, protected by its token. */
const address: Open = async (mode = {}) => served({ toolsets: ["claude"], ...mode });

async function served(options: ToolRegistryOptions): Promise<McpServerConfig> {
  const { origin, token } = await registryOf(options).serve();
  const headers = { authorization: `Bearer ${token}` };
  return { type: "http", url: `${origin}/mcp`, headers, alwaysLoad: true };
}

const call = (name: string, id: string, input: object) => ({
  name: `mcp__toolwright__${name}`,
  id,
  input,
});
const shown = (model: LoopbackMessagesApi, id: string) =>
  JSON.stringify(model.shownResults().get(id)?.content);

describe.each([
  ["as a program", program],
  ["at an address", address],
])("our server %s, in an agent of the Agent SDK", (_how, open) => {
  test("reads a text and a picture", async () => {
    const text = workspace.write("notes.txt", "alpha\nbéta\n");
    const picture = workspace.write("pixel.png", Buffer.from(PNG, "base64"));
    const model = await modelThatSays(
      [
        call("Read", "toolu_1", { file_path: text }),
        call("Read", "toolu_2", { file_path: picture }),
      ],
      "Done.",
    );
    await runAgent(model, await open());
    expect(model.shownResults().get("toolu_1")?.content).toEqual([
      { type: "text", text: "1\talpha\n2\tbéta" },
    ]);
    expect(model.shownResults().get("toolu_2")?.content).toContainEqual(
      expect.objectContaining({
        type: "image",
        source: { type: "base64", media_type: "image/png", data: expect.any(String) },
      }),
    );
  });

  test("ends a command when the agent is aborted", async () => {
    const id = marker();
    const model = await modelThatSays([call("Bash", "toolu_1", { command: `sleep ${id}` })]);
    const abortController = new AbortController();
    const server = await open({ permissionMode: "bypassPermissions" });
    const ended = runAgent(model, server, { abortController }).catch(() => {});
    expect(await eventually(() => alive(id).length > 0, 60_000)).toBe(true);
    abortController.abort();
    await ended;
    expect(await eventually(() => alive(id).length === 0, 60_000)).toBe(true);
  });

  test("asks the user by elicitation, and only an approval counts as a yes", async () => {
    const [yes, no] = [workspace.path("yes.txt"), workspace.path("no.txt")];
    const model = await modelThatSays(
      [call("Write", "toolu_1", { file_path: yes, content: "x" })],
      [call("Write", "toolu_2", { file_path: no, content: "x" })],
      "Done.",
    );
    const asked: string[] = [];
    await runAgent(model, await open(), {
      onElicitation: async ({ serverName, message }) => {
        asked.push(serverName);
        return { action: "accept", content: { approve: message.includes("yes.txt") } };
      },
    });
    expect(asked).toEqual(["toolwright", "toolwright"]);
    expect([existsSync(yes), existsSync(no)]).toEqual([true, false]);
    expect(shown(model, "toolu_2")).toContain("said no");
  });
});

test("a host confirms calls of our tools itself, and may refuse one", async () => {
  const [yes, no] = [workspace.path("yes.txt"), workspace.path("no.txt")];
  const model = await modelThatSays(
    [call("Write", "toolu_1", { file_path: yes, content: "x" })],
    [call("Write", "toolu_2", { file_path: no, content: "x" })],
    "Done.",
  );
  const asked: string[] = [];
  await runAgent(model, await program({ permissionMode: "bypassPermissions" }), {
    allowedTools: [],
    canUseTool: async (name, input) => {
      asked.push(name);
      return input["file_path"] === yes
        ? { behavior: "allow", updatedInput: input }
        : { behavior: "deny", message: "not this one" };
    },
  });
  expect(asked).toEqual(["mcp__toolwright__Write", "mcp__toolwright__Write"]);
  expect([existsSync(yes), existsSync(no)]).toEqual([true, false]);
  expect(shown(model, "toolu_2")).toContain("not this one");
});

describe("Agent starts an agent with the built-in spawner", () => {
  const task = { description: "look", prompt: "Which colour?", subagent_type: "general-purpose" };
  const permissionMode = "bypassPermissions";

  test("if the server is a program", async () => {
    const inner = await modelThatSays("It is blue.");
    const outer = await modelThatSays([call("Agent", "toolu_1", task)], "Done.");
    const server = await program({ permissionMode });
    await runAgent(outer, {
      ...server,
      env: agentEnvironment(inner, workspace),
    } as McpServerConfig);
    expect(shown(outer, "toolu_1")).toContain("It is blue.");
  });

  test("if the server has an address", async () => {
    const inner = await modelThatSays("It is blue.");
    const outer = await modelThatSays([call("Agent", "toolu_1", task)], "Done.");
    const env = agentEnvironment(inner, workspace);
    const sdkOptions = { env, spawnClaudeCodeProcess: agents.start };
    const handlers = { spawnAgent: agentSdkSpawner({ sdkOptions }) };
    await runAgent(outer, await served({ toolsets: ["claude"], permissionMode, handlers }));
    expect(shown(outer, "toolu_1")).toContain("It is blue.");
  });
});
