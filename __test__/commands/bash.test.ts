import { execFile } from "node:child_process";
import { chmodSync, existsSync, readFileSync, statSync } from "node:fs";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import type { CallResult } from "../../index.js";
import { alive, childrenOf, eventually, isRunning, marker } from "../support/processes.js";
import { useRegistries } from "../support/registries.js";
import { texts } from "../support/results.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace);

function facts(result: CallResult) {
  return result._meta?.["toolwright/command"] as Record<string, unknown>;
}

describe("Bash", () => {
  test("returns output, exit code and working directory", async () => {
    const result = await registryHere().call("Bash", { command: "echo out; echo err >&2; exit 2" });
    expect(result).toEqual({
      content: [{ type: "text", text: "out\nerr\n[exit code 2]" }],
      isError: true,
      error: { type: "ShellExecutionError", message: "Command exited with code 2" },
      _meta: {
        "toolwright/command": {
          contained: true,
          outputBytes: 8,
          exitCode: 2,
          stoppedProcesses: 0,
          survivingProcesses: 0,
          durationMs: expect.any(Number),
          cwd: workspace.root,
          sandbox: expect.objectContaining({ level: expect.any(String) }),
        },
      },
    });
  });

  test("is described before it runs, without terminal control characters", () => {
    const invocation = registryHere().createInvocation("Bash", { command: "echo \u001b[2J\na" });
    expect(invocation.getDescription()).toBe("Execute: echo \\u{1b}[2J\na");
    expect(invocation.toolLocations()).toEqual(["echo \\u{1b}[2J\na"]);
  });

  test("a shell that the host chooses runs the command", async () => {
    const result = await registryHere({ shell: { path: "/bin/sh" } }).call("Bash", {
      command: 'cd /; echo "$0"',
    });
    expect(texts(result)[0]).toMatch(/^sh\n\[exit code 0\]\n\[`\/` is outside the workspace/);
  });

  test("options without meaning are refused with their names", () => {
    expect(() => registryHere({ shell: { graceMs: -1 } })).toThrow(/graceMs/);
    expect(() => registryHere({ shell: { onTimeout: "never" } })).toThrow(/onTimeout/);
    expect(() => registryHere({ env: { A: 1 } })).toThrow(/env/);
    expect(() => registryHere({ shell: { path: "./bash" } })).toThrow(
      /`.\/bash` is a relative path/,
    );
    expect(() => registryHere({ shell: { path: "no-such-shell" } })).toThrow(
      /not in any directory of PATH/,
    );
  });

  test.each(["", ":", ".:", "bin:", "/proc/self/cwd:"])(
    "with a host's PATH that begins with `%s`, no program of the project runs",
    async (beginning) => {
      const path = process.env["PATH"];
      for (const name of ["ls", "bin/ls", "bash", "sh"]) {
        chmodSync(workspace.write(name, "#!/bin/sh\necho evil | tee evil\n"), 0o755);
      }
      try {
        process.env["PATH"] = beginning + (beginning === "" ? "" : path);
        const hook = { type: "command", command: "ls -d bin >&2; exit 2", matcher: "Glob" };
        const registry = registryHere({ hooks: { PreToolUse: [hook] } });
        const result = await registry.call("Bash", { command: "ls -d bin" });
        expect(texts(result)[0]).toBe("bin\n[exit code 0]");
        const hooked = await registry.call("Glob", { pattern: "*" });
        expect(hooked.error?.message).toBe("bin");
      } finally {
        process.env["PATH"] = path;
      }
      expect(existsSync(`${workspace.root}/evil`)).toBe(false);
    },
  );

  test("the shell's error messages show nothing of our wrapper", async () => {
    const registry = registryHere();
    const line = async (command: string) => texts(await registry.call("Bash", { command }))[0];
    expect(await line("set -v\necho hi")).toBe("echo hi\nhi\n[exit code 0]");
    expect(await line("trap -p; echo $-")).toBe("hBc\n[exit code 0]");
    expect(await line("echo (")).toBe(
      "bash: -c: line 1: syntax error near unexpected token `newline'\nbash: -c: line 1: `echo ('\n[exit code 2]",
    );
    expect(await line("if true")).toMatch(
      /^bash: -c: line 2: syntax error: unexpected end of file/,
    );
  });

  test("a command that stops or kills its supervising processes is ended, and this is reported", async () => {
    // In a sandbox the command does not see these processes.
    const registry = registryHere({ shell: { graceMs: 200 }, sandbox: "off" });
    const mark = marker();
    const stop = { command: `kill -STOP $PPID; sleep ${mark}`, timeout: 500 };
    const stopped = await registry.call("Bash", stop);
    expect([stopped.error?.type, alive(mark)]).toEqual(["ShellTimeoutError", []]);
    const supervisor = "read -r _ _ _ s _ < /proc/$PPID/stat";
    const command = `${supervisor}; setsid sleep ${mark} & kill -9 $s $PPID; sleep ${mark}`;
    const killed = await registry.call("Bash", { command });
    expect(texts(killed)[0]).toMatch(/^\(no output\)\n\[exit status unknown\]/);
    expect(alive(mark)).toEqual([]);
    const again = await registry.call("Bash", { command: "echo again" });
    expect(texts(again)[0]).toBe("again\n[exit code 0]");
  });

  test("changes to the shell's environment are not kept", async () => {
    const registry = registryHere();
    await registry.call("Bash", { command: "export KEPT=1; KEPT2=2; f() { :; }" });
    const result = await registry.call("Bash", { command: 'echo "<$KEPT$KEPT2>"; type f 2>&1' });
    expect(texts(result)[0]).toContain("<>\n");
    expect(texts(result)[0]).toContain("f: not found");
  });

  test("a command has the default signal dispositions, whatever the host ignores", async () => {
    // Node ignores SIGXFSZ.
    const result = await registryHere().call("Bash", {
      command: "grep -E '^Sig(Blk|Ign)' /proc/self/status",
    });
    const masks = [...(texts(result)[0] ?? "").matchAll(/:\t([0-9a-f]{16})/g)];
    // The C library reserves signals 32 and 33.
    expect(masks.map(([, mask]) => BigInt(`0x${mask}`) & ~(3n << 31n))).toEqual([0n, 0n]);
  });

  test("progress of a large output waits for its listener and is complete", async () => {
    let bytes = 0;
    const result = await registryHere().call(
      "Bash",
      { command: "yes | head -c 20000000" },
      {
        onProgress: (news) => {
          if (news.type !== "output") return;
          bytes += news.text.length;
          // A slow listener: without back-pressure all progress would be queued at once.
          const until = performance.now() + 2;
          while (performance.now() < until);
        },
      },
    );
    expect([bytes, facts(result)["outputBytes"]]).toEqual([20_000_000, 20_000_000]);
  });

  test("an abort ends the command and its children", async () => {
    const registry = registryHere({ shell: { graceMs: 300 } });
    const mark = marker();
    const controller = new AbortController();
    const call = registry.call(
      "Bash",
      { command: `setsid sleep ${mark} & trap '' TERM; echo go; sleep ${mark}; sleep ${mark}` },
      {
        signal: controller.signal,
        onProgress: (news) => news.type === "output" && controller.abort(),
      },
    );
    await expect(call).rejects.toMatchObject({ name: "AbortError", type: "Cancelled" });
    expect(await eventually(() => alive(mark).length === 0, 1_300)).toBe(true);
  });

  test("10 GB of output are counted exactly with little memory", async () => {
    const registry = registryHere();
    await registry.call("Bash", { command: "yes | head -c 50000000" });
    const before = process.memoryUsage().rss;
    let highest = before;
    const watch = setInterval(() => {
      highest = Math.max(highest, process.memoryUsage().rss);
    }, 20);
    const result = await registry.call("Bash", {
      command: "head -c 10000000000 /dev/zero",
      timeout: 100_000,
    });
    clearInterval(watch);
    expect(facts(result)).toMatchObject({
      outputBytes: 10_000_000_000,
      outputFileBytes: 128 * 1024 * 1024,
      exitCode: 0,
    });
    expect(statSync(facts(result)["outputFile"] as string).size).toBe(128 * 1024 * 1024);
    expect(texts(result)[0]).toContain(
      "the output has 10000000000 bytes; the first 134217728 are in",
    );
    expect((highest - before) / 1e6).toBeLessThan(32);
  });

  test("carriage returns, escape codes and invalid bytes become readable text, and the file is exact", async () => {
    const registry = registryHere();
    const bytes = Buffer.from(
      Array.from({ length: 100_000 }, (_, at) => (at * 7919 + (at >> 8)) & 255),
    );
    workspace.write("raw", bytes);
    const result = await registry.call("Bash", { command: "cat raw" });
    expect(readFileSync(facts(result)["outputFile"] as string).equals(bytes)).toBe(true);
    // oxlint-disable-next-line no-control-regex -- none may be left
    expect(texts(result)[0]).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f]/);
    const lines = await registry.call("Bash", {
      command: String.raw`printf '1%%\r2%%\r\e[K3%%\n\e[1mbold\e[0m\n'`,
    });
    expect(texts(lines)[0]).toBe("3%\nbold\n[exit code 0]");
  });

  test("the file of a large output can be read with Read and is removed when the registry is closed", async () => {
    const registry = registryHere();
    const result = await registry.call("Bash", { command: "seq 100000" });
    const file = facts(result)["outputFile"] as string;
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const read = await registry.call("Read", { file_path: file, offset: 99_999, limit: 1 });
    expect(texts(read)[0]).toMatch(/^99999\t99999/);
    await registry.close();
    expect(existsSync(file)).toBe(false);
  });
});

