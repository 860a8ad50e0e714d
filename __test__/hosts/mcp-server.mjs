// A server of the official SDK, over standard streams or HTTP: `mcp-server.mjs stdio | http | sse`. Over HTTP it
// prints `{ "port": … }`, and requires the token in the variable TOKEN, if there is one.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** The events of calls, in order. */
const seen = [];
const text = (value) => ({ content: [{ type: "text", text: String(value) }] });

function newServer() {
  const server = new McpServer(
    { name: "peer", version: "1.2.3" },
    { capabilities: { logging: {} }, instructions: "Be brief." },
  );
  const add = (name, config, handler) => server.registerTool(name, config, handler);
  add(
    "echo",
    {
      title: "Echo",
      description: "Says it again.",
      inputSchema: { text: z.string() },
      annotations: { readOnlyHint: true },
    },
    ({ text: said }) => text(said),
  );
  add("picture", {}, () => ({ content: [{ type: "image", data: PNG, mimeType: "image/png" }] }));
  add("link", {}, () => ({
    content: [{ type: "resource_link", uri: "note://1", name: "one" }],
    _meta: { "peer/fact": 1 },
  }));
  add("data", { outputSchema: { sum: z.number() } }, () => ({
    ...text("4"),
    structuredContent: { sum: 4 },
  }));
  add("fail", {}, () => ({ ...text("no luck"), isError: true }));
  add("erase", { annotations: { destructiveHint: true } }, () => text("erased"));
  add("walk", {}, async (extra) => {
    for (const progress of [1, 2, 3]) {
      const params = { progressToken: extra._meta.progressToken, progress, total: 3 };
      await extra.sendNotification({ method: "notifications/progress", params });
    }
    return text("there");
  });
  add(
    "wait",
    {},
    (extra) =>
      new Promise((resolve) => {
        seen.push("waiting");
        extra.signal.addEventListener("abort", () => {
          seen.push("cancelled");
          resolve(text("too late"));
        });
      }),
  );
  add("seen", {}, () => text(seen.join(" ")));
  let late;
  add("grow", {}, () => {
    late = server.registerTool("late", { description: "Came later." }, () => text("late"));
    return text("grown");
  });
  add("shrink", {}, () => {
    late.remove();
    return text("shrunk");
  });
  add("roots", {}, async () => text(JSON.stringify(await server.server.listRoots())));
  const requestedSchema = {
    type: "object",
    properties: { sure: { type: "boolean", description: "Really?" } },
  };
  add("ask", {}, async () => {
    const answer = await server.server.elicitInput({ message: "Go on?", requestedSchema });
    return text(JSON.stringify(answer));
  });
  add("sample", {}, async () => {
    try {
      await server.server.createMessage({ messages: [], maxTokens: 1 });
      return text("it has a model");
    } catch (error) {
      return text(error.message);
    }
  });
  add("pid", {}, () => text(process.pid));
  add("place", {}, () => text(JSON.stringify([process.cwd(), process.env.PEER_VARIABLE])));
  add("die", {}, () => {
    process.stderr.write("the disk is full\n", () => process.exit(7));
    return new Promise(() => {});
  });
  server.registerResource("guide", "docs:///guide", { mimeType: "text/plain" }, ({ href }) => ({
    contents: [{ uri: href, text: "the guide" }],
  }));
  server.registerResource("logo", "docs:///logo", { mimeType: "image/png" }, ({ href }) => ({
    contents: [{ uri: href, mimeType: "image/png", blob: PNG }],
  }));
  server.registerResource(
    "note",
    new ResourceTemplate("note://{id}", { list: undefined }),
    { description: "A note by its number." },
    ({ href }, { id }) => ({ contents: [{ uri: href, text: `note ${id}` }] }),
  );
  return server;
}

async function bodyOf(request) {
  let body = "";
  for await (const chunk of request) body += chunk;
  return body === "" ? undefined : JSON.parse(body);
}

/** Answers over streamable HTTP, with a session for each client. */
function streamable() {
  const sessions = new Map();
  return async (request, response) => {
    const id = request.headers["mcp-session-id"];
    let transport = sessions.get(id);
    if (id !== undefined && transport === undefined) {
      response.writeHead(404).end();
      return;
    }
    if (transport === undefined) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (made) => sessions.set(made, transport),
      });
      await newServer().connect(transport);
    }
    await transport.handleRequest(request, response, await bodyOf(request));
  };
}

/** Answers over the older SSE transport. */
function withEvents() {
  const sessions = new Map();
  return async (request, response) => {
    const url = new URL(request.url, "http://127.0.0.1");
    if (request.method === "GET" && url.pathname === "/sse") {
      const transport = new SSEServerTransport("/messages", response);
      sessions.set(transport.sessionId, transport);
      await newServer().connect(transport);
    } else if (url.pathname === "/messages") {
      const session = sessions.get(url.searchParams.get("sessionId"));
      await session.handlePostMessage(request, response, await bodyOf(request));
    } else {
      response.writeHead(404).end();
    }
  };
}

const [kind] = process.argv.slice(2);
if (kind === "stdio") {
  process.stderr.write("peer is ready\n");
  await newServer().connect(new StdioServerTransport());
} else {
  const answer = kind === "sse" ? withEvents() : streamable();
  const token = process.env.TOKEN;
  const listener = createServer((request, response) => {
    if (token !== undefined && request.headers.authorization !== `Bearer ${token}`) {
      response.writeHead(401).end("who are you?");
      return;
    }
    if (request.url === "/elsewhere") {
      response.writeHead(307, { location: "http://localhost:1/mcp" }).end();
      return;
    }
    void answer(request, response);
  });
  listener.listen(Number(process.env.PORT ?? 0), "127.0.0.1", () =>
    console.log(JSON.stringify({ port: listener.address().port })),
  );
}
