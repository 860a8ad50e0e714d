import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { alive, childrenOf, eventually, marker } from "../support/processes.js";
import { root, runtimes } from "../support/runtimes.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();

/** A host with a task. Its worker has another task and two running calls, and ends on request. */
function hostScript(mark: string, own: string, how: "terminate" | "exit"): string {
  const registry = `const { createToolRegistry } = require(${JSON.stringify(`${root}/index.js`)});
const registry = createToolRegistry({ permissionMode: "bypassPermissions", userPolicyFile: false, projectPath: ${JSON.stringify(workspace.root)}, shell: { graceMs: 200 } });
// An unreachable registry would be collected, and its commands ended before this host ends.
globalThis.kept = registry;
`;
  workspace.write(
    "worker.cjs",
    `const { parentPort } = require("node:worker_threads");
${registry}registry.on("task", () => {});
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
${registry}registry.call("Bash", { command: "sleep ${own}", run_in_background: true });
const worker = new Worker(${JSON.stringify(workspace.path("worker.cjs"))});
worker.on("exit", () => console.log("ended"));
process.stdin.once("data", () => ${end});
setInterval(() => {}, 1000);
`,
  );
}

describe.each(runtimes)("a worker on $name", ({ path }) => {
  test.each(["terminate", "exit"] as const)(
    "that ends by %s also ends its commands, its task and its supervisor",
    async (how) => {
      const [mark, own] = [marker(), marker()];
      const script = hostScript(mark, own, how);
      const host = spawn(path, [script], { stdio: ["pipe", "pipe", "inherit"] });
      const supervisors = () =>
        childrenOf(host.pid ?? 0).filter(({ name }) => name === "toolwright-supe").length;
      try {
        const allRun = () => alive(mark).length === 4 && alive(own).length === 1;
        expect(await eventually(allRun, 20_000)).toBe(true);
        expect(supervisors()).toBe(2);
        const ended = once(host.stdout, "data");
        host.stdin.write("now\n");
        await ended;
        expect(await eventually(() => alive(mark).length === 0, 10_000)).toBe(true);
        expect(await eventually(() => supervisors() === 1, 10_000)).toBe(true);
        expect([alive(own).length, host.exitCode]).toEqual([1, null]);
      } finally {
        host.kill("SIGKILL");
        await eventually(() => alive(mark).length + alive(own).length === 0, 10_000);
      }
    },
  );
});
