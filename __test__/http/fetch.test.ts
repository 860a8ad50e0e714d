// `registry.fetch`: web-standard requests in, responses out, without a socket.
import { describe, expect, test } from "vitest";
import { ToolError, createToolRegistry } from "../../index.mjs";
import { handedOver, json, readUntil, readerOf, streaming } from "../support/http.js";
import { alive, eventually, marker } from "../support/processes.js";
import { deferred } from "../support/promises.js";
import { useRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace, { toolsets: ["claude", "diagnostic"] });

const HERE = "http://127.0.0.1";
const MIB = 1024 * 1024;

describe("a request", () => {
  test("may be of any compatible class", async () => {
    const registry = registryHere();
    class Framed extends Request {
      extra = 1;
    }
    const { method, url, headers } = new Request(`${HERE}/health`);
    for (const request of [
      new Request(`${HERE}/health`),
      new Framed(`${HERE}/health`),
      // What adapters of frameworks make: an object with only the properties.
      { method, url, headers, body: null } as unknown as Request,
      { method, url, headers: new Map([["accept", "*/*"]]) } as unknown as Request,
    ]) {
      const response = await registry.fetch(request);
      expect(response).toBeInstanceOf(Response);
      expect([response.status, await response.json()]).toMatchObject([200, { status: "ok" }]);
    }
  });

  test("to explain a call returns what `explain` does, with every name once", async () => {
    const registry = registryHere({ permissionMode: "default" });
    const input = { command: "git push" };
    const asked = new Request(`${HERE}/api/tools/Bash/explain`, json({ input }));
    const text = await (await registry.fetch(asked)).text();
    expect(JSON.parse(text)).toEqual(registry.explain("Bash", input));
    // Some parsers reject a duplicate name; JavaScript's uses the last one.
    expect(text.match(/"suggestedRules"/g)).toHaveLength(1);
  });

  test("that is invalid fails with a clear error", async () => {
    const registry = registryHere();
    for (const wrong of [undefined, null, 3, "http://127.0.0.1/", {}, new URL(HERE), []]) {
      await expect(registry.fetch(wrong as never)).rejects.toMatchObject({
        type: "InvalidOptions",
        message: expect.stringContaining("web-standard Request"),
      });
    }
    const read = new Request(`${HERE}/health`, { method: "POST", body: "x" });
    await read.text();
    await expect(registry.fetch(read)).rejects.toMatchObject({
      message: expect.stringContaining("request.clone()"),
    });
    for (const [options, message] of [
      [{ basePath: "tools" }, 'a path such as "/tools"'],
      [{ basePath: 3 }, "basePath"],
      [{ tokn: "x" }, "unknown option `tokn`"],
      [{ token: "" }, "`token` is empty"],
      [{ token: "with space" }, "cannot be sent"],
      [{ allowedHosts: ["https://a.example"] }, "`https://a.example` in `allowedHosts`"],
      [{ allowedHosts: "a.example" }, "allowedHosts"],
      [3, "must be an object"],
    ] as const) {
      const refused = registry.fetch(new Request(`${HERE}/health`), options as never);
      await expect(refused).rejects.toMatchObject({
        type: "InvalidOptions",
        message: expect.stringContaining(message),
      });
      await expect(refused).rejects.toBeInstanceOf(ToolError);
    }
  });

  test("is addressed by its URL, whatever its Host header", async () => {
    const registry = registryHere();
    const status = async (url: string, options?: object, headers = {}) =>
      (await registry.fetch(new Request(url, { headers }), options)).status;
    expect(await status("http://localhost:1234/health")).toBe(200);
    expect(await status("https://[::1]/health")).toBe(200);
    expect(await status("http://a.example/health")).toBe(403);
    expect(await status("http://a.example/health", {}, { host: "localhost" })).toBe(403);
    expect(await status("http://a.example/health", { allowedHosts: ["a.example"] })).toBe(200);
    expect(await status("http://a.example:81/health", { allowedHosts: ["a.example:80"] })).toBe(
      403,
    );
  });

  test("of a page has to come from the page's own origin, scheme and port included", async () => {
    const registry = registryHere();
    const status = async (origin: string) => {
      const init = { headers: { origin } };
      return (await registry.fetch(new Request("https://localhost:8443/api/tools", init))).status;
    };
    expect(await status("https://localhost:8443")).toBe(200);
    for (const origin of [
      "http://localhost:8443",
      "https://localhost",
      "https://127.0.0.1:8443",
      "https://evil.example",
      "null",
    ]) {
      expect([origin, await status(origin)]).toEqual([origin, 403]);
    }
  });

  test("needs the token of the options, if they have one", async () => {
    const registry = registryHere();
    const status = async (token: string | undefined, authorization?: string) => {
      const headers = new Headers();
      if (authorization !== undefined) headers.set("authorization", authorization);
      return (await registry.fetch(new Request(`${HERE}/api/tools`, { headers }), { token }))
        .status;
    };
    expect(await status(undefined)).toBe(200);
    expect(await status("secret")).toBe(401);
    expect(await status("secret", "Bearer wrong")).toBe(401);
    expect(await status("secret", "Bearer secret")).toBe(200);
    expect(await status("other", "Bearer secret")).toBe(401);
    // Many sets of options in turn: each request is checked with its own.
    for (let at = 0; at < 40; at += 1) {
      expect(await status(`token-${at}`, `Bearer token-${at}`)).toBe(200);
      expect(await status(`token-${at}`, `Bearer token-${at + 1}`)).toBe(401);
    }
  });

  test("below a base path matches the route; any other path is not found", async () => {
    const registry = registryHere();
    const status = async (path: string, basePath: string) =>
      (await registry.fetch(new Request(HERE + path), { basePath })).status;
    expect(await status("/tools/health", "/tools")).toBe(200);
    expect(await status("/tools/health?x=/", "/tools/")).toBe(200);
    expect(await status("/a/b/health", "/a/b")).toBe(200);
    expect(await status("/health", "/")).toBe(200);
    expect(await status("/toolshealth", "/tools")).toBe(404);
    expect(await status("/health", "/tools")).toBe(404);
    expect(await status("/tools/tools/health", "/tools")).toBe(404);
  });

  test("with unexpected headers and methods has an answer", async () => {
    const registry = registryHere();
    const many = new Headers(Array.from({ length: 2_000 }, (_, at) => [`x-${at}`, "\u00e9\u00ff"]));
    const answers = [
      new Request(`${HERE}/health`, { headers: many }),
      new Request(`${HERE}/health`, { ...json({}), method: "PURGE" }),
      new Request(`${HERE}/${"%".repeat(5_000)}`),
      new Request(`${HERE}/api/tools/%ff/call`, json({})),
      { method: "G T", url: `${HERE}/health`, headers: new Headers() } as unknown as Request,
      { method: "GET", url: "nowhere", headers: new Headers() } as unknown as Request,
      { method: "GET", url: "data:,x", headers: new Headers() } as unknown as Request,
      { method: "GET", url: `${HERE}/health`, headers: [["a b", "c"]] } as unknown as Request,
      { method: "GET", url: `${HERE}/health`, headers: [["a", "\ud800"]] } as unknown as Request,
      { method: "GET", url: `${HERE}/health`, headers: "ab" } as unknown as Request,
      { method: "GET", url: `${HERE}/health`, headers: [["a", "\u{1f600}"]] } as unknown as Request,
    ].map(async (request) => (await registry.fetch(request)).status);
    expect(await Promise.all(answers)).toEqual([200, 405, 404, 404, ...Array(7).fill(400)]);
  });
});

