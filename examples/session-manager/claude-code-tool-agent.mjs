// An agent with the interface of ClaudeCodeToolAgent (tacogips/claude-code-agent).

/** Makes a runner from the agent's class: `new Agent(options).startSession({ prompt })`. */
export function toolAgentRunner(Agent) {
  return async ({ prompt, cwd, mcpServers, allowedTools, signal }, emit) => {
    const agent = new Agent({ mcpServers, allowedTools, cwd, permissionMode: "bypassPermissions" });
    const session = await agent.startSession({ prompt });
    const cancel = () => session.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    if (signal.aborted) cancel();
    session.on("toolCall", (call) => emit("tool_use", call));
    session.on("toolResult", (result) => emit("tool_result", result));
    session.on("error", (error) => emit("error", { message: error.message }));
    try {
      for await (const message of session.messages()) emit("message", message);
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  };
}