describe("the host's own children", () => {
  test("are neither reaped nor signalled, and their exit codes are right", async () => {
    const registry = registryHere({ shell: { graceMs: 100 } });
    const run = promisify(execFile);
    const codes = Array.from({ length: 40 }, (_, index) => index);
    const own = codes.map((code) =>
      run("bash", ["-c", `sleep 0.${code % 10}; exit ${code}`]).then(
        () => 0,
        (error: { code: number }) => error.code,
      ),
    );
    const mark = marker();
    const commands = codes.map((code) =>
      registry.call(
        "Bash",
        code % 2
          ? { command: `exit ${code}` }
          : { command: `setsid sleep ${mark} & sleep ${mark}`, timeout: 500 },
      ),
    );
    expect(await Promise.all(own)).toEqual(codes);
    const results = await Promise.all(commands);
    expect(results.map((it) => facts(it)["exitCode"] ?? "none")).toEqual(
      codes.map((code) => (code % 2 ? code : "none")),
    );
    expect(alive(mark)).toEqual([]);
  });

  test("the supervisor is the only child, and it has ended with its waiting processes when close() resolves", async () => {
    const before = new Set(childrenOf(process.pid).map(({ pid }) => pid));
    const registry = registryHere();
    await Promise.all(
      Array.from({ length: 20 }, () => registry.call("Bash", { command: "sleep 0.1" })),
    );
    const children = childrenOf(process.pid).filter(({ pid }) => !before.has(pid));
    expect(children.map(({ name }) => name)).toEqual(["toolwright-supe"]);
    const [supervisor] = children.map(({ pid }) => pid);
    const ready = childrenOf(supervisor ?? 0).map(({ pid }) => pid);
    expect(ready).not.toEqual([]);
    // A second close() waits for the same.
    void registry.close();
    await registry.close();
    expect([supervisor ?? 0, ...ready].filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
  });

  test("a stopped supervisor ends with the registry too", async () => {
    const before = new Set(childrenOf(process.pid).map(({ pid }) => pid));
    const registry = registryHere({ shell: { graceMs: 100 } });
    await registry.call("Bash", { command: "true" });
    const supervisor = childrenOf(process.pid).find(({ pid }) => !before.has(pid))?.pid ?? 0;
    const stopped = [supervisor, ...childrenOf(supervisor).map(({ pid }) => pid)];
    for (const pid of stopped) process.kill(pid, "SIGSTOP");
    // More than fits into the socket, so that a write is pending when the registry is closed.
    const command = `true ${"x".repeat(100_000)}`;
    // The close rejects some calls, so a handler has to be attached before it.
    const calls = Promise.allSettled(
      Array.from({ length: 6 }, () => registry.call("Bash", { command, run_in_background: true })),
    );
    await registry.close();
    await calls;
    // close() lets them continue, and then they notice that they are no longer needed.
    expect(await eventually(() => !stopped.some(isRunning), 3_000)).toBe(true);
  });

  test("a supervisor that is killed is replaced, and its commands are ended", async () => {
    const registry = registryHere({ shell: { graceMs: 100 } });
    const mark = marker();
    const before = new Set(childrenOf(process.pid).map(({ pid }) => pid));
    await registry.call("Bash", { command: `sleep ${mark}`, run_in_background: true });
    const supervisor = childrenOf(process.pid).find(({ pid }) => !before.has(pid));
    expect(await eventually(() => alive(mark).length === 1, 3_000)).toBe(true);
    // The supervisor first, because it would replace the others. The process with the task has children.
    const waiting = childrenOf(supervisor?.pid ?? 0).filter(
      ({ pid }) => childrenOf(pid).length === 0,
    );
    const killed = [supervisor?.pid ?? 0, ...waiting.map(({ pid }) => pid)];
    for (const pid of killed) process.kill(pid, "SIGKILL");
    expect(await eventually(() => !killed.some(isRunning), 3_000)).toBe(true);
    const result = await registry.call("Bash", { command: "echo again" });
    expect(texts(result)[0]).toBe("again\n[exit code 0]");
    await registry.call("TaskStop", { task_id: "task_1" });
    expect(alive(mark)).toEqual([]);
  });
});
