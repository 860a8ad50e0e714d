// The REST routes over a registry, as a web-standard handler and behind a real server.
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { createToolRoutes } from "../../index.mjs";
import { pluginFile, shellTool } from "../support/plugins.js";
import { useRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace, { toolsets: ["classic"] });

async function setUp() {
  workspace.write("tools/a.json", pluginFile("mine", shellTool("one", "ls")));
  const registry = registryHere({ pluginDir: workspace.path("tools") });
  await registry.initialize();
  const routes = createToolRoutes(registry);
  const ask = async (path: string, method = "GET") => {
    const response = await routes(new Request(`http://127.0.0.1${path}`, { method }));
    const text = await response.text();
    return { status: response.status, body: text === "" ? undefined : JSON.parse(text), response };
  };
  return { registry, routes, ask };
}

describe("the routes", () => {
  test("list all tools with counts by source", async () => {
    const { registry, ask } = await setUp();
    registry.register({ name: "own", handler: () => "x" });
    const { status, body, response } = await ask("/api/tools");
    expect(status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    const total = registry.getToolCount();
    expect(body.counts).toEqual({ total, builtin: total - 2, plugin: 1, host: 1 });
    expect(body.tools).toEqual(registry.listTools());
    expect(body.tools.find(({ name }: { name: string }) => name === "one")).toMatchObject({
      source: "plugin",
      pluginName: "mine",
    });
  });

  test("return one tool, or that it does not exist", async () => {
    const { registry, ask } = await setUp();
    expect(await ask("/api/tools/one")).toMatchObject({
      status: 200,
      body: registry.getToolInfo("one"),
    });
    for (const [path, name] of [
      ["/api/tools/none", "none"],
      ["/api/tools/a%2Fb", "a/b"],
      ["/api/tools/%zz", "%zz"],
      ["/api/tools/reload", "reload"],
    ]) {
      expect(await ask(path ?? "")).toMatchObject({
        status: 404,
        body: { error: `Tool not found: ${name}` },
      });
    }
  });

  test("reload plugins, and report problems with them", async () => {
    const { registry, ask } = await setUp();
    workspace.write("tools/b.json", pluginFile("b", shellTool("two", "ls")));
    expect(await ask("/api/tools/reload", "POST")).toMatchObject({
      status: 200,
      body: { success: true, toolCount: registry.getToolCount(), errors: [] },
    });
    expect(registry.hasTool("two")).toBe(true);
    const file = workspace.write("tools/b.json", "{");
    expect((await ask("/api/tools/reload", "POST")).body).toMatchObject({
      success: false,
      errors: [{ source: file, message: expect.stringContaining("not valid JSON") }],
    });
  });

  test("refuse other methods and paths in JSON", async () => {
    const { ask } = await setUp();
    for (const [path, method, allow] of [
      ["/api/tools", "POST", "GET, HEAD"],
      ["/api/tools/one", "DELETE", "GET, HEAD"],
      ["/api/tools/reload", "PUT", "POST"],
    ] as const) {
      const { status, body, response } = await ask(path, method);
      expect([status, body, response.headers.get("allow")]).toEqual([
        405,
        { error: `Method not allowed: ${method}` },
        allow,
      ]);
    }
    for (const path of ["/", "/api", "/api/toolsx", "/api/other"]) {
      expect(await ask(path)).toMatchObject({ status: 404, body: { error: `Not found: ${path}` } });
    }
    expect(await ask("/api/tools/", "HEAD")).toMatchObject({ status: 200, body: undefined });
  });

  test("answer 500 with the error if the registry fails, and accept any object with the methods", async () => {
    const failing = {
      listTools: () => {
        throw new Error("no list\nsecret stack");
      },
      getToolInfo: async (name: string) => ({ name }),
      reloadPlugins: async () => Promise.reject(new Error("disk full")),
    };
    const routes = createToolRoutes(failing, { prefix: "/v2/t" });
    const ask = async (path: string, method = "GET") => {
      const response = await routes(new Request(`http://x${path}`, { method }));
      return [response.status, await response.json()];
    };
    expect(await ask("/v2/t")).toEqual([500, { error: "no list" }]);
    expect(await ask("/v2/t/reload", "POST")).toEqual([500, { error: "disk full" }]);
    expect(await ask("/v2/t/x%20y")).toEqual([200, { name: "x y" }]);
    expect(() => createToolRoutes({} as never)).toThrow("`listTools` is missing");
    expect(() => createToolRoutes(failing, { prefix: "api" })).toThrow("`prefix`");
  });

  test("work behind a server", async () => {
    const { routes } = await setUp();
    const server = createServer((incoming, outgoing) => {
      const request = new Request(`http://127.0.0.1${incoming.url}`, {
        method: incoming.method ?? "GET",
      });
      void (async () => {
        const response = await routes(request);
        outgoing.writeHead(response.status, Object.fromEntries(response.headers));
        outgoing.end(await response.text());
      })();
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      const { port } = server.address() as AddressInfo;
      const answer = await fetch(`http://127.0.0.1:${port}/api/tools/one`);
      expect([answer.status, await answer.json()]).toEqual([
        200,
        expect.objectContaining({ pluginName: "mine" }),
      ]);
    } finally {
      server.close();
    }
  });
});
