"use strict";

// Runs the agents of the tool `Agent` with the Claude Agent SDK.

/**
 * @import { AgentAnswer, AgentContext, AgentRequest, SpawnAgent } from "../types/agents"
 * @import { McpSdkServerConfig } from "../types/mcp-host"
 * @import { ToolRegistry } from "../types/registry"
 * @import { AgentSdkSpawnerOptions, SdkAgentKind } from "./agent-sdk.js"
 * @typedef {{ type?: string, text?: string, name?: string }} SdkBlock a block of a message of an agent
 * @typedef {object} SdkMessage the fields that are read from a message of the SDK
 * @property {string} [type]
 * @property {string} [subtype]
 * @property {string} [session_id]
 * @property {{ content?: SdkBlock[] }} [message]
 * @property {string} [result]
 * @property {boolean} [is_error]
 * @property {number} [num_turns]
 * @property {number} [total_cost_usd]
 * @property {object} [usage]
 * @property {unknown[]} [errors]
 * @typedef {(parameters: { prompt: string, options: object }) => AsyncIterable<SdkMessage>} Query
 */

const { guarded, optionsOf } = require("../boundary/guards.js");
const { ToolError, shown, withDetails, wordsOf } = require("../boundary/errors.js");

/** Not written into `import()` itself: a bundler would look for the package, which need not be there. */
const SDK = "@anthropic-ai/claude-agent-sdk";

/** Options that the spawner sets itself. With another value, an agent could bypass the registry's policy. */
const DECIDED = [
  "abortController",
  "agents",
  "allowDangerouslySkipPermissions",
  "allowedTools",
  "canUseTool",
  "continue",
  "maxTurns",
  "mcpServers",
  "permissionMode",
  "plugins",
  "resume",
  "settingSources",
  "strictMcpConfig",
  "tools",
];

const SYSTEM_PROMPT =
  "You do one task for another agent, which sees only your last message. Work with the tools you have, and end with a message that holds everything the task asks for.";

/** The kind of agent that always exists. */
const GENERAL = "general-purpose";

/**
 * Makes a `spawnAgent` handler. Each agent gets the registry's tools in its own session, and none of the
 * SDK's tools, so that the registry's policy judges everything it does.
 *
 * @param {ToolRegistry | AgentSdkSpawnerOptions | null} [first] the registry, or the options if there is no registry
 * @param {AgentSdkSpawnerOptions} [second]
 * @returns {SpawnAgent}
 */
function agentSdkSpawner(first, second) {
  // The registry can be left out: a handler finds the registry that calls it in its context.
  if (!isRegistry(first) && second === undefined) return spawnerOf(undefined, readSettings(first));
  if (first !== undefined && first !== null && !isRegistry(first)) {
    throw wrong(`the first argument must be a ToolRegistry, got ${shown(first)}`);
  }
  return spawnerOf(first ?? undefined, readSettings(second));
}

/**
 * @param {ToolRegistry | undefined} registry
 * @param {Settings} settings
 * @returns {SpawnAgent}
 */
function spawnerOf(registry, settings) {
  return (request, context) => new SdkAgent(settings, request, context, registry).run();
}

/**
 * @param {unknown} value
 * @returns {value is ToolRegistry}
 */
function isRegistry(value) {
  return (
    typeof value === "object" &&
    value !== null &&
    "toMcpServerConfig" in value &&
    typeof value.toMcpServerConfig === "function"
  );
}

/**
 * @typedef {ReturnType<typeof readSettings>} Settings
 * @param {AgentSdkSpawnerOptions | null} [options]
 */
