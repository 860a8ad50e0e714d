"use strict";

const { ToolError, shown, unwrap } = require("./errors.js");
const { WorkUnderWay } = require("./lifetime.js");
const { encodeOptions } = require("./registry-json.js");

/** The MCP servers of a registry, whose tools the addon registers and calls. */
class McpServers {
  #native;
  #objects;
  #running;

  /** @param registry kept from garbage collection while a server is being connected */
  constructor(registry, native, objects) {
    this.#native = native;
    this.#objects = objects;
    this.#running = new WorkUnderWay(registry);
  }

  /** Connects the servers of the option `mcpServers`, and tells what is wrong with them. */
  async connectConfigured() {
    const { errors } = await this.#ask(() => this.#native.connectMcpServers());
    return errors;
  }

  async connect(name, config) {
    if (config === null || typeof config !== "object" || Array.isArray(config)) {
      throw new ToolError(
        "InvalidOptions",
        `connectMcpServer() takes a server's configuration, got ${shown(config)}`,
      );
    }
    const json = encodeOptions(config);
    return this.#ask(() => this.#native.connectMcpServer(checkedName(name), json));
  }

  async disconnect(name) {
    const { disconnected } = await this.#ask(() =>
      this.#native.disconnectMcpServer(checkedName(name)),
    );
    return disconnected;
  }

  status() {
    return JSON.parse(this.#native.mcpServerStatus());
  }

  #ask(question) {
    return this.#running.during(async () => {
      const answer = unwrap(await question());
      this.#objects.forgetOutdated();
      return answer;
    });
  }
}

function checkedName(name) {
  if (typeof name === "string") return name;
  throw new ToolError(
    "InvalidOptions",
    `the name of an MCP server must be a string, got ${shown(name)}`,
  );
}

module.exports = { McpServers };
