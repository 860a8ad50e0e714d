// What remains of a sandbox when the process that made it is killed: no process, and nothing that blocks later commands.
import { spawn } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ToolRegistry } from "../../index.js";
import { alive, childrenOf, eventually, marker } from "../support/processes.js";
import { useRegistries } from "../support/registries.js";
import { root } from "../support/runtimes.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace);

const HOST = `
  const { createToolRegistry } = require("./index.js");
  const { PROJECT: projectPath, COMMAND: command } = process.env;
  createToolRegistry({ projectPath, permissionMode: "bypassPermissions", userPolicyFile: false, sandbox: "required" })
    .call("Bash", { command });
`;

/** A host in a separate process with a running command, and the mark of the command's processes. */
async function busyHost() {
  const mark = marker();
  const command = `setsid sleep ${mark} & touch started; sleep ${mark}`;
  mkdirSync(workspace.path("home"));
  const host = spawn(process.execPath, ["-e", HOST], {
    cwd: root,
    // Not as an argument, because then the host itself would match the mark.
    env: {
      ...process.env,
      HOME: workspace.path("home"),
      PROJECT: workspace.root,
      COMMAND: command,
    },
    stdio: "ignore",
  });
  const isBusy = () => existsSync(workspace.path("started")) && alive(mark).length === 2;
  expect(await eventually(isBusy, 20_000)).toBe(true);
  expect(existsSync(workspace.path(".vscode"))).toBe(true);
  return { host, mark };
}

describe("when a command runs in a sandbox", () => {
  test("and its host is killed, neither leaves anything behind", async () => {
    const { host, mark } = await busyHost();
    host.kill("SIGKILL");
    const files = () => readdirSync(workspace.root).toSorted().join();
    const isGone = () => alive(mark).length === 0 && files() === "home,started";
    expect(await eventually(isGone, 10_000)).toBe(true);
    // Bun itself keeps a cache there.
    const left = readdirSync(workspace.path("home")).filter((name) => name !== ".bun");
    expect(left).toEqual([]);
  });

  test("and its supervising processes are killed with its host, its processes end, and the next command cleans up", async () => {
    const { host, mark } = await busyHost();
    const children = childrenOf(host.pid ?? 0);
    const supervisor = children.find(({ name }) => name.startsWith("toolwright"))?.pid ?? 0;
    const keepers = childrenOf(supervisor).map(({ pid }) => pid);
    // Zero would be the group of this process.
    const all = [...keepers, supervisor, host.pid ?? 0].filter((pid) => pid > 1);
    expect(all.length).toBeGreaterThan(2);
    for (const signal of ["SIGSTOP", "SIGKILL"]) for (const pid of all) process.kill(pid, signal);
    expect(await eventually(() => alive(mark).length === 0, 10_000)).toBe(true);
    const registry = registryHere({ sandbox: "required" });
    const made = await registry.call("Bash", { command: "bash -c 'mkdir -p .vsc''ode/x'" });
    expect(made.isError).toBe(true);
    await registry.call("Bash", { command: "true" });
    expect(readdirSync(workspace.root).toSorted()).toEqual(["home", "started"]);
  });
});

async function levelOf(registry: ToolRegistry): Promise<string | undefined> {
  const { isError, _meta } = await registry.call("Bash", { command: "true" });
  const facts = _meta?.["toolwright/command"] as { sandbox?: { level: string } } | undefined;
  return isError ? "not run" : facts?.sandbox?.level;
}

test("a host whose supervisor failed to start at first has a sandbox later", async () => {
  const supervisorPath = workspace.write("own/toolwright-supervisor", "#!/bin/sh\nexit 1\n");
  chmodSync(supervisorPath, 0o755);
  const registry = registryHere({ shell: { supervisorPath } });
  expect([await levelOf(registry), await levelOf(registry)]).toEqual(["none", "none"]);
  copyFileSync(join(root, "native/toolwright-supervisor"), `${supervisorPath}-good`);
  renameSync(`${supervisorPath}-good`, supervisorPath);
  const isSandboxed = async () => (await levelOf(registry)) === "namespaces";
  await expect.poll(isSandboxed, { timeout: 60_000, interval: 500 }).toBe(true);
});

test("a host whose supervisor is gone and fails to start runs no command without a sandbox", async () => {
  const supervisorPath = workspace.path("own/toolwright-supervisor");
  mkdirSync(workspace.path("own"));
  copyFileSync(join(root, "native/toolwright-supervisor"), supervisorPath);
  const registry = registryHere({ shell: { supervisorPath } });
  const level = () => levelOf(registry);
  const before = new Set(childrenOf(process.pid).map((it) => it.pid));
  expect(await level()).toBe("namespaces");
  const isNew = (it: { pid: number; name: string }) =>
    it.name.startsWith("toolwright") && !before.has(it.pid);
  const { pid = 0 } = childrenOf(process.pid).find(isNew) ?? {};
  expect(pid).toBeGreaterThan(1);
  renameSync(supervisorPath, `${supervisorPath}-away`);
  // Stopped first, so that it does not replace the processes that wait for commands.
  process.kill(pid, "SIGSTOP");
  for (const each of [...childrenOf(pid).map((it) => it.pid), pid]) process.kill(each, "SIGKILL");
  expect([await level(), await level()]).toEqual(["not run", "not run"]);
  renameSync(`${supervisorPath}-away`, supervisorPath);
  expect(await level()).toBe("namespaces");
});
