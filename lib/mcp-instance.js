"use strict";

/**
 * What the Claude Agent SDK takes as an MCP server: `connect(transport)` and no more is needed. The
 * answering is done in Rust; here messages only change hands.
 */
class McpInstance {
  #open;
  /** The functions that close the lines there are. */
  #lines = new Set();

  constructor(openLine) {
    this.#open = openLine;
  }

  async connect(transport) {
    const pending = new PendingRequests();
    let closed = false;
    const line = this.#open((json) => {
      // What was on its way when the line closed: there is nobody left to answer.
      if (closed) return;
      const message = JSON.parse(json);
      if (message.method === undefined) pending.settle(message.id);
      send(transport, message);
    });
    const close = () => {
      closed = true;
      pending.clear();
      line.close();
      this.#lines.delete(closeBoth);
    };
    // The client has to hear of it: nobody answers it any more.
    const closeBoth = async () => {
      close();
      await transport.close?.();
    };
    this.#lines.add(closeBoth);
    transport.onmessage = (message) => {
      const json = encoded(message);
      if (message?.method === "notifications/cancelled") pending.settle(message.params?.requestId);
      else if (message?.method !== undefined && json !== NO_MESSAGE) pending.add(message.id);
      line.receive(json);
    };
    // The only sign of an abort that some hosts give: whatever still runs for this client ends.
    const previous = transport.onclose;
    transport.onclose = () => {
      close();
      previous?.call(transport);
    };
    try {
      await transport.start?.();
    } catch (error) {
      close();
      throw error;
    }
  }

  async close() {
    await Promise.allSettled([...this.#lines].map((close) => close()));
  }
}

async function send(transport, message) {
  try {
    await transport.send(message);
  } catch {
    // A transport that is closing may refuse; it says so itself by `onclose`.
  }
}

const NO_MESSAGE = "";

/** What JSON cannot say is no message either, and is refused as such. */
function encoded(message) {
  try {
    return JSON.stringify(message) ?? NO_MESSAGE;
  } catch {
    return NO_MESSAGE;
  }
}

/** Keeps the process alive while a client waits for an answer, and not a moment longer. */
class PendingRequests {
  #ids = new Set();
  #timer;

  /** Only what the protocol takes for an id: an answer to another would not be known again. */
  add(id) {
    const isId = typeof id === "string" ? id.isWellFormed() : Number.isSafeInteger(id);
    if (!isId) return;
    this.#ids.add(id);
    this.#timer ??= setInterval(() => {}, 2 ** 30);
  }

  settle(id) {
    this.#ids.delete(id);
    if (this.#ids.size === 0) this.clear();
  }

  clear() {
    this.#ids.clear();
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

module.exports = { McpInstance };
