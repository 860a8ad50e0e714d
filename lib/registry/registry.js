"use strict";

/**
 * @import { NativeRegistry } from "../../native/binding"
 * @import { MessageBus as DeclaredMessageBus } from "../types/confirmations"
 * @import { HttpFetchOptions, HttpServeOptions, RegistryServer } from "../types/http"
 * @import { IndexStatus } from "../types/indexing"
 * @import { DeclarativeTool, ToolInvocation } from "../types/invocations"
 * @import { McpSdkServerConfig } from "../types/mcp-host"
 * @import { McpServerConfig, McpServerStatus } from "../types/mcp-servers"
 * @import { CallOptions, ToolRegistryOptions, TurnOptions } from "../types/options"
 * @import { ExplainedCall, PermissionMode, PolicyConfig, PolicyLint } from "../types/policy"
 * @import { AnthropicDefinition, DefinitionFormat, Definitions, McpDefinition, TurnBlock, TurnResults } from "../types/provider-formats"
 * @import { ToolRegistrationError, ToolRegistrationResult, ToolRegistry as DeclaredToolRegistry, UndoneChange } from "../types/registry"
 * @import { CallResult } from "../types/results"
 * @import { Grant, RegistryConfig, StateEvents as StateEventTypes, TodoItem } from "../types/state"
 * @import { TaskEventIterator, TaskEventOptions, TaskInfo } from "../types/tasks"
 * @import { TeamMessageIterator } from "../types/teams"
 * @import { AnyTool, HostTool, McpToolConfig, RegisteredTool, RegisteredToolInfo } from "../types/tools"
 * @import { HostFunction } from "../host/functions.js"
 * @import { OwnInvocations } from "../host/own-invocation.js"
 * @import { ToolSpec } from "../host/read-tool.js"
 * @typedef {{ sessionId?: string | undefined }} SessionOptions
 */

const native = require("../native/addon.js");
const { version } = require("../../package.json");
const {
  ASYNC_DISPOSE,
  checkedToolName,
  guardClass,
  guarded,
  misuseOf,
  optionalText,
  optionsOf,
} = require("../boundary/guards.js");
const { ToolError, asToolError, shown, unwrap } = require("../boundary/errors.js");
const { HostFunctions } = require("../host/functions.js");
const { readHostTool, readMcpTool } = require("../host/read-tool.js");
const { readHandlers } = require("../host/handlers.js");
const { readHooks } = require("../host/hooks.js");
const { HttpEndpoints } = require("../http/endpoints.js");
const { encodeInput } = require("../boundary/json.js");
const { WorkUnderWay } = require("../native/lifetime.js");
const { endInstance } = require("../mcp/instance.js");
const { McpInstances } = require("../mcp/instances.js");
const { McpServers } = require("../mcp/servers.js");
const { serveStdio } = require("../mcp/stdio.js");
const { MessageBus, isBus, joinBus, leaveBus } = require("./message-bus.js");
const { encodePolicy } = require("./policy-engine.js");
const { RegistryCalls } = require("./calls.js");
const { encodeOptions, encodeSpec, factsOf } = require("./encoding.js");
const { RegistryState } = require("./state.js");
const { STATE_EVENTS } = require("./state-events.js");
const { readStore } = require("../stores/option.js");
const { TaskEvents } = require("./task-events.js");
const { TeamMessages } = require("./team-messages.js");
const { ToolObjects } = require("./tool-objects.js");

const { AnswerView } = native;

/** Registries of the same workspace share an index. */
const indexPool = new native.NativeIndexPool();

/** @type {(value: unknown) => boolean} */
let isRegistry;

/**
 * A registry of tools. The methods check what they are given and hand it to the addon, where every call
 * of every tool takes the same path.
 *
 * @implements {DeclaredToolRegistry}
 */
class ToolRegistry {
  /** @type {NativeRegistry} */
  #native;
  /** @type {string} */
  #serverName;
  /** @type {string} */
  #version;
  /**
   * Also kept here, because the public field can be overwritten.
   *
   * @type {MessageBus}
   */
  #bus;
  #functions = new HostFunctions();
  /** @type {ToolObjects} */
  #objects;
  /** @type {RegistryCalls} */
  #calls;
  /** @type {McpInstances} */
  #instances;
  /** @type {McpServers} */
  #mcpServers;
  /** @type {TaskEvents} */
  #taskEvents;
  /** @type {RegistryState} */
  #state;
  /** @type {TeamMessages} */
  #teamMessages;
  /** @type {HttpEndpoints} */
  #http;
  /** @type {Promise<void> | undefined} */
  #closing;

