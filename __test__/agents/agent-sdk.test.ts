// The real Claude Agent SDK with its own binary. Its model runs on the loopback interface.
import { query } from "@anthropic-ai/claude-agent-sdk";
import type { Options, SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createSdkMcpServer, createToolRegistry, tool } from "../support/unasked";
import type { McpSdkServerConfig, ToolContext } from "../../index.js";
import { agentEnvironment } from "../support/agent-environment.js";
import { useAgentProcesses } from "../support/agent-processes.js";
import { type LoopbackMessagesApi, useModels } from "../support/loopback-messages-api.js";
import { PNG } from "../support/pictures.js";
import { aborted, deferred } from "../support/promises.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const modelThatSays = useModels();
const agents = useAgentProcesses();

/** Runs an agent on the model, with only the given servers. */
async function runAgent(
  model: LoopbackMessagesApi,
  servers: McpSdkServerConfig[],
  options: Options = {},
): Promise<SDKMessage[]> {
  const messages: SDKMessage[] = [];
  const agent = query({
    prompt: "Use the tools.",
    options: {
      cwd: workspace.root,
      env: agentEnvironment(model, workspace),
      spawnClaudeCodeProcess: agents.start,
      tools: [],
      settingSources: [],
      mcpServers: Object.fromEntries(servers.map((server) => [server.name, server])),
      allowedTools: servers.map(({ name }) => `mcp__${name}`),
      ...options,
    },
  });
  for await (const message of agent) messages.push(message);
  return messages;
}

/** Our tools in the model's request, without those that it would have to search for. */
function shownTools(model: LoopbackMessagesApi): { name: string }[] {
  const prefix = "mcp__toolwright__";
  return (model.bodies.at(-1)?.tools ?? [])
    .filter(({ name, defer_loading }) => name.startsWith(prefix) && !defer_loading)
    .map(({ name, description, input_schema }) => ({
      name: name.slice(prefix.length),
      description,
      input_schema,
    }));
}

/** Definitions as the host passes them on: it escapes some characters, such as `…`, differently. */
function asShown(definitions: object[]): unknown {
  return JSON.parse(JSON.stringify(definitions).normalize("NFKC"));
}

