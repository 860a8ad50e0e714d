"use strict";

const native = require("./native.js");
const { version } = require("../package.json");
const {
  checkedToolName,
  guardClass,
  guarded,
  misuseOf,
  optionalText,
  optionsOf,
} = require("./boundary.js");
const { ToolError, asToolError, shown, unwrap } = require("./errors.js");
const { HostFunctions } = require("./host-functions.js");
const { readHostTool, readMcpTool } = require("./host-tool.js");
const { readHandlers } = require("./handlers.js");
const { readHooks } = require("./hooks.js");
const { HttpDoors } = require("./http-doors.js");
const { encodeInput } = require("./json.js");
const { WorkUnderWay } = require("./lifetime.js");
const { endInstance } = require("./mcp-instance.js");
const { McpInstances } = require("./mcp-instances.js");
const { McpServers } = require("./mcp-servers.js");
const { serveStdio } = require("./mcp-stdio.js");
const { MessageBus, isBus, joinBus, leaveBus } = require("./message-bus.js");
const { encodePolicy } = require("./policy-engine.js");
const { RegistryCalls } = require("./registry-calls.js");
const { encodeOptions, encodeSpec, factsOf } = require("./registry-json.js");
const { RegistryState } = require("./registry-state.js");
const { STATE_EVENTS } = require("./state-events.js");
const { readStore } = require("./store-option.js");
const { TaskEvents } = require("./task-events.js");
const { TeamMessages } = require("./team-messages.js");
const { ToolObjects } = require("./tool-objects.js");

const { AnswerView } = native;

/** Registries of the same workspace share an index. */
const indexPool = new native.NativeIndexPool();

let isRegistry;

/**
 * A registry of tools. The methods check what they are given and hand it to the addon, where every call
 * of every tool takes the same path.
 */
class ToolRegistry {
  #native;
  #serverName;
  #version;
  /** Also kept here, because the public field can be overwritten. */
  #bus;
  #functions = new HostFunctions();
  #objects;
  #calls;
  #instances;
  #mcpServers;
  #taskEvents;
  #state;
  #teamMessages;
  #http;
  #closing;

  static {
    isRegistry = (value) => typeof value === "object" && value !== null && #native in value;
  }

  constructor(options = {}) {
    try {
      this.#open(options);
    } catch (error) {
      throw misuseOf(asToolError(error), "new ToolRegistry");
    }
  }

