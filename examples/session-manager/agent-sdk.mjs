// The Claude Agent SDK (@anthropic-ai/claude-agent-sdk).

/**
 * Makes a runner from the SDK's `query`. The SDK's built-in tools are switched off, so that every call goes
 * through the registry and its policy. `options` are further options of `query`, such as `model`.
 */
export function agentSdkRunner(query, options = {}) {
  return async ({ prompt, cwd, mcpServers, allowedTools, signal }, emit) => {
    const abortController = new AbortController();
    const abort = () => abortController.abort();
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    const settings = { cwd, mcpServers, allowedTools, tools: [], settingSources: [] };
    try {
      const messages = query({ prompt, options: { ...settings, ...options, abortController } });
      for await (const message of messages) forward(message, emit);
    } finally {
      signal.removeEventListener("abort", abort);
    }
  };
}

function forward(message, emit) {
  if (message.type === "result" && message.is_error) {
    emit("error", { message: message.errors?.join("; ") ?? message.result ?? message.subtype });
  }
  if (message.type !== "assistant" && message.type !== "user") return;
  const { content } = message.message;
  for (const block of Array.isArray(content) ? content : [{ type: "text", text: content }]) {
    if (block.type === "tool_use") emit("tool_use", block);
    else if (block.type === "tool_result") emit("tool_result", block);
    else if (block.type === "text") emit("message", { role: message.type, text: block.text });
  }
}
