import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { alive, childrenOf, eventually, marker } from "./support/processes.js";
import { root, runtimes } from "./support/runtimes.js";
import { useWorkspace } from "./support/workspace.js";

const workspace = useWorkspace();

/** A host whose worker has a task and two calls under way, and ends when it is told so. */
function hostScript(mark: string, how: "terminate" | "exit"): string {
  workspace.write(
    "worker.cjs",
    `const { createToolRegistry } = require(${JSON.stringify(`${root}/index.js`)});
const { parentPort } = require("node:worker_threads");
const registry = createToolRegistry({ permissionMode: "bypassPermissions", userPolicyFile: false, projectPath: ${JSON.stringify(workspace.root)}, shell: { graceMs: 200 } });
registry.on("task", () => {});
registry.call("Bash", { command: "setsid sleep ${mark} & sleep ${mark}", run_in_background: true });
registry.call("Bash", { command: "sleep ${mark}" }).catch(() => {});
registry.call("Bash", { command: "yes & sleep ${mark}" }, { onProgress: () => {} }).catch(() => {});
parentPort.on("message", () => process.exit(3));
`,
  );
  const end = how === "terminate" ? "worker.terminate()" : "worker.postMessage('exit')";
  return workspace.write(
    "host.cjs",
    `const { Worker } = require("node:worker_threads");
const worker = new Worker(${JSON.stringify(workspace.path("worker.cjs"))});
worker.on("exit", () => console.log("ended"));
process.stdin.once("data", () => ${end});
setInterval(() => {}, 1000);
`,
  );
}

describe.each(runtimes)("a worker on $name", ({ path }) => {
  test.each(["terminate", "exit"] as const)(
    "that ends by %s leaves no command, no task and no supervisor",
    async (how) => {
      const mark = marker();
      const host = spawn(path, [hostScript(mark, how)], { stdio: ["pipe", "pipe", "inherit"] });
      try {
        expect(await eventually(() => alive(mark).length === 4, 20_000)).toBe(true);
        const ended = once(host.stdout, "data");
        host.stdin.write("now\n");
        await ended;
        expect(await eventually(() => alive(mark).length === 0, 10_000)).toBe(true);
        const supervisors = () =>
          childrenOf(host.pid ?? 0).filter(({ name }) => name === "toolwright-supe");
        expect(await eventually(() => supervisors().length === 0, 10_000)).toBe(true);
        expect(host.exitCode).toBe(null);
      } finally {
        host.kill("SIGKILL");
        await eventually(() => alive(mark).length === 0, 10_000);
      }
    },
    60_000,
  );
});
