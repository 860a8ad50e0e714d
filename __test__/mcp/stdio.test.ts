// `toolwright mcp` and `serveStdio()`: standard output contains only the protocol, whatever the input.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { LineServer } from "../support/mcp-lines.js";
import { alive, eventually, marker } from "../support/processes.js";
import { root, runtimes } from "../support/runtimes.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const started: LineServer[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.kill()));
});

function start(program: string, args: string[]): LineServer {
  const env = { PATH: process.env["PATH"], HOME: workspace.root };
  const server = new LineServer(program, args, { cwd: workspace.root, env });
  started.push(server);
  return server;
}

const ping = { jsonrpc: "2.0", method: "ping" };

describe.each(runtimes)("on $name", ({ path }) => {
  const program = (...more: string[]) =>
    start(path, [join(root, "bin/toolwright.js"), "mcp", ...more]);
  const host = (options: object = {}) =>
    start(path, [
      join(root, "__test__/hosts/mcp-stdio-host.mjs"),
      JSON.stringify({ projectPath: workspace.root, userPolicyFile: false, ...options }),
    ]);

  test("an invalid message is answered with an error, and the connection stays open", async () => {
    const server = program();
    for (const [line, code] of [
      ["{", -32700],
      ["nonsense", -32700],
      ['"text"', -32600],
      ["[]", -32600],
      [`[${JSON.stringify({ ...ping, id: 1 })}]`, -32600],
      ['{"id": 5}', -32600],
      ['{"jsonrpc": "1.0", "id": 6, "method": "ping"}', -32600],
      [Buffer.from([0xff, 0xfe, 0x7b]).toString("latin1"), -32700],
    ] as const) {
      const before = server.messages.length;
      server.send(line);
      const answer = await server.heard((it) => server.messages.indexOf(it) >= before);
      expect([line, answer.error?.code]).toEqual([line, code]);
    }
    server.send("");
    server.send("   ");
    expect((await server.initialize()).result?.["protocolVersion"]).toBe("2025-11-25");
    expect((await server.ask("ping")).result).toEqual({});
  });

  test("a message of more than 16 MB is refused, and the next one is read", async () => {
    const server = program();
    await server.initialize();
    const text = "x".repeat(17 << 20);
    server.send({ ...ping, id: "large", params: { text } });
    const answer = await server.heard((it) => it.id === null);
    expect(answer.error).toMatchObject({
      code: -32600,
      message: expect.stringContaining("16777216"),
    });
    expect((await server.ask("ping")).result).toEqual({});
    const largest = "y".repeat(15 << 20);
    const large = await server.ask("tools/call", {
      name: "Read",
      arguments: { file_path: largest },
    });
    expect(large.result?.["isError"]).toBe(true);
  });

  test("unknown methods, tools, ids and versions are refused", async () => {
    const server = program();
    // Before the handshake no other request is answered, and none closes the connection.
    expect((await server.ask("tools/list")).error?.code).toBe(-32602);
    server.notify("notifications/cancelled", { requestId: 17 });
    server.send({ jsonrpc: "2.0", id: 99, result: {} });
    expect((await server.ask("ping")).result).toEqual({});
    const versions = { capabilities: {}, clientInfo: { name: "old", version: "0" } };
    const told = await server.ask("initialize", { protocolVersion: "1999-01-01", ...versions });
    expect(told.result?.["protocolVersion"]).toBe("2025-11-25");
    server.notify("notifications/initialized");
    expect((await server.ask("made/up")).error?.code).toBe(-32601);
    expect((await server.ask("tools/call", { name: "nobody" })).error?.code).toBe(-32602);
    expect((await server.ask("tools/call", { name: 5 })).error?.code).toBe(-32602);
    server.notify("notifications/cancelled", { requestId: "never" });
    server.notify("notifications/made_up");
    expect((await server.ask("ping", {}, "text id")).result).toEqual({});
  });

  test("an id in use is refused, and its first request is answered", async () => {
    const server = program("--permission-mode", "bypassPermissions");
    await server.initialize();
    const go = workspace.path("go");
    const command = `until [ -e ${go} ]; do sleep 0.01; done; echo first`;
    const call = { name: "Bash", arguments: { command } };
    const first = server.ask("tools/call", call, "same");
    server.send({ ...ping, id: "same" });
    const refused = await server.heard((it) => it.id === "same");
    expect(refused.error).toMatchObject({ code: -32600 });
    server.messages.splice(server.messages.indexOf(refused), 1);
    workspace.write("go", "");
    await first;
    const answer = await server.heard((it) => it.id === "same" && it.result !== undefined);
    expect(JSON.stringify(answer.result)).toContain("first");
    expect((await server.ask("ping", {}, "same again")).result).toEqual({});
  });

  test("cancelling ends the command of a call, and the end of input ends all others", async () => {
    const server = program("--permission-mode", "bypassPermissions");
    await server.initialize();
    const [first, second] = [marker(), marker()];
    for (const [id, seconds] of [
      ["a", first],
      ["b", second],
    ] as const) {
      const params = { name: "Bash", arguments: { command: `sleep ${seconds}` } };
      server.send({ jsonrpc: "2.0", id, method: "tools/call", params });
      expect(await eventually(() => alive(seconds).length > 0, 30_000)).toBe(true);
    }
    server.notify("notifications/cancelled", { requestId: "a" });
    expect(await eventually(() => alive(first).length === 0, 30_000)).toBe(true);
    expect(alive(second)).toHaveLength(1);
    expect(await server.end()).toBe(0);
    expect(alive(second)).toHaveLength(0);
    expect(server.messages.some((it) => it.id === "a")).toBe(false);
    expect(server.stderr).toBe("");
  });

  test("requests that were sent before the end of input are answered", async () => {
    workspace.write("notes.txt", "alpha\n");
    const server = program();
    const initialize = { protocolVersion: "2025-11-25", capabilities: {} };
    const clientInfo = { name: "pipe", version: "1" };
    server.send({ ...ping, id: 1, method: "initialize", params: { ...initialize, clientInfo } });
    server.notify("notifications/initialized");
    const params = { name: "Read", arguments: { file_path: workspace.path("notes.txt") } };
    server.send({ ...ping, id: 2, method: "tools/call", params });
    expect(await server.end()).toBe(0);
    expect(JSON.stringify(server.messages.find((it) => it.id === 2)?.result)).toContain("alpha");
  });

  test("output of handlers, plugins and children does not reach the protocol", async () => {
    const server = host({ permissionMode: "bypassPermissions" });
    await server.initialize();
    const answer = await server.ask("tools/call", { name: "loud", arguments: {} });
    expect(answer.result?.["content"]).toEqual([{ type: "text", text: "quiet" }]);
    expect(await server.end()).toBe(0);
    for (const by of ["printed by a handler", "written by a handler", "printed by a child"]) {
      expect(server.stderr).toContain(by);
    }
  });

  test("the client is asked for confirmation, and its answer counts", async () => {
    const server = program();
    await server.initialize({ elicitation: {} });
    for (const [approve, made] of [
      [false, false],
      [true, true],
    ] as const) {
      const call = server.ask("tools/call", {
        name: "Write",
        arguments: { file_path: workspace.path("made.txt"), content: "x" },
      });
      const question = await server.heard((it) => it.method === "elicitation/create");
      expect(JSON.stringify(question.params)).toContain("made.txt");
      server.messages.splice(server.messages.indexOf(question), 1);
      const result = { action: "accept", content: { approve } };
      server.send({ jsonrpc: "2.0", id: question.id, result });
      expect((await call).result?.["isError"] ?? false).toBe(!made);
      expect(existsSync(workspace.path("made.txt"))).toBe(made);
    }
  });
});