function readSettings(options) {
  const {
    agents = {},
    models = {},
    query,
    sdkOptions = {},
  } = optionsOf(options, "agentSdkSpawner");
  if (query !== undefined && typeof query !== "function") {
    throw wrong(`\`query\` must be the function of the SDK, got ${shown(query)}`);
  }
  for (const [name, value] of Object.entries({ agents, models, sdkOptions })) {
    if (value === null || typeof value !== "object") {
      throw wrong(`\`${name}\` must be an object, got ${shown(value)}`);
    }
  }
  const decided = DECIDED.filter((name) => sdkOptions[name] !== undefined);
  if (decided.length > 0) {
    throw wrong(
      `\`sdkOptions\` cannot have ${decided.map((it) => `\`${it}\``).join(", ")}: they are set for each agent, so that all it does passes the registry`,
    );
  }
  return { agents, models, query, sdkOptions };
}

/** One agent, from its start to its answer. */
class SdkAgent {
  #settings;
  #request;
  #context;
  #registry;
  #steps = 0;
  /**
   * The SDK's own id of the agent, by which it is resumed.
   *
   * @type {string | undefined}
   */
  #id;
  /** The text of the last message. It is shown when another one follows: the last one is the answer. */
  #text = "";

  /**
   * @param {Settings} settings
   * @param {AgentRequest} request
   * @param {AgentContext} context
   * @param {ToolRegistry | undefined} registry
   */
  constructor(settings, request, context, registry) {
    this.#settings = settings;
    this.#request = request;
    this.#context = context;
    this.#registry = registry ?? context.registry;
  }

  /** @returns {Promise<AgentAnswer>} */
  async run() {
    const kind = this.#kind();
    const query = /** @type {Query} */ (this.#settings.query ?? (await loadSdk()).query);
    if (kind.tools !== undefined) {
      this.#registry.limitTools(kind.tools, { sessionId: this.#context.sessionId });
    }
    const server = this.#registry.toMcpServerConfig({ sessionId: this.#context.sessionId });
    const controller = new AbortController();
    const abort = () => controller.abort();
    const { signal } = this.#context;
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    try {
      const options = this.#options(kind, server, controller);
      return this.#answer(await this.#resultOf(query({ prompt: this.#request.prompt, options })));
    } finally {
      signal.removeEventListener("abort", abort);
      await server.instance.close();
    }
  }

  /**
   * @param {AsyncIterable<SdkMessage>} messages
   * @returns {Promise<SdkMessage | undefined>}
   */
  async #resultOf(messages) {
    /** @type {SdkMessage | undefined} */
    let result;
    try {
      for await (const message of messages) {
        if (typeof message.session_id === "string") this.#id = message.session_id;
        if (message.type === "assistant") this.#receive(message.message?.content);
        if (message.type === "result") result = message;
      }
    } catch (error) {
      // The SDK throws after the result of an agent that failed. The result says more than the error.
      if (result !== undefined && !this.#context.signal.aborted) return result;
      // Without an id, the agent has not started, and there is nothing to resume.
      if (this.#id === undefined) throw error;
      return { subtype: "error_during_execution", errors: [error] };
    }
    return result;
  }

  /**
   * The host's settings for the kind of agent that the model asked for.
   *
   * @returns {SdkAgentKind}
   */
  #kind() {
    const { agents } = this.#settings;
    const { subagent_type: name } = this.#request;
    const kind = Object.hasOwn(agents, name) ? agents[name] : undefined;
    if (kind !== undefined) return kind;
    const known = Object.keys(agents);
    // If the host names no kinds, all kinds are the same.
    if (known.length === 0 || name === GENERAL) return {};
    throw new ToolError(
      "AgentError",
      `no agent is of the kind \`${name}\`; there are ${[...known, GENERAL].map((it) => `\`${it}\``).join(", ")}`,
    );
  }

  /**
   * @param {SdkAgentKind} kind
   * @param {McpSdkServerConfig} server
   * @param {AbortController} abortController
   */
  #options(kind, server, abortController) {
    const { models, sdkOptions } = this.#settings;
    const { max_turns: maxTurns, model: asked, resume } = this.#request;
    const model = asked ?? kind.model;
    /** @type {Record<string, unknown>} */
    const options = {
      cwd: this.#context.projectPath,
      systemPrompt: kind.prompt ?? SYSTEM_PROMPT,
      ...sdkOptions,
      abortController,
      // No tools of the SDK, and no servers or settings of this machine: only tools that the registry judges.
      tools: [],
      settingSources: [],
      strictMcpConfig: true,
      mcpServers: { [server.name]: server },
      allowedTools: [`mcp__${server.name.replaceAll(/[^a-zA-Z0-9_-]/g, "_")}`],
      permissionMode: "default",
    };
    if (kind.prompt !== undefined) options.systemPrompt = kind.prompt;
    if (model !== undefined) options.model = models[model] ?? model;
    if (maxTurns !== undefined) options.maxTurns = maxTurns;
    if (resume !== undefined) options.resume = resume;
    return options;
  }

  /** @param {SdkBlock[] | undefined} content */
  #receive(content) {
    if (this.#text !== "") this.#context.updateOutput(`${this.#text}\n`);
    this.#text = "";
    for (const block of Array.isArray(content) ? content : []) {
      if (block.type === "text") this.#text += block.text ?? "";
      if (block.type !== "tool_use") continue;
      this.#steps += 1;
      this.#context.reportProgress({ progress: this.#steps, message: block.name });
    }
  }

  /**
   * @param {SdkMessage | undefined} result
   * @returns {AgentAnswer}
   */
  #answer(result) {
    if (result === undefined) throw new ToolError("AgentError", "the agent ended without a result");
    const usage = {
      ...result.usage,
      turns: result.num_turns,
      totalCostUsd: result.total_cost_usd,
    };
    const answer = { agentId: result.session_id ?? this.#id, usage };
    if (result.subtype === "success" && !result.is_error) return { ...answer, text: result.result };
    const words = [result.result ?? this.#text, `[${failureWords(result)}]`];
    return { ...answer, text: words.filter(Boolean).join("\n\n"), isError: true };
  }
}

/** @param {SdkMessage} result */
function failureWords({ subtype, num_turns: turns, errors }) {
  if (subtype === "error_max_turns") return `the agent was stopped after ${turns} turns`;
  const causes = Array.isArray(errors) ? errors.map((it) => wordsOf(it)) : [];
  return ["the agent failed", ...causes].join(": ");
}

/** @returns {Promise<{ query: Query }>} */
async function loadSdk() {
  try {
    return await import(SDK);
  } catch (cause) {
    const message = "no agent can be started here; do the work yourself";
    throw withDetails(new ToolError("AgentError", message, { cause }), {
      reason: `no \`handlers.spawnAgent\` was given, and \`${SDK}\` cannot be loaded: ${wordsOf(cause)}`,
      howToAllow: `a host can allow it by the function \`handlers.spawnAgent\`, or by installing \`${SDK}\`, which is then used`,
    });
  }
}

/** @param {string} message */
function wrong(message) {
  return new ToolError("InvalidOptions", `agentSdkSpawner(): ${message}`);
}

/** @type {typeof import("./agent-sdk.js").agentSdkSpawner} */
const spawner = guarded(agentSdkSpawner, "agentSdkSpawner");

module.exports = { agentSdkSpawner: spawner };