describe("a body", () => {
  /** An endless body that counts the bytes that were read. */
  function endless(piece: Uint8Array) {
    const taken = { bytes: 0, isCancelled: false };
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        taken.bytes += piece.byteLength;
        controller.enqueue(piece);
      },
      cancel() {
        taken.isCancelled = true;
      },
    });
    return { taken, body };
  }

  test("of a gigabyte is refused after 8 MiB, and read no further", async () => {
    const registry = registryHere();
    const { taken, body } = endless(new Uint8Array(MIB).fill(32));
    const init = { ...json({}), body, duplex: "half" } as RequestInit;
    const response = await registry.fetch(new Request(`${HERE}/api/tools/Read/call`, init));
    expect([response.status, await response.json()]).toMatchObject([413, { type: "BodyTooLarge" }]);
    expect(taken.isCancelled).toBe(true);
    expect(taken.bytes).toBeLessThanOrEqual(12 * MIB);
  });

  test("of a request that is refused by its headers is not read at all", async () => {
    const registry = registryHere();
    for (const [url, headers, status] of [
      ["http://a.example", { "content-type": "application/json" }, 403],
      [HERE, { "content-type": "application/json" }, 401],
      [HERE, { "content-type": "text/plain", authorization: "Bearer secret" }, 415],
      [
        HERE,
        {
          "content-type": "application/json",
          authorization: "Bearer secret",
          "content-length": String(2 ** 30),
        },
        413,
      ],
    ] as const) {
      const { taken, body } = endless(new Uint8Array(MIB).fill(32));
      const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
      const request = new Request(`${url}/api/tools/Read/call`, init);
      const response = await registry.fetch(request, { token: "secret" });
      expect([response.status, taken.isCancelled]).toEqual([status, true]);
      // A stream fills its own queue of one.
      expect(taken.bytes).toBeLessThanOrEqual(MIB);
    }
  });

  test("of exactly the limit is accepted, and one byte more is refused", async () => {
    const registry = registryHere();
    const status = async (bytes: number) => {
      const text = JSON.stringify({ input: { file_path: workspace.path("missing.txt") } });
      const init = { ...json({}), body: text + " ".repeat(bytes - text.length) };
      return (await registry.fetch(new Request(`${HERE}/api/tools/Read/call`, init))).status;
    };
    expect(await status(8 * MIB)).toBe(200);
    expect(await status(8 * MIB + 1)).toBe(413);
  });

  test("in twenty thousand pieces, some of which split characters, is one text", async () => {
    const file = workspace.write("ünï 😀.txt", "found\n");
    const registry = registryHere();
    const text = JSON.stringify({ input: { file_path: file } });
    const bytes = new TextEncoder().encode(text + " ".repeat(20_000));
    const body = new ReadableStream({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    const init = { ...json({}), body, duplex: "half" } as RequestInit;
    const response = await registry.fetch(new Request(`${HERE}/api/tools/Read/call`, init));
    expect(await response.text()).toContain("found");
  });

  test("that never arrives is abandoned when the client disconnects", async () => {
    const registry = registryHere();
    const client = new AbortController();
    const reading = deferred();
    let isCancelled = false;
    const body = new ReadableStream({
      pull: () => reading.resolve(),
      cancel: () => void (isCancelled = true),
    });
    // Not a `Request`, because its body would be aborted with its signal.
    const { method, headers } = new Request(HERE, json({}));
    const url = `${HERE}/api/tools/Read/call`;
    const request = { method, headers, url, body, signal: client.signal } as unknown as Request;
    const answer = registry.fetch(request);
    await reading.promise;
    client.abort();
    expect((await answer).status).toBe(499);
    expect(isCancelled).toBe(true);
  });

  test("that never arrives blocks nothing if the client has already disconnected", async () => {
    const registry = registryHere();
    let cancelled = false;
    const body = new ReadableStream({
      pull: () => new Promise<void>(() => {}),
      cancel: () => void (cancelled = true),
    });
    const response = await registry.fetch({
      method: "POST",
      url: `${HERE}/api/tools/Read/call`,
      headers: new Headers({ "content-type": "application/json" }),
      body,
      signal: AbortSignal.abort(),
    } as unknown as Request);
    expect([response.status, cancelled]).toEqual([499, true]);
  });

  test("that fails midway has an answer", async () => {
    const registry = registryHere();
    const body = new ReadableStream({
      pull(controller) {
        controller.error(new Error("the line went dead"));
      },
    });
    const init = { ...json({}), body, duplex: "half" } as RequestInit;
    const response = await registry.fetch(new Request(`${HERE}/api/tools/Read/call`, init));
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: expect.stringContaining("the line went dead") },
    ]);
  });
});

