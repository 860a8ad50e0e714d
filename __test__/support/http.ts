// Requests to a registry's routes, and their answers.
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { afterEach } from "vitest";
import type { ToolRegistry } from "../../index.js";

/** Sends a request, over a socket or by `fetch`. */
export type Ask = (path: string, init?: RequestInit) => Promise<Response>;

/** Sends requests to the registry's own server, with its token. */
export async function overSocket(registry: ToolRegistry): Promise<Ask> {
  const { origin, token } = await registry.serve();
  return (path, init = {}) => fetch(origin + path, { ...init, headers: withToken(init, token) });
}

/** Passes requests to `registry.fetch`, like the server of a host. */
export function handedOver(registry: ToolRegistry): Ask {
  return (path, init) => registry.fetch(new Request(`http://127.0.0.1${path}`, init));
}

export function withToken(init: RequestInit, token: string): Headers {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${token}`);
  return headers;
}

/** The parts of a POST request with JSON. */
export function json(body: unknown, init: RequestInit = {}): RequestInit {
  const headers = new Headers(init.headers);
  headers.set("content-type", "application/json");
  return { method: "POST", body: JSON.stringify(body), ...init, headers };
}

/** A call that is answered with a stream of events. */
export function streaming(input: unknown, init: RequestInit = {}): RequestInit {
  return json({ input }, { ...init, headers: { accept: "text/event-stream" } });
}

export function readerOf({ body }: Response): ReadableStreamDefaultReader<Uint8Array> {
  if (body === null) throw new Error("the answer has no body");
  return body.getReader();
}

/** Reads a stream of events until one matches; returns the text up to there. */
export async function readUntil(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  holds: (text: string) => boolean,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  while (!holds(text)) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  return text;
}

/** Opens servers of Node's http, and closes them with every connection after the test. */
export function useNodeServers() {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });
  return async (server: Server): Promise<string> => {
    servers.push(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
}
