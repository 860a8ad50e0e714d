"use strict";

const native = require("./native.js");
const { version } = require("../package.json");
const { checkSignal, withHandle, withSignal } = require("./abort.js");
const { guardClass, guarded, misuseOf, optionalText, optionsOf } = require("./boundary.js");
const { ToolError, asToolError, shown, unwrap } = require("./errors.js");
const { HostFunctions } = require("./host-functions.js");
const { isDeclarative, readHostTool } = require("./host-tool.js");
const { readHooks } = require("./hooks.js");
const { ToolInvocation } = require("./invocation.js");
const { encodeInput } = require("./json.js");
const { WorkUnderWay } = require("./lifetime.js");
const { McpInstance, endInstance } = require("./mcp-instance.js");
const { MessageBus, isBus, joinBus, leaveBus, withBus } = require("./message-bus.js");
const { settledNow } = require("./own-words.js");
const { encodePolicy } = require("./policy-engine.js");
const { withProgress } = require("./progress.js");
const { encodeOptions, encodeSpec, factsOf } = require("./registry-json.js");
const { TaskEvents } = require("./task-events.js");
const { readTurn } = require("./tool-use-block.js");

/** The shapes of an answer, as the addon is asked for them. */
const { AnswerView } = native;

let isRegistry;

/** A registry of tools: every call of every tool takes the same path through the addon. */
class ToolRegistry {
  #native;
  #serverName;
  #version;
  /** Kept here too, because anybody may put another in the place of the public field. */
  #bus;
  #functions = new HostFunctions();
  /** name → { id, object }; the id tells whether the addon still means the same registration. */
  #objects = new Map();
  /** The names of the built-in tools among them. */
  #builtins = new Set();
  #instance;
  #taskEvents;
  #calls = new WorkUnderWay(this);
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
    const { hooks, messageBus = new MessageBus(), ...plain } = options;
    if (!isBus(messageBus)) {
      throw new ToolError(
        "InvalidOptions",
        `\`messageBus\` must be a MessageBus, got ${shown(messageBus)}`,
      );
    }
    // In the addon an empty path means that no file is read.
    if (plain.userPolicyFile === false) plain.userPolicyFile = "";
    const settings = {
      ...plain,
      hooks: readHooks(hooks, this.#functions),
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
      this.#native = new native.NativeRegistry(settingsJson, this.#functions.listener(), nativeBus);
    } catch (error) {
      leaveBus(messageBus);
      throw error;
    }
    this.messageBus = this.#bus = messageBus;
    this.#functions.answerTo(this.#native);
    this.#taskEvents = new TaskEvents(this.#native);
  }

