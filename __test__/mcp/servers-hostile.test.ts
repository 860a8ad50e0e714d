// Servers that misbehave: everything is bounded and reported, and no server affects another.
import { describe, expect, test } from "vitest";
import { hostile, peer, serverThat } from "../support/mcp-servers.js";
import { eventually, isRunning } from "../support/processes.js";
import { useRegistries } from "../support/registries.js";
import { texts } from "../support/results.js";
import { useWorkspace } from "../support/workspace.js";
import { thrownBy } from "../support/misuse.js";
import { rejection } from "../support/promises.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace, { toolsets: [] });

const call = "mcp__bad__call";

/**
 * A `startupTimeoutMs` within which a server has surely begun: ten times as long as one takes now, and at least so
 * many milliseconds. The time counts from the start of its process, which may take long on a loaded machine.
 */
async function limitToStart(leastMs: number): Promise<number> {
  const registry = registryHere();
  const began = performance.now();
  await registry.connectMcpServer("peer", peer);
  return Math.max(leastMs, Math.ceil(10 * (performance.now() - began)));
}

test("one bad server neither delays nor breaks the others", async () => {
  const startupTimeoutMs = await limitToStart(3_000);
  const registry = registryHere({
    mcpServers: {
      peer,
      missing: { command: "no-such-program" },
      ends: hostile("ends at once"),
      refuses: hostile("no initialize"),
      silent: hostile("silent", { startupTimeoutMs }),
      listless: hostile("no list", { startupTimeoutMs }),
      away: { url: "http://127.0.0.1:1/mcp" },
      off: { command: "no-such-program", disabled: true },
    },
  });
  const initialized = registry.initialize();
  await serverThat(registry, ({ name, state }) => name === "peer" && state === "connected");
  const early = await registry.call("mcp__peer__echo", { text: "early" });
  expect(texts(early)).toEqual(["early"]);
  const { success, errors } = await initialized;
  expect(success).toBe(false);
  const told = Object.fromEntries(errors.map(({ source, message }) => [source, message]));
  expect(told).toEqual({
    "mcpServers.missing": expect.stringContaining("there is no such program (exit code 127)"),
    "mcpServers.ends": expect.stringContaining("it ended with exit code 4"),
    "mcpServers.refuses": "the server is not connected: it refuses to begin: go away",
    "mcpServers.silent": `the server is not connected: it did not answer the first request within ${startupTimeoutMs} ms`,
    "mcpServers.listless": `the server is not connected: it did not list its tools within ${startupTimeoutMs} ms`,
    "mcpServers.away": expect.stringContaining("Connection refused"),
  });
  const states = registry.mcpServerStatus().map(({ name, state }) => [name, state]);
  expect(Object.fromEntries(states)).toMatchObject({ off: "disabled", peer: "connected" });
});

