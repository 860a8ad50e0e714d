import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ErrorCode } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createSdkMcpServer, tool } from "../support/unasked";
import type { SdkTool, ToolContext } from "../../index.js";
import { RawClient, callTool, connectClient, initialize, ping } from "../support/mcp-clients.js";
import { PNG } from "../support/pictures.js";
import { aborted, deferred, rejection } from "../support/promises.js";
import { root, runScript, runtimes } from "../support/runtimes.js";
import { useRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const newRegistry = useRegistries(workspace, { toolsets: ["claude", "diagnostic"] });

function instanceOf(...tools: SdkTool[]) {
  const registry = newRegistry();
  for (const each of tools) registry.register(each);
  return registry.toMcpServerConfig().instance;
}

/** A host tool that answers when the test says so, and shows its input. */
function heldTool(name = "held") {
  const started = deferred<ToolContext>();
  const finish = deferred<string>();
  const held = tool({
    name,
    description: "Answers when it is told to.",
    handler: (_args, context) => {
      started.resolve(context);
      return finish.promise;
    },
  });
  return { held, started: started.promise, finish: (text: string) => finish.resolve(text) };
}

describe("the official client", () => {
  test("gets name, version and instructions of a registry when it connects", async () => {
    const registry = newRegistry({
      serverName: "my-tools",
      version: "4.5.6",
      instructions: "Look before you leap.",
    });
    const { client, sent } = await connectClient(registry.toMcpServerConfig().instance);

    expect(client.getServerVersion()).toEqual({ name: "my-tools", version: "4.5.6" });
    expect(client.getInstructions()).toMatch(/^Look before you leap\.\n\nThe workspace is /);
    expect(client.getServerCapabilities()).toEqual({ resources: {}, tools: { listChanged: true } });
    expect(sent[0]?.result?.["protocolVersion"]).toBe("2025-11-25");
  });

  test("gets name, version and instructions of a server made from a few tools", async () => {
    const { instance } = createSdkMcpServer({ name: "few", instructions: "Only two tools." });
    const { client } = await connectClient(instance);

    expect(client.getServerVersion()).toEqual({ name: "few", version: "1.0.0" });
    expect(client.getInstructions()).toBe("Only two tools.");
  });

  test("lists every field of a tool", async () => {
    const { instance } = createSdkMcpServer({
      name: "few",
      tools: [
        tool("add", "Adds two numbers.", { a: z.number(), b: z.number().optional() }, () => "", {
          title: "Addition",
          annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
        }),
        tool({ name: "bare", handler: () => "" }),
      ],
    });
    const { client } = await connectClient(instance);

    const meta = { "anthropic/alwaysLoad": true, "anthropic/maxResultSizeChars": 500_000 };
    expect((await client.listTools()).tools).toEqual([
      {
        name: "add",
        title: "Addition",
        description: "Adds two numbers.",
        inputSchema: {
          type: "object",
          properties: { a: { type: "number" }, b: { type: "number" } },
          required: ["a"],
          additionalProperties: false,
        },
        annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
        _meta: meta,
      },
      {
        name: "bare",
        title: "bare",
        description: "",
        inputSchema: { type: "object", properties: {}, additionalProperties: false },
        annotations: {},
        _meta: meta,
      },
    ]);
  });

  test("lists native tools as the registry defines them, without those that are disabled", async () => {
    const registry = newRegistry({ disallowedTools: ["diagnostic_panic"] });
    const { client } = await connectClient(registry.toMcpServerConfig().instance);

    const { tools } = await client.listTools();
    expect(tools.map(({ _meta: _claude, ...definition }) => definition)).toEqual(
      registry.definitions("mcp"),
    );
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["diagnostic_echo", "diagnostic_sleep", "Read"]));
    expect(names).not.toContain("diagnostic_panic");
  });

  test("sees a tool that is registered later, and no longer one that was removed", async () => {
    const registry = newRegistry({ toolsets: [] });
    const { client } = await connectClient(registry.toMcpServerConfig().instance);
    const names = async () => (await client.listTools()).tools.map(({ name }) => name);

    expect(await names()).toEqual([]);
    registry.register(tool({ name: "late", handler: () => "here" }));
    expect(await names()).toEqual(["late"]);
    registry.unregister("late");
    expect(await names()).toEqual([]);
  });

  test("reads a file", async () => {
    const file = workspace.write("notes.txt", "first\nsecond\n");
    const { client } = await connectClient(instanceOf());

    const result = await client.callTool({ name: "Read", arguments: { file_path: file } });
    expect(result.isError).toBe(false);
    expect(result.content).toEqual([{ type: "text", text: "1\tfirst\n2\tsecond" }]);
    expect(result["_meta"]).toMatchObject({ "toolwright/file": { path: file, totalLines: 2 } });
  });

  test("reads an image as an image", async () => {
    const file = workspace.write("pixel.png", Buffer.from(PNG, "base64"));
    const { client } = await connectClient(instanceOf());

    const { content } = await client.callTool({ name: "Read", arguments: { file_path: file } });
    expect(content).toContainEqual({ type: "image", data: PNG, mimeType: "image/png" });
  });

  test("calls a host tool with its arguments, the host's id of the call and a session", async () => {
    const called = deferred<[unknown, ToolContext]>();
    const add = tool(
      "add",
      "Adds.",
      { a: z.number(), b: z.number().default(2) },
      (args, context) => {
        called.resolve([args, context]);
        return { content: [{ type: "text", text: String(args.a + args.b) }] };
      },
    );
    const { client } = await connectClient(instanceOf(add));

    const result = await client.callTool({
      name: "add",
      arguments: { a: 40 },
      _meta: { "claudecode/toolUseId": "toolu_42" },
    });
    expect(result).toEqual({ content: [{ type: "text", text: "42" }], isError: false });
    const [args, context] = await called.promise;
    expect(args).toEqual({ a: 40, b: 2 });
    expect(context.toolUseId).toBe("toolu_42");
    expect(context.sessionId).not.toBe("");
  });

  test("gets content of every kind as the host tool returned it", async () => {
    const answer = {
      content: [
        { type: "text" as const, text: "é 😀 \u2028 \0" },
        { type: "image" as const, data: PNG, mimeType: "image/png" },
        { type: "audio" as const, data: "AAAA", mimeType: "audio/wav" },
        { type: "resource" as const, resource: { uri: "file:///a", text: "a" } },
        { type: "resource_link" as const, uri: "file:///b", name: "b" },
      ],
    };
    const { client } = await connectClient(
      instanceOf(tool({ name: "all", handler: () => answer })),
    );

    expect(await client.callTool({ name: "all" })).toEqual({ ...answer, isError: false });
  });

  test("gets a tool's failure as a result with its text", async () => {
    const failing = tool({
      name: "failing",
      handler: () => {
        throw new Error("the disk is full");
      },
    });
    const { client } = await connectClient(instanceOf(failing));

    expect(await client.callTool({ name: "failing" })).toEqual({
      content: [{ type: "text", text: "the disk is full" }],
      isError: true,
      _meta: { "toolwright/error": { type: "ToolFailed" } },
    });
    const missing = workspace.path("missing.txt");
    const notFound = await client.callTool({ name: "Read", arguments: { file_path: missing } });
    expect(notFound).toMatchObject({
      isError: true,
      content: [{ type: "text", text: expect.stringContaining("missing.txt") }],
      _meta: { "toolwright/error": { type: "FileNotFoundError" } },
    });
  });

  test("gets a result for wrong arguments that says what was expected", async () => {
    const { client } = await connectClient(instanceOf());

    const result = await client.callTool({ name: "diagnostic_sleep", arguments: { ms: "soon" } });
    expect(result.isError).toBe(true);
    expect(result.content).toEqual([
      {
        type: "text",
        text: "parameter `ms`: expected an integer from 0 to 600000, got the string `soon`",
      },
    ]);
  });

  test("gets an error result for a call of a disabled tool", async () => {
    const registry = newRegistry({ disallowedTools: ["diagnostic_echo"] });
    const { client } = await connectClient(registry.toMcpServerConfig().instance);

    const result = await client.callTool({ name: "diagnostic_echo", arguments: {} });
    expect(result).toMatchObject({
      isError: true,
      _meta: { "toolwright/error": { type: "ToolDisabled" } },
    });
  });

  test("gets a protocol error for an unknown tool", async () => {
    const { client } = await connectClient(instanceOf());

    await expect(client.callTool({ name: "nope", arguments: {} })).rejects.toMatchObject({
      code: ErrorCode.InvalidParams,
      message: expect.stringContaining("`nope`"),
    });
  });

  test("gets a panic inside a tool as a result, and the next call works", async () => {
    const { client } = await connectClient(instanceOf());

    const result = await client.callTool({
      name: "diagnostic_panic",
      arguments: { message: "by design" },
    });
    expect(result).toMatchObject({
      isError: true,
      content: [{ type: "text", text: expect.stringContaining("by design") }],
    });
    expect(await client.callTool({ name: "diagnostic_echo", arguments: { text: "on" } })).toEqual({
      content: [{ type: "text", text: "on" }],
      isError: false,
    });
  });

  test("gets progress of native and host tools before the result", async () => {
    const stepping = tool({
      name: "stepping",
      handler: (_args, { reportProgress }) => {
        reportProgress?.({ progress: 1, total: 2, message: "half" });
        reportProgress?.({ progress: 2 });
        return "done";
      },
    });
    const { client } = await connectClient(instanceOf(stepping));
    const heard: unknown[] = [];
    const onprogress = (step: unknown) => heard.push(step);

    const sleep = { name: "diagnostic_sleep", arguments: { ms: 3, steps: 3 } };
    await client.callTool(sleep, undefined, { onprogress });
    expect(heard.splice(0)).toEqual([
      { progress: 1, total: 3 },
      { progress: 2, total: 3 },
      { progress: 3, total: 3 },
    ]);
    await client.callTool({ name: "stepping" }, undefined, { onprogress });
    expect(heard).toEqual([{ progress: 1, total: 2, message: "half" }, { progress: 2 }]);
  });

  test("gets no progress that it did not request", async () => {
    const { client, sent } = await connectClient(instanceOf());

    await client.callTool({ name: "diagnostic_sleep", arguments: { ms: 2, steps: 2 } });
    expect(sent.filter(({ method }) => method !== undefined)).toEqual([]);
  });

  test("cancels a call: the host tool's signal is aborted, and there is no answer", async () => {
    const { held, started, finish } = heldTool();
    const { client, sent } = await connectClient(instanceOf(held));
    const controller = new AbortController();

    const call = client.callTool({ name: "held" }, undefined, { signal: controller.signal });
    const refusal = rejection(call);
    const { signal } = await started;
    controller.abort(new Error("no longer wanted"));
    expect(await refusal).toMatchObject({ message: expect.stringContaining("no longer wanted") });
    if (signal === undefined) throw new Error("a call through a registry has a signal");
    await aborted(signal);
    finish("too late");

    const before = sent.length;
    await client.callTool({ name: "diagnostic_echo", arguments: {} });
    await client.ping();
    expect(sent.length - before).toBe(2);
  });

  test("ends only its own running calls when its transport closes", async () => {
    const [one, other] = [heldTool("one"), heldTool("other")];
    const instance = instanceOf(one.held, other.held);
    const leaving = await connectClient(instance);
    const staying = await connectClient(instance);

    const lost = rejection(leaving.client.callTool({ name: "one" }));
    const kept = staying.client.callTool({ name: "other" });
    const { signal } = await one.started;
    const { signal: keptSignal } = await other.started;
    await leaving.clientEnd.close();
    expect(await lost).toMatchObject({ code: ErrorCode.ConnectionClosed });
    if (signal === undefined) throw new Error("a call through a registry has a signal");
    await aborted(signal);

    expect(keptSignal?.aborted).toBe(false);
    other.finish("still here");
    expect(await kept).toMatchObject({ content: [{ type: "text", text: "still here" }] });
  });

  test("is disconnected when the registry closes, even while it waits", async () => {
    const registry = newRegistry();
    const { held, started } = heldTool();
    registry.register(held);
    const { client } = await connectClient(registry.toMcpServerConfig().instance);

    const waiting = rejection(client.callTool({ name: "held" }));
    await started;
    await registry.close();
    expect(await waiting).toMatchObject({ code: ErrorCode.ConnectionClosed });
    expect(client.transport).toBeUndefined();
  });

  test("shares an instance with another client, each in its own session", async () => {
    const sessions = tool({ name: "session", handler: (_args, { sessionId }) => sessionId });
    const instance = instanceOf(sessions);
    const [one, other] = [await connectClient(instance), await connectClient(instance)];
    const session = async ({ client }: typeof one) =>
      (await client.callTool({ name: "session" })).content;

    const [first, second, again] = [await session(one), await session(other), await session(one)];
    expect(again).toEqual(first);
    expect(second).not.toEqual(first);
  });

  test("gets the right answer to each of 50 simultaneous calls", async () => {
    const reversed = tool("reversed", "", { text: z.string() }, async ({ text }) =>
      [...text].reverse().join(""),
    );
    const { client } = await connectClient(instanceOf(reversed));

    const calls = Array.from({ length: 50 }, (_, index) => {
      const name = index % 2 === 0 ? "reversed" : "diagnostic_echo";
      return client.callTool({ name, arguments: { text: `call ${index}` } });
    });
    const texts = (await Promise.all(calls)).map(({ content }) => content);
    expect(texts).toEqual(
      Array.from({ length: 50 }, (_, index) => {
        const text = `call ${index}`;
        const answer = index % 2 === 0 ? [...text].reverse().join("") : text;
        return [{ type: "text", text: answer }];
      }),
    );
  });

  test("works again on a new transport after it has closed one", async () => {
    const instance = instanceOf();
    const { client: first } = await connectClient(instance);
    await first.close();
    const { client: second } = await connectClient(instance);

    expect(
      await second.callTool({ name: "diagnostic_echo", arguments: { text: "again" } }),
    ).toEqual({ content: [{ type: "text", text: "again" }], isError: false });
  });
});

