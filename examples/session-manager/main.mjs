// node examples/session-manager/main.mjs            the project's own tools, called without a model
// node examples/session-manager/main.mjs --sdk …    the Claude Agent SDK, which needs an account; … is the prompt

import { createToolRegistry } from "toolwright";
import { agentSdkRunner } from "./agent-sdk.mjs";
import { toolAgentRunner } from "./claude-code-tool-agent.mjs";
import { ScriptedAgent } from "./scripted-agent.mjs";
import { createSessionManager } from "./session-manager.mjs";

const [mode, ...words] = process.argv.slice(2);
const withSdk = mode === "--sdk";

const toolRegistry = await openRegistry();
const runAgent = withSdk
  ? agentSdkRunner((await import("@anthropic-ai/claude-agent-sdk")).query)
  : toolAgentRunner(ScriptedAgent);
const manager = createSessionManager({ toolRegistry, runAgent });
const id = manager.start({
  prompt: withSdk
    ? words.join(" ") || "What has changed in this project? Use the tools."
    : 'workspace-info\ngit-status\nfile-reader {"path": "README.md", "startLine": 1, "endLine": 3}',
  onEvent: ({ type, data }) => console.log(`${type} ${JSON.stringify(data).slice(0, 300)}`),
});
process.once("SIGINT", () => manager.cancel(id));
process.exitCode = (await manager.ended(id)) === "completed" ? 0 : 1;
await toolRegistry.close();

async function openRegistry() {
  const registry = createToolRegistry({ toolsets: ["project"], serverName: "project-tools" });
  const { errors } = await registry.initialize();
  for (const { source, message } of errors) console.error(`${source}: ${message}`);
  return registry;
}
