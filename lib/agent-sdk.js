"use strict";

// Runs the agents of the tool `Agent` with the Claude Agent SDK.

const { guarded, optionsOf } = require("./boundary.js");
const { ToolError, shown, wordsOf } = require("./errors.js");

/** Not written into `import()` itself: a bundler would look for the package, which need not be there. */
const SDK = "@anthropic-ai/claude-agent-sdk";

/** What the spawner decides itself. With another value, an agent could get past the registry's policy. */
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

/** The kind of agent that there always is. */
const GENERAL = "general-purpose";

/**
 * Makes a `spawnAgent` handler. Each agent gets the registry's tools in a session of its own, and none of
 * the SDK's, so that all it does passes the registry's policy.
 */
function agentSdkSpawner(registry, options) {
  // The registry can be left out: a handler is told which registry calls it.
  if (!hasConfig(registry) && options === undefined) [registry, options] = [undefined, registry];
  if (registry !== undefined && registry !== null && !hasConfig(registry)) {
    throw wrong(`the first argument must be a ToolRegistry, got ${shown(registry)}`);
  }
  const settings = readSettings(options);
  return (request, context) => new SdkAgent(settings, request, context, registry).run();
}

function hasConfig(registry) {
  return typeof registry === "object" && typeof registry?.toMcpServerConfig === "function";
}

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
  /** The SDK's own id of the agent, by which it is resumed. */
  #id;
  /** The text of the last message. It is shown when another one follows: the last one is the answer. */
  #text = "";

  constructor(settings, request, context, registry) {
    this.#settings = settings;
    this.#request = request;
    this.#context = context;
    this.#registry = registry ?? context.registry;
  }

  async run() {
    const kind = this.#kind();
    const query = this.#settings.query ?? (await loadSdk()).query;
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

  async #resultOf(messages) {
    let result;
    try {
      for await (const message of messages) {
        if (typeof message.session_id === "string") this.#id = message.session_id;
        if (message.type === "assistant") this.#hear(message.message?.content);
        if (message.type === "result") result = message;
      }
    } catch (error) {
      // The SDK throws after the result of an agent that failed, which says more than the error.
      if (result !== undefined && !this.#context.signal.aborted) return result;
      // Without an id, the SDK has not begun, and there is nothing to resume.
      if (this.#id === undefined) throw error;
      return { subtype: "error_during_execution", errors: [error] };
    }
    return result;
  }

  /** What the host says about the kind of agent that was asked for. */
  #kind() {
    const { agents } = this.#settings;
    const { subagent_type: name } = this.#request;
    if (Object.hasOwn(agents, name)) return agents[name];
    const known = Object.keys(agents);
    // A host that names no kinds takes them all for the same.
    if (known.length === 0 || name === GENERAL) return {};
    throw new ToolError(
      "AgentError",
      `no agent is of the kind \`${name}\`; there are ${[...known, GENERAL].map((it) => `\`${it}\``).join(", ")}`,
    );
  }

  #options(kind, server, abortController) {
    const { models, sdkOptions } = this.#settings;
    const { max_turns: maxTurns, model: asked, resume } = this.#request;
    const model = asked ?? kind.model;
    const options = {
      cwd: this.#context.projectPath,
      systemPrompt: kind.prompt ?? SYSTEM_PROMPT,
      ...sdkOptions,
      abortController,
      // No tool of the SDK, no server and no setting of this machine: only what the registry judges.
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

  #hear(content) {
    if (this.#text !== "") this.#context.updateOutput(`${this.#text}\n`);
    this.#text = "";
    for (const block of Array.isArray(content) ? content : []) {
      if (block.type === "text") this.#text += block.text;
      if (block.type !== "tool_use") continue;
      this.#steps += 1;
      this.#context.reportProgress({ progress: this.#steps, message: block.name });
    }
  }

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

function failureWords({ subtype, num_turns: turns, errors }) {
  if (subtype === "error_max_turns") return `the agent was stopped after ${turns} turns`;
  const causes = Array.isArray(errors) ? errors.map((it) => wordsOf(it)) : [];
  return ["the agent failed", ...causes].join(": ");
}

async function loadSdk() {
  try {
    return await import(SDK);
  } catch (cause) {
    const error = new ToolError(
      "AgentError",
      "no agent can be started here; do the work yourself",
      {
        cause,
      },
    );
    error.details = {
      reason: `no \`handlers.spawnAgent\` was given, and \`${SDK}\` cannot be loaded: ${wordsOf(cause)}`,
      howToAllow: `a host can allow it by the function \`handlers.spawnAgent\`, or by installing \`${SDK}\`, which is then used`,
    };
    throw error;
  }
}

function wrong(message) {
  return new ToolError("InvalidOptions", `agentSdkSpawner(): ${message}`);
}

module.exports = { agentSdkSpawner: guarded(agentSdkSpawner, "agentSdkSpawner") };