describe("the protocol", () => {
  test.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])(
    "uses version %s with a client that asks for it",
    async (version) => {
      const client = await RawClient.connected(instanceOf());

      const { result } = await client.request(initialize(0, version));
      expect(result?.["protocolVersion"]).toBe(version);
      client.say({ jsonrpc: "2.0", method: "notifications/initialized" });
      const echo = await client.request(callTool(1, "diagnostic_echo", { text: version }));
      expect(echo.result).toEqual({ content: [{ type: "text", text: version }], isError: false });
    },
  );

  test("falls back to the newest version with sessions for a client with an unknown version", async () => {
    const client = await RawClient.connected(instanceOf());

    const { result } = await client.request(initialize(0, "1999-01-01"));
    expect(result?.["protocolVersion"]).toBe("2025-11-25");
  });

  test("works without a session in version 2026-07-28", async () => {
    const registry = newRegistry({ instructions: "No session needed." });
    const client = await RawClient.connected(registry.toMcpServerConfig().instance);
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };

    const discovered = await client.request({
      jsonrpc: "2.0",
      id: 1,
      method: "server/discover",
      params: { _meta: meta },
    });
    expect(discovered.result).toMatchObject({
      resultType: "complete",
      supportedVersions: expect.arrayContaining(["2025-11-25", "2026-07-28"]),
      capabilities: { tools: {} },
      instructions: expect.stringMatching(/^No session needed\./),
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "toolwright" } },
    });
    const listed = await client.request({
      jsonrpc: "2.0",
      id: 2,
      method: "tools/list",
      params: { _meta: meta },
    });
    expect(listed.result).toMatchObject({
      resultType: "complete",
      ttlMs: expect.any(Number),
      cacheScope: expect.stringMatching(/^(public|private)$/),
      tools: registry.definitions("mcp").map(({ name }) => ({ name })),
    });
    const called = await client.request(callTool(3, "diagnostic_echo", { text: "hi" }, meta));
    expect(called.result).toEqual({
      resultType: "complete",
      content: [{ type: "text", text: "hi" }],
      isError: false,
    });
  });

  test("accepts a request of version 2026-07-28 as the first message", async () => {
    const client = await RawClient.connected(instanceOf());

    const { result } = await client.request(
      callTool(
        "first",
        "diagnostic_echo",
        { text: "hi" },
        {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      ),
    );
    expect(result?.["content"]).toEqual([{ type: "text", text: "hi" }]);
  });

  test("reports progress under the client's token, even if it is a number or empty", async () => {
    const client = await RawClient.initialized(instanceOf());

    for (const progressToken of [0, 7, "", "token"]) {
      const news = client.next(({ method }) => method === "notifications/progress");
      await client.request(callTool("call", "diagnostic_sleep", { ms: 1 }, { progressToken }));
      expect((await news).params).toEqual({ progressToken, progress: 1, total: 1 });
    }
  });
});

