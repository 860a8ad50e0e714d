// The `http` handler, against real servers on loopback.
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { HttpHandlerConfig } from "../../index.js";
import { definition, pluginFile, textOf } from "../support/plugins.js";
import { useRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace, { toolsets: [] });

interface Asked {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingMessage["headers"];
  body: string;
}

/** The requests that the server received, in order. */
let asked: Asked[] = [];
let respond: (response: ServerResponse, request: Asked) => void = (response) =>
  response.end("fine");
let server: Server;
let origin = "";

beforeEach(async () => {
  asked = [];
  respond = (response) => response.end("fine");
  server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const { method, url, headers } = request;
      const one = { method, url, headers, body: Buffer.concat(pieces).toString() };
      asked.push(one);
      respond(response, one);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const LOCAL = { web: { allow: ["127.0.0.1"] } };

async function registryWith(
  handler: Omit<HttpHandlerConfig, "type">,
  parameters: string[] = [],
  options: object = LOCAL,
) {
  const tool = definition("api", { type: "http", ...handler }, parameters);
  workspace.write("tools/p.json", pluginFile("p", tool));
  const registry = registryHere({ pluginDir: workspace.path("tools"), ...options });
  expect((await registry.initialize()).errors).toEqual([]);
  return registry;
}

describe("a request of a plugin", () => {
  test("can be the example of the specification", async () => {
    const registry = await registryWith({ url: "{{url}}/health", method: "GET", timeout: 60_000 }, [
      "url",
    ]);
    expect(textOf(await registry.call("api", { url: origin }))).toBe("fine");
    expect(textOf(await registry.call("api", { url: `${origin}/base/` }))).toBe("fine");
    expect(asked.map(({ method, url, body }) => [method, url, body])).toEqual([
      ["GET", "/health", ""],
      ["GET", "/base/health", ""],
    ]);
  });

  test.each(["POST", "PUT", undefined] as const)(
    "by %s has a body with the values that the URL does not use",
    async (method) => {
      const registry = await registryWith(
        {
          url: `${origin}/items/{{id}}?q={{q}}&r={{r}}`,
          method,
          headers: { "X-Key": "k" },
          timeout: 60_000,
        },
        ["id", "q", "r", "name", "note"],
      );
      await registry.call("api", { id: "a/b", q: "x&y", name: "N", note: "{{id}}" });
      expect(asked).toMatchObject([
        {
          method: method ?? "POST",
          url: "/items/a%2Fb?q=x%26y",
          headers: { "content-type": "application/json", "x-key": "k" },
          body: JSON.stringify({ name: "N", note: "{{id}}" }),
        },
      ]);
    },
  );

  test("cannot be redirected elsewhere by its values", async () => {
    const registry = await registryWith(
      { url: `${origin}/v1/{{id}}/x`, method: "GET", timeout: 60_000 },
      ["id"],
    );
    for (const id of [
      "..",
      ".",
      "../admin",
      "..%2fadmin",
      "%2e%2e",
      "\\..\\x",
      "?x",
      "#x",
      "@evil.com/",
      "//evil.com",
    ]) {
      await registry.call("api", { id });
    }
    for (const { url } of asked) expect(url).toMatch(/^\/v1\/[^/?#]+\/x$/);
    expect((await registry.call("api", { id: ".." })).error).toMatchObject({
      type: "ValidationError",
      message: expect.stringContaining("`..`"),
    });
  });

  test("is only sent to web URLs without user names", async () => {
    const registry = await registryWith({ url: "{{url}}/health", method: "GET" }, ["url"]);
    const { port } = server.address() as AddressInfo;
    for (const url of [
      "ftp://127.0.0.1",
      "file:///etc/passwd",
      "data:text/plain,x",
      "127.0.0.1",
      `http://user:pw@127.0.0.1:${port}`,
      `http://example.com\\@127.0.0.1:${port}`,
      `${origin}?x=`,
      ` ${origin}`,
      `http://127.0.0.1:${port}\n`,
      "",
    ]) {
      const { error } = await registry.call("api", { url });
      expect([url, error?.type]).toEqual([url, "ValidationError"]);
    }
    expect(asked).toEqual([]);
  });

  test("reaches private addresses only if the host allows it", async () => {
    const registry = await registryWith({ url: "{{url}}/health", method: "GET" }, ["url"], {});
    const { port } = server.address() as AddressInfo;
    for (const host of [
      "127.0.0.1",
      "localhost",
      "2130706433",
      "0x7f.1",
      "[::1]",
      "[::ffff:127.0.0.1]",
      "10.0.0.1",
      "169.254.169.254",
    ]) {
      const { error } = await registry.call("api", { url: `http://${host}:${port}` });
      expect([host, error?.type]).toEqual([host, "FetchError"]);
    }
    expect(asked).toEqual([]);
  });

  test("distinguishes errors, redirects, binary content and time limits", async () => {
    const registry = await registryWith(
      { url: `${origin}/{{path}}`, method: "GET", timeout: 60_000 },
      ["path"],
    );
    respond = (response, { url }) => {
      if (url === "/missing") response.writeHead(404).end("no such thing");
      else if (url === "/elsewhere")
        response.writeHead(302, { location: "https://example.com/x" }).end();
      else if (url === "/binary") response.end(Buffer.from([0, 1, 2]));
      else if (url === "/empty") response.writeHead(204).end();
      else response.end("{}");
    };
    const call = async (path: string) => registry.call("api", { path });
    const missing = await call("missing");
    expect(missing.error?.type).toBe("HttpError");
    expect(textOf(missing)).toMatch(/HTTP 404.*\nno such thing/);
    expect((await call("elsewhere")).error).toMatchObject({
      type: "HttpError",
      message: expect.stringContaining("`https://example.com/x`"),
    });
    expect(textOf(await call("binary"))).toContain("3 bytes of binary content");
    expect(textOf(await call("empty"))).toBe("[HTTP 204: the response has no content]");
    expect(textOf(await call("ok"))).toBe("{}");
    respond = () => {};
    const slow = await registryWith({ url: origin, method: "GET", timeout: 200 });
    expect((await slow.call("api", {})).error).toMatchObject({
      type: "FetchError",
      message: expect.stringContaining("200 ms"),
    });
  });

  test("ends when the caller aborts", async () => {
    const registry = await registryWith({ url: origin, timeout: 60_000 });
    const abort = new AbortController();
    respond = () => abort.abort();
    await expect(registry.call("api", {}, { signal: abort.signal })).rejects.toMatchObject({
      type: "Cancelled",
    });
  });

  test("shows only the beginning of a long response, and says so", async () => {
    const registry = await registryWith({ url: origin, method: "GET", timeout: 60_000 });
    respond = (response) => response.end("x".repeat(3 * 1024 * 1024));
    const text = textOf(await registry.call("api", {}));
    expect(text.length).toBeLessThan(1024 * 1024 + 200);
    expect(text).toMatch(/\[the response is longer; these are its first \d+ bytes\]$/);
  });
});
