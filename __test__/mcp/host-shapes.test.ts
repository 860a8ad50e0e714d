// The server configuration that tacogips/claude-code-agent expects. Its package is not on npm, so this file
// imitates what it does with one.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createSdkMcpServer, tool } from "../support/unasked";
import type { CallResult, McpSdkServerConfig, ToolContext } from "../../index.js";
import { PNG } from "../support/pictures.js";
import { aborted, deferred, rejection } from "../support/promises.js";
import { EVERY_SET, useRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const newRegistry = useRegistries(workspace, { toolsets: EVERY_SET });

/** Calls a tool as ClaudeCodeToolAgent does. */
async function callByHost(
  { tools }: McpSdkServerConfig,
  name: string,
  args: unknown,
  context: Partial<ToolContext> = {},
): Promise<CallResult> {
  const found = tools.find((each) => each.name === name);
  if (found === undefined) throw new Error(`the config has no tool \`${name}\``);
  return found.handler(args, { toolUseId: "toolu_1", sessionId: "session-1", ...context });
}

/** Every form of an input schema that a host may write. */
const formsOfSchema = [
  tool({ name: "none", handler: () => "" }),
  tool({ name: "empty", inputSchema: {}, handler: () => "" }),
  tool({ name: "simple", inputSchema: { path: "string", deep: "boolean" }, handler: () => "" }),
  tool({ name: "json", inputSchema: { type: "object" }, handler: () => "" }),
  tool({
    name: "json_without_type",
    inputSchema: { properties: { type: { type: "string" } } },
    handler: () => "",
  }),
  tool({ name: "zod", inputSchema: z.object({ path: z.string() }), handler: () => "" }),
  tool("zod_shape", "", { path: z.string(), type: z.string().optional() }, () => ""),
];

describe("a server's config for ClaudeCodeToolAgent", () => {
  test("of a registry has type, name and version, and the tools that are not disabled", () => {
    const registry = newRegistry({
      toolsets: ["diagnostic"],
      serverName: "mine",
      version: "9.8.7",
      disallowedTools: ["diagnostic_panic"],
    });

    const { type, name, version, tools } = registry.toMcpServerConfig();
    expect({ type, name, version }).toEqual({ type: "sdk", name: "mine", version: "9.8.7" });
    expect(
      tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    ).toEqual(
      registry
        .definitions("mcp")
        .map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    );
  });

  test("of a few tools has type, name and version, and the tools", () => {
    const config = createSdkMcpServer({ name: "few", version: "2.0.0", tools: formsOfSchema });

    expect(config).toMatchObject({ type: "sdk", name: "few", version: "2.0.0" });
    expect(config.tools.map(({ name }) => name).sort()).toEqual(
      formsOfSchema.map(({ name }) => name).sort(),
    );
    expect(createSdkMcpServer({ name: "no version" }).version).toBe("1.0.0");
  });

  test("gives every tool an input schema of type object, in whichever form it was written", () => {
    const native = newRegistry().toMcpServerConfig();
    const host = createSdkMcpServer({ name: "few", tools: formsOfSchema });

    for (const { name, inputSchema } of [...native.tools, ...host.tools, ...formsOfSchema]) {
      expect([name, inputSchema["type"]]).toEqual([name, "object"]);
      expect([name, typeof inputSchema["properties"]]).not.toEqual([name, "string"]);
    }
  });

  test("has handlers that read a file and answer with text", async () => {
    const file = workspace.write("a.txt", "one\ntwo");
    const config = newRegistry().toMcpServerConfig();

    const result = await callByHost(config, "Read", { file_path: file });
    expect(result.content).toEqual([{ type: "text", text: "1\tone\n2\ttwo" }]);
    expect(result.isError).toBeUndefined();
  });

  test("has handlers that answer with an image", async () => {
    const file = workspace.write("pixel.png", Buffer.from(PNG, "base64"));
    const config = newRegistry().toMcpServerConfig();

    const { content } = await callByHost(config, "Read", { file_path: file });
    expect(content).toContainEqual({ type: "image", data: PNG, mimeType: "image/png" });
  });

  test("has handlers that answer a failure with an error result", async () => {
    const config = newRegistry().toMcpServerConfig();

    const result = await callByHost(config, "Read", { file_path: workspace.path("missing") });
    expect(result.isError).toBe(true);
    expect(result.content).toEqual([
      { type: "text", text: expect.stringContaining(workspace.path("missing")) },
    ]);
    const wrong = await callByHost(config, "Read", { file_path: 5 });
    expect(wrong.isError).toBe(true);
  });

  test("has only content that the host accepts in the results of every native tool", async () => {
    const [text, image] = [
      workspace.write("a.txt", "one"),
      workspace.write("pixel.png", Buffer.from(PNG, "base64")),
    ];
    const config = newRegistry().toMcpServerConfig();

    const results = await Promise.all([
      callByHost(config, "Read", { file_path: text }),
      callByHost(config, "Read", { file_path: image }),
      callByHost(config, "read_many_files", { paths: [text, image] }),
      callByHost(config, "diagnostic_echo", { text: "hi" }),
      callByHost(config, "diagnostic_sleep", { ms: 0 }),
      callByHost(config, "diagnostic_panic", { message: "by design" }),
      ...config.tools.map(({ name }) => callByHost(config, name, {})),
    ]);
    for (const { content, isError } of results) {
      expect(content.length).toBeGreaterThan(0);
      for (const { type } of content) expect(["text", "image"]).toContain(type);
      expect([undefined, true]).toContain(isError);
    }
  });

  test("passes the host's ids to a host tool", async () => {
    const seen = deferred<ToolContext>();
    const config = createSdkMcpServer({
      name: "few",
      tools: [
        tool({
          name: "seen",
          handler: (_args, context) => {
            seen.resolve(context);
            return "ok";
          },
        }),
      ],
    });

    await callByHost(config, "seen", {}, { toolUseId: "toolu_7", sessionId: "session-7" });
    const { toolUseId, sessionId } = await seen.promise;
    expect({ toolUseId, sessionId }).toEqual({ toolUseId: "toolu_7", sessionId: "session-7" });
  });

  test("aborts a host tool's signal with the host's, and the call rejects", async () => {
    const started = deferred<ToolContext>();
    const config = createSdkMcpServer({
      name: "few",
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
    const controller = new AbortController();

    const call = callByHost(config, "hang", {}, { signal: controller.signal });
    const refusal = rejection(call);
    const { signal } = await started.promise;
    controller.abort();
    expect(await refusal).toMatchObject({ name: "AbortError", type: "Cancelled" });
    if (signal === undefined) throw new Error("a call through a registry has a signal");
    await aborted(signal);
  });

  test("has a separate record of read files for each session of the host", async () => {
    const sessions = tool({ name: "session", handler: (_args, { sessionId }) => sessionId });
    const config = createSdkMcpServer({ name: "few", tools: [sessions] });

    const texts = await Promise.all(
      ["a", "b", "a"].map(async (sessionId) => {
        const { content } = await callByHost(config, "session", {}, { sessionId });
        return content;
      }),
    );
    expect(texts).toEqual(["a", "b", "a"].map((text) => [{ type: "text", text }]));
  });
});
