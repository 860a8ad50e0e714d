// Real HTTP servers on loopback, closed after the test.
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach } from "vitest";

/** A request that a server received. */
export interface SeenRequest {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}

/** The answer of a server: a text or bytes as HTML, or with a status and headers. */
export type ServerAnswer =
  | string
  | Uint8Array
  | { status?: number; headers?: Record<string, string>; body?: string | Uint8Array };

export interface WebServer {
  /** `http://127.0.0.1:port` */
  origin: string;
  port: number;
  /** The requests so far. */
  seen: SeenRequest[];
}

type Answering = (
  request: SeenRequest,
  response: ServerResponse,
) => ServerAnswer | undefined | Promise<ServerAnswer | undefined>;

/** Options of a registry whose web tools may fetch from these servers. */
export const LOOPBACK = { web: { allow: ["127.0.0.1"] } };

/** Starts servers. A handler that returns `undefined` has answered itself, or never will. */
export function useWebServers() {
  const servers: Server[] = [];
  afterEach(async () => {
    const closing = servers.splice(0).map(
      (server) =>
        new Promise<void>((resolve) => {
          server.close(() => resolve());
          server.closeAllConnections();
        }),
    );
    await Promise.all(closing);
  });
  return async (answering: Answering): Promise<WebServer> => {
    const seen: SeenRequest[] = [];
    const answer = async (request: SeenRequest, response: ServerResponse): Promise<void> => {
      const answered = await answering(request, response);
      if (answered !== undefined) send(response, answered);
    };
    const server = createServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on("data", (piece: Buffer) => pieces.push(piece));
      request.on("end", () => {
        const { method = "", url = "", headers } = request;
        const body = Buffer.concat(pieces).toString("utf8");
        const arrived = { method, url, headers, body };
        seen.push(arrived);
        void answer(arrived, response);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    servers.push(server);
    const { port } = server.address() as AddressInfo;
    return { origin: `http://127.0.0.1:${port}`, port, seen };
  };
}

function send(response: ServerResponse, answer: ServerAnswer): void {
  const isPlain = typeof answer === "string" || answer instanceof Uint8Array;
  const { status = 200, headers = {}, body = "" } = isPlain ? { body: answer } : answer;
  response.writeHead(status, { "content-type": "text/html; charset=utf-8", ...headers });
  response.end(body);
}

/** JSON as a server answers it. */
export function jsonAnswer(value: unknown, status = 200): ServerAnswer {
  const headers = { "content-type": "application/json" };
  return { status, headers, body: JSON.stringify(value) };
}
