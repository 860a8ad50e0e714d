"use strict";

/**
 * @import { NativeHttpServer } from "../../native/binding"
 * @import { RegistryServer as DeclaredServer } from "../types/http"
 */

const { ASYNC_DISPOSE, guardClass } = require("../boundary/guards.js");

/** @type {(value: unknown) => boolean} */
let isServer;

/**
 * An open server of the addon. Like Node's servers it keeps the process alive until `unref` is called.
 *
 * @implements {DeclaredServer}
 */
class RegistryServer {
  #native;
  /** @type {Promise<void> | undefined} */
  #closing;
  #closed;
  /** The callback of the addon's socket keeps nothing alive; a timer does. */
  #alive = setInterval(() => {}, 2 ** 30);

  static {
    isServer = (value) => typeof value === "object" && value !== null && #native in value;
  }

  /**
   * @param {NativeHttpServer} native
   * @param {() => void} closed called once, when the server is closed
   */
  constructor(native, closed) {
    this.#native = native;
    this.#closed = closed;
    /** @type {Pick<DeclaredServer, "url" | "origin" | "port" | "host" | "token" | "mcpToken">} */
    const facts = JSON.parse(native.facts());
    this.url = facts.url;
    this.origin = facts.origin;
    this.port = facts.port;
    this.host = facts.host;
    this.token = facts.token;
    this.mcpToken = facts.mcpToken;
  }

  ref() {
    this.#alive.ref();
    return this;
  }

  unref() {
    this.#alive.unref();
    return this;
  }

  async close() {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  /** The same as `close`, for `await using`. */
  [ASYNC_DISPOSE]() {
    return this.close();
  }

  async #close() {
    clearInterval(this.#alive);
    try {
      await this.#native.close();
    } finally {
      this.#closed();
    }
  }
}

guardClass(RegistryServer, isServer);

// The guarded `close`, which throws ToolErrors only.
RegistryServer.prototype[ASYNC_DISPOSE] = RegistryServer.prototype.close;

exports.RegistryServer = RegistryServer;