describe("an answer", () => {
  test("to HEAD has the head of the answer to GET, and no body", async () => {
    const ask = handedOver(registryHere());
    const [get, head] = [await ask("/api/tools"), await ask("/api/tools", { method: "HEAD" })];
    expect(head.status).toBe(200);
    expect(head.body).toBeNull();
    expect(head.headers.get("content-type")).toBe(get.headers.get("content-type"));
    expect((await get.text()).length).toBeGreaterThan(1_000);
  });

  test("is produced as it is read: unread data is bounded, and ends with its reader", async () => {
    const mark = marker();
    const ask = handedOver(registryHere());
    const command = `echo started; (exec -a yes-${mark} yes) | head -c 4000000000`;
    const response = await ask("/api/tools/Bash/call", streaming({ command }));
    const reader = readerOf(response);
    await readUntil(reader, (text) => text.includes("started"));
    const before = process.memoryUsage().rss;
    // Other requests are answered meanwhile.
    for (let asked = 0; asked < 500; asked += 1) expect((await ask("/health")).status).toBe(200);
    expect(await eventually(() => alive(`yes-${mark}`).length === 1, 10_000)).toBe(true);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * MIB);
    await reader.cancel();
    expect(await eventually(() => alive(`yes-${mark}`).length === 0, 10_000)).toBe(true);
  });

  test("of events to a stalled reader reports what was missed, and costs nothing meanwhile", async () => {
    const registry = registryHere();
    const ask = handedOver(registry);
    const reader = readerOf(await ask("/api/events"));
    await readUntil(reader, (text) => text.includes("id: "));
    for (let made = 0; made < 50; made += 1) {
      const calls = Array.from({ length: 100 }, () =>
        registry.call("diagnostic_echo", { text: "x" }),
      );
      await Promise.all(calls);
    }
    const told = await readUntil(reader, (text) => text.includes("event: call"));
    expect(told).toMatch(/event: gap\ndata: \{"missed":\d+\}/);
    await registry.close();
    await readUntil(reader, () => false);
    expect((await ask("/api/events")).status).toBe(503);
  });

  test("fails for its reader when the request is aborted, and the command is killed", async () => {
    const mark = marker();
    const ask = handedOver(registryHere());
    const client = new AbortController();
    const init = streaming({ command: `echo started; sleep ${mark}` }, { signal: client.signal });
    const response = await ask("/api/tools/Bash/call", init);
    const reader = readerOf(response);
    await readUntil(reader, (text) => text.includes("started"));
    const rest = reader.read();
    client.abort(new Error("gone"));
    await expect(rest).rejects.toThrow("gone");
    expect(await eventually(() => alive(mark).length === 0, 10_000)).toBe(true);
  });

  test("to a request that is aborted before it or from the start arrives all the same", async () => {
    const mark = marker();
    const ask = handedOver(registryHere());
    const client = new AbortController();
    const init = json({ input: { command: `sleep ${mark}` } }, { signal: client.signal });
    const answer = ask("/api/tools/Bash/call", init);
    expect(await eventually(() => alive(mark).length === 1, 10_000)).toBe(true);
    client.abort();
    expect([(await answer).status, await (await answer).json()]).toMatchObject([
      499,
      { type: "Cancelled" },
    ]);
    expect(await eventually(() => alive(mark).length === 0, 10_000)).toBe(true);
    const late = await ask("/health", { signal: client.signal });
    expect(late.status).toBe(499);
  });
});

