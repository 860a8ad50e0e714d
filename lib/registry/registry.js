"use strict";

/**
 * @import { MessageBus as DeclaredMessageBus } from "../types/confirmations"
 * @import { ToolInvocation } from "../types/invocations"
 * @import { CallOptions, ToolRegistryOptions } from "../types/options"
 * @import { PermissionMode, PolicyConfig } from "../types/policy"
 * @import { DefinitionFormat, Definitions } from "../types/provider-formats"
 * @import { ToolRegistrationError, ToolRegistry as DeclaredToolRegistry } from "../types/registry"
 * @import { CallResult } from "../types/results"
 * @import { RegistryConfig } from "../types/state"
 * @import { TaskEventOptions } from "../types/tasks"
 * @import { AnyTool } from "../types/tools"
 * @typedef {DeclaredToolRegistry} Declared the types of methods. Those with overloads and those that return `this` repeat theirs, because `@type` cannot name these.
 */

const native = require("../native/addon.js");
const {
  ASYNC_DISPOSE,
  checkedToolName,
  guardClass,
  guarded,
  misuseOf,
  optionalText,
  optionsOf,
} = require("../boundary/guards.js");
const { asToolError, unwrap } = require("../boundary/errors.js");
const { HostFunctions } = require("../host/functions.js");
const { HttpEndpoints } = require("../http/endpoints.js");
const { WorkUnderWay } = require("../native/lifetime.js");
const { ServedMcp } = require("../mcp/served.js");
const { McpServers } = require("../mcp/servers.js");
const { RegistryCalls } = require("./calls.js");
const { factsOf } = require("./encoding.js");
const { RegistryEvents } = require("./events.js");
const { leaveBus } = require("./message-bus.js");
const { openRegistry } = require("./open.js");
const { RegistryPolicy } = require("./policy.js");
const { RegisteredTools } = require("./registered-tools.js");
const { RegistryState } = require("./state.js");
const { TeamMessages } = require("./team-messages.js");
const { toolObject } = require("./tool-object.js");
const { ToolObjects } = require("./tool-objects.js");

const { AnswerView } = native;

/** @type {(value: unknown) => boolean} */
let isRegistry;

/**
 * A registry of tools. The methods check what they are given and hand it to the addon, where every call
 * of every tool takes the same path.
 *
 * @implements {DeclaredToolRegistry}
 */
class ToolRegistry {
  #native;
  /** Also kept here, because the public field can be overwritten. */
  #bus;
  #functions = new HostFunctions();
  #objects;
  #tools;
  #calls;
  #policy;
  #servedMcp;
  #mcpServers;
  #state;
  #events;
  #teamMessages;
  #http;
  /** @type {Promise<void> | undefined} */
  #closing;

  static {
    isRegistry = (value) => typeof value === "object" && value !== null && #native in value;
  }

