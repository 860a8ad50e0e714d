// The same call has the same answer by every MCP transport: in the process, over standard streams and over
// HTTP, in both eras of the protocol.
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { ToolRegistry } from "../../index.js";
import { LineServer, type Message } from "../support/mcp-lines.js";
import { registerOwnTools } from "../support/mcp-own-tools.mjs";
import { PNG } from "../support/pictures.js";
import { deferred } from "../support/promises.js";
import { useAskingRegistries } from "../support/registries.js";
import { root, runtimes } from "../support/runtimes.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useAskingRegistries(workspace);
const OPTIONS = {
  toolsets: ["claude" as const],
  permissionMode: "bypassPermissions" as const,
  structuredContent: true,
};
const NEW_ERA = "2026-07-28";
const OWN = /^io\.modelcontextprotocol\//;

/** Sends a request to a server and returns the result or the error. */
type Ask = (method: string, params: object) => Promise<Message>;

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

type Change = (registry: ToolRegistry) => void;

function registryOf(change: Change): ToolRegistry {
  const registry = registryHere(OPTIONS);
  registerOwnTools(registry);
  change(registry);
  return registry;
}

/** A client in the same process. */
async function inProcess(change: Change = () => {}): Promise<Ask> {
  const waiting = new Map<number, (message: Message) => void>();
  const transport = {
    onmessage: undefined as ((message: object) => void) | undefined,
    send: async (message: Message) => waiting.get(message.id as number)?.(message),
    close: async () => {},
  };
  await registryOf(change)
    .toMcpServerConfig()
    .instance.connect(transport as never);
  let next = 1;
  const ask: Ask = (method, params) => {
    const { promise, resolve } = deferred<Message>();
    const id = next++;
    waiting.set(id, resolve);
    transport.onmessage?.({ jsonrpc: "2.0", id, method, params });
    return promise;
  };
  await ask("initialize", initialize());
  return ask;
}

/** A client that starts the program with the current runtime. */
async function overStdio(): Promise<Ask> {
  const options = { projectPath: workspace.root, userPolicyFile: false, ...OPTIONS };
  const args = [join(root, "__test__/hosts/mcp-stdio-host.mjs"), JSON.stringify(options)];
  const server = new LineServer(runtimes[0]?.path ?? process.execPath, args, {
    cwd: workspace.root,
  });
  closing.push(() => server.kill());
  await server.initialize();
  return (method, params) => server.ask(method, params);
}

/** A client over HTTP, with a session. */
async function overHttp(change: Change = () => {}): Promise<Ask> {
  const ask = await poster(change);
  const { session } = await ask("initialize", initialize());
  return async (method, params) =>
    (await ask(method, params, { "mcp-session-id": session ?? "" })).message;
}

