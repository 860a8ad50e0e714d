"use strict";

/**
 * @import { NativeRegistry } from "../../native/binding"
 * @import { McpServerConfig, McpServerStatus } from "../types/mcp-servers"
 * @import { ToolRegistrationError, ToolRegistry } from "../types/registry"
 * @import { ToolObjects } from "../registry/tool-objects.js"
 */

const { ToolError, shown, unwrap } = require("../boundary/errors.js");
const { WorkUnderWay } = require("../native/lifetime.js");
const { encodeOptions } = require("../registry/encoding.js");

/** The MCP servers of a registry, whose tools the addon registers and calls. */
class McpServers {
  #native;
  #objects;
  #running;

  /**
   * @param {ToolRegistry} registry kept from garbage collection while a server is being connected
   * @param {NativeRegistry} native
   * @param {ToolObjects} objects
   */
  constructor(registry, native, objects) {
    this.#native = native;
    this.#objects = objects;
    this.#running = new WorkUnderWay(registry);
  }

  /** Connects the servers of the option `mcpServers`, and resolves with their errors. */
  async connectConfigured() {
    /** @type {{ errors: ToolRegistrationError[] }} */
    const { errors } = await this.#ask(() => this.#native.connectMcpServers());
    return errors;
  }

  /**
   * @param {string} name
   * @param {McpServerConfig} config
   * @returns {Promise<McpServerStatus>}
   */
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

  /** @param {string} name */
  async disconnect(name) {
    /** @type {{ disconnected: boolean }} */
    const { disconnected } = await this.#ask(() =>
      this.#native.disconnectMcpServer(checkedName(name)),
    );
    return disconnected;
  }

  /** @returns {McpServerStatus[]} */
  status() {
    return JSON.parse(this.#native.mcpServerStatus());
  }

  /**
   * @template T
   * @param {() => Promise<string>} question
   * @returns {Promise<T>}
   */
  #ask(question) {
    return this.#running.during(async () => {
      /** @type {T} */
      const answer = unwrap(await question());
      this.#objects.forgetOutdated();
      return answer;
    });
  }
}

/** @param {string} name */
function checkedName(name) {
  if (typeof name === "string") return name;
  throw new ToolError(
    "InvalidOptions",
    `the name of an MCP server must be a string, got ${shown(name)}`,
  );
}

exports.McpServers = McpServers;
