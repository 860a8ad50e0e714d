"use strict";

/** @import { OpenLine } from "./instance.js" */

const { McpInstance, endInstance } = require("./instance.js");

/**
 * The MCP servers of one registry: one whose clients each get their own session, and one for every
 * configuration that was made for a given session. The latter are many over time, so nothing here keeps them.
 */
class McpInstances {
  #openLine;
  /** @type {McpInstance | undefined} */
  #own;
  /**
   * Weak references to the servers for given sessions.
   *
   * @type {Set<WeakRef<McpInstance>>}
   */
  #ofSessions = new Set();

  /** @param {(sessionId: string | undefined) => OpenLine} openLine makes, for a session or none, the function that opens a client's line */
  constructor(openLine) {
    this.#openLine = openLine;
  }

  /** @param {string | undefined} sessionId */
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

exports.McpInstances = McpInstances;
