"use strict";

const { asToolError, ToolError, shown } = require("./errors.js");
const { HttpExchange } = require("./http-exchange.js");
const { checkBody, encodeHead } = require("./http-request.js");
const { RegistryServer } = require("./http-server.js");
const { WorkUnderWay } = require("./lifetime.js");
const { encodeOptions } = require("./registry-json.js");

/** How many sets of access rules are kept ready. A host has one, or one for each place it mounts the routes. */
const MAX_SERVICES = 16;

/** The two ways to a registry over HTTP: requests that its host hands over, and sockets of the addon. */
class HttpDoors {
  #native;
  /** Options as JSON → the routes behind them. */
  #services = new Map();
  #servers = new Set();
  #isClosed = false;
  /** Keeps these doors, and with them the registry, while a request is answered or a server is open. */
  #work = new WorkUnderWay(this);

  /** @param registry not to be collected before its doors are */
  constructor(registry, native) {
    this.registry = registry;
    this.#native = native;
  }

  async fetch(request, { basePath, ...access }) {
    const head = encodeHead(request, checkedBasePath(basePath));
    const service = this.#service(encodeOptions(access));
    checkBody(request);
    return new HttpExchange(request, this.#work).answer(service, head);
  }

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

  /** Closes every server. Requests that are handed over later are answered that the registry is closed. */
  async close() {
    this.#isClosed = true;
    await Promise.all([...this.#servers].map((server) => server.close()));
  }

  #service(options) {
    let service = this.#services.get(options);
    if (service === undefined) {
      try {
        service = this.#native.httpService(options);
      } catch (error) {
        throw asToolError(error);
      }
      const [oldest] = this.#services.keys();
      if (this.#services.size >= MAX_SERVICES) this.#services.delete(oldest);
      this.#services.set(options, service);
    }
    return service;
  }
}

function checkedBasePath(path) {
  if (path === undefined || path === null) return "";
  if (typeof path === "string" && /^(\/[^/?#]+)*\/?$/.test(path)) return path;
  throw new ToolError(
    "InvalidOptions",
    `\`basePath\` must be a path such as "/tools", got ${shown(path)}`,
  );
}

module.exports = { HttpDoors };
