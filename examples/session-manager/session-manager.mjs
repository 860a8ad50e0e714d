// Runs conversations of an agent with the tools of one registry, and forwards their events.

import { randomUUID } from "node:crypto";

/**
 * Runs one conversation and emits its events. `claude-code-tool-agent.mjs` and `agent-sdk.mjs` make a runner
 * from an agent.
 *
 * @callback AgentRunner
 * @param {{ prompt: string, cwd: string, mcpServers: object, allowedTools: string[], signal: AbortSignal }} work
 * @param {(type: "message" | "tool_use" | "tool_result" | "error", data: unknown) => void} emit
 * @returns {Promise<void>}
 */

/**
 * Makes a session manager.
 *
 * @param {{ toolRegistry: import("toolwright").ToolRegistry, runAgent: AgentRunner }} parts
 */
export function createSessionManager({ toolRegistry, runAgent }) {
  const sessions = new Map();

  function sessionOf(id) {
    const session = sessions.get(id);
    if (session === undefined) throw new Error(`there is no session \`${id}\``);
    return session;
  }

  async function execute(session) {
    const emit = (type, data) => {
      const event = { sessionId: session.id, type, data };
      for (const listener of session.listeners) {
        try {
          listener(event);
        } catch (error) {
          // A listener that throws stops neither the conversation nor the other listeners.
          console.error(`a listener of session ${session.id} failed:`, error);
        }
      }
    };
    try {
      const server = toolRegistry.toMcpServerConfig();
      const work = {
        prompt: session.prompt,
        cwd: session.projectPath,
        mcpServers: { [server.name]: server },
        allowedTools: toolRegistry.getAllowedToolNames(),
        signal: session.controller.signal,
      };
      await runAgent(work, emit);
      session.state = session.controller.signal.aborted ? "cancelled" : "completed";
    } catch (error) {
      session.state = session.controller.signal.aborted ? "cancelled" : "failed";
      if (session.state === "failed") emit("error", { message: error.message });
    }
    emit(session.state, {});
  }

  return {
    /** Starts a conversation. `onEvent` receives its events; the last one says how it ended. */
    start({ prompt, projectPath = process.cwd(), onEvent }) {
      const session = {
        id: randomUUID(),
        prompt,
        projectPath,
        state: "running",
        listeners: new Set(onEvent === undefined ? [] : [onEvent]),
        controller: new AbortController(),
      };
      sessions.set(session.id, session);
      session.ended = execute(session);
      return session.id;
    },
    state: (id) => sessionOf(id).state,
    subscribe(id, listener) {
      const { listeners } = sessionOf(id);
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** Ends a conversation early: its signal ends the agent, and with it every running call. */
    cancel: (id) => sessionOf(id).controller.abort(),
    /** Waits for the end of a conversation, then removes it. */
    async ended(id) {
      const session = sessionOf(id);
      await session.ended;
      sessions.delete(id);
      return session.state;
    },
  };
}