describe("a registry that is closed", () => {
  test("ends answers in progress, and refuses later requests", async () => {
    const mark = marker();
    const registry = createToolRegistry({
      projectPath: workspace.root,
      permissionMode: "bypassPermissions",
      userPolicyFile: false,
    });
    const ask = handedOver(registry);
    const command = { command: `echo started; sleep ${mark}` };
    const waiting = ask("/api/tools/Bash/call", json({ input: command }));
    const stream = readerOf(await ask("/api/tools/Bash/call", streaming(command)));
    await readUntil(stream, (text) => text.includes("started"));
    expect(await eventually(() => alive(mark).length === 2, 10_000)).toBe(true);
    await registry.close();
    expect(await (await waiting).json()).toMatchObject({ isError: true });
    expect(await readUntil(stream, () => false)).toContain("event: result");
    for (const path of ["/health", "/api/tools", "/nowhere"]) {
      const response = await ask(path);
      expect([response.status, await response.json()]).toMatchObject([
        503,
        { type: "RegistryClosed" },
      ]);
    }
    expect(alive(mark)).toEqual([]);
  });

  test("does not affect an open one", async () => {
    const [one, other] = [registryHere(), registryHere()];
    one.register({ name: "only_here", handler: () => "x" });
    const [askOne, askOther] = [handedOver(one), handedOver(other)];
    expect((await askOne("/api/tools/only_here")).status).toBe(200);
    expect((await askOther("/api/tools/only_here")).status).toBe(404);
    await one.close();
    expect((await askOne("/api/tools")).status).toBe(503);
    expect((await askOther("/api/tools")).status).toBe(200);
  });
});
