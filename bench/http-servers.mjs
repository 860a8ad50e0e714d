// The servers that bench/http.mjs compares, each in its own process: `node bench/http-servers.mjs NAME DIR`.
// Each sends its address to its parent as a message, and ends with it.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createToolRegistry } from "../index.mjs";

const [name, projectPath] = process.argv.slice(2);

function registryOf() {
  return createToolRegistry({
    projectPath,
    permissionMode: "bypassPermissions",
    userPolicyFile: false,
  });
}

function send(response, text) {
  response.writeHead(200, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(text);
}

/** A minimal server with these two routes: no policy, no checks of paths, no limits. */
function plain({ isListReady }) {
  const token = "plain";
  const registry = registryOf();
  const tools = registry.listTools();
  const counts = { total: tools.length, builtin: tools.length, plugin: 0 };
  const ready = JSON.stringify({ tools, counts });
  const server = createServer(async (request, response) => {
    if (request.headers.authorization !== `Bearer ${token}`) {
      response.writeHead(401).end();
    } else if (request.url === "/api/tools") {
      send(response, isListReady ? ready : JSON.stringify({ tools, counts }));
    } else {
      let body = "";
      for await (const piece of request) body += piece;
      const { input } = JSON.parse(body);
      const lines = (await readFile(input.file_path, "utf8")).split("\n");
      if (lines.at(-1) === "") lines.pop();
      const text = lines.map((line, at) => `${String(at + 1).padStart(6)}\t${line}`).join("\n");
      send(response, JSON.stringify({ content: [{ type: "text", text }] }));
    }
  });
  server.listen(0, "127.0.0.1", () => {
    process.send({ origin: `http://127.0.0.1:${server.address().port}`, token });
  });
}

const SERVERS = {
  "registry.serve": async () => {
    const { origin, token } = await registryOf().serve();
    process.send({ origin, token });
  },
  "node http with fs": () => plain({ isListReady: false }),
  "the same, list made once": () => plain({ isListReady: true }),
  "registry.fetch in node http": async () => {
    const { nodeListener } = await import("../examples/http-mounts/node-listener.mjs");
    const registry = registryOf();
    const token = "fetch";
    const server = createServer(nodeListener((request) => registry.fetch(request, { token })));
    server.listen(0, "127.0.0.1", () => {
      process.send({ origin: `http://127.0.0.1:${server.address().port}`, token });
    });
  },
};

process.on("disconnect", () => process.exit());
await SERVERS[name]();
