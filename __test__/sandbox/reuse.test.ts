// An unchanged sandbox is reused for the next command. No command notices an earlier one.
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import type { ToolRegistry } from "../../index.js";
import { childrenOf, eventually } from "../support/processes.js";
import { useRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace);

/** More commands than processes that wait for one: so one of these gets the sandbox of an earlier command. */
const ROUND = 12;

function sandboxed(options: Parameters<typeof registryHere>[0] = {}): ToolRegistry {
  return registryHere({
    permissionMode: "bypassPermissions",
    ...options,
    sandbox: { mode: "required" },
  });
}

async function outputOf(registry: ToolRegistry, command: string): Promise<string> {
  const { content } = await registry.call("Bash", { command });
  return content.map((it) => (it.type === "text" ? it.text : it.type)).join();
}

async function round(registry: ToolRegistry, command: string): Promise<string[]> {
  const outputs: string[] = [];
  for (let at = 0; at < ROUND; at += 1) outputs.push(await outputOf(registry, command));
  return outputs;
}

const NAMESPACE = "readlink /proc/self/ns/pid";

/** Everything that a shell inherits from process 1 and that is visible from outside. */
const state = (pid: string) =>
  [
    `prlimit --pid ${pid} --raw --noheadings`,
    `ps -o ni= -p ${pid}`,
    `taskset -p ${pid} | sed 's/.*mask: //'`,
    `ionice -p ${pid}`,
    `chrt -p ${pid} | sed 's/pid [0-9]*//'`,
    `cat /proc/${pid}/oom_score_adj`,
  ].join("; ");

describe("a sandbox", () => {
  test("is reused by commands with the same plan, one at a time", async () => {
    const registry = sandboxed();
    const one = await round(registry, NAMESPACE);
    expect(new Set(one).size).toBeLessThan(ROUND);
    const atOnce = Array.from({ length: ROUND }, () =>
      outputOf(registry, `${NAMESPACE}; sleep 0.5`),
    );
    expect(new Set(await Promise.all(atOnce)).size).toBe(ROUND);
  });

  test("contains nothing of a process that a command left behind", async () => {
    const registry = sandboxed();
    await round(registry, "true");
    const left = await outputOf(registry, "sleep 600 >/dev/null 2>&1 & disown; echo left");
    expect(left).toMatch(/^left/);
    for (const seen of await round(registry, "ls /proc | grep -c '^[0-9]'; cat /proc/*/comm")) {
      expect(seen).not.toContain("sleep");
    }
  });

  test("hides a file that was replaced since then", async () => {
    const secret = workspace.write("secret.txt", "needle");
    const registry = sandboxed({ policy: { deny: ["Read(secret.txt)"] } });
    const read = "head -c 100 ./sec*t.txt 2>&1";
    for (const seen of await round(registry, read)) expect(seen).not.toContain("needle");
    for (let at = 0; at < ROUND; at += 1) {
      renameSync(workspace.write("next.txt", "needle again"), secret);
      expect(await outputOf(registry, read)).not.toContain("needle");
    }
  });

  test("hides a file in a directory that replaced another", async () => {
    const secret = workspace.write("a/b/secret.txt", "needle");
    const registry = sandboxed({ policy: { deny: ["Read(**/secret.txt)"] } });
    const read = "cat a/b/sec*t.txt moved*/b/sec*t.txt 2>&1";
    await round(registry, read);
    for (let at = 0; at < ROUND; at += 1) {
      renameSync(workspace.path("a"), workspace.path(`moved${at}`));
      workspace.write("a/b/secret.txt", "needle again");
      expect(await outputOf(registry, read)).not.toContain("needle");
    }
    expect(secret).toContain("a/b");
  });

  test("does not disturb a process that replaces a protected directory repeatedly", async () => {
    mkdirSync(workspace.path("tools"));
    const registry = sandboxed({ pluginDir: workspace.path("tools") });
    const made = { all: 0, isOver: false };
    const calls = (async () => {
      while (!made.isOver) {
        const seen = await Promise.all([1, 2, 3].map(() => outputOf(registry, "echo done")));
        expect(seen).toEqual(seen.map(() => "done\n[exit code 0]"));
        made.all += seen.length;
      }
    })();
    // Awaited below; until then a failure only ends the loop.
    calls.catch(() => (made.isOver = true));
    try {
      for (let at = 0; (at < 500 || made.all === 0) && !made.isOver; at += 1) {
        mkdirSync(workspace.path("next"));
        rmSync(workspace.path("old"), { recursive: true, force: true });
        renameSync(workspace.path("tools"), workspace.path("old"));
        renameSync(workspace.path("next"), workspace.path("tools"));
        await new Promise(setImmediate);
      }
    } finally {
      made.isOver = true;
      await calls;
    }
  });

  test("hides a socket that a daemon created since then", async () => {
    const path = `/tmp/tmux-${process.getuid?.() ?? 0}/toolwright-test-${process.pid}`;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const registry = sandboxed();
    const look = `test -S ${path} && echo REACHED; echo looked`;
    await round(registry, look);
    const server = createServer().listen(path);
    try {
      await new Promise((resolve) => server.once("listening", resolve));
      for (const seen of await round(registry, look)) expect(seen).toMatch(/^looked/);
    } finally {
      await new Promise((resolve) => server.close(resolve));
      rmSync(path, { force: true });
    }
  });

  test("is one of only a few that wait, however many commands there were", async () => {
    const registry = sandboxed();
    await Promise.all(Array.from({ length: 64 }, () => outputOf(registry, "sleep 0.3")));
    const supervisors = childrenOf(process.pid).filter(({ name }) =>
      name.startsWith("toolwright-sup"),
    );
    const waiting = () => supervisors.flatMap(({ pid }) => childrenOf(pid)).length;
    // Those that wait, and those that are prepared.
    expect(await eventually(() => waiting() <= 8 + 6, 20_000)).toBe(true);
    expect(waiting()).toBeGreaterThan(0);
  });
});

describe("a sandbox whose process 1 was changed by a command is not reused", () => {
  const root = process.getuid?.() === 0;
  test.each([
    ["a limit", "prlimit --pid 1 --fsize=4096:4096"],
    ["its nice value", "renice -n 7 -p 1"],
    ["its processors", "taskset -p 1 1"],
    ["its I/O priority", "ionice -c 3 -p 1"],
    ["its scheduling policy", "chrt --batch -p 0 1"],
  ])("%s", async (_name, change) => {
    const registry = sandboxed();
    const [before] = await round(registry, state("self"));
    const attack = await outputOf(
      registry,
      `${state("1")}; ${change} >/dev/null; echo =; ${state("1")}`,
    );
    const [ofInit, changed] = attack.split("=\n");
    expect(changed).not.toContain(ofInit);
    for (const seen of await round(registry, state("self"))) expect(seen).toBe(before);
  });

  test("the umask", async () => {
    const registry = sandboxed();
    const [before] = await round(registry, "umask");
    expect(await outputOf(registry, "umask 0; umask")).not.toBe(before);
    for (const seen of await round(registry, "umask")) expect(seen).toBe(before);
  });

  test.runIf(root)("the directory that is `/`", async () => {
    const registry = sandboxed();
    await round(registry, "true");
    const attack = `e=exec; $e perl -e 'chroot "/tmp" or die; print -e "/usr" ? "same" : "left"'`;
    expect(await outputOf(registry, attack)).toMatch(/^left/);
    for (const seen of await round(registry, "ls -d /usr")) expect(seen).toMatch(/^\/usr\n/);
  });
});