  #open(options) {
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
    // For the addon, an empty path means that no file is read.
    if (plain.userPolicyFile === false) plain.userPolicyFile = "";
    if (plain.pluginDir === false) plain.pluginDir = "";
    const settings = {
      ...plain,
      handlers: readHandlers(handlers, this.#functions, this),
      hooks: readHooks(hooks, this.#functions),
      storeKind: undefined,
      ...readStore(store, this.#functions),
      toolsets: plain.toolsets ?? [],
      projectPath: plain.projectPath ?? process.cwd(),
      serverName: plain.serverName ?? "toolwright",
      version: plain.version ?? version,
      processEnv: { ...process.env },
    };
    this.#serverName = settings.serverName;
    this.#version = settings.version;
    const settingsJson = encodeOptions(settings);
    const nativeBus = joinBus(messageBus);
    try {
      this.#native = new native.NativeRegistry(
        settingsJson,
        this.#functions.listener(),
        nativeBus,
        indexPool,
      );
    } catch (error) {
      leaveBus(messageBus);
      throw error;
    }
    this.messageBus = this.#bus = messageBus;
    this.#functions.answerTo(this.#native);
    this.#objects = new ToolObjects(this.#native, (name, id) =>
      this.#sdkTool(this.getToolInfo(name), id),
    );
    this.#calls = new RegistryCalls(this, {
      native: this.#native,
      objects: this.#objects,
      bus: messageBus,
    });
    this.#mcpServers = new McpServers(this, this.#native, this.#objects);
    this.#taskEvents = new TaskEvents(this.#native);
    this.#state = new RegistryState(this, this.#native);
    this.config = this.#state.config;
    // Without a listener nobody would hear that a grant could not be kept.
    if (["project", "user"].includes(plain.rememberGrants)) this.#state.events.listen();
    this.#teamMessages = new TeamMessages(this.#native);
    this.#http = new HttpDoors(this, this.#native);
    this.#instances = new McpInstances(
      (sessionId) => (send) => this.#native.openMcpLine(send, sessionId),
    );
  }

  async initialize() {
    this.#native.beginIndexing();
    await this.#state.loadGrants();
    const [plugins, servers] = await Promise.all([
      this.reloadPlugins(),
      this.#mcpServers.connectConfigured(),
    ]);
    // Asked for afterwards, because a rule may name a plugin tool.
    const rules = JSON.parse(this.#native.unknownTools()).map(({ rule, message }) => ({
      source: `${rule.place} of the policy (${rule.layer})`,
      toolName: rule.text,
      message,
    }));
    const errors = [...plugins.errors, ...servers, ...rules];
    const success = plugins.success && servers.length === 0;
    return { success, toolCount: this.getToolCount(), errors };
  }

  async reloadPlugins() {
    return new WorkUnderWay(this).during(async () => {
      const errors = JSON.parse(await this.#native.loadPlugins());
      this.#objects.forgetOutdated();
      return { success: errors.length === 0, toolCount: this.getToolCount(), errors };
    });
  }

  register(object) {
    const { spec, handler, invocations } = readHostTool(object, this.#bus);
    this.#add(spec, handler, { object, invocations });
  }

  unregister(name) {
    const removed = this.#native.unregister(checkedToolName(name)) ?? undefined;
    if (removed === undefined) return false;
    this.#objects.remove([removed]);
    return true;
  }

  get(name) {
    return this.#objects.get(checkedToolName(name));
  }

  list() {
    return this.names().map((name) => this.get(name));
  }

  names() {
    return this.#native.names();
  }

  hasTool(name) {
    return (this.#native.lookup(checkedToolName(name)) ?? undefined) !== undefined;
  }

  getToolCount() {
    return this.#native.count();
  }

  listTools() {
    return JSON.parse(this.#native.infos());
  }

  getToolInfo(name) {
    const json = this.#native.info(checkedToolName(name)) ?? undefined;
    return json === undefined ? undefined : JSON.parse(json);
  }

  getFunctionSchemas() {
    return this.definitions("anthropic").map(({ name, description, input_schema: parameters }) => ({
      name,
      description,
      parameters,
    }));
  }

  definitions(format, options) {
    const { strict } = optionsOf(options, "definitions");
    const name = optionalText(format, "format") ?? "mcp";
    return unwrap(this.#native.definitions(name, strict === true));
  }

  isAllowed(name, { sessionId } = {}) {
    factsOf({ sessionId });
    return this.#native.isAllowed(checkedToolName(name), sessionId);
  }

  isDisabled(name) {
    return this.#native.isDisabled(checkedToolName(name));
  }

  disable(...names) {
    unwrap(this.#native.disable(names.flat().map(checkedToolName)));
    this.#objects.forgetOutdated();
    return this;
  }

  enable(...names) {
    unwrap(this.#native.enable(names.flat().map(checkedToolName)));
    this.#objects.forgetOutdated();
    return this;
  }

  withAllowed(...names) {
    unwrap(this.#native.allow(names.flat().map(checkedToolName)));
    return this;
  }

  explain(name, input, options) {
    const { sessionId } = optionsOf(options, "explain");
    factsOf({ sessionId });
    return unwrap(this.#native.explain(checkedToolName(name), encodeInput(input ?? {}), sessionId));
  }

  setPolicy(policy) {
    unwrap(this.#native.setPolicy(encodePolicy(policy)));
    return this;
  }

  reloadPolicy() {
    unwrap(this.#native.reloadPolicy());
    return this;
  }

  setPermissionMode(mode, options) {
    const { sessionId } = optionsOf(options, "setPermissionMode");
    factsOf({ sessionId });
    // A session without a mode of its own follows the registry.
    const isLifted = mode === null && sessionId !== undefined;
    if (typeof mode !== "string" && !isLifted) {
      throw new ToolError(
        "InvalidOptions",
        `a permission mode must be a string, got ${shown(mode)}`,
      );
    }
    if (sessionId === undefined) unwrap(this.#native.setPermissionMode(mode));
    else unwrap(this.#native.setSessionMode(sessionId, mode ?? undefined));
    return this;
  }

  getPermissionMode(options) {
    const { sessionId } = optionsOf(options, "getPermissionMode");
    factsOf({ sessionId });
    return this.#native.permissionMode(sessionId);
  }

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

  lintPolicy() {
    return JSON.parse(this.#native.lintPolicy());
  }

  registerMcpTool(tool) {
    const { spec, handler } = readMcpTool(tool);
    return this.#add(spec, handler);
  }

  unregisterMcpTools(prefix) {
    const removed = this.#native.unregisterMcpTools(checkedToolName(prefix));
    this.#objects.remove(removed);
    return removed.length;
  }

  async connectMcpServer(name, config) {
    return this.#mcpServers.connect(name, config);
  }

  async disconnectMcpServer(name) {
    return this.#mcpServers.disconnect(name);
  }

  mcpServerStatus() {
    return this.#mcpServers.status();
  }

  createInvocation(name, params, options) {
    const { toolUseId, sessionId } = optionsOf(options, "createInvocation");
    return this.#calls.invocation(checkedToolName(name), params, { toolUseId, sessionId });
  }

  async call(name, input, options) {
    const { toolUseId, sessionId, signal, onProgress } = optionsOf(options, "call");
    const given = { toolUseId, sessionId, signal, onProgress };
    return this.#calls.call(checkedToolName(name), input, AnswerView.Result, given);
  }

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

  async executeTools(blocks, options) {
    return this.#calls.turn(blocks, optionsOf(options, "executeTools"));
  }

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

  indexStatus() {
    return JSON.parse(this.#native.indexStatus());
  }

  tasks() {
    return JSON.parse(this.#native.tasks());
  }

  on(name, listener, options) {
    this.#eventsOf(name).add(name, listener, options);
    return this;
  }

  off(name, listener) {
    this.#eventsOf(name).remove(name, listener);
    return this;
  }

  async todos(options) {
    const { sessionId } = optionsOf(options, "todos");
    factsOf({ sessionId });
    return this.#state.todos(sessionId);
  }

  async grants() {
    return this.#state.grants();
  }

  async forgetGrant(rule) {
    return this.#state.forgetGrant(rule);
  }

  taskEvents(options) {
    return this.#taskEvents.iterate(options);
  }

  teamMessages(options) {
    const { sessionId, signal } = optionsOf(options, "teamMessages");
    factsOf({ sessionId });
    return this.#teamMessages.iterate(sessionId, signal);
  }

  async fetch(request, options) {
    return this.#http.fetch(request, optionsOf(options, "fetch"));
  }

  async serve(options) {
    return this.#http.serve(optionsOf(options, "serve"));
  }

  async close() {
    this.#closing ??= new WorkUnderWay(this).during(() => this.#close());
    await this.#closing;
  }

  /** Ends everything and drops every callback that the addon holds. */
  async #close() {
    this.#calls.close();
    // Not awaited: a transport may take long to close, or never do it.
    this.#instances.end();
    await Promise.all([this.#http.close(), this.#native.close()]);
    // A closed addon ends every call at once, whatever the call was waiting for.
    await this.#calls.over();
    // The last events of calls and tasks are still queued; let them arrive first.
    await new Promise(setImmediate);
    this.#native.release();
    this.#functions.close();
    this.#taskEvents.close();
    this.#state.close();
    leaveBus(this.#bus);
  }

  #add(spec, handler, { object, invocations } = {}) {
    const specJson = encodeSpec(spec);
    const number = this.#functions.addHandler(handler, invocations);
    const { id, name } = unwrap(this.#native.register(specJson, number));
    this.#objects.replace(name, id, object);
    return name;
  }

  #eventsOf(name) {
    if (name === "task") return this.#taskEvents;
    if (STATE_EVENTS.includes(name)) return this.#state.events;
    const known = ["task", ...STATE_EVENTS].map((it) => `\`"${it}"\``).join(", ");
    throw new ToolError("InvalidOptions", `the events are ${known}, got ${shown(name)}`);
  }

  /** The given bus, if it is one and not the registry's own. Anything else counts as not given. */
  #otherBus(bus) {
    return isBus(bus) && bus !== this.#bus ? bus : undefined;
  }

  /**
   * A registered tool as an object for hosts. Its handler calls the tool through the registry. With a session,
   * all calls belong to it, whatever the caller says.
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
      handler: guarded(async (args, context) => {
        const { toolUseId, sessionId, signal } = optionsOf(context, `${name}.handler`);
        const given = { toolUseId, sessionId: session ?? sessionId, signal, registration };
        return this.#calls.call(name, args, AnswerView.Handler, given);
      }, `${name}.handler`),
      createInvocation: guarded(
        (params, messageBus) =>
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

if (Symbol.asyncDispose) {
  ToolRegistry.prototype[Symbol.asyncDispose] = ToolRegistry.prototype.close;
}

/** A registry with the built-in tools of the chosen sets, by default those of Claude Code. */
function createToolRegistry(options) {
  const given = optionsOf(options, "createToolRegistry");
  return new ToolRegistry({ ...given, toolsets: given.toolsets ?? ["claude"] });
}

module.exports = {
  ToolRegistry,
  createToolRegistry: guarded(createToolRegistry, "createToolRegistry"),
};
