"use strict";

/**
 * What the Claude Agent SDK takes as an MCP server: `connect(transport)` and no more is needed. The
 * answering is done in Rust; here messages only change hands.
 */
class McpInstance {
  #open;
  #lines = new Set();

  constructor(openLine) {
    this.#open = openLine;
  }

  async connect(transport) {
    const pending = new PendingRequests();
    const line = this.#open((json) => {
      const message = JSON.parse(json);
      if (message.method === undefined) pending.settle(message.id);
      // A transport that is closing may refuse; there is nobody left to answer.
      Promise.resolve(transport.send(message)).catch(() => {});
    });
    const close = () => {
      pending.clear();
      line.close();
      this.#lines.delete(close);
    };
    this.#lines.add(close);
    transport.onmessage = (message) => {
      if (message.method !== undefined && message.id !== undefined) pending.add(message.id);
      if (message.method === "notifications/cancelled") pending.settle(message.params?.requestId);
      line.receive(JSON.stringify(message));
    };
    // The only sign of an abort that some hosts give: whatever still runs for this client ends.
    const previous = transport.onclose;
    transport.onclose = () => {
      close();
      previous?.call(transport);
    };
    await transport.start?.();
  }

  async close() {
    for (const close of this.#lines) close();
  }
}

/** Keeps the process alive while a client waits for an answer, and not a moment longer. */
class PendingRequests {
  #ids = new Set();
  #timer;

  add(id) {
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