/** A client over HTTP in the new era. */
async function overHttpToday(change: Change = () => {}): Promise<Ask> {
  const ask = await poster(change);
  const own = {
    "io.modelcontextprotocol/protocolVersion": NEW_ERA,
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  return async (method, params) => {
    const { name } = params as { name?: string };
    const headers = {
      "mcp-protocol-version": NEW_ERA,
      "mcp-method": method,
      ...(name === undefined ? {} : { "mcp-name": name }),
    };
    return (await ask(method, { ...params, _meta: own }, headers)).message;
  };
}

async function poster(change: Change) {
  const registry = registryOf(change);
  const { origin, token } = await registry.serve();
  return async (method: string, params: object, more: Record<string, string> = {}) => {
    const response = await fetch(`${origin}/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        ...more,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const text = await response.text();
    const data = text.split("\n").filter((line) => /^data: *\{/.test(line));
    const json = data.length > 0 ? (data.at(-1) ?? "").slice("data:".length) : text;
    const session = response.headers.get("mcp-session-id");
    return { message: JSON.parse(json) as Message, session };
  };
}

function initialize() {
  const clientInfo = { name: "test", version: "1" };
  return { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
}

/** An answer without the parts that only one era has. */
function said({ result, error }: Message): Record<string, unknown> {
  if (error !== undefined) return { error };
  const { resultType: _, ttlMs: _ttl, cacheScope: _scope, _meta, ...rest } = result ?? {};
  const meta = Object.entries((_meta ?? {}) as object).filter(([name]) => !OWN.test(name));
  return { ...rest, _meta: Object.fromEntries(meta) };
}

const TRANSPORTS = [
  ["in the process", inProcess],
  ["over stdio", overStdio],
  ["over HTTP", overHttp],
  ["over HTTP in the new era", overHttpToday],
] as const;

test("the same calls have the same answers by every transport", { timeout: 60_000 }, async () => {
  workspace.plant({
    "notes.txt": "alpha\nbéta 😀\n",
    "src/a.txt": "needle one\n",
    "dot.png": Buffer.from(PNG, "base64"),
  });
  const calls: [string, object][] = [
    ["Read", { file_path: workspace.path("notes.txt") }],
    ["Read", { file_path: workspace.path("dot.png") }],
    ["Read", { file_path: workspace.path("missing.txt") }],
    ["Read", { path: 3 }],
    ["Grep", { pattern: "needle", output_mode: "content" }],
    ["Edit", { file_path: workspace.path("notes.txt"), old_string: "delta", new_string: "x" }],
    ["Bash", { command: "exit 3" }],
    ["own", { text: 'héllo \u2028 \\ "quoted"' }],
    ["own", { text: 3 }],
    ["own_blocks", {}],
    ["own_failing", {}],
    ["no_such_tool", {}],
  ];
  const answers = await Promise.all(
    TRANSPORTS.map(async ([, open]) => {
      const ask = await open();
      const given: Record<string, unknown>[] = [];
      for (const [name, input] of calls) {
        given.push(said(await ask("tools/call", { name, arguments: input })));
      }
      const tools = said(await ask("tools/list", {}))["tools"] as { name: string }[];
      // Only the program has it.
      return { given, tools: tools.filter(({ name }) => name !== "loud") };
    }),
  );
  const [first, ...others] = answers;
  for (const [index, other] of others.entries()) {
    // The duration of a command differs between answers.
    const timeless = (it: unknown) =>
      JSON.parse(JSON.stringify(it).replace(/"durationMs":[\d.]+/g, '"durationMs":0')) as unknown;
    const transport = TRANSPORTS[index + 1]?.[0];
    expect([transport, timeless(other)]).toEqual([transport, timeless(first)]);
  }
  const blocks = first?.given[9]?.["content"] as { type: string }[];
  expect(blocks.map(({ type }) => type)).toEqual(["text", "audio", "resource", "resource_link"]);
  expect(first?.given[11]).toMatchObject({ error: { code: -32602 } });
  const toolOf = (wanted: string) => first?.tools.find(({ name }) => name === wanted);
  expect(toolOf("own")).toMatchObject({ outputSchema: { type: "object" } });
  expect(toolOf("Read")).toMatchObject({
    title: expect.any(String),
    outputSchema: { type: "object" },
    annotations: { readOnlyHint: true },
  });
});

describe.each(TRANSPORTS.filter(([, open]) => open !== overStdio))("%s", (_title, open) => {
  test("more than a hundred tools come in pages, each tool once", async () => {
    const ask = await open((registry) => {
      for (let number = 0; number < 230; number++) {
        registry.register({ name: `extra_${number}`, handler: () => "" });
      }
    });
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const page = said(await ask("tools/list", cursor === undefined ? {} : { cursor }));
      const tools = page["tools"] as { name: string }[];
      expect(tools.length).toBeLessThanOrEqual(100);
      names.push(...tools.map(({ name }) => name));
      cursor = page["nextCursor"] as string | undefined;
    } while (cursor !== undefined);
    expect(names.filter((it) => it.startsWith("extra_"))).toHaveLength(230);
    expect(new Set(names).size).toBe(names.length);
    const wrong = await ask("tools/list", { cursor: "made up" });
    expect(wrong.error?.code).toBe(-32602);
  });
});
