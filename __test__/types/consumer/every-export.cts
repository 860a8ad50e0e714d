// Checked by tsc, never run: the types that `require` has in a strict project.
import toolwright = require("toolwright");
import zod = require("zod");
import type { CallResult, ToolRegistryOptions } from "toolwright";

const { z } = zod;
const greet = toolwright.tool({
  name: "greet",
  inputSchema: z.object({ name: z.string() }),
  handler: ({ name }) => name.toUpperCase(),
});
const options: ToolRegistryOptions = { projectPath: undefined, limits: undefined };

async function uses(): Promise<toolwright.CallResult[]> {
  const registry = toolwright.createToolRegistry(options);
  registry.register(greet);
  new toolwright.ToolRegistry().register(greet);
  const server: toolwright.McpSdkServerConfig = toolwright.createSdkMcpServer({ name: "s" });
  await server.instance.close();
  const engine = new toolwright.PolicyEngine({ allow: ["Read"] });
  const bus = new toolwright.MessageBus();
  const cut = toolwright.OutputFormatter.truncate("x");
  const read: CallResult = await registry.call("Read", { file_path: "/a" });
  if (read.isError) throw new toolwright.ToolError(read.error.type, read.error.message);
  void [engine.evaluate("Read"), bus.listenerCount("request"), cut.truncated];
  return registry.executeTools(undefined, { format: "mcp" });
}

export = uses;
