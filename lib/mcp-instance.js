"use strict";

const { guardClass } = require("./boundary.js");
const { ToolError, shown } = require("./errors.js");
const { WorkUnderWay, weakly } = require("./lifetime.js");

let isInstance;

/** Ends every client's line for good. */
let endInstance;

/** Takes a client that has left out of its instance. */
let forgetClient;

/** Takes clients out of their instance when they are collected with their transport. */
const collected = new FinalizationRegistry(({ instance, reference }) =>
  forgetClient(instance.deref(), reference),
);

/**
 * What the Claude Agent SDK takes as an MCP server: `connect(transport)` and no more is needed. The
 * answering is done in Rust; here messages only change hands.
 */
class McpInstance {
  /** Opens a line of the registry; nothing once the registry is closed. */
  #openLine;
  /** References to clients, which their transports keep and nobody else. */
  #clients = new Set();

  static {
    isInstance = (value) => typeof value === "object" && value !== null && #openLine in value;
    endInstance = async (instance) => {
      instance.#openLine = undefined;
      await instance.close();
    };
    forgetClient = (instance, reference) => instance?.#clients.delete(reference);
  }

  constructor(openLine) {
    this.#openLine = openLine;
  }

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
 * One client of an instance. Its transport keeps it, and with it the registry, by `onmessage`; the addon
 * only refers to it weakly, so that a transport nobody has any more is collected with all behind it.
 */
class Client {
  reference = new WeakRef(this);
  // All that a transport would keep by us; let go of when the line ends.
  #instance;
  #transport;
  #line;
  #requests = new PendingRequests(this);

  constructor(instance, transport, openLine) {
    this.#instance = instance;
    this.#transport = transport;
    this.#line = openLine(weakly(this, Client.#hear));
  }

  /** Takes the transport's messages from now on; one that does not start leaves nothing open. */
  async start() {
    const transport = this.#transport;
    try {
      const previous = transport.onclose;
      transport.onmessage = (message) => this.#receive(message);
      // The only sign of an abort that some hosts give: whatever still runs for this client ends.
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

  /** Ends the line. The client has to hear of it: nobody answers it any more. */
  async hangUp() {
    const transport = this.#transport;
    this.#end();
    await transport?.close?.();
  }

  static #hear = (client, json) => client.#send(JSON.parse(json));

  async #send(message) {
    if (message.method === undefined) this.#requests.settle(message.id);
    try {
      // Without a transport, the line closed while this was on its way: nobody is left to answer.
      await this.#transport?.send(message);
    } catch {
      // A transport that is closing may refuse; it says so itself by `onclose`.
    }
  }

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

/** A message as JSON, and what we have to know of it. What JSON cannot say is refused as no message. */
function readMessage(message) {
  try {
    const { method, id, params } = message ?? {};
    return { json: JSON.stringify(message) ?? "", method, id, cancelled: params?.requestId };
  } catch {
    return { json: "" };
  }
}

/** Keeps the process and the client alive while it waits for an answer, and not a moment longer. */
class PendingRequests {
  #ids = new Set();
  #timer;
  #waits;

  constructor(client) {
    this.#waits = new WorkUnderWay(client);
  }

  /** Only what the protocol takes for an id: an answer to another would not be known again. */
  add(id) {
    const isId = typeof id === "string" ? id.isWellFormed() : Number.isSafeInteger(id);
    if (!isId) return;
    this.#ids.add(id);
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => {}, 2 ** 30);
    this.#waits.begin();
  }

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

module.exports = { McpInstance, endInstance };
