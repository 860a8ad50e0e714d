// The routes in servers and frameworks of hosts: the example in examples/http-mounts.
import { createServer } from "node:http";
import { connect } from "node:net";
import { once } from "node:events";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Elysia } from "elysia";
import express from "express";
import { Hono } from "hono";
import { afterEach, describe, expect, test } from "vitest";
import type { ToolRegistry } from "../../index.js";
import { json, readUntil, readerOf, streaming, useNodeServers } from "../support/http.js";
import { alive, eventually, marker } from "../support/processes.js";
import { useRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

type Handler = (request: Request) => Response | Promise<Response>;

// Plain JavaScript, as a reader of the example runs it.
const example = (name: string) =>
  import(new URL(`../../examples/http-mounts/${name}.mjs`, import.meta.url).href);
const mounts = await example("mounts");
const { nodeListener } = await example("node-listener");

const workspace = useWorkspace();
const registryHere = useRegistries(workspace);
const opened = useNodeServers();

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

interface BunServer {
  port: number;
  stop(closeConnections: boolean): unknown;
}

/** Serves a handler with the server of the current runtime. */
async function served(handler: Handler): Promise<string> {
  const { Bun: bun } = globalThis as { Bun?: { serve(options: object): BunServer } };
  if (bun === undefined) return opened(createServer(nodeListener(handler)));
  const server = bun.serve({ port: 0, hostname: "127.0.0.1", fetch: handler, idleTimeout: 60 });
  closing.push(() => server.stop(true));
  return `http://127.0.0.1:${server.port}`;
}

/** Opens a server with the routes of a registry at `/tools`, in each framework; returns its origin. */
const WAYS: Record<string, (registry: ToolRegistry) => Promise<string>> = {
  "the runtime's server": (registry) => served(mounts.bun(registry)),
  "Node's http": (registry) => opened(createServer(mounts.node(registry))),
  Express: (registry) => {
    const app = mounts.express(express(), registry);
    app.use(express.json());
    return opened(createServer(app));
  },
  Hono: (registry) => {
    const app = mounts.hono(new Hono(), registry);
    return served((request) => app.fetch(request));
  },
  Elysia: (registry) => {
    const app = mounts.elysia(new Elysia(), registry);
    return served((request) => app.handle(request));
  },
  "a route of Next": (registry) => {
    const route = mounts.next(registry) as Record<string, Handler>;
    return served((request) => {
      const answer = route[request.method];
      return answer === undefined ? new Response(null, { status: 405 }) : answer(request);
    });
  },
};

describe.each(Object.keys(WAYS))("in %s", (way) => {
  async function mounted() {
    workspace.write("notes.txt", "alpha\n");
    const registry = registryHere();
    const origin = await WAYS[way]?.(registry);
    const call = (name: string, init: RequestInit) =>
      fetch(`${origin}/tools/api/tools/${name}/call`, init);
    return { registry, origin, call };
  }

  test("the routes answer as usual", async () => {
    const { registry, origin, call } = await mounted();
    const list = await fetch(`${origin}/tools/api/tools`);
    expect([list.status, list.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(((await list.json()) as { tools: unknown }).tools).toEqual(registry.listTools());
    const input = { file_path: workspace.path("notes.txt") };
    const answer = await call("Read", json({ input }));
    expect(await answer.json()).toEqual(await registry.call("Read", input));
    expect((await call("Nothing", json({ input }))).status).toBe(404);
    expect((await call("Read", { method: "POST", body: "text" })).status).toBe(415);
  });

  test("a stream arrives while its call runs, and the call ends when the client disconnects", async () => {
    const mark = marker();
    const { call } = await mounted();
    const client = new AbortController();
    const command = `echo started; sleep ${mark}`;
    const response = await call("Bash", streaming({ command }, { signal: client.signal }));
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const reader = readerOf(response);
    expect(await readUntil(reader, (text) => text.includes("started"))).toContain("progress");
    expect(await eventually(() => alive(mark).length === 1, 10_000)).toBe(true);
    client.abort();
    await reader.read().catch(() => {});
    expect(await eventually(() => alive(mark).length === 0, 20_000)).toBe(true);
  });

  test("the call ends too if the client disconnects without reading", async () => {
    const mark = marker();
    const { call } = await mounted();
    const client = new AbortController();
    const init = json({ input: { command: `sleep ${mark}` } }, { signal: client.signal });
    const answer = call("Bash", init).catch(() => "gone");
    expect(await eventually(() => alive(mark).length === 1, 10_000)).toBe(true);
    client.abort();
    expect(await answer).toBe("gone");
    expect(await eventually(() => alive(mark).length === 0, 20_000)).toBe(true);
  });

  test("an endless body is refused, and the server continues", async () => {
    const { origin } = await mounted();
    const { port } = new URL(origin ?? "");
    const socket = connect(Number(port), "127.0.0.1");
    const answer = once(socket.setEncoding("latin1"), "data");
    await once(socket, "connect");
    socket.write(
      "POST /tools/api/tools/Read/call HTTP/1.1\r\nHost: 127.0.0.1\r\n" +
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    const piece = Buffer.alloc(1024 * 1024, 32);
    const chunk = Buffer.concat([Buffer.from("100000\r\n"), piece, Buffer.from("\r\n")]);
    // At most a gigabyte, if the body is not refused. Closing the socket below stops it.
    const sent = pipeline(Readable.from(Array(1_024).fill(chunk)), socket).catch(() => {});
    expect(String((await answer)[0])).toMatch(/^HTTP\/1.1 413 /);
    socket.destroy();
    await sent;
    expect((await fetch(`${origin}/tools/health`)).status).toBe(200);
  });
});