  async initialize() {
    const errors = JSON.parse(this.#native.unknownTools()).map(({ rule, message }) => ({
      source: `${rule.place} of the policy (${rule.layer})`,
      toolName: rule.text,
      message,
    }));
    return { success: true, toolCount: this.getToolCount(), errors };
  }

  register(object) {
    const { spec, handler, invocations } = readHostTool(object, this.#bus);
    this.#add(spec, handler, { object, invocations });
  }

  unregister(name) {
    const removed = this.#native.unregister(checkedName(name)) ?? undefined;
    if (removed === undefined) return false;
    this.#builtins.delete(removed);
    this.#objects.delete(removed);
    this.#forgetOutdated();
    return true;
  }

  get(name) {
    const id = this.#native.lookup(checkedName(name)) ?? undefined;
    if (id === undefined) return undefined;
    const known = this.#objects.get(name);
    if (known?.id === id) return known.object;
    const object = this.#sdkTool(this.getToolInfo(name), id);
    // Under its real name, so that an alias gives the very same object.
    const real = this.#objects.get(object.name);
    if (real?.id === id) return real.object;
    this.#objects.set(object.name, { id, object });
    if (object.source === "builtin") this.#builtins.add(object.name);
    return object;
  }

  list() {
    return this.names().map((name) => this.get(name));
  }

  names() {
    return this.#native.names();
  }

  hasTool(name) {
    return (this.#native.lookup(checkedName(name)) ?? undefined) !== undefined;
  }

  getToolCount() {
    return this.#native.count();
  }

  listTools() {
    return JSON.parse(this.#native.infos());
  }

  getToolInfo(name) {
    const json = this.#native.info(checkedName(name)) ?? undefined;
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
    return this.#native.isAllowed(checkedName(name), sessionId);
  }

  isDisabled(name) {
    return this.#native.isDisabled(checkedName(name));
  }

  disable(...names) {
    unwrap(this.#native.disable(names.flat().map(checkedName)));
    this.#forgetOutdated();
    return this;
  }

  enable(...names) {
    unwrap(this.#native.enable(names.flat().map(checkedName)));
    this.#forgetOutdated();
    return this;
  }

  withAllowed(...names) {
    unwrap(this.#native.allow(names.flat().map(checkedName)));
    return this;
  }

  explain(name, input, options) {
    const { sessionId } = optionsOf(options, "explain");
    factsOf({ sessionId });
    return unwrap(this.#native.explain(checkedName(name), encodeInput(input ?? {}), sessionId));
  }

  setPolicy(policy) {
    unwrap(this.#native.setPolicy(encodePolicy(policy)));
    return this;
  }

  reloadPolicy() {
    unwrap(this.#native.reloadPolicy());
    return this;
  }

  setPermissionMode(mode) {
    if (typeof mode !== "string") {
      throw new ToolError(
        "InvalidOptions",
        `a permission mode must be a string, got ${shown(mode)}`,
      );
    }
    unwrap(this.#native.setPermissionMode(mode));
    return this;
  }

  lintPolicy() {
    return JSON.parse(this.#native.lintPolicy());
  }

  registerMcpTool(tool) {
    const { serverName, toolName, client, handler, ...rest } = tool ?? {};
    const callable = typeof handler === "function" || typeof client?.callTool === "function";
    if (typeof serverName !== "string" || typeof toolName !== "string" || !callable) {
      throw new ToolError(
        "InvalidTool",
        "registerMcpTool() takes { serverName, toolName, description, inputSchema, handler or client }",
      );
    }
    const call =
      handler ??
      ((args, { signal }) =>
        client.callTool({ name: toolName, arguments: args }, undefined, { signal }));
    const { spec, handler: run } = readHostTool({ ...rest, name: toolName, handler: call });
    return this.#add({ ...spec, mcpServer: serverName }, run);
  }

  unregisterMcpTools(prefix) {
    const removed = this.#native.unregisterMcpTools(checkedName(prefix));
    for (const name of removed) this.#objects.delete(name);
    return removed.length;
  }

  createInvocation(name, params, options) {
    const { toolUseId, sessionId } = optionsOf(options, "createInvocation");
    return this.#invocation(checkedName(name), params, { toolUseId, sessionId });
  }

  /** @param bus where people are asked about the call, where that is not our own */
  #invocation(name, params, facts, bus) {
    const factsJson = factsOf(facts);
    let inputJson;
    let problem;
    try {
      inputJson = encodeInput(params);
    } catch (error) {
      // Said by `execute`, as every other fault of the input is.
      inputJson = "null";
      problem = error;
    }
    const describe = () => this.#native.describe(name, inputJson, factsJson);
    const id = this.#native.lookup(name) ?? undefined;
    // Refused here, in the words a call would be answered with.
    if (id === undefined || this.#closing) unwrap(describe());
    const known = this.#objects.get(name);
    const isOwn = facts.registration === undefined && known?.id === id;
    return new ToolInvocation({
      toolName: name,
      params,
      describe,
      question: (handle) =>
        this.#calls.during(() => this.#native.question(name, inputJson, factsJson, handle)),
      own:
        isOwn && isDeclarative(known.object)
          ? this.#ownInvocation(known.object, params)
          : undefined,
      execute: (options) =>
        problem
          ? invocationFailure(problem)
          : this.#execute(name, inputJson, { ...options, ...facts, bus }),
    });
  }

  /** Only asked to describe itself; what is wrong with the input is said by `execute`. */
  #ownInvocation(declarative, params) {
    return settledNow(() => declarative.createInvocation(params, this.#bus));
  }

  async call(name, input, options) {
    const { toolUseId, sessionId, signal, onProgress } = optionsOf(options, "call");
    const given = { toolUseId, sessionId, signal, onProgress };
    return this.#call(checkedName(name), input, AnswerView.Result, given);
  }

  async #call(name, input, view, options) {
    let inputJson;
    try {
      inputJson = encodeInput(input);
    } catch (error) {
      return callFailure(error);
    }
    return this.#run(name, inputJson, view, options);
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
    return this.#calls.during(async () => unwrap(await this.#native.undo(toolUseId, sessionId)));
  }

  async executeTools(blocks, options) {
    const given = optionsOf(options, "executeTools");
    const { format, signal, onProgress, sessionId, parallelReads } = given;
    const calls = JSON.stringify(readTurn(blocks));
    const facts = factsOf({ sessionId });
    const results = optionalText(format, "format") ?? "anthropic";
    checkSignal(signal);
    return this.#calls.during(() =>
      withHandle(signal, (handle) =>
        withProgress(onProgress, async (listener) => {
          const isParallel = parallelReads === true;
          return unwrap(
            await this.#native.callAll(calls, results, isParallel, facts, handle, listener),
          );
        }),
      ),
    );
  }

  toMcpServerConfig() {
    this.#instance ??= new McpInstance((send) => this.#native.openMcpLine(send));
    if (this.#closing) void endInstance(this.#instance);
    const tools = this.listTools()
      .filter(({ disabled }) => !disabled)
      .map((info) => this.#sdkTool(info));
    return {
      type: "sdk",
      name: this.#serverName,
      version: this.#version,
      tools,
      instance: this.#instance,
    };
  }

  getAllowedToolNames() {
    // Agent hosts write the server's name in the characters that every provider takes.
    const server = this.#serverName.replaceAll(/[^a-zA-Z0-9_-]/g, "_");
    return this.definitions("mcp").map(({ name }) => `mcp__${server}__${name}`);
  }

  tasks() {
    return JSON.parse(this.#native.tasks());
  }

  on(name, listener, options) {
    this.#taskEvents.add(checkedEvent(name), listener, options);
    return this;
  }

  off(name, listener) {
    this.#taskEvents.remove(checkedEvent(name), listener);
    return this;
  }

  taskEvents(options) {
    return this.#taskEvents.iterate(options);
  }

  async close() {
    this.#closing ??= new WorkUnderWay(this).during(() => this.#close());
    await this.#closing;
  }

  /** Ends all there is, and lets go of every callback that the addon has of us. */
  async #close() {
    // A transport that takes its time to close, or never does, keeps nobody waiting.
    if (this.#instance !== undefined) void endInstance(this.#instance);
    await this.#native.close();
    // Closed, the addon ends every call at once, whatever it waited for.
    await this.#calls.over();
    // What the end of calls and tasks had to tell is on its way.
    await new Promise(setImmediate);
    this.#native.release();
    this.#functions.close();
    this.#taskEvents.close();
    leaveBus(this.#bus);
  }

  #add(spec, handler, { object, invocations } = {}) {
    const specJson = encodeSpec(spec);
    const number = this.#functions.addHandler(handler, invocations);
    const { id, name } = unwrap(this.#native.register(specJson, number));
    this.#builtins.delete(name);
    if (object === undefined) this.#objects.delete(name);
    else this.#objects.set(name, { id, object });
    this.#forgetOutdated();
    return name;
  }

  /** Which of the tools tells a model where the workspace is depends on the others. */
  #forgetOutdated() {
    for (const name of this.#builtins) {
      const known = this.#objects.get(name)?.object.description;
      if (this.getToolInfo(name)?.description === known) continue;
      this.#builtins.delete(name);
      this.#objects.delete(name);
    }
  }

  async #execute(name, inputJson, options) {
    const result = await this.#run(name, inputJson, AnswerView.Invocation, options);
    // The addon does not send the same text twice.
    result.returnDisplay ??= result.llmContent;
    return result;
  }

  async #run(name, inputJson, view, { signal, onProgress, bus, ...given }) {
    const facts = factsOf(given);
    this.#calls.begin();
    try {
      if (signal === undefined && onProgress === undefined && bus === undefined) {
        return unwrap(await this.#native.call(name, inputJson, view, facts));
      }
      return await withSignal(signal, (handle) =>
        withProgress(onProgress, (listener) =>
          withBus(bus, async (nativeBus) => {
            const call = this.#native.call(
              name,
              inputJson,
              view,
              facts,
              handle,
              listener,
              nativeBus,
            );
            return unwrap(await call, signal);
          }),
        ),
      );
    } finally {
      this.#calls.end();
    }
  }

  /** A bus that is not ours. Whatever else is given is none, and our own is asked. */
  #otherBus(bus) {
    return isBus(bus) && bus !== this.#bus ? bus : undefined;
  }

  /** A registered tool as hosts take it: an object with a handler that goes the whole path. */
  #sdkTool({ name, title, description, inputSchema, annotations, source }, registration) {
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
        const given = { toolUseId, sessionId, signal, registration };
        return this.#call(name, args, AnswerView.Handler, given);
      }, `${name}.handler`),
      createInvocation: guarded(
        (params, messageBus) =>
          this.#invocation(name, params, { registration }, this.#otherBus(messageBus)),
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

function checkedEvent(name) {
  if (name === "task") return name;
  throw new ToolError("InvalidOptions", `the only event is \`"task"\`, got ${shown(name)}`);
}

function checkedName(name) {
  if (typeof name !== "string") {
    throw new ToolError("InvalidOptions", `a tool's name must be a string, got ${shown(name)}`);
  }
  return name;
}

function callFailure({ type, message }) {
  return { content: [{ type: "text", text: message }], isError: true, error: { type, message } };
}

function invocationFailure({ type, message }) {
  return { llmContent: `Error: ${message}`, returnDisplay: message, error: { type, message } };
}

module.exports = {
  ToolRegistry,
  createToolRegistry: guarded(createToolRegistry, "createToolRegistry"),
};
