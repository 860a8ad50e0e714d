// A spawner of agents on top of the Claude Agent SDK, which the host has to install.

import type { SpawnAgent, ToolRegistry } from "../../index";

/** A kind of agent that models can ask for by `subagent_type`. */
export interface SdkAgentKind {
  /** Its system prompt. */
  prompt?: string | undefined;
  /** Its model, if the call names none. */
  model?: string | undefined;
  /** The only tools that it has. Default: all of the registry's. */
  tools?: readonly string[] | undefined;
}

/** Options of `agentSdkSpawner`. */
export interface AgentSdkSpawnerOptions {
  /** The kinds of agents, by name. Without any, every kind is the same; `general-purpose` is always there. */
  agents?: Readonly<Record<string, SdkAgentKind>> | undefined;
  /** The SDK's names for `sonnet`, `opus` and `haiku`. Default: the same names. */
  models?: Readonly<Record<string, string>> | undefined;
  /** The SDK's `query`, for a bundled program, which cannot load the package by its name. */
  query?: ((parameters: never) => AsyncIterable<unknown>) | undefined;
  /**
   * Further options for `query`, such as `env`, `cwd` or `pathToClaudeCodeExecutable`. Those that decide
   * what an agent may do, such as `tools` or `permissionMode`, are refused.
   */
  sdkOptions?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Makes a `handlers.spawnAgent` that runs agents with the Claude Agent SDK. An agent has the registry's tools in
 * its own session, and none of the SDK's tools, so that the registry's policy judges everything it does. A
 * registry without the handler uses this one if the SDK is installed.
 */
export declare function agentSdkSpawner(options?: AgentSdkSpawnerOptions): SpawnAgent;
export declare function agentSdkSpawner(
  registry: ToolRegistry | undefined,
  options?: AgentSdkSpawnerOptions,
): SpawnAgent;
