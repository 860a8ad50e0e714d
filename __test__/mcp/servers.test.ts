// Tools of other MCP servers: real servers of the official SDK, over each transport.
import { realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { McpServerConfig, ToolProgress, ToolRegistry } from "../../index.js";
import {
  peer,
  serverThat,
  useListeningServers,
  useListeningServersOfFile,
} from "../support/mcp-servers.js";
import { rejection } from "../support/promises.js";
import { eventually, isRunning } from "../support/processes.js";
import { useAskingRegistries, useRegistries } from "../support/registries.js";
import { failure, texts } from "../support/results.js";
import { createToolRegistry } from "../support/unasked.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
/** Servers report their process ids, which would differ in a sandbox. */
const NOT_SANDBOXED = { sandbox: { mcpServers: "off" } } as const;
const registryHere = useRegistries(workspace, NOT_SANDBOXED);
const askingRegistry = useAskingRegistries(workspace);
const listening = useListeningServers();

/** A server over a transport, as the option of a registry. */
async function behind(transport: string, start: typeof listening): Promise<McpServerConfig> {
  if (transport === "stdio") return peer;
  const { url } = await start(transport as "http" | "sse");
  return transport === "sse" ? { type: "sse", url } : { url };
}

async function connected(config: McpServerConfig, options: object = {}): Promise<ToolRegistry> {
  const registry = registryHere({ mcpServers: { peer: config }, ...options });
  expect(await registry.initialize()).toMatchObject({ success: true, errors: [] });
  return registry;
}

const text = async (registry: ToolRegistry, tool: string, input: object = {}) =>
  texts(await registry.call(`mcp__peer__${tool}`, input)).join("\n");

describe.each(["stdio", "http", "sse"])("a server over %s", (transport) => {
  // One server and one registry for all tests, because starting a server takes longer than any of them.
  const start = useListeningServersOfFile();
  let config: McpServerConfig;
  let registry: ToolRegistry;
  const root = realpathSync(tmpdir());
  const questions: { question: string }[] = [];

  beforeAll(async () => {
    config = await behind(transport, start);
    const askUser = (asked: readonly { question: string }[]) => {
      questions.push(...asked);
      return { answers: Object.fromEntries(asked.map(({ question }) => [question, "Yes"])) };
    };
    registry = createToolRegistry({
      ...NOT_SANDBOXED,
      projectPath: root,
      mcpServers: { peer: config },
      handlers: { askUser },
    });
    await registry.initialize();
  });

  afterAll(() => registry.close());

  test("has its tools registered with their annotations, and its status reported", () => {
    expect(registry.getToolInfo("mcp__peer__echo")).toMatchObject({
      title: "Echo",
      description: "Says it again.",
      source: "mcp",
      serverName: "peer",
      sideEffect: "read-only",
      risk: "low",
      annotations: { readOnlyHint: true },
    });
    expect(registry.getToolInfo("mcp__peer__erase")).toMatchObject({ risk: "critical" });
    expect(registry.getToolInfo("mcp__peer__picture")).toMatchObject({ risk: "high" });
    const [status] = registry.mcpServerStatus();
    expect(status).toMatchObject({
      name: "peer",
      type: transport,
      state: "connected",
      serverInfo: { name: "peer", version: "1.2.3" },
      protocolVersion: "2025-11-25",
      instructions: "Be brief.",
      warnings: [],
    });
    expect(status?.stderr).toBe(transport === "stdio" ? "peer is ready\n" : undefined);
    expect(status?.tools).toContain("mcp__peer__echo");
    expect(status?.tools.every((name) => registry.hasTool(name))).toBe(true);
  });

  test("returns texts, pictures, links, data and failures", async () => {
    const call = (tool: string, input = {}) => registry.call(`mcp__peer__${tool}`, input);
    expect(await call("echo", { text: "hello" })).toEqual({
      content: [{ type: "text", text: "hello" }],
    });
    expect((await call("picture")).content).toEqual([
      { type: "image", mimeType: "image/png", data: expect.any(String) as string },
    ]);
    expect(await call("link")).toEqual({
      content: [{ type: "resource_link", uri: "note://1", name: "one" }],
      _meta: { "peer/fact": 1 },
    });
    expect(await call("data")).toEqual({
      content: [{ type: "text", text: "4" }],
      structuredContent: { sum: 4 },
    });
    expect(await call("fail")).toEqual(failure("ToolFailed", "no luck"));
    expect(await call("echo", { text: 5, more: 1 })).toMatchObject({
      error: { type: "ValidationError" },
    });
  });

  test("reports progress, in order", async () => {
    const steps: ToolProgress[] = [];
    const onProgress = (news: ToolProgress) => void (news.type === "step" && steps.push(news));
    await registry.call("mcp__peer__walk", {}, { onProgress });
    expect(steps).toEqual([1, 2, 3].map((progress) => ({ type: "step", progress, total: 3 })));
  });

  test("is notified of a call that is aborted", async () => {
    const abort = new AbortController();
    const aborted = rejection(registry.call("mcp__peer__wait", {}, { signal: abort.signal }));
    while ((await text(registry, "seen")) !== "waiting") continue;
    abort.abort();
    expect(await aborted).toMatchObject({ name: "AbortError" });
    while (!(await text(registry, "seen")).endsWith("cancelled")) continue;
  });

  test("may add and remove tools while it is connected", async () => {
    const echo = registry.get("mcp__peer__echo");
    const has = (name: string) => serverThat(registry, ({ tools }) => tools.includes(name));
    await text(registry, "grow");
    await has("mcp__peer__late");
    expect(await text(registry, "late")).toBe("late");
    expect(registry.get("mcp__peer__echo")).toBe(echo);
    await text(registry, "shrink");
    await serverThat(registry, ({ tools }) => !tools.includes("mcp__peer__late"));
    expect(registry.hasTool("mcp__peer__late")).toBe(false);
  });

  test("gets the roots, asks the user through the host, and gets no model", async () => {
    expect(JSON.parse(await text(registry, "roots"))).toEqual({
      roots: [{ uri: `file://${root}` }],
    });
    expect(JSON.parse(await text(registry, "ask"))).toEqual({
      action: "accept",
      content: { sure: true },
    });
    expect(questions).toMatchObject([
      { question: "MCP server peer asks: Go on? (sure: Really?)", multiSelect: false },
    ]);
    expect(await text(registry, "sample")).toContain("the registry has no model");
  });

  test("has its resources listed and read, also templates and pictures", async () => {
    const listed = await registry.call("ListMcpResources", {});
    expect(listed.structuredContent).toMatchObject({
      resources: [
        { server: "peer", uri: "docs:///guide", mimeType: "text/plain" },
        { server: "peer", uri: "docs:///logo" },
      ],
      templates: [{ server: "peer", uriTemplate: "note://{id}" }],
    });
    expect(texts(listed).join("\n")).toContain("server `peer`: note://{id} (note)");
    const read = (uri: string) => registry.call("ReadMcpResource", { server: "peer", uri });
    expect(texts(await read("docs:///guide"))).toEqual(["the guide"]);
    expect(texts(await read("note://7"))).toEqual(["note 7"]);
    expect((await read("docs:///logo")).content).toMatchObject([{ type: "image" }]);
    expect(await read("docs:///nothing")).toMatchObject({
      error: { type: "McpServerError", message: expect.stringContaining("not found") as string },
    });
  });

  test("is removed with its tools when it is disconnected", async () => {
    await registry.connectMcpServer("other", config);
    const pid = Number(texts(await registry.call("mcp__other__pid", {}))[0]);
    const tool = registry.get<{ handler(input: object): Promise<object> }>("mcp__other__echo");
    expect(await registry.disconnectMcpServer("other")).toBe(true);
    expect(await registry.disconnectMcpServer("other")).toBe(false);
    expect(registry.names().filter((name) => name.startsWith("mcp__other"))).toEqual([]);
    expect(registry.mcpServerStatus().map(({ name }) => name)).toEqual(["peer"]);
    expect(isRunning(pid)).toBe(transport !== "stdio");
    expect(await tool?.handler({ text: "x" })).toMatchObject({ isError: true });
  });
});

describe("a server with an address", () => {
  test("gets its headers, and without them the error says what is missing", async () => {
    const { url } = await listening("http", { TOKEN: "secret" });
    const registry = registryHere();
    expect(await registry.connectMcpServer("peer", { url })).toMatchObject({
      state: "failed",
      error:
        "it answers with HTTP 401 Unauthorized: who are you?; give it a token in `headers`, such as `Authorization`",
    });
    const headers = { Authorization: "Bearer secret" };
    expect(await registry.connectMcpServer("peer", { url, headers })).toMatchObject({
      state: "connected",
    });
    expect(await text(registry, "echo", { text: "in" })).toBe("in");
  });

  test("that redirects to another host is not followed", async () => {
    const { port } = await listening("http");
    const registry = registryHere();
    const status = await registry.connectMcpServer("peer", {
      url: `http://127.0.0.1:${port}/elsewhere`,
    });
    expect(status).toMatchObject({
      state: "failed",
      error: expect.stringContaining("HTTP 307") as string,
    });
  });

  test.each(["http", "sse"] as const)(
    "over %s and is restarted is reconnected, with the same tools",
    async (transport) => {
      const { url, port, end } = await listening(transport);
      const registry = await connected({ type: transport, url });
      const before = registry.names();
      await end();
      // Over HTTP the failure is only noticed at the next call.
      const lost = await registry.call("mcp__peer__echo", { text: "x" });
      expect(lost).toMatchObject({ isError: true, error: { type: "McpServerError" } });
      await serverThat(registry, ({ state }) => state === "failed");
      expect(registry.names().filter((name) => name.startsWith("mcp__"))).toEqual([]);
      await listening(transport, { PORT: String(port) });
      await serverThat(registry, ({ state }) => state === "connected");
      expect(registry.names()).toEqual(before);
      expect(await text(registry, "echo", { text: "back" })).toBe("back");
    },
  );
});

describe("a server that is started", () => {
  test("has the variables and the directory of its configuration", async () => {
    workspace.write("sub/file", "");
    const config = { ...peer, cwd: "sub", env: { PEER_VARIABLE: "a=b c" } };
    const registry = await connected(config);
    expect(JSON.parse(await text(registry, "place"))).toEqual([workspace.path("sub"), "a=b c"]);
  });

  test("has no secret of the host unless its configuration names it", async () => {
    vi.stubEnv("PEER_VARIABLE", "postgres://user:password@127.0.0.1/db");
    try {
      const registry = await connected(peer);
      expect(JSON.parse(await text(registry, "place"))).toEqual([workspace.root, null]);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test("that is added twice at the same time is connected once", async () => {
    const registry = registryHere({});
    const connect = () => registry.connectMcpServer("peer", peer);
    await Promise.all([connect(), connect(), connect()]);
    expect(registry.mcpServerStatus()).toMatchObject([{ state: "connected", warnings: [] }]);
    const pid = Number(await text(registry, "pid"));
    expect(await registry.disconnectMcpServer("peer")).toBe(true);
    expect(registry.names().filter((name) => name.startsWith("mcp__"))).toEqual([]);
    expect(await eventually(() => !isRunning(pid), 5_000)).toBe(true);
  });

  test("has no secrets of the host except those in its configuration", async () => {
    const secrets = { DEPLOY_TOKEN: "not for servers", GIVEN_TOKEN: "the host's" };
    Object.assign(process.env, secrets);
    try {
      const script = [
        "const { createInterface } = require('node:readline');",
        "const { DEPLOY_TOKEN, GIVEN_TOKEN, HOME } = process.env;",
        "const name = JSON.stringify([DEPLOY_TOKEN, GIVEN_TOKEN, HOME !== undefined]);",
        "createInterface({ input: process.stdin }).on('line', (line) => {",
        "  const { id, method, params } = JSON.parse(line);",
        "  if (id === undefined) return;",
        "  const begun = () => ({ protocolVersion: params.protocolVersion, capabilities: {}, serverInfo: { name, version: '1' } });",
        "  const result = method === 'initialize' ? begun() : {};",
        "  console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));",
        "});",
      ].join("\n");
      const env = { GIVEN_TOKEN: "given" };
      const registry = await connected({ command: "node", args: ["-e", script], env });
      const name = registry.mcpServerStatus()[0]?.serverInfo?.name ?? "";
      expect(JSON.parse(name)).toEqual([null, "given", true]);
    } finally {
      for (const secret of Object.keys(secrets)) delete process.env[secret];
    }
  });

  test("is notified of a call that times out", async () => {
    const registry = await connected({ ...peer, timeoutMs: 1_000 });
    expect(await registry.call("mcp__peer__wait", {})).toMatchObject({
      error: { type: "TimeoutError", message: expect.stringContaining("1000 ms") as string },
    });
    while ((await text(registry, "seen")) !== "waiting cancelled") continue;
  });

  test("and dies during a call is restarted, and the call's error says why", async () => {
    const registry = await connected(peer);
    const pid = await text(registry, "pid");
    const died = await registry.call("mcp__peer__die", {});
    expect(died.error).toEqual({
      type: "McpServerError",
      message:
        "MCP server `peer` disconnected during the call: it ended with exit code 7; the end of its errors: peer is ready the disk is full; whether the call had an effect is not known",
    });
    await serverThat(registry, ({ state }) => state === "connected");
    expect(await text(registry, "pid")).not.toBe(pid);
  });

  test("ends with its registry", async () => {
    const registry = await connected(peer);
    const pid = Number(await text(registry, "pid"));
    await registry.close();
    expect(await eventually(() => !isRunning(pid), 5_000)).toBe(true);
    expect(registry.mcpServerStatus()).toMatchObject([{ name: "peer", tools: [] }]);
    expect(await rejection(registry.connectMcpServer("peer", peer))).toMatchObject({
      type: "RegistryClosed",
    });
  });
});

describe("the tools of a server", () => {
  test("are subject to policy like all others, whatever the server says about them", async () => {
    const registry = askingRegistry({
      mcpServers: { peer },
      policy: { deny: ["mcp__peer__erase"], allow: ["mcp__peer__picture"] },
    });
    await registry.initialize();
    const kind = async (tool: string) =>
      (await registry.call(`mcp__peer__${tool}`, tool === "echo" ? { text: "x" } : {})).error?.type;
    expect(await kind("erase")).toBe("PolicyDenied");
    expect(await kind("echo")).toBe("PolicyDenied");
    expect(await kind("picture")).toBe(undefined);
    registry.disable("mcp__peer");
    expect(await kind("picture")).toBe("ToolDisabled");
  });

  test("are those that the host selects, and never replace another tool", async () => {
    const registry = registryHere();
    registry.registerMcpTool({ serverName: "peer", toolName: "echo", handler: () => "mine" });
    const status = await registry.connectMcpServer("peer", {
      ...peer,
      allowedTools: ["echo", "p*"],
    });
    expect(status.tools).toEqual(["mcp__peer__picture", "mcp__peer__pid", "mcp__peer__place"]);
    expect(status.warnings).toEqual([
      "tool `echo` is left out: another tool of the same server is already registered as `mcp__peer__echo`",
    ]);
    expect(await text(registry, "echo")).toBe("mine");
    await registry.disconnectMcpServer("peer");
    expect(await text(registry, "echo")).toBe("mine");
  });
});
