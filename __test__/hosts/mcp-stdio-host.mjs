// A program that serves its own tools over standard streams and also prints a lot:
// `mcp-stdio-host.mjs <registry options as JSON>`.
import { spawnSync } from "node:child_process";
import { createToolRegistry } from "../../index.mjs";
import { registerOwnTools } from "../support/mcp-own-tools.mjs";

const registry = createToolRegistry(JSON.parse(process.argv[2]));
registerOwnTools(registry);
registry.register({
  name: "loud",
  handler: () => {
    console.log("printed by a handler");
    process.stdout.write("written by a handler\n");
    spawnSync("sh", ["-c", "echo printed by a child; cat"], { stdio: "inherit" });
    return "quiet";
  },
});
await registry.serveStdio();
await registry.close();
