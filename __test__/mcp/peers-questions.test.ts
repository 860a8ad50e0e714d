// Questions of the newest era, message by message: the first call returns the question, and the next call has
// the answer.
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { useAskingRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryOf = useAskingRegistries(workspace);

const VERSION = "2026-07-28";
const META = {
  "io.modelcontextprotocol/protocolVersion": VERSION,
  "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
};
const YES = { action: "accept", content: { approve: true } };

interface Answer {
  result?: {
    resultType: string;
    isError?: boolean;
    requestState?: string;
    inputRequests?: Record<string, { method: string }>;
  };
  error?: { code: number };
}

/** Calls Write on a server that needs confirmation for it. */
async function writer() {
  const { origin, token } = await registryOf({ toolsets: ["claude"] }).serve();
  return async (name: string, params: object = {}): Promise<Answer> => {
    const file_path = workspace.path(name);
    const response = await fetch(`${origin}/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": VERSION,
        "mcp-method": "tools/call",
        "mcp-name": "Write",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "Write", arguments: { file_path, content: "x" }, _meta: META, ...params },
      }),
    });
    const text = await response.text();
    // The answer is a message or, as an event, the last line of data.
    const message = text.split("\n").findLast((line) => line.startsWith("data: {"));
    return JSON.parse(message?.slice("data: ".length) ?? text) as Answer;
  };
}

/** The question about a call, answered with an approval. */
function approved({ result }: Answer) {
  const keys = Object.keys(result?.inputRequests ?? {});
  return {
    requestState: result?.requestState,
    inputResponses: Object.fromEntries(keys.map((key) => [key, YES])),
  };
}

describe("an answer in the next call", () => {
  test("approves the call, whatever else is in the request", async () => {
    const write = await writer();
    const asked = await write("a.txt");
    expect(asked.result?.resultType).toBe("input_required");
    expect(existsSync(workspace.path("a.txt"))).toBe(false);

    const { inputResponses, ...state } = approved(asked);
    const more = { unknown: YES, another: { action: "cancel" } };
    const { result } = await write("a.txt", {
      ...state,
      inputResponses: { ...inputResponses, ...more },
    });
    expect(result?.resultType).toBe("complete");
    expect(result?.isError ?? false).toBe(false);
    expect(existsSync(workspace.path("a.txt"))).toBe(true);
  });

  test("does not count for another call", async () => {
    const write = await writer();
    const answer = approved(await write("a.txt"));
    const { result } = await write("b.txt", answer);
    expect(result?.resultType).toBe("input_required");
    expect(existsSync(workspace.path("b.txt"))).toBe(false);
  });

  test("counts once", async () => {
    const write = await writer();
    const answer = approved(await write("a.txt"));
    await write("a.txt", answer);
    workspace.delete("a.txt");
    expect((await write("a.txt", answer)).error?.code).toBe(-32602);
    expect(existsSync(workspace.path("a.txt"))).toBe(false);
  });

  test("does not count without the state of a question", async () => {
    const write = await writer();
    const { inputResponses } = approved(await write("a.txt"));
    const { result } = await write("a.txt", { inputResponses });
    expect(result?.resultType).toBe("input_required");
    const made = { inputResponses, requestState: "made up" };
    expect((await write("a.txt", made)).error?.code).toBe(-32602);
    expect(existsSync(workspace.path("a.txt"))).toBe(false);
  });
});