describe("a server", () => {
  test.each([
    ["many tools", "it has more than 1000 tools; the rest is left out"],
    ["endless pages", "it has more than 1000 tools; the rest is left out"],
  ])("with %s has 1,000 registered", async (way, warning) => {
    const registry = registryHere();
    const { tools, warnings } = await registry.connectMcpServer("bad", hostile(way));
    expect([tools.length, registry.getToolCount(), warnings]).toEqual([1_000, 1_000, [warning]]);
  });

  test("with large definitions has only as many as fit into 1 MB", async () => {
    const registry = registryHere();
    const { tools, warnings } = await registry.connectMcpServer(
      "bad",
      hostile("large definitions"),
    );
    expect([tools.length, warnings]).toEqual([
      10,
      [
        "the definitions of its tools have more than 1048576 bytes; those after the first 10 are left out",
      ],
    ]);
  });

  test("with bad tools has the good ones registered, and the others reported", async () => {
    const registry = registryHere();
    const { tools, warnings } = await registry.connectMcpServer("bad", hostile("bad tools"));
    expect(tools).toHaveLength(3);
    for (const name of tools) expect(name).toMatch(/^mcp__bad__[a-zA-Z0-9_-]{1,54}$/);
    expect(tools[0]).toBe(call);
    expect(warnings).toEqual([
      expect.stringMatching(/^tool 7 of its list, `no schema`, is left out: /),
      expect.stringMatching(/^tool 8 of its list, ``, is left out: /),
      "a tool without a name is left out",
      expect.stringMatching(/^tool `list` is left out: input schema must be/),
      expect.stringMatching(/^tool `broken` is left out: input schema is not valid/),
      "tool `call` is left out: another tool of the same server is already registered as `mcp__bad__call`",
    ]);
  });

  test("that writes garbage to its output is still read, and the garbage is reported", async () => {
    const registry = registryHere();
    const { state } = await registry.connectMcpServer("bad", hostile("rubbish"));
    expect(state).toBe("connected");
    expect(texts(await registry.call(call, {}))).toEqual(["done"]);
    expect(registry.mcpServerStatus()[0]?.warnings).toEqual([
      "4 lines of its standard output are not messages, the first is `Listening on port 3000`; logs belong on standard error",
    ]);
  });

  test("that floods its stderr keeps only the end of it", async () => {
    const registry = registryHere();
    await registry.connectMcpServer("bad", hostile("stderr"));
    expect(texts(await registry.call(call, {}))).toEqual(["done"]);
    const stderr = () => registry.mcpServerStatus()[0]?.stderr ?? "";
    expect(await eventually(() => stderr().endsWith("noise\nlast line\n"), 10_000)).toBe(true);
    expect(stderr().length).toBeLessThanOrEqual(64 * 1024);
  });

  test.each(["notifications", "requests"])("that floods with %s is answered", async (way) => {
    const registry = registryHere();
    await registry.connectMcpServer("bad", hostile(way));
    const answer = await registry.call(call, {}, { onProgress: () => {} });
    expect(texts(answer)).toEqual(["done"]);
    expect(texts(await registry.call(call, {}))).toEqual(["done"]);
  });

  test.each([
    [
      "huge answer",
      "its answer has 17825865 bytes, and at most 16777216 are accepted; ask for less (code -32603)",
    ],
    [
      "huge answer with its id first",
      "its answer has 17825865 bytes, and at most 16777216 are accepted; ask for less (code -32603)",
    ],
    ["wrong answer", "its answer does not follow the protocol"],
    ["deep answer", "its answer does not follow the protocol (code -32603)"],
    ["refusal", "not today (code -32603)"],
  ])("that returns a %s fails only that call", async (way, cause) => {
    const registry = registryHere();
    await registry.connectMcpServer("bad", hostile(way));
    expect((await registry.call(call, {})).error).toEqual({
      type: "ToolFailed",
      message: `tool \`call\` of MCP server \`bad\` failed: ${cause}`,
    });
    expect(registry.mcpServerStatus()).toMatchObject([{ state: "connected" }]);
  });

  test("that asks one question many times has the user asked once", async () => {
    let asked = 0;
    const askUser = () => {
      asked += 1;
      return new Promise<never>(() => {});
    };
    const registry = registryHere({ handlers: { askUser } });
    await registry.connectMcpServer("bad", hostile("one question many times"));
    expect(texts(await registry.call(call, {}))).toEqual(["done"]);
    expect(asked).toBe(1);
  });

  test("that does not list its resources does not affect the lists of other servers", async () => {
    const registry = registryHere({ toolsets: ["claude"] });
    await registry.connectMcpServer("peer", peer);
    const startupTimeoutMs = await limitToStart(1_000);
    await registry.connectMcpServer("bad", hostile("mute", { startupTimeoutMs }));
    const listed = await registry.call("ListMcpResources", {});
    expect(texts(listed).join("\n")).toContain("docs:///guide");
    expect(texts(listed).join("\n")).toContain(
      `it did not list them within ${startupTimeoutMs} ms`,
    );
  });

  test("is not affected by a function of the host that cannot list", async () => {
    const cannot = () => Promise.reject(new Error("the host is busy"));
    const mcp = { listResources: cannot, readResource: cannot };
    const registry = registryHere({ toolsets: ["claude"], handlers: { mcp } });
    await registry.connectMcpServer("peer", peer);
    const listed = texts(await registry.call("ListMcpResources", {})).join("\n");
    expect(listed).toContain("docs:///guide");
    expect(listed).toContain("the host is busy");
  });

  test("of only the newer era is connected, and reports its changes", async () => {
    const registry = registryHere();
    const status = await registry.connectMcpServer("bad", hostile("newer era"));
    expect(status).toMatchObject({
      state: "connected",
      protocolVersion: "2026-07-28",
      serverInfo: { name: "hostile" },
    });
    expect(texts(await registry.call(call, {}))).toEqual(["done"]);
    await serverThat(registry, ({ tools }) => tools.includes("mcp__bad__late"));
  });

  test("that never answers a call is stopped by the limit", async () => {
    const registry = registryHere();
    await registry.connectMcpServer("bad", hostile("mute", { timeoutMs: 300 }));
    expect((await registry.call(call, {})).error?.type).toBe("TimeoutError");
  });

  test("that dies with several calls fails them all at once, and is restarted", async () => {
    const registry = registryHere();
    await registry.connectMcpServer("bad", hostile("dies"));
    const calls = await Promise.all([1, 2, 3].map(() => registry.call(call, {})));
    for (const { error } of calls) {
      expect(error).toMatchObject({
        type: "McpServerError",
        message: expect.stringContaining("exit code 9; the end of its errors: out of cheese"),
      });
    }
    await serverThat(registry, ({ state }) => state === "connected");
  });

  test("that ignores the end of its input and SIGTERM is killed", async () => {
    // In a sandbox its process id would differ from the one outside.
    const registry = registryHere({ sandbox: { mcpServers: "off" } });
    await registry.connectMcpServer("bad", {
      command: "sh",
      args: ["-c", 'echo $$ >&2; exec "$@"', "sh", "node", ...args("ignores signals")],
    });
    const pid = Number.parseInt(registry.mcpServerStatus()[0]?.stderr ?? "", 10);
    expect(isRunning(pid)).toBe(true);
    await registry.disconnectMcpServer("bad");
    expect(isRunning(pid)).toBe(false);
  });
});

function args(way: string): readonly string[] {
  return hostile(way).args ?? [];
}

test("configurations that cannot work are refused at once", async () => {
  const registry = registryHere();
  for (const [config, message] of [
    [{}, "MCP server `bad`: it has neither a `command` to start nor a `url`"],
    [{ command: "x", url: "http://a" }, "it has a `command` and a `url`"],
    [{ type: "carrier pigeon", url: "x" }, "field `type`"],
    [{ command: "x", timeoutMs: 0 }, "field `timeoutMs`"],
    [{ command: "x", bogus: 1 }, "unknown field `bogus`"],
    [null, "takes a server's configuration, got null"],
    [() => {}, "takes a server's configuration"],
  ] as const) {
    const refused = await rejection(registry.connectMcpServer("bad", config as never));
    expect(refused).toMatchObject({
      type: "InvalidOptions",
      message: expect.stringContaining(message),
    });
  }
  expect(await rejection(registry.connectMcpServer(5 as never, peer))).toMatchObject({
    type: "InvalidOptions",
  });
  const bad = { mcpServers: { "": peer } };
  expect(thrownBy(() => registryHere(bad))).toMatchObject({ type: "InvalidOptions" });
  expect(registry.mcpServerStatus()).toEqual([]);
});