describe("an agent of the Claude Agent SDK", () => {
  test("reads a file with our Read, and the model gets its lines", async () => {
    const file = workspace.write("notes.txt", "alpha\nbéta\n");
    const model = await modelThatSays(
      [{ name: "mcp__toolwright__Read", id: "toolu_1", input: { file_path: file } }],
      "It says alpha.",
    );
    const registry = createToolRegistry({ projectPath: workspace.root });

    const messages = await runAgent(model, [registry.toMcpServerConfig()]);
    expect(model.shownResults().get("toolu_1")?.content).toEqual([
      { type: "text", text: "1\talpha\n2\tbéta" },
    ]);
    expect(messages.at(-1)).toMatchObject({ subtype: "success", result: "It says alpha." });
    await registry.close();
  });

  test("knows the tools by the names that the registry allows, with description and schema", async () => {
    const model = await modelThatSays("Nothing to do.");
    const registry = createToolRegistry({ projectPath: workspace.root });

    await runAgent(model, [registry.toMcpServerConfig()]);
    expect(shownTools(model)).toEqual(asShown(registry.definitions("anthropic")));
    expect(shownTools(model).map(({ name }) => `mcp__toolwright__${name}`)).toEqual(
      registry.getAllowedToolNames(),
    );
    await registry.close();
  });

  test("has our tools beside its own, although it lets its model search for others", async () => {
    const model = await modelThatSays("Nothing to do.");
    const registry = createToolRegistry({ projectPath: workspace.root });
    const handler = () => "";
    registry.register(tool({ name: "often", handler }));
    const ours = registry.definitions("anthropic");
    registry.register(tool({ name: "seldom", handler, alwaysLoad: false }));
    registry.registerMcpTool({ serverName: "other", toolName: "one_of_hundreds", handler });

    await runAgent(model, [registry.toMcpServerConfig()], { tools: ["Bash", "ToolSearch"] });
    const all = model.bodies.at(-1)?.tools?.map(({ name }) => name);
    expect(all).toEqual(expect.arrayContaining(["Bash", "ToolSearch"]));
    expect(shownTools(model)).toEqual(asShown(ours));
    await registry.close();
  });

  test("calls host tools of both forms, each with the call id of the model", async () => {
    const ids: string[] = [];
    const server = createSdkMcpServer({
      name: "host",
      tools: [
        tool({
          name: "greet",
          description: "Greets.",
          inputSchema: { who: "string" },
          handler: ({ who }, { toolUseId }) => {
            ids.push(toolUseId);
            return `hello ${who}`;
          },
        }),
        tool(
          "add",
          "Adds.",
          { a: z.number(), b: z.number().default(2) },
          ({ a, b }, { toolUseId }) => {
            ids.push(toolUseId);
            return { content: [{ type: "text", text: String(a + b) }] };
          },
        ),
      ],
    });
    const model = await modelThatSays(
      [
        { name: "mcp__host__greet", id: "toolu_greet", input: { who: "Ada" } },
        { name: "mcp__host__add", id: "toolu_add", input: { a: 40 } },
      ],
      "Done.",
    );

    await runAgent(model, [server]);
    const shown = model.shownResults();
    expect(shown.get("toolu_greet")?.content).toEqual([{ type: "text", text: "hello Ada" }]);
    expect(shown.get("toolu_add")?.content).toEqual([{ type: "text", text: "42" }]);
    expect(ids.sort()).toEqual(["toolu_add", "toolu_greet"]);
  });

  test("uses a registry and a server of host tools side by side", async () => {
    const file = workspace.write("a.txt", "a");
    const registry = createToolRegistry({ projectPath: workspace.root });
    const server = createSdkMcpServer({
      name: "host",
      tools: [tool({ name: "now", handler: () => "noon" })],
    });
    const model = await modelThatSays(
      [{ name: "mcp__host__now", id: "toolu_1", input: {} }],
      [{ name: "mcp__toolwright__Read", id: "toolu_2", input: { file_path: file } }],
      "Done.",
    );

    await runAgent(model, [registry.toMcpServerConfig(), server]);
    const shown = model.shownResults();
    expect(shown.get("toolu_1")?.content).toEqual([{ type: "text", text: "noon" }]);
    expect(shown.get("toolu_2")?.content).toEqual([{ type: "text", text: "1\ta" }]);
    await registry.close();
  });

  test("tells the model why a tool failed, and continues", async () => {
    const registry = createToolRegistry({ projectPath: workspace.root });
    const server = createSdkMcpServer({
      name: "host",
      tools: [tool({ name: "fail", handler: () => Promise.reject(new Error("out of paper")) })],
    });
    const model = await modelThatSays(
      [
        {
          name: "mcp__toolwright__Read",
          id: "toolu_1",
          input: { file_path: workspace.path("no") },
        },
        { name: "mcp__toolwright__Read", id: "toolu_2", input: { offset: "x" } },
        { name: "mcp__host__fail", id: "toolu_3", input: {} },
      ],
      "I give up.",
    );

    const messages = await runAgent(model, [registry.toMcpServerConfig(), server]);
    const shown = model.shownResults();
    for (const [id, words] of [
      ["toolu_1", workspace.path("no")],
      ["toolu_2", "file_path"],
      ["toolu_3", "out of paper"],
    ] as const) {
      expect(shown.get(id)?.is_error).toBe(true);
      expect(JSON.stringify(shown.get(id)?.content)).toContain(words);
    }
    expect(messages.at(-1)).toMatchObject({ subtype: "success", result: "I give up." });
    await registry.close();
  });

  test("passes a picture to the model as a picture", async () => {
    const file = workspace.write("pixel.png", Buffer.from(PNG, "base64"));
    const registry = createToolRegistry({ projectPath: workspace.root });
    const model = await modelThatSays(
      [{ name: "mcp__toolwright__Read", id: "toolu_1", input: { file_path: file } }],
      "Red.",
    );

    await runAgent(model, [registry.toMcpServerConfig()]);
    expect(model.shownResults().get("toolu_1")?.content).toContainEqual(
      expect.objectContaining({
        type: "image",
        source: { type: "base64", media_type: "image/png", data: expect.any(String) },
      }),
    );
    await registry.close();
  });

  test("passes a long result to the model in full instead of moving it to a file", async () => {
    const line = `${"x".repeat(49)}\n`;
    const file = workspace.write("long.txt", line.repeat(1_500));
    const registry = createToolRegistry({ projectPath: workspace.root });
    const model = await modelThatSays(
      [{ name: "mcp__toolwright__Read", id: "toolu_1", input: { file_path: file } }],
      "Long.",
    );

    await runAgent(model, [registry.toMcpServerConfig()]);
    const direct = await registry.call("Read", { file_path: file });
    expect(model.shownResults().get("toolu_1")?.content).toEqual(direct.content);
    await registry.close();
  });

  test("aborts a host tool's signal when the agent is aborted", async () => {
    const started = deferred<ToolContext>();
    const server = createSdkMcpServer({
      name: "host",
      tools: [
        tool({
          name: "hang",
          handler: (_args, context) => {
            started.resolve(context);
            return new Promise(() => {});
          },
        }),
      ],
    });
    const model = await modelThatSays([{ name: "mcp__host__hang", id: "toolu_1", input: {} }]);
    const abortController = new AbortController();

    const outcome = runAgent(model, [server], { abortController }).then(
      () => "ended",
      () => "ended",
    );
    const { signal } = await started.promise;
    if (signal === undefined) throw new Error("a call through a registry has a signal");
    abortController.abort();
    await aborted(signal);
    expect(await outcome).toBe("ended");
  });
});
