"use strict";

/**
 * @import { McpLine } from "../../native/binding"
 * @import { McpInstance as DeclaredMcpInstance, McpMessage, McpTransport } from "../types/mcp-host"
 * @typedef {(send: (message: string) => void) => McpLine} OpenLine
 */

const { guardClass } = require("../boundary/guards.js");
const { ToolError, shown } = require("../boundary/errors.js");
const { WorkUnderWay, weakly } = require("../native/lifetime.js");

/** @type {(value: unknown) => boolean} */
let isInstance;

/**
 * Closes every client's line and refuses new clients.
 *
 * @type {(instance: McpInstance) => Promise<void>}
 */
let endInstance;

/**
 * Removes a client that has left from its instance.
 *
 * @type {(instance: McpInstance | undefined, reference: WeakRef<Client>) => void}
 */
let forgetClient;

/**
 * Removes clients that were garbage-collected together with their transport.
 *
 * @type {FinalizationRegistry<{ instance: WeakRef<McpInstance>, reference: WeakRef<Client> }>}
 */
const collected = new FinalizationRegistry(({ instance, reference }) =>
  forgetClient(instance.deref(), reference),
);

/**
 * An MCP server for the Claude Agent SDK, which needs nothing but `connect(transport)`. Requests are
 * answered in Rust; this class only passes messages between the transport and the addon.
 *
 * @implements {DeclaredMcpInstance}
 */
class McpInstance {
  /**
   * Opens a line to the registry; `undefined` once the registry is closed.
   *
   * @type {OpenLine | undefined}
   */
  #openLine;
  /**
   * Weak references to the clients. Only its transport keeps a client alive.
   *
   * @type {Set<WeakRef<Client>>}
   */
  #clients = new Set();

  static {
    isInstance = (value) => typeof value === "object" && value !== null && #openLine in value;
    endInstance = async (instance) => {
      instance.#openLine = undefined;
      await instance.close();
    };
    forgetClient = (instance, reference) => {
      if (instance !== undefined) instance.#clients.delete(reference);
    };
  }

  /** @param {OpenLine} openLine */
  constructor(openLine) {
    this.#openLine = openLine;
  }

  /** @param {McpTransport} transport */
  async connect(transport) {
    if (transport === null || typeof transport !== "object") {
      throw new ToolError(
        "InvalidOptions",
        `connect() takes a transport, as { send, onmessage, onclose }, got ${shown(transport)}`,
      );
    }
    if (this.#openLine === undefined) {
      throw new ToolError("RegistryClosed", "the registry is closed; create a new one");
    }
    const client = new Client(this, transport, this.#openLine);
    this.#clients.add(client.reference);
    collected.register(client, { instance: new WeakRef(this), reference: client.reference });
    await client.start();
  }

  async close() {
    await Promise.allSettled([...this.#clients].map((client) => client.deref()?.hangUp()));
  }
}

guardClass(McpInstance, isInstance);

/**
 * One client of an instance. Its transport refers to it by `onmessage`, and so keeps it and the registry
 * alive. The addon refers to it weakly, so that an unused transport is collected together with the client.
 * Its fields are cleared when the line ends: a transport that still exists then keeps no registry alive.
 */
class Client {
  reference = new WeakRef(this);
  /** @type {McpInstance | undefined} */
  #instance;
  /** @type {McpTransport | undefined} */
  #transport;
  /** @type {McpLine | undefined} */
  #line;
  #requests = new PendingRequests(this);

  /**
   * @param {McpInstance} instance
   * @param {McpTransport} transport
   * @param {OpenLine} openLine
   */
  constructor(instance, transport, openLine) {
    this.#instance = instance;
    this.#transport = transport;
    this.#line = openLine(weakly(this, Client.#deliver));
  }

  /** Starts to receive messages. If the transport fails to start, the line is closed again. */
  async start() {
    const transport = this.#transport;
    if (transport === undefined) return;
    try {
      const previous = transport.onclose;
      transport.onmessage = (message) => this.#receive(message);
      // Some hosts signal an abort only by closing, so this ends all calls of the client.
      transport.onclose = () => {
        this.#end();
        previous?.call(transport);
      };
      await transport.start?.();
    } catch (error) {
      this.#end();
      throw error;
    }
  }

  /** Ends the line and closes the transport, so that the client does not wait for answers. */
  async hangUp() {
    const transport = this.#transport;
    this.#end();
    await transport?.close?.();
  }

  /**
   * @param {Client} client
   * @param {string} json
   */
  static #deliver = (client, json) => client.#send(JSON.parse(json));

  /** @param {McpMessage} message */
  async #send(message) {
    if (message.method === undefined) this.#requests.settle(message.id);
    try {
      // There is no transport if the line was closed after the addon had sent this.
      await this.#transport?.send(message);
    } catch {
      // A transport that is closing may throw; it reports the end by `onclose`.
    }
  }

  /** @param {unknown} message */
  #receive(message) {
    const { json, method, id, cancelled } = readMessage(message);
    if (method === "notifications/cancelled") this.#requests.settle(cancelled);
    else if (method !== undefined) this.#requests.add(id);
    this.#line?.receive(json);
  }

  #end() {
    this.#requests.clear();
    this.#line?.close();
    forgetClient(this.#instance, this.reference);
    this.#instance = this.#transport = this.#line = undefined;
  }
}

/**
 * Encodes a message and reads the fields that are needed here. The addon refuses the empty text.
 *
 * @param {unknown} message
 * @returns {{ json: string, method?: unknown, id?: unknown, cancelled?: unknown }}
 */
function readMessage(message) {
  try {
    /** @type {{ method?: unknown, id?: unknown, params?: { requestId?: unknown } }} */
    const { method, id, params } = message ?? {};
    return { json: JSON.stringify(message) ?? "", method, id, cancelled: params?.requestId };
  } catch {
    return { json: "" };
  }
}

/** Keeps the process and the client alive exactly as long as the client waits for an answer. */
class PendingRequests {
  /** @type {Set<unknown>} */
  #ids = new Set();
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;
  #waits;

  /** @param {Client} client */
  constructor(client) {
    this.#waits = new WorkUnderWay(client);
  }

  /**
   * Ignores ids that MCP does not allow: their answers could not be matched to them.
   *
   * @param {unknown} id
   */
  add(id) {
    const isId = typeof id === "string" ? id.isWellFormed() : Number.isSafeInteger(id);
    if (!isId) return;
    this.#ids.add(id);
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => {}, 2 ** 30);
    this.#waits.begin();
  }

  /** @param {unknown} id */
  settle(id) {
    this.#ids.delete(id);
    if (this.#ids.size === 0) this.clear();
  }

  clear() {
    this.#ids.clear();
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#waits.end();
  }
}

exports.McpInstance = McpInstance;
exports.endInstance = endInstance;
