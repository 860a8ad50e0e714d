// ListMcpResources and ReadMcpResource, over an MCP client of the host.
import { describe, expect, test } from "vitest";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { McpResource, McpResourceClient } from "../../index.js";
import { PNG } from "../support/pictures.js";
import { useAskingRegistries, useRegistries } from "../support/registries.js";
import { texts } from "../support/results.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace);
const askingRegistry = useAskingRegistries(workspace);

type Contents = Awaited<ReturnType<McpResourceClient["readResource"]>>["contents"];

/** A client with these resources; each has its URI as its text. */
function client(resources: McpResource[], contents?: Contents): McpResourceClient {
  return {
    listResources: () => resources,
    readResource: ({ uri }) => ({ contents: contents ?? [{ uri, text: uri }] }),
  };
}

describe("ListMcpResources", () => {
  test("lists by server and URI, without confirmation", async () => {
    const mcp = client([
      { server: "b", uri: "b:1", name: "one" },
      {
        server: "a",
        uri: "a:2",
        name: "two",
        title: "Two",
        mimeType: "text/plain",
        size: 3,
        description: "The second\n  of them",
      },
      { server: "a", uri: "a:1" },
    ]);
    const registry = askingRegistry({ handlers: { mcp } });
    const result = await registry.call("ListMcpResources", {});
    expect(result).toEqual({
      content: [
        {
          type: "text",
          text: [
            "server `a`: 2 resources",
            "  a:1",
            "  a:2 (Two, text/plain, 3 bytes): The second of them",
            "server `b`: 1 resource",
            "  b:1 (one)",
          ].join("\n"),
        },
      ],
      structuredContent: {
        resources: [
          { server: "a", uri: "a:1" },
          {
            server: "a",
            uri: "a:2",
            name: "two",
            title: "Two",
            mimeType: "text/plain",
            size: 3,
            description: "The second\n  of them",
          },
          { server: "b", uri: "b:1", name: "one" },
        ],
        total: 3,
      },
    });
    const one = await registry.call("ListMcpResources", { server: "b" });
    expect(texts(one)).toEqual(["server `b`: 1 resource\n  b:1 (one)"]);
    const none = await registry.call("ListMcpResources", { server: "c" });
    expect(texts(none)).toEqual(["MCP server `c` has no resources"]);
  });

  test("says how many of a large number it lists", async () => {
    const uris = Array.from({ length: 1_500 }, (_, at) => `x:${String(at).padStart(4, "0")}`);
    const mcp = client(uris.map((uri) => ({ server: "x", uri })));
    const result = await registryHere({ handlers: { mcp } }).call("ListMcpResources", {});
    const lines = texts(result)[0]?.split("\n") ?? [];
    expect(lines[0]).toBe("server `x`: 1500 resources");
    expect(lines[1_000]).toBe("  x:0999");
    expect(lines.slice(1_001)).toEqual([
      "[1000 of 1500 resources are listed; name a `server` to list only its own; every resource can be read by its URI]",
    ]);
    expect(result.structuredContent).toMatchObject({ total: 1_500 });
  });

  test("lists the others if one has endless texts", async () => {
    const long = "x".repeat(300_000);
    const mcp = client([
      { server: "a", uri: "a:1", title: long, description: long, mimeType: long },
      { server: "a", uri: `a:2${long}` },
      { server: "a", uri: "a:3" },
    ]);
    const result = await registryHere({ handlers: { mcp } }).call("ListMcpResources", {});
    const cut = `${"x".repeat(300)}…`;
    expect(texts(result)[0]?.split("\n")).toEqual([
      "server `a`: 3 resources",
      `  a:1 (${cut}, ${cut}): ${cut}`,
      "  a:3",
      "[2 of 3 resources are listed; name a `server` to list only its own; every resource can be read by its URI]",
    ]);
    expect(result.structuredContent).toMatchObject({
      resources: [{ uri: "a:1", description: cut }, { uri: "a:3" }],
      total: 3,
    });
  });

  test("refuses answers in a wrong form", async () => {
    for (const [answer, problem] of [
      [undefined, "must answer with `resources`, a list, got null"],
      ["x", "must answer with `resources`, a list, got a string"],
      [{ resources: {} }, "must answer with `resources`, a list, got an object"],
      [[{ server: "a" }], "`resources[0]`: missing field `uri`"],
      [[{ uri: "a:1" }], "`resources[0]` does not name its `server`"],
    ] as const) {
      const mcp = { listResources: () => answer, readResource: () => answer };
      const registry = registryHere({ handlers: { mcp } });
      const { error } = await registry.call("ListMcpResources", {});
      expect(error).toEqual({
        type: "ToolFailed",
        message: `\`handlers.mcp.listResources\` gave a malformed answer: ${problem}`,
      });
    }
  });
});

