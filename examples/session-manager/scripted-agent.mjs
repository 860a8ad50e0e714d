// An agent without a model, with the interface of ClaudeCodeToolAgent: it calls the tools that its prompt names.
// It demonstrates the session manager without an account. The tools and their results are real.

import { EventEmitter } from "node:events";

export class ScriptedAgent {
  #tools;

  constructor({ mcpServers }) {
    const servers = Object.values(mcpServers);
    this.#tools = new Map(servers.flatMap(({ tools }) => tools).map((tool) => [tool.name, tool]));
  }

  /** Each line of the prompt is one call: the name of a tool, and its input as JSON. */
  async startSession({ prompt }) {
    return new ScriptedSession(this.#tools, prompt.split("\n").filter(Boolean));
  }
}

class ScriptedSession extends EventEmitter {
  #tools;
  #lines;
  #controller = new AbortController();

  constructor(tools, lines) {
    super();
    this.#tools = tools;
    this.#lines = lines;
  }

  cancel() {
    this.#controller.abort();
  }

  async *messages() {
    const { signal } = this.#controller;
    for (const [index, line] of this.#lines.entries()) {
      if (signal.aborted) return;
      const [, name, json] = /^(\S+)\s*(.*)$/.exec(line);
      const toolUseId = `call_${index + 1}`;
      const input = JSON.parse(json || "{}");
      this.emit("toolCall", { toolUseId, name, input });
      const tool = this.#tools.get(name);
      if (tool === undefined) {
        this.emit("error", new Error(`there is no tool \`${name}\``));
        continue;
      }
      const result = await tool.handler(input, { toolUseId, sessionId: "scripted", signal });
      this.emit("toolResult", { toolUseId, ...result });
    }
    yield { role: "assistant", text: `made ${this.#lines.length} calls` };
  }
}
