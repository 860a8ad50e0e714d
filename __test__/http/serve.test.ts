// `registry.serve`: a host opens and closes the server of a registry.
import { createServer } from "node:net";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import type { RegistryServer } from "../../index.js";
import { json, readUntil, readerOf, streaming, withToken } from "../support/http.js";
import { alive, eventually, marker } from "../support/processes.js";
import { useRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace);

/** The status of an answer, or the error. */
async function statusOf(url: string, token?: string): Promise<number | "refused"> {
  const headers = token === undefined ? new Headers() : withToken({}, token);
  // One connection for each request, because a kept connection would outlive the server's listener.
  headers.set("connection", "close");
  return fetch(url, { headers }).then(
    ({ status }) => status,
    () => "refused",
  );
}

describe("a server", () => {
  test("has an address, and accepts only its own token", async () => {
    const registry = registryHere();
    const [one, other] = [await registry.serve(), await registry.serve()];
    expect(one).toMatchObject({ host: "127.0.0.1", origin: `http://127.0.0.1:${one.port}` });
    expect(one.url).toBe(`${one.origin}/#token=${one.token}`);
    expect(one.token).toMatch(/^[\w-]{43}$/);
    expect(other.token).not.toBe(one.token);
    expect(other.port).not.toBe(one.port);
    expect(await statusOf(`${one.origin}/health`)).toBe(200);
    expect(await statusOf(`${one.origin}/api/tools`)).toBe(401);
    expect(await statusOf(`${one.origin}/api/tools`, other.token)).toBe(401);
    expect(await statusOf(`${one.origin}/api/tools`, one.token)).toBe(200);
    expect(await statusOf(`${other.origin}/api/tools`, other.token)).toBe(200);
  });

  test("has a separate token for MCP, which is derived from its token", async () => {
    const server = await registryHere().serve({ token: "of-our-own" });
    const other = await registryHere().serve({ token: "of-our-own" });
    expect(server.mcpToken).toMatch(/^mcp-[\w-]{43}$/);
    expect(other.mcpToken).toBe(server.mcpToken);
    const ping = async (token: string) => {
      const accept = { accept: "application/json, text/event-stream" };
      const init = json({ jsonrpc: "2.0", id: 1, method: "ping" }, { headers: accept });
      const headers = withToken(init, token);
      return (await fetch(`${server.origin}/mcp`, { ...init, headers })).status;
    };
    expect(await ping("mcp-of-another")).toBe(401);
    expect(await ping(server.mcpToken)).not.toBe(401);
    expect(await ping(server.token)).toBe(await ping(server.mcpToken));
    for (const path of [
      "/api/tools",
      "/api/confirmations",
      "/api/events",
      "/openapi.json",
      "/mcp/x",
    ]) {
      expect(await statusOf(server.origin + path, server.mcpToken)).toBe(401);
    }
  });

  test("uses the given port and token; the token is part of its address unchanged", async () => {
    const free = createServer().listen(0, "127.0.0.1");
    await once(free, "listening");
    const { port } = free.address() as { port: number };
    free.close();
    await once(free, "close");
    const server = await registryHere().serve({ port, token: "a#b%c&d+e" });
    expect(server).toMatchObject({ port, token: "a#b%c&d+e" });
    expect(new URLSearchParams(new URL(server.url).hash.slice(1)).get("token")).toBe("a#b%c&d+e");
    expect(await statusOf(`${server.origin}/api/tools`, "a#b%c&d+e")).toBe(200);
  });

  test("rejects invalid options with clear errors", async () => {
    const registry = registryHere();
    const { port } = await registry.serve();
    for (const [options, type, words] of [
      [{ port }, "ServeError", `port ${port} of \`127.0.0.1\` is in use`],
      [{ port: 65_536 }, "InvalidOptions", "from 0 to 65535"],
      [{ port: 1.5 }, "InvalidOptions", "`1.5`"],
      [{ port: Number.NaN }, "InvalidOptions", "NaN"],
      [{ host: "0.0.0.0" }, "InvalidOptions", "a token has to be given"],
      [{ host: "::" }, "InvalidOptions", "a token has to be given"],
      [{ host: "example.invalid" }, "InvalidOptions", "a token has to be given"],
      [{ host: "0.0.0.0", token: "short" }, "InvalidOptions", "at least 16 characters"],
      [{ host: "" }, "InvalidOptions", "`host` is empty"],
      [{ host: 3 }, "InvalidOptions", "`host`"],
      [
        { host: "192.0.2.1", token: "x".repeat(16) },
        "ServeError",
        "is not an address of this machine",
      ],
      [{ token: "" }, "InvalidOptions", "`token` is empty"],
      [{ token: "tokën" }, "InvalidOptions", "cannot be sent"],
      [{ token: "x".repeat(5_000) }, "InvalidOptions", "at most 4096"],
      [{ allowedHosts: ["a b"] }, "InvalidOptions", "`a b` in `allowedHosts`"],
      [{ hosts: [] }, "InvalidOptions", "unknown option `hosts`"],
      ["8080", "InvalidOptions", "must be an object"],
    ] as const) {
      await expect(registry.serve(options as never)).rejects.toMatchObject({
        name: "ToolError",
        type,
        message: expect.stringContaining(words),
      });
    }
  });

  test("on every address of the machine needs a chosen token and its host names", async () => {
    const token = "chosen-by-somebody";
    const registry = registryHere();
    const server = await registry.serve({ host: "0.0.0.0", token, allowedHosts: ["a.example"] });
    expect(server).toMatchObject({ host: "0.0.0.0", origin: `http://127.0.0.1:${server.port}` });
    expect(await statusOf(`${server.origin}/api/tools`, token)).toBe(200);
    expect(await statusOf(`http://127.0.0.2:${server.port}/api/tools`, token)).toBe(200);
  });

  test("on an IPv4 address in IPv6 form shows the address that it answers at", async () => {
    const server = await registryHere().serve({ host: "::ffff:127.0.0.1" });
    expect(server.origin).toBe(`http://127.0.0.1:${server.port}`);
    expect(await statusOf(`${server.origin}/api/tools`, server.token)).toBe(200);
  });

  test("that is closed accepts no connection, however often it is closed", async () => {
    const registry = registryHere();
    const [server, other] = [await registry.serve(), await registry.serve()];
    await Promise.all([server.close(), server.close()]);
    await server.close();
    expect(await statusOf(`${server.origin}/health`)).toBe("refused");
    expect(await statusOf(`${other.origin}/health`)).toBe(200);
    const again = await registry.serve({ port: server.port });
    expect(await statusOf(`${again.origin}/health`)).toBe(200);
    expect(await registry.call("Glob", { pattern: "*" })).not.toHaveProperty("isError");
  });

  test("is closed by `await using`, and has methods that need their object", async () => {
    const server = await registryHere().serve();
    await server[Symbol.asyncDispose]();
    expect(await statusOf(`${server.origin}/health`)).toBe("refused");
    const { close } = server as { close: RegistryServer["close"] };
    await expect(close.call(undefined as never)).rejects.toMatchObject({ type: "InvalidOptions" });
    expect(server.ref().unref()).toBe(server);
  });

  test("is closed with its registry, even while it is being opened", async () => {
    const registry = registryHere();
    const server = await registry.serve();
    const opening = registry.serve();
    const opened = opening.then(
      () => "opened",
      ({ type }) => type,
    );
    await registry.close();
    expect(await opened).toBe("RegistryClosed");
    expect(await statusOf(`${server.origin}/health`)).toBe("refused");
    await expect(registry.serve()).rejects.toMatchObject({ type: "RegistryClosed" });
  });

  test("that is closed ends the calls and streams of its clients", async () => {
    const mark = marker();
    const registry = registryHere();
    const server = await registry.serve();
    const call = (init: RequestInit) =>
      fetch(`${server.origin}/api/tools/Bash/call`, {
        ...init,
        headers: withToken(init, server.token),
      });
    const command = `echo started; sleep ${mark}`;
    const waiting = call(json({ input: { command } })).then(
      ({ status }) => status,
      () => "cut",
    );
    const stream = readerOf(await call(streaming({ command })));
    await readUntil(stream, (text) => text.includes("started"));
    expect(await eventually(() => alive(mark).length === 2, 10_000)).toBe(true);
    await server.close();
    expect(await eventually(() => alive(mark).length === 0, 10_000)).toBe(true);
    expect(["cut", 200, 503]).toContain(await waiting);
    await readUntil(stream, () => false).catch(() => {});
    expect(await registry.call("Bash", { command: "echo still" })).not.toHaveProperty("isError");
  });

  test("of a registry that is closed reports to its clients how their calls and streams end", async () => {
    const mark = marker();
    const registry = registryHere();
    const { origin, token } = await registry.serve();
    const ask = (path: string, init: RequestInit = {}) =>
      fetch(origin + path, { ...init, headers: withToken(init, token) });
    const events = readerOf(await ask("/api/events"));
    const command = `echo started; sleep ${mark}`;
    const stream = readerOf(await ask("/api/tools/Bash/call", streaming({ command })));
    const waiting = ask("/api/tools/Bash/call", json({ input: { command } }));
    await readUntil(stream, (text) => text.includes("started"));
    expect(await eventually(() => alive(mark).length === 2, 10_000)).toBe(true);
    await registry.close();
    expect(alive(mark)).toEqual([]);
    expect(await readUntil(stream, () => false)).toContain('"type":"RegistryClosed"');
    expect(await (await waiting).json()).toMatchObject({ error: { type: "RegistryClosed" } });
    expect(await readUntil(events, () => false)).toContain("event: call");
  });

  test("ends the call of a client that disconnects", async () => {
    const mark = marker();
    const server = await registryHere().serve();
    const client = new AbortController();
    const init = json({ input: { command: `sleep ${mark}` } });
    const call = fetch(`${server.origin}/api/tools/Bash/call`, {
      ...init,
      headers: withToken(init, server.token),
      signal: client.signal,
    });
    expect(await eventually(() => alive(mark).length === 1, 10_000)).toBe(true);
    client.abort();
    expect(await call.catch(() => "gone")).toBe("gone");
    expect(await eventually(() => alive(mark).length === 0, 10_000)).toBe(true);
  });
});
