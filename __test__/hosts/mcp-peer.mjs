// The registry for the official MCP clients, in this process or, as a program, over standard streams:
// `mcp-peer.mjs <registry options as JSON>`.
import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createToolRegistry, tool } from "../../index.mjs";

/** Adds features that no built-in tool has: progress, and a tool that is registered later. */
export function registerPeerTools(registry) {
  let arrive;
  const arrived = new Promise((resolve) => {
    arrive = resolve;
  });
  registry.register(
    tool({
      name: "walk",
      description: "Reports three steps, and ends when `arrive` is called.",
      handler: async (_input, { reportProgress }) => {
        for (const progress of [1, 2, 3]) reportProgress?.({ progress, total: 3 });
        await arrived;
        return "there";
      },
    }),
  );
  registry.register(
    tool({ name: "arrive", description: "Ends the walk.", handler: () => arrive("arrived") }),
  );
  registry.register(
    tool({
      name: "grow",
      description: "Adds the tool `late`.",
      handler: () => {
        registry.register(tool({ name: "late", description: "Late.", handler: () => "" }));
        return "grown";
      },
    }),
  );
  registry.withAllowed("walk", "arrive", "grow");
}

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const registry = createToolRegistry(JSON.parse(process.argv[2]));
  registerPeerTools(registry);
  await registry.serveStdio();
  await registry.close();
}
