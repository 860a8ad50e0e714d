"use strict";

/**
 * @import { NativeRegistry } from "../../native/binding"
 * @import { McpSdkServerConfig } from "../types/mcp-host"
 * @import { ToolRegistry } from "../types/registry"
 * @import { RegisteredTool, RegisteredToolInfo } from "../types/tools"
 * @typedef {object} Served
 * @property {NativeRegistry} native
 * @property {string} name the name of the server
 * @property {string} version
 * @property {(info: RegisteredToolInfo, session: string | undefined) => RegisteredTool} toolObject
 */

const { ToolError } = require("../boundary/errors.js");
const { endInstance } = require("./instance.js");
const { McpInstances } = require("./instances.js");
const { serveStdio } = require("./stdio.js");

/** A registry as an MCP server: in the host's process, and over the standard streams. */
class ServedMcp {
  #registry;
  #native;
  #name;
  #version;
  #toolObject;
  #instances;
  #isClosed = false;

  /**
   * @param {ToolRegistry} registry kept from garbage collection as long as this object or one of its servers is
   * @param {Served} served
   */
  constructor(registry, { native, name, version, toolObject }) {
    this.#registry = registry;
    this.#native = native;
    this.#name = name;
    this.#version = version;
    this.#toolObject = toolObject;
    this.#instances = new McpInstances(
      (sessionId) => (send) => this.#native.openMcpLine(send, sessionId),
    );
  }

  /**
   * The configuration of an in-process server for an agent host.
   *
   * @param {string | undefined} sessionId
   * @returns {McpSdkServerConfig}
   */
  config(sessionId) {
    const instance = this.#instances.of(sessionId);
    if (this.#isClosed) void endInstance(instance);
    const tools = this.#registry
      .listTools()
      .filter(({ name, disabled }) => !disabled && this.#native.offers(name, sessionId))
      .map((info) => this.#toolObject(info, sessionId));
    return { type: "sdk", name: this.#name, version: this.#version, tools, instance };
  }

  async stdio() {
    if (this.#isClosed)
      throw new ToolError("RegistryClosed", "the registry is closed; create a new one");
    await serveStdio(this.#registry, this.#native);
  }

  /** The names of the tools in an agent host. */
  toolNames() {
    // Agent hosts replace the characters that some providers do not allow in a tool's name.
    const server = this.#name.replaceAll(/[^a-zA-Z0-9_-]/g, "_");
    return this.#registry.definitions("mcp").map(({ name }) => `mcp__${server}__${name}`);
  }

  /** Closes every client's line. Not awaited: a transport may take long to close, or never do it. */
  close() {
    this.#isClosed = true;
    this.#instances.end();
  }
}

exports.ServedMcp = ServedMcp;
