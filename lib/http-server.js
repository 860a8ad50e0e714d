"use strict";

const { guardClass } = require("./boundary.js");

let isServer;

/** A server of the addon that is open. Like Node's servers it keeps the process alive, unless told otherwise. */
class RegistryServer {
  #native;
  #closing;
  #closed;
  /** The callback of the addon's socket keeps nothing alive; a timer does. */
  #alive = setInterval(() => {}, 2 ** 30);

  static {
    isServer = (value) => typeof value === "object" && value !== null && #native in value;
  }

  /** @param closed called once, when the server is closed */
  constructor(native, closed) {
    this.#native = native;
    this.#closed = closed;
    Object.assign(this, JSON.parse(native.facts()));
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

if (Symbol.asyncDispose) {
  RegistryServer.prototype[Symbol.asyncDispose] = RegistryServer.prototype.close;
}

module.exports = { RegistryServer };
