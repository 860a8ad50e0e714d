import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach } from "vitest";

/** One answer of the model: tool calls, or the final text. */
export type Turn = { name: string; id: string; input: unknown }[] | string;

/** What the model receives of a call. */
export interface ShownResult {
  type: "tool_result";
  tool_use_id: string;
  is_error?: boolean;
  content: unknown;
}

interface Body {
  model: string;
  stream?: boolean;
  tools?: { name: string; description: string; input_schema: unknown; defer_loading?: boolean }[];
  messages: { role: string; content: string | { type: string }[] }[];
}

/** A scripted model behind the Messages API on the loopback interface. */
export class LoopbackMessagesApi {
  readonly bodies: Body[] = [];
  #server: Server;
  #turns: Turn[];

  private constructor(turns: Turn[]) {
    this.#turns = turns;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  static async start(turns: Turn[]): Promise<LoopbackMessagesApi> {
    const api = new LoopbackMessagesApi(turns);
    await new Promise<void>((resolve) => {
      api.#server.listen(0, "127.0.0.1", resolve);
    });
    return api;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The results in the model's last request, by the id of the call. */
  shownResults(): Map<string, ShownResult> {
    const blocks = (this.bodies.at(-1)?.messages ?? []).flatMap(({ content }) =>
      typeof content === "string" ? [] : content,
    );
    const results = blocks.filter((block): block is ShownResult => block.type === "tool_result");
    return new Map(results.map((result) => [result.tool_use_id, result]));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of request) text += chunk;
    const { pathname } = new URL(request.url ?? "/", this.url);
    if (pathname === "/v1/messages/count_tokens") {
      response.setHeader("content-type", "application/json").end(`{"input_tokens":100}`);
    } else if (pathname === "/v1/messages" && request.method === "POST") {
      this.#answerAsModel(JSON.parse(text) as Body, response);
    } else {
      response.writeHead(404).end();
    }
  }

  #answerAsModel(body: Body, response: ServerResponse): void {
    this.bodies.push(body);
    // Derived from the conversation itself, because requests may be repeated or interleaved.
    const turn = this.#turns[body.messages.filter(({ role }) => role === "assistant").length] ?? "";
    const message = {
      id: `msg_${this.bodies.length}`,
      type: "message",
      role: "assistant",
      model: body.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 100, output_tokens: 1 },
    };
    if (body.stream) stream(turn, message, response);
    else {
      const answer = { ...message, content: contentOf(turn), stop_reason: stopReason(turn) };
      response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
    }
  }
}

/** The answer as events, as interactive hosts request it. */
function stream(turn: Turn, message: object, response: ServerResponse): void {
  response.setHeader("content-type", "text/event-stream");
  const send = (type: string, event: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...event })}\n\n`);
  send("message_start", { message });
  for (const [index, { block, delta }] of blocksOf(turn).entries()) {
    send("content_block_start", { index, content_block: block });
    send("content_block_delta", { index, delta });
    send("content_block_stop", { index });
  }
  send("message_delta", {
    delta: { stop_reason: stopReason(turn), stop_sequence: null },
    usage: { output_tokens: 10 },
  });
  send("message_stop", {});
  response.end();
}

function stopReason(turn: Turn): string {
  return typeof turn === "string" ? "end_turn" : "tool_use";
}

/** The answer in one piece. */
function contentOf(turn: Turn): object[] {
  if (typeof turn === "string") return [{ type: "text", text: turn }];
  return turn.map(({ name, id, input }) => ({ type: "tool_use", id, name, input }));
}

function blocksOf(turn: Turn): { block: object; delta: object }[] {
  if (typeof turn === "string") {
    return [{ block: { type: "text", text: "" }, delta: { type: "text_delta", text: turn } }];
  }
  return turn.map(({ name, id, input }) => ({
    block: { type: "tool_use", id, name, input: {} },
    delta: { type: "input_json_delta", partial_json: JSON.stringify(input) },
  }));
}

/** Starts models, and closes them after each test. */
export function useModels() {
  const models: LoopbackMessagesApi[] = [];
  afterEach(async () => {
    await Promise.all(models.splice(0).map((model) => model.close()));
  });
  return async (...turns: Turn[]): Promise<LoopbackMessagesApi> => {
    const model = await LoopbackMessagesApi.start(turns);
    models.push(model);
    return model;
  };
}
