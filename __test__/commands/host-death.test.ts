import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { alive, eventually, isRunning, marker } from "../support/processes.js";
import { root, runScript, runtimes } from "../support/runtimes.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();

/** A host that starts tasks that try to survive, prints them and waits. */
function hostScript(mark: string, tasks: number, then: string): string {
  return workspace.write(
    "host.cjs",
    `const { createToolRegistry } = require(${JSON.stringify(`${root}/index.js`)});
const registry = createToolRegistry({ permissionMode: "bypassPermissions", userPolicyFile: false, projectPath: ${JSON.stringify(workspace.root)} });
const ways = [
  "sleep ${mark}",
  "setsid sleep ${mark} & sleep ${mark}",
  "trap '' TERM HUP; while :; do sleep ${mark}; done",
  "(setsid bash -c 'trap \\"\\" TERM; while :; do sleep ${mark}; done' &) & sleep ${mark}",
];
(async () => {
  for (let index = 0; index < ${tasks}; index += 1) {
    await registry.call("Bash", { command: ways[index % ways.length], run_in_background: true });
  }
  const { _meta } = await registry.call("Bash", { command: "seq 100000" });
  console.log(JSON.stringify({ file: _meta["toolwright/command"].outputFile }));
  ${then}
})();
`,
  );
}

describe.each(runtimes)("a host on $name", ({ path }) => {
  test("that is killed with 20 tasks leaves no process after 3 seconds, and no file", async () => {
    const mark = marker();
    const host = spawn(path, [hostScript(mark, 20, "setInterval(() => {}, 1000);")], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const said = await new Promise<string>((resolve) => {
      host.stdout.once("data", (chunk: Buffer) => resolve(String(chunk)));
    });
    const { file } = JSON.parse(said) as { file: string };
    expect(existsSync(file)).toBe(true);
    expect(await eventually(() => alive(mark).length >= 25, 10_000)).toBe(true);
    process.kill(host.pid ?? 0, "SIGKILL");
    expect(await eventually(() => alive(mark).length === 0, 3_000)).toBe(true);
    expect(await eventually(() => !existsSync(dirname(file)), 1_000)).toBe(true);
  });

  test("that is killed while a shell hook runs leaves no process", async () => {
    const mark = marker();
    const script = workspace.write(
      "hooks.cjs",
      `const { createToolRegistry } = require(${JSON.stringify(`${root}/index.js`)});
const command = "setsid sleep ${mark} & trap '' TERM HUP; while :; do sleep ${mark}; done";
const hooks = { PreToolUse: [{ type: "command", command }] };
const registry = createToolRegistry({ permissionMode: "bypassPermissions", userPolicyFile: false, hooks, projectPath: ${JSON.stringify(workspace.root)} });
registry.call("Glob", { pattern: "*" });
`,
    );
    const host = spawn(path, [script], { stdio: ["ignore", "inherit", "inherit"] });
    expect(await eventually(() => alive(mark).length === 2, 10_000)).toBe(true);
    process.kill(host.pid ?? 0, "SIGKILL");
    expect(await eventually(() => alive(mark).length === 0, 5_000)).toBe(true);
  });

  test("that exits with tasks running exits at once, and they end", async () => {
    const mark = marker();
    const ended = await runScript(path, [hostScript(mark, 2, "process.exit(7);")]);
    expect([ended.code, ended.signal, ended.stderr]).toEqual([7, null, ""]);
    expect(await eventually(() => alive(mark).length === 0, 3_000)).toBe(true);
  });

  test("that has no more work exits, although a task runs and the registry is open", async () => {
    const mark = marker();
    const ended = await runScript(path, [hostScript(mark, 1, "")]);
    expect([ended.code, ended.signal, ended.stderr]).toEqual([0, null, ""]);
    expect(await eventually(() => alive(mark).length === 0, 3_000)).toBe(true);
  });

  test("that waits for an event of a running task lives until it arrives", async () => {
    const script = workspace.write(
      "waits.cjs",
      `const { createToolRegistry } = require(${JSON.stringify(`${root}/index.js`)});
const registry = createToolRegistry({ permissionMode: "bypassPermissions", userPolicyFile: false, projectPath: ${JSON.stringify(workspace.root)} });
(async () => {
  await registry.call("Bash", { command: "sleep 0.5", run_in_background: true });
  for await (const { type } of registry.taskEvents()) if (type === "ended") break;
  console.log("heard");
})();
`,
    );
    expect(await runScript(path, [script])).toMatchObject({ code: 0, stdout: "heard\n" });
  });

  test("whose own children exit while commands run is notified of each", async () => {
    const script = workspace.write(
      "children.cjs",
      `const { spawn } = require("node:child_process");
const { createToolRegistry } = require(${JSON.stringify(`${root}/index.js`)});
const registry = createToolRegistry({ permissionMode: "bypassPermissions", userPolicyFile: false, projectPath: ${JSON.stringify(workspace.root)} });
const own = (code) => new Promise((resolve) => spawn("sh", ["-c", "sleep 0.0" + (code % 10) + "; exit " + code]).on("exit", resolve));
(async () => {
  const codes = Array.from({ length: 60 }, (_, code) => code);
  const [exits, results] = await Promise.all([
    Promise.all(codes.map(own)),
    Promise.all(codes.map((code) => registry.call("Bash", { command: "exit " + code }))),
  ]);
  const ours = results.map(({ _meta }) => _meta["toolwright/command"].exitCode);
  console.log(JSON.stringify([exits, ours]) === JSON.stringify([codes, codes]) ? "right" : exits + " " + ours);
  await registry.close();
})();
`,
    );
    expect(await runScript(path, [script])).toMatchObject({ code: 0, stdout: "right\n" });
  });
});

test("other processes continue", async () => {
  const mark = marker();
  const bystander = spawn("sleep", [mark]);
  const killed = marker();
  const host = spawn(process.execPath, [hostScript(killed, 4, "setInterval(() => {}, 1000);")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise((resolve) => {
    host.stdout.once("data", resolve);
  });
  process.kill(host.pid ?? 0, "SIGKILL");
  expect(await eventually(() => alive(killed).length === 0, 3_000)).toBe(true);
  expect(isRunning(bystander.pid ?? 0)).toBe(true);
  bystander.kill();
});