  /** @param {ToolRegistryOptions} options */
  constructor(options = {}) {
    try {
      const functions = this.#functions;
      const { native: opened, bus, settings } = openRegistry(options, functions, this);
      const objects = new ToolObjects(opened, (name, registration) => {
        const info = this.getToolInfo(name);
        return info && toolObject(info, { calls, bus, registration });
      });
      const calls = new RegistryCalls(this, { native: opened, objects, bus });
      this.#native = opened;
      this.#bus = bus;
      /** @type {DeclaredMessageBus} */
      this.messageBus = bus;
      this.#objects = objects;
      this.#calls = calls;
      this.#tools = new RegisteredTools({ native: opened, functions, objects, bus });
      this.#policy = new RegistryPolicy(opened);
      this.#servedMcp = new ServedMcp(this, {
        native: opened,
        name: settings.serverName,
        version: settings.version,
        toolObject: (info, session) => toolObject(info, { calls, bus, session }),
      });
      this.#mcpServers = new McpServers(this, opened, objects);
      this.#state = new RegistryState(this, opened);
      /** @type {RegistryConfig} */
      this.config = this.#state.config;
      this.#events = new RegistryEvents(opened, this.#state.events);
      // The warning that a grant could not be stored is an event too.
      if (settings.rememberGrants === "project" || settings.rememberGrants === "user") {
        this.#state.events.listen();
      }
      this.#teamMessages = new TeamMessages(opened);
      this.#http = new HttpEndpoints(this, opened);
    } catch (error) {
      throw misuseOf(asToolError(error), "new ToolRegistry");
    }
  }

  /** @type {Declared["initialize"]} */
  async initialize() {
    this.#native.beginIndexing();
    await this.#state.loadGrants();
    const [plugins, servers] = await Promise.all([
      this.reloadPlugins(),
      this.#mcpServers.connectConfigured(),
    ]);
    // Asked for afterwards, because a rule may name a plugin tool.
    const rules = this.#policy.unknownTools();
    const errors = [...plugins.errors, ...servers, ...rules];
    const success = plugins.success && servers.length === 0;
    return { success, toolCount: this.getToolCount(), errors };
  }

  /** @type {Declared["reloadPlugins"]} */
  async reloadPlugins() {
    return new WorkUnderWay(this).during(async () => {
      /** @type {ToolRegistrationError[]} */
      const errors = JSON.parse(await this.#native.loadPlugins());
      this.#objects.forgetOutdated();
      return { success: errors.length === 0, toolCount: this.getToolCount(), errors };
    });
  }

  /** @type {Declared["register"]} */
  register(object) {
    this.#tools.add(object);
  }

  /** @type {Declared["unregister"]} */
  unregister(name) {
    return this.#tools.remove(name);
  }

  /**
   * @template [T=AnyTool]
   * @param {string} name
   * @returns {T | undefined}
   */
  get(name) {
    const object = this.#objects.get(checkedToolName(name));
    return /** @type {T | undefined} */ (object);
  }

  /** @type {Declared["list"]} */
  list() {
    return this.names().flatMap((name) => this.#objects.get(name) ?? []);
  }

  names() {
    return this.#native.names();
  }

  /** @type {Declared["hasTool"]} */
  hasTool(name) {
    return (this.#native.lookup(checkedToolName(name)) ?? undefined) !== undefined;
  }

  getToolCount() {
    return this.#native.count();
  }

  /** @type {Declared["listTools"]} */
  listTools() {
    return JSON.parse(this.#native.infos());
  }

  /** @type {Declared["getToolInfo"]} */
  getToolInfo(name) {
    const json = this.#native.info(checkedToolName(name)) ?? undefined;
    return json === undefined ? undefined : JSON.parse(json);
  }

  getFunctionSchemas() {
    const tools = this.definitions("anthropic");
    return tools.map(({ name, description, input_schema: parameters }) => ({
      name,
      description,
      parameters,
    }));
  }

  /**
   * @template {DefinitionFormat} [Format="mcp"]
   * @param {Format} [format]
   * @param {{ strict?: boolean | undefined }} [options]
   * @returns {Definitions[Format]}
   */
  definitions(format, options) {
    const { strict } = optionsOf(options, "definitions");
    const name = optionalText(format, "format") ?? "mcp";
    return unwrap(this.#native.definitions(name, strict === true));
  }

  /** @type {Declared["isAllowed"]} */
  isAllowed(name, { sessionId } = {}) {
    return this.#policy.isAllowed(name, sessionId);
  }

  /** @type {Declared["isDisabled"]} */
  isDisabled(name) {
    return this.#native.isDisabled(checkedToolName(name));
  }

  /**
   * @param {string[]} names
   * @returns {this}
   */
  disable(...names) {
    this.#tools.disable(names);
    return this;
  }

  /**
   * @param {string[]} names
   * @returns {this}
   */
  enable(...names) {
    this.#tools.enable(names);
    return this;
  }

  /**
   * @param {string[]} names
   * @returns {this}
   */
  withAllowed(...names) {
    this.#policy.allow(names);
    return this;
  }

  /** @type {Declared["explain"]} */
  explain(name, input, options) {
    const { sessionId } = optionsOf(options, "explain");
    return this.#policy.explain(name, input, sessionId);
  }

  /**
   * @param {PolicyConfig | null} policy
   * @returns {this}
   */
  setPolicy(policy) {
    this.#policy.set(policy);
    return this;
  }

  /** @returns {this} */
  reloadPolicy() {
    this.#policy.reload();
    return this;
  }

  /**
   * @param {PermissionMode | null} mode
   * @param {{ sessionId?: string | undefined }} [options]
   * @returns {this}
   */
  setPermissionMode(mode, options) {
    const { sessionId } = optionsOf(options, "setPermissionMode");
    this.#policy.setMode(mode, sessionId);
    return this;
  }

  /** @type {Declared["getPermissionMode"]} */
  getPermissionMode(options) {
    const { sessionId } = optionsOf(options, "getPermissionMode");
    return this.#policy.mode(sessionId);
  }

  /**
   * @param {string | readonly string[]} names
   * @param {{ sessionId: string }} options
   * @returns {this}
   */
  limitTools(names, options) {
    const { sessionId } = optionsOf(options, "limitTools");
    this.#policy.limitTools(sessionId, names);
    return this;
  }

  lintPolicy() {
    return this.#policy.lint();
  }

  /** @type {Declared["registerMcpTool"]} */
  registerMcpTool(tool) {
    return this.#tools.addMcp(tool);
  }

  /** @type {Declared["unregisterMcpTools"]} */
  unregisterMcpTools(prefix) {
    return this.#tools.removeMcp(prefix);
  }

  /** @type {Declared["connectMcpServer"]} */
  async connectMcpServer(name, config) {
    return this.#mcpServers.connect(name, config);
  }

  /** @type {Declared["disconnectMcpServer"]} */
  async disconnectMcpServer(name) {
    return this.#mcpServers.disconnect(name);
  }

  mcpServerStatus() {
    return this.#mcpServers.status();
  }

  /**
   * @template T
   * @param {string} name
   * @param {T} params
   * @param {Pick<CallOptions, "toolUseId" | "sessionId">} [options]
   * @returns {ToolInvocation<T>}
   */
  createInvocation(name, params, options) {
    const { toolUseId, sessionId } = optionsOf(options, "createInvocation");
    return this.#calls.invocation(checkedToolName(name), params, { toolUseId, sessionId });
  }

  /**
   * @template T
   * @param {string} name
   * @param {unknown} [input]
   * @param {CallOptions} [options]
   * @returns {Promise<CallResult<T>>}
   */
  async call(name, input, options) {
    const { toolUseId, sessionId, signal, onProgress } = optionsOf(options, "call");
    const given = { toolUseId, sessionId, signal, onProgress };
    return this.#calls.call(checkedToolName(name), input, AnswerView.Result, given);
  }

  /** @type {Declared["undo"]} */
  async undo(toolUseId, options) {
    const { sessionId } = optionsOf(options, "undo");
    return this.#calls.undo(toolUseId, sessionId);
  }

  /** @type {Declared["executeTools"]} */
  async executeTools(blocks, options) {
    return this.#calls.turn(blocks, optionsOf(options, "executeTools"));
  }

  /** @type {Declared["toMcpServerConfig"]} */
  toMcpServerConfig(options) {
    const { sessionId } = optionsOf(options, "toMcpServerConfig");
    factsOf({ sessionId });
    return this.#servedMcp.config(sessionId);
  }

  async serveStdio() {
    await this.#servedMcp.stdio();
  }

  getAllowedToolNames() {
    return this.#servedMcp.toolNames();
  }

  /** @type {Declared["indexStatus"]} */
  indexStatus() {
    return JSON.parse(this.#native.indexStatus());
  }

  /** @type {Declared["tasks"]} */
  tasks() {
    return JSON.parse(this.#native.tasks());
  }

  /**
   * @param {string} name
   * @param {Function} listener
   * @param {TaskEventOptions} [options]
   * @returns {this}
   */
  on(name, listener, options) {
    this.#events.add(name, listener, options);
    return this;
  }

  /**
   * @param {string} name
   * @param {Function} listener
   * @returns {this}
   */
  off(name, listener) {
    this.#events.remove(name, listener);
    return this;
  }

  /** @type {Declared["todos"]} */
  async todos(options) {
    const { sessionId } = optionsOf(options, "todos");
    factsOf({ sessionId });
    return this.#state.todos(sessionId);
  }

  async grants() {
    return this.#state.grants();
  }

  /** @type {Declared["forgetGrant"]} */
  async forgetGrant(rule) {
    return this.#state.forgetGrant(rule);
  }

  /** @type {Declared["taskEvents"]} */
  taskEvents(options) {
    return this.#events.iterateTasks(options);
  }

  /** @type {Declared["teamMessages"]} */
  teamMessages(options) {
    const { sessionId, signal } = optionsOf(options, "teamMessages");
    factsOf({ sessionId });
    return this.#teamMessages.iterate(sessionId, signal);
  }

  /** @type {Declared["fetch"]} */
  async fetch(request, options) {
    return this.#http.fetch(request, optionsOf(options, "fetch"));
  }

  /** @type {Declared["serve"]} */
  async serve(options) {
    return this.#http.serve(optionsOf(options, "serve"));
  }

  async close() {
    this.#closing ??= new WorkUnderWay(this).during(() => this.#close());
    await this.#closing;
  }

  /** The same as `close`, for `await using`. */
  [ASYNC_DISPOSE]() {
    return this.close();
  }

  /** Ends everything and drops every callback that the addon holds. */
  async #close() {
    this.#calls.close();
    this.#servedMcp.close();
    await Promise.all([this.#http.close(), this.#native.close()]);
    // A closed addon ends every call at once, also a call that waits for a person or a hook.
    await this.#calls.over();
    // The last events of calls and tasks are still queued; let them arrive first.
    await new Promise(setImmediate);
    this.#native.release();
    this.#functions.close();
    this.#events.close();
    leaveBus(this.#bus);
  }
}

guardClass(ToolRegistry, isRegistry);
// The guarded `close`, which throws ToolErrors only.
ToolRegistry.prototype[ASYNC_DISPOSE] = ToolRegistry.prototype.close;

/**
 * A registry with the built-in tools of the chosen sets, by default those of Claude Code.
 *
 * @param {ToolRegistryOptions} [options]
 * @returns {DeclaredToolRegistry}
 */
function createToolRegistry(options) {
  const given = optionsOf(options, "createToolRegistry");
  return new ToolRegistry({ ...given, toolsets: given.toolsets ?? ["claude"] });
}

exports.ToolRegistry = ToolRegistry;
exports.createToolRegistry = guarded(createToolRegistry, "createToolRegistry");