describe("garbage", () => {
  const circular: Record<string, unknown> = { jsonrpc: "2.0", id: 1, method: "ping" };
  circular["self"] = circular;
  const garbage: [string, unknown][] = [
    ["nothing", undefined],
    ["null", null],
    ["a number", 5],
    ["a text", "ping"],
    ["a function", () => {}],
    ["an empty object", {}],
    ["an empty batch", []],
    ["a batch", [ping("in a batch")]],
    ["an object without method or result", { jsonrpc: "2.0", id: "half" }],
    ["a request without jsonrpc", { id: "no version", method: "ping" }],
    ["a request with another version of jsonrpc", { jsonrpc: "1.0", id: "old", method: "ping" }],
    ["a request whose method is a number", { jsonrpc: "2.0", id: "number", method: 7 }],
    ["a request whose id is an object", { jsonrpc: "2.0", id: {}, method: "ping" }],
    ["a request whose id is null", { jsonrpc: "2.0", id: null, method: "ping" }],
    ["a request whose id is a fraction", { jsonrpc: "2.0", id: 1.5, method: "ping" }],
    [
      "a request whose params are an array",
      { jsonrpc: "2.0", id: "array", method: "ping", params: [] },
    ],
    [
      "a request without a JSON form",
      { jsonrpc: "2.0", id: "big", method: "ping", params: { a: 1n } },
    ],
    ["a circular request", circular],
    ["an unknown notification", { jsonrpc: "2.0", method: "notifications/nope" }],
    ["a cancellation without an id", { jsonrpc: "2.0", method: "notifications/cancelled" }],
    [
      "the cancellation of an unknown request",
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 404 } },
    ],
    ["an answer without a request", { jsonrpc: "2.0", id: 404, result: {} }],
    ["an error without a request", { jsonrpc: "2.0", id: 404, error: { code: 1, message: "x" } }],
  ];

  test.each(garbage)("does no harm: %s", async (_name, message) => {
    const client = await RawClient.initialized(instanceOf());

    client.say(message);
    const { result } = await client.request(callTool("next", "diagnostic_echo", { text: "on" }));
    expect(result?.["content"]).toEqual([{ type: "text", text: "on" }]);
  });

  test.each(garbage)("as the first message does no harm: %s", async (_name, message) => {
    const client = await RawClient.connected(instanceOf());

    client.say(message);
    await client.request(initialize("start", "2025-11-25"));
    client.say({ jsonrpc: "2.0", method: "notifications/initialized" });
    const { result } = await client.request(callTool("next", "diagnostic_echo", { text: "on" }));
    expect(result?.["content"]).toEqual([{ type: "text", text: "on" }]);
  });

  test.each([
    ["without jsonrpc", { id: "a", method: "ping" }],
    ["whose method is a number", { jsonrpc: "2.0", id: "a", method: 7 }],
    ["whose params are an array", { jsonrpc: "2.0", id: "a", method: "ping", params: [] }],
  ])("with an id is answered as an invalid request: a request %s", async (_name, message) => {
    const client = await RawClient.initialized(instanceOf());

    expect((await client.request(message)).error?.code).toBe(ErrorCode.InvalidRequest);
  });

  test("without an id is answered as an invalid request without an id", async () => {
    const client = await RawClient.initialized(instanceOf());

    const answer = client.next(({ error }) => error !== undefined);
    client.say([ping(1), ping(2)]);
    expect(await answer).toMatchObject({ id: null, error: { code: ErrorCode.InvalidRequest } });
  });

  test("such as an unknown method gets an error with its name", async () => {
    const client = await RawClient.initialized(instanceOf());

    const { error } = await client.request({ jsonrpc: "2.0", id: 1, method: "tools/destroy" });
    expect(error?.code).toBe(ErrorCode.MethodNotFound);
    expect(error?.message).toContain("tools/destroy");
  });

  test.each([
    ["no params", undefined],
    ["no name", {}],
    ["a name that is a number", { name: 5 }],
    ["arguments that are an array", { name: "diagnostic_echo", arguments: [] }],
    ["arguments that are a text", { name: "diagnostic_echo", arguments: "{}" }],
  ])("such as a tool call with %s is answered as invalid params", async (_name, params) => {
    const client = await RawClient.initialized(instanceOf());

    const { error } = await client.request({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    expect(error?.code).toBe(ErrorCode.InvalidParams);
  });

  test("inside the arguments is answered with the id of its request", async () => {
    const client = await RawClient.initialized(instanceOf());
    let deep: unknown = "end";
    for (let level = 0; level < 1_000; level += 1) deep = [deep];

    const nested = await client.request(callTool(1, "diagnostic_echo", { text: deep }));
    expect(nested.result?.["isError"] ?? nested.error?.code).toBeTruthy();
    const half = await client.request(callTool(2, "diagnostic_echo", { text: "\ud800" }));
    expect(half.result?.["isError"] ?? half.error?.code).toBeTruthy();
    const { result } = await client.request(callTool(3, "diagnostic_echo", { text: "on" }));
    expect(result?.["content"]).toEqual([{ type: "text", text: "on" }]);
  });

  test("from a transport that refuses answers or throws does not affect other clients", async () => {
    const instance = instanceOf();
    const refusing = { send: () => Promise.reject(new Error("gone")), onmessage: undefined };
    const throwing = {
      send: () => {
        throw new Error("gone");
      },
      onmessage: undefined,
    };
    for (const transport of [refusing, throwing]) {
      const line: { onmessage: ((message: unknown) => void) | undefined } = transport;
      await instance.connect(transport);
      line.onmessage?.(initialize(0, "2025-11-25"));
    }

    const { client } = await connectClient(instance);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("Read");
  });

  test("such as a transport that does not start rejects connect()", async () => {
    const transport = { send: () => {}, start: () => Promise.reject(new Error("no line")) };

    await expect(instanceOf().connect(transport)).rejects.toThrow("no line");
  });
});

