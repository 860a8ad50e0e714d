// An MCP server that misbehaves in one way: `hostile-mcp-server.mjs <way>`. Without an SDK, which would prevent it.
import { createInterface } from "node:readline";

const [way] = process.argv.slice(2);
const send = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const schema = { type: "object" };
let listed = 0;
const plain = [{ name: "call", inputSchema: schema }];

/** A page of tools. */
function page(cursor) {
  switch (way) {
    case "many tools":
      return {
        tools: Array.from({ length: 100_000 }, (_, index) => ({
          name: `tool_${index}`,
          inputSchema: schema,
        })),
      };
    case "endless pages": {
      const next = Number(cursor ?? 0) + 1;
      return { tools: [{ name: `tool_${next}`, inputSchema: schema }], nextCursor: String(next) };
    }
    case "large definitions":
      return {
        tools: Array.from({ length: 20 }, (_, index) => ({
          name: `tool_${index}`,
          description: "x".repeat(100_000),
          inputSchema: schema,
        })),
      };
    case "bad tools":
      return {
        tools: [
          ...plain,
          ...plain,
          { name: "", inputSchema: schema },
          { name: "n".repeat(200), inputSchema: schema },
          { name: "a b", inputSchema: schema },
          { name: "list", inputSchema: { type: "array" } },
          {
            name: "broken",
            inputSchema: { type: "object", properties: { a: { type: "nonsense" } } },
          },
          { name: "no schema" },
          "not even an object",
        ],
      };
    case "newer era":
      listed += 1;
      return {
        resultType: "complete",
        ttlMs: 0,
        cacheScope: "private",
        tools: listed > 1 ? [...plain, { name: "late", inputSchema: schema }] : plain,
      };
    default:
      return { tools: plain };
  }
}

function answerCall(id, progressToken) {
  const result = { content: [{ type: "text", text: "done" }] };
  switch (way) {
    case "mute":
      return;
    case "dies":
      process.stderr.write("out of cheese\n", () => process.exit(9));
      return;
    case "huge answer":
      send({ result: { content: [{ type: "text", text: "x".repeat(17 * 1024 * 1024) }] }, id });
      return;
    case "huge answer with its id first":
      send({ id, result: { content: [{ type: "text", text: "x".repeat(17 * 1024 * 1024) }] } });
      return;
    case "deep answer":
      process.stdout.write(
        `{"result":${"[".repeat(5_000)}${"]".repeat(5_000)},"jsonrpc":"2.0","id":${id}}\n`,
      );
      return;
    case "wrong answer":
      send({ id, result: { content: "text" } });
      return;
    case "refusal":
      send({ id, error: { code: -32_603, message: "not today" } });
      return;
    case "notifications":
      for (let index = 0; index < 5_000; index += 1) {
        const params = { progressToken, progress: index };
        send({ method: "notifications/progress", params });
        send({ method: "notifications/message", params: { level: "info", data: "x" } });
        send({ method: "notifications/tools/list_changed" });
        send({ method: "notifications/never/heard/of" });
      }
      send({ id, result });
      return;
    case "requests":
      for (let index = 0; index < 20_000; index += 1) send({ id: `ping ${index}`, method: "ping" });
      send({ id, result });
      return;
    case "one question many times": {
      const asked = { message: "Go on?", requestedSchema: { type: "object", properties: {} } };
      for (let index = 0; index < 1_000; index += 1)
        send({ id: "question", method: "elicitation/create", params: asked });
      send({ id, result });
      return;
    }
    default:
      send({ id, result });
  }
}

if (way === "stderr") process.stderr.write(`first line\n${"noise\n".repeat(500_000)}last line\n`);
if (way === "rubbish") process.stdout.write('Listening on port 3000\n{"half": \n\n[1, 2]\n');
if (way === "ignores signals") {
  process.on("SIGTERM", () => {});
  setInterval(() => {}, 1_000);
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (way === "silent") return;
  if (way === "newer era" && method === "initialize") {
    send({ id, error: { code: -32_601, message: "no such method" } });
    return;
  }
  if (method === "server/discover") {
    const result = {
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: { listChanged: true } },
      ttlMs: 0,
      cacheScope: "private",
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "hostile", version: "0" } },
    };
    send({ id, result });
    return;
  }
  if (method === "subscriptions/listen") {
    const told = { _meta: { "io.modelcontextprotocol/subscriptionId": id } };
    send({
      method: "notifications/subscriptions/acknowledged",
      params: { ...told, notifications: params.notifications },
    });
    send({ method: "notifications/tools/list_changed", params: told });
    return;
  }
  if (method === "initialize") {
    if (way === "no initialize") {
      send({ id, error: { code: -32_600, message: "go away" } });
      return;
    }
    const capabilities = { tools: { listChanged: true }, resources: {} };
    const serverInfo = { name: "hostile", version: "0" };
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities, serverInfo } });
    if (way === "ends at once") process.exit(4);
  } else if (method === "tools/list") {
    if (way === "no list") return;
    if (way === "rubbish") process.stdout.write("\u0000\u0001 not JSON\n");
    send({ id, result: page(params?.cursor) });
  } else if (method === "tools/call") {
    answerCall(id, params._meta?.progressToken);
  }
});
