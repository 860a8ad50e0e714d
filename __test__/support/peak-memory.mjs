// Runs calls in a separate process and prints how much memory each added.
import { readFileSync, writeFileSync } from "node:fs";
import { createToolRegistry } from "../../index.mjs";

const megabytes = (name) => {
  const status = readFileSync("/proc/self/status", "utf8");
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
};

const { root, calls } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const registry = createToolRegistry({
  projectPath: root,
  toolsets: ["claude", "classic"],
  permissionMode: "bypassPermissions",
});
// The memory of one-time initialisation is not counted.
await registry.call("Grep", { pattern: "x", path: "empty" });
for (const [tool, input] of calls) {
  writeFileSync("/proc/self/clear_refs", "5");
  const before = megabytes("VmRSS");
  const { content, error } = await registry.call(tool, input);
  const peak = megabytes("VmHWM") - before;
  const text = error?.message ?? content.map((it) => it.text).join("\n");
  console.log(JSON.stringify({ tool, peak, text: text.slice(-400) }));
}
registry.close?.();
