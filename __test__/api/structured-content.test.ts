import { describe, expect, test } from "vitest";
import { createSdkMcpServer, tool } from "../support/unasked";
import { connectClient } from "../support/mcp-clients";
import { texts } from "../support/results";
import { PNG } from "../support/pictures";
import { useRegistries } from "../support/registries";
import { LOOPBACK, useWebServers } from "../support/web-servers";
import { useWorkspace } from "../support/workspace";
import { workingCalls } from "../support/working-calls";
import type { CallResult, ToolRegistryOptions } from "../../index.js";

const workspace = useWorkspace();
const newRegistry = useRegistries(workspace);

const startServer = useWebServers();
const search = () => [{ url: "https://docs.rs/", title: "Docs" }];

const NOTEBOOK = JSON.stringify({
  cells: [{ cell_type: "code", id: "c", metadata: {}, outputs: [], source: ["one"] }],
  metadata: {},
  nbformat: 4,
  nbformat_minor: 5,
});

type Call = [name: string, input: Record<string, unknown>];

/** A registry with all tools, in a workspace in which every call of `callsOf` works. */
function registryWith({ handlers = {}, ...options }: ToolRegistryOptions = {}) {
  workspace.write("a.txt", "one\nmore\n");
  workspace.write("b.txt", "one one\n");
  workspace.write("a.ipynb", NOTEBOOK);
  workspace.write("a.png", Buffer.from(PNG, "base64"));
  workspace.write("binary", "one\0");
  workspace.write(".hidden", "lost");
  workspace.write("sub/c.txt", "x\n");
  const toolsets = ["claude", "classic", "diagnostic"] as const;
  const mcp = {
    listResources: () => [{ server: "docs", uri: "docs:///guide", name: "guide" }],
    readResource: ({ uri }: { uri: string }) => ({ contents: [{ uri, text: "a guide" }] }),
  };
  return newRegistry({
    toolsets,
    readBeforeWrite: false,
    handlers: { mcp, ...handlers },
    ...options,
  });
}

/** Calls of every tool, for every shape of its answers. The task's id comes from the first. */
function callsOf(root: string): Call[] {
  const {
    TaskOutput,
    TaskStop,
    edit_file,
    WebFetch: _fetch,
    web_fetch: _classicFetch,
    diagnostic_panic: _,
    // Works only in plan mode, in which others do not.
    ExitPlanMode: __,
    ...working
  } = workingCalls(root);
  const grep = (input: object): Call => ["Grep", { pattern: "one", ...input }];
  return [
    ["Bash", { command: "cat", run_in_background: true }],
    ["TaskOutput", TaskOutput!],
    ["TaskStop", TaskStop!],
    ["TaskOutput", TaskOutput!],
    ...Object.entries(working),
    ["Read", { file_path: `${root}/a.png` }],
    ["Read", { file_path: `${root}/a.ipynb` }],
    ["read_many_files", { paths: ["b.txt", "missing"] }],
    ["Bash", { command: "grep -q nothing a.txt" }],
    ["Edit", { file_path: `${root}/made.txt`, old_string: "", new_string: "made" }],
    grep({ output_mode: "files_with_matches" }),
    grep({ output_mode: "count" }),
    grep({ output_mode: "content", head_limit: 1, "-n": false }),
    grep({ output_mode: "content", pattern: "lost" }),
    grep({ output_mode: "content", pattern: "a\nb" }),
    ["Glob", { pattern: "*.nothing" }],
    ["Glob", { pattern: ".hid*" }],
    ["ls", { path: "sub" }],
    [
      "edit_file",
      { ...edit_file, path: "b.txt", edits: [{ target: "one one", replacement: "two" }] },
    ],
  ];
}

const FAILING: Call[] = [
  ["Read", { file_path: "relative" }],
  ["Bash", { command: "exit 3" }],
  ["Grep", { pattern: "(" }],
  ["diagnostic_panic", { message: "on purpose" }],
];

