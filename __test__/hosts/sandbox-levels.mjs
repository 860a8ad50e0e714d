// Runs a command in each mode of the sandbox and prints the results: `sandbox-levels.mjs <directory>`.
import { createToolRegistry } from "../../index.mjs";

const [projectPath] = process.argv.slice(2);
const told = {};
for (const [name, sandbox] of Object.entries({
  auto: "auto",
  off: "off",
  required: "required",
  landlock: { mode: "required", level: "landlock" },
  closed: { network: "deny" },
})) {
  const registry = createToolRegistry({
    projectPath,
    sandbox,
    userPolicyFile: false,
    pluginDir: false,
    allowedTools: ["Bash"],
  });
  const { content, error, _meta } = await registry.call("Bash", { command: "echo ran" });
  told[name] = { text: content[0].text, error, sandbox: _meta?.["toolwright/command"]?.sandbox };
  await registry.close();
}
process.stdout.write(JSON.stringify(told));
