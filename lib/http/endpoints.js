"use strict";

/**
 * @import { NativeHttpService, NativeRegistry } from "../../native/binding"
 * @import { HttpFetchOptions, HttpServeOptions } from "../types/http"
 */

const { asToolError, ToolError, shown } = require("../boundary/errors.js");
const { HttpExchange } = require("./exchange.js");
const { checkBody, encodeHead } = require("./request.js");
const { RegistryServer } = require("./server.js");
const { WorkUnderWay } = require("../native/lifetime.js");
const { encodeOptions } = require("../registry/encoding.js");

/** How many sets of access rules are kept ready. A host has one, or one for each place it mounts the routes. */
const MAX_SERVICES = 16;

/** A registry over HTTP: requests that its host hands over with `fetch`, and servers of the addon. */
class HttpEndpoints {
  #native;
  /**
   * Options as JSON → the routes behind them.
   *
   * @type {Map<string, NativeHttpService>}
   */
  #services = new Map();
  /** @type {Set<RegistryServer>} */
  #servers = new Set();
  #isClosed = false;
  /** Keeps this object, and with it the registry, while a request is answered or a server is open. */
  #work = new WorkUnderWay(this);

  /**
   * @param {object} registry kept from garbage collection as long as this object is
   * @param {NativeRegistry} native
   */
  constructor(registry, native) {
    this.registry = registry;
    this.#native = native;
  }

  /**
   * @param {Request} request
   * @param {HttpFetchOptions} options
   */
  async fetch(request, { basePath, ...access }) {
    const head = encodeHead(request, checkedBasePath(basePath));
    const service = this.#service(encodeOptions(access));
    checkBody(request);
    return new HttpExchange(request, this.#work).answer(service, head);
  }

  /** @param {HttpServeOptions} options */
  async serve(options) {
    this.#work.begin();
    const ended = () => this.#work.end();
    let open;
    try {
      open = await this.#native.openServer(encodeOptions(options));
    } catch (error) {
      ended();
      throw asToolError(error);
    }
    const server = new RegistryServer(open, () => {
      this.#servers.delete(server);
      ended();
    });
    this.#servers.add(server);
    if (!this.#isClosed) return server;
    await server.close();
    throw new ToolError("RegistryClosed", "the registry was closed while its server was opened");
  }

  /** Closes every server. Later requests get the answer that the registry is closed. */
  async close() {
    this.#isClosed = true;
    await Promise.all([...this.#servers].map((server) => server.close()));
  }

  /** @param {string} options */
  #service(options) {
    let service = this.#services.get(options);
    if (service === undefined) {
      try {
        service = this.#native.httpService(options);
      } catch (error) {
        throw asToolError(error);
      }
      const [oldest] = this.#services.keys();
      if (oldest !== undefined && this.#services.size >= MAX_SERVICES)
        this.#services.delete(oldest);
      this.#services.set(options, service);
    }
    return service;
  }
}

/** @param {string | null | undefined} path */
function checkedBasePath(path) {
  if (path === undefined || path === null) return "";
  if (typeof path === "string" && /^(\/[^/?#]+)*\/?$/.test(path)) return path;
  throw new ToolError(
    "InvalidOptions",
    `\`basePath\` must be a path such as "/tools", got ${shown(path)}`,
  );
}

exports.HttpEndpoints = HttpEndpoints;