describe("over MCP", () => {
  test("answers have only text by default, and tools declare no data", async () => {
    const registry = registryWith();
    const { client } = await connectClient(registry.toMcpServerConfig().instance);
    const { tools } = await client.listTools();
    expect(tools.filter(({ outputSchema }) => outputSchema !== undefined)).toEqual([]);
    for (const [name, input] of callsOf(workspace.root)) {
      const result = await client.callTool({ name, arguments: input });
      expect([name, result["structuredContent"]]).toEqual([name, undefined]);
    }
  });

  test("with `structuredContent` every tool declares its data, and every answer has valid data", async () => {
    const { origin } = await startServer(() => "<title>x</title><p>y");
    const registry = registryWith({ structuredContent: true, ...LOOPBACK, handlers: { search } });
    const { client } = await connectClient(registry.toMcpServerConfig().instance);
    // From here on this client rejects an answer whose data are missing or invalid.
    const { tools } = await client.listTools();
    expect(tools.filter(({ outputSchema }) => outputSchema === undefined)).toEqual([]);
    expect(registry.definitions("mcp")).toEqual(
      tools.map(({ _meta, ...told }) => expect.objectContaining(told)),
    );

    const called = new Set<string>();
    const fetches: Call[] = [
      ["WebFetch", { url: origin, prompt: "?" }],
      ["web_fetch", { url: origin, selector: "p" }],
    ];
    for (const [name, input] of [...callsOf(workspace.root), ...fetches]) {
      const result = (await client.callTool({ name, arguments: input })) as CallResult;
      expect([name, texts(result), result.isError]).toEqual([name, texts(result), false]);
      expect([name, result.structuredContent]).toEqual([name, expect.any(Object)]);
      called.add(name);
    }
    const uncalled = registry.names().filter((name) => !called.has(name));
    expect(uncalled).toEqual(["diagnostic_panic", "ExitPlanMode"]);
    for (const [name, input] of FAILING) {
      const result = await client.callTool({ name, arguments: input });
      expect([name, result.isError, result["structuredContent"]]).toEqual([name, true, undefined]);
    }
  });

  test("data that say less than the text contain it, for hosts that show a model only the data", async () => {
    const registry = registryWith({ structuredContent: true });
    const { client } = await connectClient(registry.toMcpServerConfig().instance);
    const input = { file_path: workspace.path("b.txt") };
    const result = await client.callTool({ name: "Read", arguments: input });
    const { structuredContent } = await registry.call("Read", input);
    expect(structuredContent).toMatchObject({ path: input.file_path, totalLines: 1 });
    expect(result["structuredContent"]).toEqual({
      ...(structuredContent as object),
      text: "1\tone one",
    });
    const grep = { pattern: "one", path: input.file_path };
    const found = await client.callTool({ name: "Grep", arguments: grep });
    expect(found["structuredContent"]).toEqual(
      (await registry.call("Grep", grep)).structuredContent,
    );
  });

  test("data that are too large, or that a hook withholds, are left out, and the text stays", async () => {
    const keepsBack = { hooks: [async () => ({ suppressOutput: true })] };
    for (const [options, said] of [
      [{ limits: { maxResultBytes: 1_024 } }, /result cut: .*structured content are left out/s],
      [{ hooks: { PostToolUse: [keepsBack] } }, /a hook hides this output/],
    ] as const) {
      const registry = registryWith({ structuredContent: true, ...options });
      workspace.write("long.txt", "needle in a haystack of lines\n".repeat(60));
      const { client } = await connectClient(registry.toMcpServerConfig().instance);
      await client.listTools();
      const input = { pattern: "needle", output_mode: "content" as const };
      const result = (await client.callTool({ name: "Grep", arguments: input })) as CallResult;
      expect(result.structuredContent).toEqual({ text: expect.stringMatching(said) });
      expect((await registry.call("Grep", input)).structuredContent).toBeUndefined();
    }
  });

  test("additions by hooks are in the text, with data and without", async () => {
    const adds = (words: string) => ({
      hooks: [async () => ({ hookSpecificOutput: { additionalContext: words } })],
    });
    const hooks = { PreToolUse: [adds("said before")], PostToolUse: [adds("said after")] };
    for (const structuredContent of [true, false]) {
      const registry = registryWith({ structuredContent, hooks });
      const { client } = await connectClient(registry.toMcpServerConfig().instance);
      for (const [name, input] of [
        ["Grep", { pattern: "more" }],
        ["Read", { file_path: workspace.path("b.txt") }],
        ["Edit", { file_path: workspace.path("b.txt"), old_string: "one one", new_string: "two" }],
      ] as const) {
        const result = (await client.callTool({ name, arguments: input })) as CallResult;
        expect(texts(result).slice(-2)).toEqual(["said before", "said after"]);
      }
    }
  });

  test("the data of a host's tool are sent under the same condition, and always returned by `call`", async () => {
    const answer = {
      content: [{ type: "text" as const, text: "warm" }],
      structuredContent: { c: 22 },
    };
    const weather = tool({ name: "weather", handler: () => answer });
    for (const structuredContent of [true, false, undefined]) {
      const server = createSdkMcpServer({ name: "w", tools: [weather], structuredContent });
      const { client } = await connectClient(server.instance);
      const result = await client.callTool({ name: "weather" });
      expect(result["structuredContent"]).toEqual(structuredContent ? { c: 22 } : undefined);
    }
    const registry = registryWith();
    registry.register(weather);
    expect((await registry.call("weather")).structuredContent).toEqual({ c: 22 });
  });
});

test("handlers answer like MCP, because hosts pass their answers on", async () => {
  for (const structuredContent of [true, false]) {
    const registry = registryWith({ structuredContent });
    const { client } = await connectClient(registry.toMcpServerConfig().instance);
    const handlers = [
      registry.get("Read"),
      registry.toMcpServerConfig().tools.find(({ name }) => name === "Read"),
    ];
    const input = { file_path: workspace.path("b.txt") };
    const told = await client.callTool({ name: "Read", arguments: input });
    for (const handled of await Promise.all(handlers.map((it) => it!.handler(input)))) {
      expect(handled.structuredContent).toEqual(told["structuredContent"]);
    }
  }
});

test("`structuredContent` has to be a boolean", () => {
  expect(() => newRegistry({ structuredContent: "yes" })).toThrow(/structuredContent/);
});
