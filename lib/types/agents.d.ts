// Agents that the tool `Agent` starts, as the host's `handlers.spawnAgent` sees them.

import type { ToolInputs } from "../generated/tool-inputs";
import type { HandlerContext } from "./handlers";
import type { ToolRegistry } from "./registry";
import type { ToolContent } from "./results";
import type { TeamMessageIterator } from "./teams";

/** What a model asked for: the input of the tool `Agent`. */
export interface AgentRequest extends Omit<ToolInputs["Agent"], "resume"> {
  /** The agent to continue: the `agentId` of its last answer, or that of its context if it gave none. */
  resume?: string;
}

/** The second argument of `handlers.spawnAgent`. */
export interface AgentContext extends HandlerContext {
  /** The conversation of the agent. Calls that the agent makes have to name it. */
  readonly sessionId: string;
  /** The conversation that started the agent, whose rights the agent never exceeds. */
  readonly parentSessionId: string;
  /** The id by which the model can resume the agent. */
  readonly agentId: string;
  /** 1 for an agent that the host's own conversation started, 2 for one that such an agent started. */
  readonly depth: number;
  /** True when the model does not wait for the answer. `updateOutput` then adds to the task's output. */
  readonly background: boolean;
  /** The workspace of the registry. */
  readonly projectPath: string;
  /**
   * An iterator over the messages that other members of its team send to the agent. It ends when the agent
   * has agreed to be shut down. If it is not called, messages are added to the answers to the agent's calls.
   */
  messages(): TeamMessageIterator;
  /** The registry that the call came through. */
  readonly registry: ToolRegistry;
}

/** What an agent answered. */
export type AgentAnswer =
  | string
  | null
  | undefined
  | {
      /** The answer, for the model that started the agent. */
      text?: string | undefined;
      /** The same as `text`, or blocks of text and images. */
      content?: string | readonly ToolContent[] | undefined;
      /** The host's own id of the agent, such as the session id of an SDK. It comes back in `resume`. */
      agentId?: string | undefined;
      /** What the agent used, such as tokens. It is part of the result's data, up to 16 KiB as JSON. */
      usage?: Record<string, unknown> | undefined;
      /** True when the agent failed. */
      isError?: boolean | undefined;
    };

/**
 * Runs an agent until it has answered. When `context.signal` is aborted, the agent has to end: it has a
 * moment (`shell.graceMs`) for a last answer. If it throws, the message is shown to the model.
 */
export type SpawnAgent = (
  request: AgentRequest,
  context: AgentContext,
) => Promise<AgentAnswer> | AgentAnswer;
