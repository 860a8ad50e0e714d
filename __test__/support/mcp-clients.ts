import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import type { McpSdkServerConfig, McpTransport } from "../../index.js";
import { type Deferred, deferred } from "./promises.js";

type Instance = McpSdkServerConfig["instance"];

/** The messages of the server, in order. */
export interface Message {
  jsonrpc: "2.0";
  id?: unknown;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
}

/** The official client on an instance, with every message of the server. */
export async function connectClient(
  instance: Instance,
): Promise<{ client: Client; sent: Message[]; clientEnd: InMemoryTransport }> {
  const [clientEnd, serverEnd] = InMemoryTransport.createLinkedPair();
  const sent: Message[] = [];
  const deliver = serverEnd.send.bind(serverEnd);
  serverEnd.send = (message, options) => {
    sent.push(message as Message);
    return deliver(message, options);
  };
  await instance.connect(serverEnd);
  const client = new Client({ name: "test-client", version: "1.2.3" });
  await client.connect(clientEnd);
  return { client, sent, clientEnd };
}

/** A client that sends arbitrary messages over a handmade transport. */
export class RawClient {
  readonly received: Message[] = [];
  readonly transport: McpTransport = { send: (message: Message) => this.#take(message) };
  #waiting: { fits: (message: Message) => boolean; deferred: Deferred<Message> }[] = [];

  static async connected(instance: Instance): Promise<RawClient> {
    const client = new RawClient();
    await instance.connect(client.transport);
    return client;
  }

  /** A client after the handshake. */
  static async initialized(instance: Instance, version = "2025-11-25"): Promise<RawClient> {
    const client = await RawClient.connected(instance);
    await client.request(initialize("start", version));
    client.say({ jsonrpc: "2.0", method: "notifications/initialized" });
    return client;
  }

  say(message: unknown): void {
    this.transport.onmessage?.(message);
  }

  /** Sends a message and waits for the answer with its id. */
  request(message: { id: unknown; [key: string]: unknown }): Promise<Message> {
    const answer = this.next(({ id, method }) => method === undefined && id === message.id);
    this.say(message);
    return answer;
  }

  /** The next message that matches. */
  next(fits: (message: Message) => boolean): Promise<Message> {
    const waiting = { fits, deferred: deferred<Message>() };
    this.#waiting.push(waiting);
    return waiting.deferred.promise;
  }

  close(): void {
    this.transport.onclose?.();
  }

  #take(message: Message): void {
    this.received.push(message);
    const waiting = this.#waiting.find(({ fits }) => fits(message));
    if (waiting === undefined) return;
    this.#waiting = this.#waiting.filter((it) => it !== waiting);
    waiting.deferred.resolve(message);
  }
}

export function initialize(id: string | number, protocolVersion: string) {
  return {
    jsonrpc: "2.0",
    id,
    method: "initialize",
    params: { protocolVersion, capabilities: {}, clientInfo: { name: "raw", version: "1" } },
  };
}

export function ping(id: string | number) {
  return { jsonrpc: "2.0", id, method: "ping" };
}

export function callTool(id: unknown, name: unknown, args: unknown, meta?: object) {
  const params = { name, arguments: args, ...(meta ? { _meta: meta } : {}) };
  return { jsonrpc: "2.0", id, method: "tools/call", params };
}