  static {
    isRegistry = (value) => typeof value === "object" && value !== null && #native in value;
  }

  /** @param {ToolRegistryOptions} options */
  constructor(options = {}) {
    try {
      const { messageBus, settings } = readOptions(options, this.#functions, this);
      this.#serverName = settings.serverName;
      this.#version = settings.version;
      this.#native = openNative(encodeOptions(settings), this.#functions.listener(), messageBus);
      this.#bus = messageBus;
      /** @type {DeclaredMessageBus} */
      this.messageBus = messageBus;
      this.#functions.answerTo(this.#native);
      this.#objects = new ToolObjects(this.#native, (name, id) => {
        const info = this.getToolInfo(name);
        return info && this.#sdkTool(info, id);
      });
      this.#calls = new RegistryCalls(this, {
        native: this.#native,
        objects: this.#objects,
        bus: messageBus,
      });
      this.#mcpServers = new McpServers(this, this.#native, this.#objects);
      this.#taskEvents = new TaskEvents(this.#native);
      this.#state = new RegistryState(this, this.#native);
      /** @type {RegistryConfig} */
      this.config = this.#state.config;
      // The warning that a grant could not be stored is an event too.
      if (settings.rememberGrants === "project" || settings.rememberGrants === "user") {
        this.#state.events.listen();
      }
      this.#teamMessages = new TeamMessages(this.#native);
      this.#http = new HttpEndpoints(this, this.#native);
      this.#instances = new McpInstances(
        (sessionId) => (send) => this.#native.openMcpLine(send, sessionId),
      );
    } catch (error) {
      throw misuseOf(asToolError(error), "new ToolRegistry");
    }
  }

  /** @returns {Promise<ToolRegistrationResult>} */
  async initialize() {
    this.#native.beginIndexing();
    await this.#state.loadGrants();
    const [plugins, servers] = await Promise.all([
      this.reloadPlugins(),
      this.#mcpServers.connectConfigured(),
    ]);
    // Asked for afterwards, because a rule may name a plugin tool.
    /** @type {PolicyLint[]} */
    const unknown = JSON.parse(this.#native.unknownTools());
    const rules = unknown.map(({ rule, message }) => ({
      source: `${rule.place} of the policy (${rule.layer})`,
      toolName: rule.text,
      message,
    }));
    const errors = [...plugins.errors, ...servers, ...rules];
    const success = plugins.success && servers.length === 0;
    return { success, toolCount: this.getToolCount(), errors };
  }

  /** @returns {Promise<ToolRegistrationResult>} */
  async reloadPlugins() {
    return new WorkUnderWay(this).during(async () => {
      /** @type {ToolRegistrationError[]} */
      const errors = JSON.parse(await this.#native.loadPlugins());
      this.#objects.forgetOutdated();
      return { success: errors.length === 0, toolCount: this.getToolCount(), errors };
    });
  }

  /**
   * @template TInput
   * @param {HostTool<TInput> | DeclarativeTool<TInput>} object
   */
  register(object) {
    const { spec, handler, invocations } = readHostTool(object, this.#bus);
    this.#add(spec, handler, { object, invocations });
  }

  /** @param {string} name */
  unregister(name) {
    const removed = this.#native.unregister(checkedToolName(name)) ?? undefined;
    if (removed === undefined) return false;
    this.#objects.remove([removed]);
    return true;
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

  /** @returns {AnyTool[]} */
  list() {
    return this.names().flatMap((name) => this.#objects.get(name) ?? []);
  }

  names() {
    return this.#native.names();
  }

  /** @param {string} name */
  hasTool(name) {
    return (this.#native.lookup(checkedToolName(name)) ?? undefined) !== undefined;
  }

  getToolCount() {
    return this.#native.count();
  }

  /** @returns {RegisteredToolInfo[]} */
  listTools() {
    return JSON.parse(this.#native.infos());
  }

  /**
   * @param {string} name
   * @returns {RegisteredToolInfo | undefined}
   */
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

  /**
   * @param {string} name
   * @param {SessionOptions} options
   */
  isAllowed(name, { sessionId } = {}) {
    factsOf({ sessionId });
    return this.#native.isAllowed(checkedToolName(name), sessionId);
  }

  /** @param {string} name */
  isDisabled(name) {
    return this.#native.isDisabled(checkedToolName(name));
  }

  /**
   * @param {string[]} names
   * @returns {this}
   */
  disable(...names) {
    unwrap(this.#native.disable(names.flat().map(checkedToolName)));
    this.#objects.forgetOutdated();
    return this;
  }

  /**
   * @param {string[]} names
   * @returns {this}
   */
  enable(...names) {
    unwrap(this.#native.enable(names.flat().map(checkedToolName)));
    this.#objects.forgetOutdated();
    return this;
  }

  /**
   * @param {string[]} names
   * @returns {this}
   */
  withAllowed(...names) {
    unwrap(this.#native.allow(names.flat().map(checkedToolName)));
    return this;
  }

  /**
   * @param {string} name
   * @param {unknown} [input]
   * @param {SessionOptions} [options]
   * @returns {ExplainedCall}
   */
  explain(name, input, options) {
    const { sessionId } = optionsOf(options, "explain");
    factsOf({ sessionId });
    return unwrap(this.#native.explain(checkedToolName(name), encodeInput(input ?? {}), sessionId));
  }

  /**
   * @param {PolicyConfig | null} policy
   * @returns {this}
   */
  setPolicy(policy) {
    unwrap(this.#native.setPolicy(encodePolicy(policy)));
    return this;
  }

  /** @returns {this} */
  reloadPolicy() {
    unwrap(this.#native.reloadPolicy());
    return this;
  }

  /**
   * @param {PermissionMode | null} mode
   * @param {SessionOptions} [options]
   * @returns {this}
   */
  setPermissionMode(mode, options) {
    const { sessionId } = optionsOf(options, "setPermissionMode");
    factsOf({ sessionId });
    // `null` removes the mode of a session, which then follows the registry again.
    const isMode = typeof mode === "string";
    if (isMode && sessionId === undefined) unwrap(this.#native.setPermissionMode(mode));
    else if (sessionId !== undefined && (isMode || mode === null)) {
      unwrap(this.#native.setSessionMode(sessionId, mode ?? undefined));
    } else {
      throw new ToolError(
        "InvalidOptions",
        `a permission mode must be a string, got ${shown(mode)}`,
      );
    }
    return this;
  }

  /**
   * @param {SessionOptions} [options]
   * @returns {PermissionMode}
   */
  getPermissionMode(options) {
    const { sessionId } = optionsOf(options, "getPermissionMode");
    factsOf({ sessionId });
    return /** @type {PermissionMode} */ (this.#native.permissionMode(sessionId));
  }

  /**
   * @param {string | readonly string[]} names
   * @param {{ sessionId: string }} options
   * @returns {this}
   */
  limitTools(names, options) {
    const { sessionId } = optionsOf(options, "limitTools");
    if (typeof sessionId !== "string") {
      throw new ToolError(
        "InvalidOptions",
        `limitTools() takes the \`sessionId\` of a session, got ${shown(sessionId)}`,
      );
    }
    unwrap(this.#native.limitTools(sessionId, [names].flat().map(checkedToolName)));
    return this;
  }

  /** @returns {PolicyLint[]} */
  lintPolicy() {
    return JSON.parse(this.#native.lintPolicy());
  }

  /**
   * @template TInput
   * @param {McpToolConfig<TInput>} tool
   */
  registerMcpTool(tool) {
    const { spec, handler } = readMcpTool(tool, this.#bus);
    return this.#add(spec, handler);
  }

  /** @param {string} prefix */
  unregisterMcpTools(prefix) {
    const removed = this.#native.unregisterMcpTools(checkedToolName(prefix));
    this.#objects.remove(removed);
    return removed.length;
  }

  /**
   * @param {string} name
   * @param {McpServerConfig} config
   * @returns {Promise<McpServerStatus>}
   */
  async connectMcpServer(name, config) {
    return this.#mcpServers.connect(name, config);
  }

  /**
   * @param {string} name
   * @returns {Promise<boolean>}
   */
  async disconnectMcpServer(name) {
    return this.#mcpServers.disconnect(name);
  }

  /** @returns {McpServerStatus[]} */
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

  /**
   * @param {string} toolUseId
   * @param {SessionOptions} [options]
   * @returns {Promise<UndoneChange[]>}
   */
  async undo(toolUseId, options) {
    const { sessionId } = optionsOf(options, "undo");
    if (typeof toolUseId !== "string") {
      throw new ToolError(
        "InvalidOptions",
        `undo() takes the toolUseId of a call, got ${shown(toolUseId)}`,
      );
    }
    factsOf({ sessionId });
    return this.#calls.undo(toolUseId, sessionId);
  }

  /**
   * @template {keyof TurnResults} [Format="anthropic"]
   * @param {readonly TurnBlock[] | null | undefined} blocks
   * @param {TurnOptions<Format>} [options]
   * @returns {Promise<TurnResults[Format]>}
   */
  async executeTools(blocks, options) {
    return this.#calls.turn(blocks, optionsOf(options, "executeTools"));
  }

  /**
   * @param {SessionOptions} [options]
   * @returns {McpSdkServerConfig}
   */
  toMcpServerConfig(options) {
    const { sessionId } = optionsOf(options, "toMcpServerConfig");
    factsOf({ sessionId });
    const instance = this.#instances.of(sessionId);
    if (this.#closing) void endInstance(instance);
    const tools = this.listTools()
      .filter(({ name, disabled }) => !disabled && this.#native.offers(name, sessionId))
      .map((info) => this.#sdkTool(info, undefined, sessionId));
    return { type: "sdk", name: this.#serverName, version: this.#version, tools, instance };
  }

  async serveStdio() {
    if (this.#closing)
      throw new ToolError("RegistryClosed", "the registry is closed; create a new one");
    await serveStdio(this, this.#native);
  }

  getAllowedToolNames() {
    // Agent hosts replace the characters that some providers do not allow in a tool's name.
    const server = this.#serverName.replaceAll(/[^a-zA-Z0-9_-]/g, "_");
    return this.definitions("mcp").map(({ name }) => `mcp__${server}__${name}`);
  }

  /** @returns {IndexStatus[]} */
  indexStatus() {
    return JSON.parse(this.#native.indexStatus());
  }

  /** @returns {TaskInfo[]} */
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
    if (name === "task") this.#taskEvents.add(listener, options);
    else this.#state.events.add(checkedEvent(name), listener);
    return this;
  }

  /**
   * @param {string} name
   * @param {Function} listener
   * @returns {this}
   */
  off(name, listener) {
    if (name === "task") this.#taskEvents.remove(listener);
    else this.#state.events.remove(checkedEvent(name), listener);
    return this;
  }

  /**
   * @param {SessionOptions} [options]
   * @returns {Promise<TodoItem[]>}
   */
  async todos(options) {
    const { sessionId } = optionsOf(options, "todos");
    factsOf({ sessionId });
    return this.#state.todos(sessionId);
  }

  /** @returns {Promise<Grant[]>} */
  async grants() {
    return this.#state.grants();
  }

  /**
   * @param {string} rule
   * @returns {Promise<boolean>}
   */
  async forgetGrant(rule) {
    return this.#state.forgetGrant(rule);
  }

  /**
   * @param {TaskEventOptions} [options]
   * @returns {TaskEventIterator}
   */
  taskEvents(options) {
    return this.#taskEvents.iterate(options);
  }

  /**
   * @param {SessionOptions & { signal?: AbortSignal | undefined }} [options]
   * @returns {TeamMessageIterator}
   */
  teamMessages(options) {
    const { sessionId, signal } = optionsOf(options, "teamMessages");
    factsOf({ sessionId });
    return this.#teamMessages.iterate(sessionId, signal);
  }

  /**
   * @param {Request} request
   * @param {HttpFetchOptions} [options]
   * @returns {Promise<Response>}
   */
  async fetch(request, options) {
    return this.#http.fetch(request, optionsOf(options, "fetch"));
  }

  /**
   * @param {HttpServeOptions} [options]
   * @returns {Promise<RegistryServer>}
   */
  async serve(options) {
    return this.#http.serve(optionsOf(options, "serve"));
  }

  /** @returns {Promise<void>} */
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
    // Not awaited: a transport may take long to close, or never do it.
    this.#instances.end();
    await Promise.all([this.#http.close(), this.#native.close()]);
    // A closed addon ends every call at once, also a call that waits for a person or a hook.
    await this.#calls.over();
    // The last events of calls and tasks are still queued; let them arrive first.
    await new Promise(setImmediate);
    this.#native.release();
    this.#functions.close();
    this.#taskEvents.close();
    this.#state.close();
    leaveBus(this.#bus);
  }

  /**
   * @param {ToolSpec} spec
   * @param {HostFunction} handler
   * @param {{ object?: AnyTool, invocations?: OwnInvocations | undefined }} [own] what a host's own tool has besides
   */
  #add(spec, handler, { object, invocations } = {}) {
    const specJson = encodeSpec(spec);
    const number = this.#functions.addHandler(handler, invocations);
    /** @type {{ id: number, name: string }} */
    const { id, name } = unwrap(this.#native.register(specJson, number));
    this.#objects.replace(name, id, object);
    return name;
  }

  /**
   * The given bus, if it is one and not the registry's own. Anything else counts as not given.
   *
   * @param {unknown} bus
   */
  #otherBus(bus) {
    return isBus(bus) && bus !== this.#bus ? bus : undefined;
  }

  /**
   * A registered tool as an object for hosts. Its handler calls the tool through the registry. With a session,
   * all calls belong to it, also if the caller names another one.
   *
   * @param {RegisteredToolInfo} info
   * @param {number} [registration]
   * @param {string} [session]
   * @returns {RegisteredTool}
   */
  #sdkTool({ name, title, description, inputSchema, annotations, source }, registration, session) {
    return {
      name,
      displayName: title,
      description,
      inputSchema,
      annotations,
      source,
      schema: { name, description, parameters: inputSchema },
      handler: guarded(
        async (
          /** @type {unknown} */ args,
          /** @type {Pick<CallOptions, "toolUseId" | "sessionId" | "signal"> | undefined} */ context,
        ) => {
          const { toolUseId, sessionId, signal } = optionsOf(context, `${name}.handler`);
          const given = { toolUseId, sessionId: session ?? sessionId, signal, registration };
          return this.#calls.call(name, args, AnswerView.Handler, given);
        },
        `${name}.handler`,
      ),
      createInvocation: guarded(
        (/** @type {unknown} */ params, /** @type {unknown} */ messageBus) =>
          this.#calls.invocation(
            name,
            params,
            { registration, sessionId: session },
            this.#otherBus(messageBus),
          ),
        `${name}.createInvocation`,
      ),
    };
  }
}

guardClass(ToolRegistry, isRegistry);
// The guarded `close`, which throws ToolErrors only.
ToolRegistry.prototype[ASYNC_DISPOSE] = ToolRegistry.prototype.close;

/**
 * Checks the options, and completes them for the addon, which knows functions by their number.
 *
 * @param {ToolRegistryOptions} options
 * @param {HostFunctions} functions
 * @param {DeclaredToolRegistry} registry
 */
function readOptions(options, functions, registry) {
  if (options === null || typeof options !== "object") {
    throw new ToolError("InvalidOptions", `options must be an object, got ${shown(options)}`);
  }
  const { handlers, hooks, messageBus = new MessageBus(), store, ...plain } = options;
  if (!isBus(messageBus)) {
    throw new ToolError(
      "InvalidOptions",
      `\`messageBus\` must be a MessageBus, got ${shown(messageBus)}`,
    );
  }
  const settings = {
    ...plain,
    // For the addon, an empty path means that no file is read.
    ...(plain.userPolicyFile === false ? { userPolicyFile: "" } : {}),
    ...(plain.pluginDir === false ? { pluginDir: "" } : {}),
    handlers: readHandlers(handlers, functions, registry),
    hooks: readHooks(hooks, functions),
    storeKind: undefined,
    ...readStore(store, functions),
    toolsets: plain.toolsets ?? [],
    projectPath: plain.projectPath ?? process.cwd(),
    serverName: plain.serverName ?? "toolwright",
    version: plain.version ?? version,
    processEnv: { ...process.env },
  };
  return { messageBus, settings };
}

/**
 * @param {string} settings
 * @param {ReturnType<HostFunctions["listener"]>} listener
 * @param {MessageBus} bus
 */
function openNative(settings, listener, bus) {
  const nativeBus = joinBus(bus);
  try {
    return new native.NativeRegistry(settings, listener, nativeBus, indexPool);
  } catch (error) {
    leaveBus(bus);
    throw error;
  }
}

/**
 * Returns the name of an event of lasting state, or throws when there is no such event.
 *
 * @param {string} name
 */
function checkedEvent(name) {
  const event = STATE_EVENTS.find((it) => it === name);
  if (event !== undefined) return event;
  const known = ["task", ...STATE_EVENTS].map((it) => `\`"${it}"\``).join(", ");
  throw new ToolError("InvalidOptions", `the events are ${known}, got ${shown(name)}`);
}

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