describe("ReadMcpResource", () => {
  async function read(contents: Contents) {
    const registry = registryHere({ handlers: { mcp: client([], contents) } });
    return registry.call("ReadMcpResource", { server: "a", uri: "a:1" });
  }

  test("shows a text unchanged", async () => {
    expect(await read([{ uri: "a:1", mimeType: "text/plain", text: "one\ntwo\n" }])).toEqual({
      content: [{ type: "text", text: "one\ntwo\n" }],
      structuredContent: {
        server: "a",
        contents: [{ uri: "a:1", mimeType: "text/plain", kind: "text", bytes: 8 }],
      },
    });
  });

  test("shows images by their content, and describes other bytes", async () => {
    const result = await read([
      { uri: "a:1", mimeType: "application/octet-stream", blob: PNG },
      { uri: "a:2", mimeType: "image/png", blob: Buffer.from("no image").toString("base64") },
      { uri: "a:3", blob: Buffer.from("%PDF-1.7 ...").toString("base64") },
      { uri: "a:4", text: "words" },
    ]);
    expect(result.content).toEqual([
      { type: "text", text: "[part 1: a:1]" },
      { type: "image", data: PNG, mimeType: "image/png" },
      { type: "text", text: "[part 2: a:2]" },
      { type: "text", text: "[binary content, image/png, 8 bytes, not shown]" },
      { type: "text", text: "[part 3: a:3]" },
      { type: "text", text: "[binary content, application/pdf, 12 bytes, not shown]" },
      { type: "text", text: "[part 4: a:4]" },
      { type: "text", text: "words" },
    ]);
    const kinds = (result.structuredContent as { contents: { kind: string }[] }).contents;
    expect(kinds.map(({ kind }) => kind)).toEqual(["image", "binary", "binary", "text"]);
  });

  test("cuts a long text at a line, and says how long it is", async () => {
    const text = "0123456\n".repeat(100_000);
    const [shown, note] = texts(await read([{ text }]));
    expect(text.startsWith(shown ?? "x")).toBe(true);
    expect(shown?.length).toBe(256 * 1024);
    expect(note).toBe(
      "[262144 of 800000 bytes of this text are shown; the rest cannot be read with this tool]",
    );
  });

  test("says that a resource is empty", async () => {
    expect(texts(await read([]))).toEqual(["resource `a:1` of `a` is empty"]);
    expect(texts(await read([{ text: "" }]))).toEqual(["[an empty text]"]);
  });

  test("refuses answers in a wrong form", async () => {
    const begin = "`handlers.mcp.readResource` gave a malformed answer: `contents[0]` ";
    for (const [part, problem] of [
      [{}, "has neither `text` nor `blob`"],
      [{ text: "", blob: "" }, "has both `text` and `blob`"],
      [{ blob: "?" }, "has a `blob` that is not base64"],
    ] as const) {
      const { error } = await read([part]);
      expect(error?.type).toBe("ToolFailed");
      expect(error?.message.startsWith(begin + problem)).toBe(true);
    }
  });

  test("passes on the client's error, and has a description for people", async () => {
    const mcp = {
      listResources: () => [],
      readResource: () => Promise.reject(new Error("there is no server `a`")),
    };
    const registry = registryHere({ handlers: { mcp } });
    const invocation = registry.createInvocation("ReadMcpResource", { server: "a", uri: "a:1" });
    expect(invocation.getDescription()).toBe("Read a:1 of MCP server a");
    expect(invocation.toolLocations()).toEqual(["a:1"]);
    expect((await invocation.execute()).error).toEqual({
      type: "ToolFailed",
      message: "there is no server `a`",
    });
  });
});

test("without a client there are no resources, and the host learns which option is missing", async () => {
  const registry = registryHere();
  for (const [name, input, option] of [
    ["ListMcpResources", {}, "mcp.listResources"],
    ["ReadMcpResource", { server: "a", uri: "a:1" }, "mcp.readResource"],
  ] as const) {
    const { error } = await registry.call(name, input as never);
    expect(error).toMatchObject({
      type: "HandlerMissing",
      message: "no MCP client is connected here, so there are no resources",
      details: {
        howToAllow: `the host can configure servers in the option \`mcpServers\`, or pass the function \`handlers.${option}\``,
      },
    });
  }
});

test("the client of the official SDK works, with a real server", async () => {
  const server = new McpServer({ name: "docs", version: "1" });
  server.registerResource(
    "guide",
    "docs:///guide",
    { title: "Guide", mimeType: "text/markdown" },
    ({ href }) => ({ contents: [{ uri: href, mimeType: "text/markdown", text: "# Guide" }] }),
  );
  const sdk = new Client({ name: "host", version: "1" });
  const [here, there] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(there), sdk.connect(here)]);
  try {
    const registry = registryHere({
      handlers: {
        mcp: {
          listResources: async () => {
            const { resources } = await sdk.listResources();
            return resources.map((it) => Object.assign(it, { server: "docs" }));
          },
          readResource: ({ uri }: { uri: string }) => sdk.readResource({ uri }),
        },
      },
    });
    expect(texts(await registry.call("ListMcpResourcesTool", {}))).toEqual([
      "server `docs`: 1 resource\n  docs:///guide (Guide, text/markdown)",
    ]);
    const input = { server: "docs", uri: "docs:///guide" };
    expect(texts(await registry.call("ReadMcpResource", input))).toEqual(["# Guide"]);
    const missing = { server: "docs", uri: "docs:///none" };
    expect((await registry.call("ReadMcpResource", missing)).error?.message).toMatch(
      /docs:\/\/\/none/,
    );
  } finally {
    await sdk.close();
    await server.close();
  }
});
