// A host that runs lines in directories of their own, a registry for each, and says what came of them. It reads what to
// do as JSON from its input: `{ user?, open?, width, runs: [{ projectPath, line, options, calls? }] }`.
import { spawn } from "node:child_process";
import { openSync, readFileSync } from "node:fs";
import { createToolRegistry } from "../../index.mjs";

const { user, open = [], width, runs } = JSON.parse(readFileSync(0, "utf8"));

// After the addon is loaded: an ordinary user may not be able to read the repository.
if (user !== undefined && process.getuid() === 0) {
  process.setgroups([]);
  process.setgid(user);
  process.setuid(user);
}

// Another process of the same person, which a line must not see. This one would hide its descriptors from an ordinary
// user, because it was root before.
const other = spawn("sleep", ["600"], {
  stdio: ["ignore", "ignore", "ignore", ...open.map(([path, flags]) => openSync(path, flags))],
});

/** Everybody says yes here: the question is what the kernel holds after that. */
async function run({ projectPath, line, options }) {
  const registry = createToolRegistry({
    projectPath,
    permissionMode: "bypassPermissions",
    userPolicyFile: false,
    store: "memory",
    ...options,
  });
  registry.messageBus.on("request", ({ id }) => {
    registry.messageBus.respondToConfirmation({ id, approved: true });
  });
  try {
    const { content, error, _meta } = await registry.call("Bash", { command: line });
    return {
      text: content.map(({ text }) => text).join("\n"),
      error: error?.message,
      facts: _meta?.["toolwright/command"],
    };
  } finally {
    await registry.close();
  }
}

const ended = [];
const waiting = runs.map((each, at) => [each, at]);
await Promise.all(
  Array.from({ length: width }, async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [each, at] = next;
      ended[at] = await run(each).catch((error) => ({ text: "", error: String(error) }));
    }
  }),
);
other.kill();
process.stdout.write(JSON.stringify(ended));
