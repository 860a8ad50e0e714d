"use strict";

const { McpInstance, endInstance } = require("./mcp-instance.js");

/**
 * The MCP servers of one registry: one whose clients each get a session of their own, and one for every
 * configuration that was made for a given session. The latter are many over time, so nothing here keeps them.
 */
class McpInstances {
  #openLine;
  #own;
  /** Weak references to the servers for given sessions. */
  #ofSessions = new Set();

  /** @param openLine makes, for a session or none, the function that opens a client's line */
  constructor(openLine) {
    this.#openLine = openLine;
  }

  of(sessionId) {
    if (sessionId === undefined) {
      this.#own ??= new McpInstance(this.#openLine(undefined));
      return this.#own;
    }
    const instance = new McpInstance(this.#openLine(sessionId));
    for (const reference of this.#ofSessions) {
      if (reference.deref() === undefined) this.#ofSessions.delete(reference);
    }
    this.#ofSessions.add(new WeakRef(instance));
    return instance;
  }

  /** Closes every client's line. Not awaited: a transport may take long to close, or never do it. */
  end() {
    const instances = [this.#own, ...[...this.#ofSessions].map((it) => it.deref())];
    this.#ofSessions.clear();
    for (const instance of instances) {
      if (instance !== undefined) void endInstance(instance);
    }
  }
}

module.exports = { McpInstances };