/** A script with a connected client that prints the server's answers. */
const scriptThat = (talk: string) => `
  import { createToolRegistry, tool } from ${JSON.stringify(pathToFileURL(join(root, "index.mjs")).href)};
  const registry = createToolRegistry({ permissionMode: "bypassPermissions", toolsets: ["diagnostic"] });
  registry.register(tool({ name: "hang", handler: () => new Promise(() => started()) }));
  const answers = new Map();
  const transport = {
    send(message) {
      console.log("answer " + message.id);
      answers.get(message.id)?.();
    },
  };
  await registry.toMcpServerConfig().instance.connect(transport);
  const say = (message) => transport.onmessage({ jsonrpc: "2.0", ...message });
  const answer = (id) => new Promise((resolve) => answers.set(id, resolve));
  const call = (id, name, args) => say({ id, method: "tools/call", params: { name, arguments: args } });
  let started = () => {};
  const hanging = new Promise((resolve) => { started = resolve; });
  const initialized = answer(0);
  say({ id: 0, method: "initialize", params: {
    protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } } });
  await initialized;
  say({ method: "notifications/initialized" });
  ${talk}
  process.on("exit", () => console.log("ended by itself"));
`;

describe.each(runtimes)("a process on $name", ({ path }) => {
  const outcome = async (talk: string) => {
    const file = workspace.write("script.mjs", scriptThat(talk));
    const { code, signal, stdout, stderr } = await runScript(path, [file]);
    return { code, signal, lines: stdout.trim().split(/\r?\n/), stderr };
  };
  const ended = { code: 0, signal: null, stderr: "" };

  test("exits while a client is connected and idle", async () => {
    expect(await outcome("")).toEqual({ ...ended, lines: ["answer 0", "ended by itself"] });
  });

  test("stays until a request is answered, and then exits", async () => {
    expect(await outcome(`call(1, "diagnostic_sleep", { ms: 200 });`)).toEqual({
      ...ended,
      lines: ["answer 0", "answer 1", "ended by itself"],
    });
  });

  test("exits when its only open request is cancelled", async () => {
    const talk = `
      call(1, "hang", {});
      await hanging;
      say({ method: "notifications/cancelled", params: { requestId: 1 } });
    `;
    expect(await outcome(talk)).toEqual({ ...ended, lines: ["answer 0", "ended by itself"] });
  });

  test("exits when the connection closes while a request is open", async () => {
    const talk = `
      call(1, "hang", {});
      await hanging;
      transport.onclose();
    `;
    expect(await outcome(talk)).toEqual({ ...ended, lines: ["answer 0", "ended by itself"] });
  });

  test("exits after garbage that looks like a request", async () => {
    const talk = `
      for (const id of [null, {}, [], 1.5, NaN, "\\ud800"]) say({ id, method: "ping" });
      say({ id: "big", method: "ping", params: { a: 1n } });
      call(1, "diagnostic_echo", {});
      await answer(1);
    `;
    const { lines, ...rest } = await outcome(talk);
    expect(rest).toEqual(ended);
    expect(lines.at(-1)).toBe("ended by itself");
  });
});
