// A host that runs lines in separate directories, with a registry for each, and prints the outcomes. It reads its work
// as JSON from stdin: `{ user?, open, width, runs: [{ projectPath, lines, options, atOnce? }] }`.
import { spawn } from "node:child_process";
import { openSync, readFileSync, readdirSync } from "node:fs";
import { createToolRegistry } from "../../index.mjs";

const { user, open, width, runs } = JSON.parse(readFileSync(0, "utf8"));

// After the addon is loaded, because an ordinary user may not be able to read the repository.
if (user !== undefined && process.getuid() === 0) {
  process.setgroups([]);
  process.setgid(user);
  process.setuid(user);
}

// Another process of the same person, which a line must not see. This host's own descriptors would be hidden from an
// ordinary user, because it was root before.
const other = spawn("sleep", ["600"], {
  stdio: ["ignore", "ignore", "ignore", ...open.map(([path, flags]) => openSync(path, flags))],
});

/** The processes that supervise commands, and their states. */
function supervisors() {
  return readdirSync("/proc").flatMap((pid) => {
    try {
      const [, name, state, parent] = /\((.*)\) (.) (\d+)/s.exec(
        readFileSync(`/proc/${pid}/stat`, "latin1"),
      );
      return name.startsWith("toolwright-") &&
        Number(parent) === process.pid &&
        !"ZT".includes(state)
        ? [pid]
        : [];
    } catch {
      return [];
    }
  });
}

/** Every confirmation is approved: the test is about what the kernel enforces after that. */
async function run({ projectPath, lines, options, atOnce }) {
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
  const call = async (command) => {
    const { content, error, _meta } = await registry.call("Bash", { command });
    return {
      text: content.map(({ text }) => text).join("\n"),
      error: error?.message,
      facts: _meta?.["toolwright/command"],
      supervisors: supervisors(),
    };
  };
  try {
    if (atOnce) return await Promise.all(lines.map(call));
    const ended = [];
    for (const line of lines) ended.push(await call(line));
    return ended;
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
      ended[at] = await run(each).catch((error) => [
        { text: "", error: String(error), supervisors: [] },
      ]);
    }
  }),
);
const bystander =
  other.exitCode === null && other.signalCode === null
    ? readFileSync(`/proc/${other.pid}/stat`, "latin1").split(" ")[2]
    : "gone";
other.kill("SIGKILL");
process.stdout.write(JSON.stringify({ ended, bystander }));
