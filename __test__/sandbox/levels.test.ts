// The levels of the sandbox, how answers and doctor report them, and the effect of limits.
import { execFileSync, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { CallResult, CommandSandbox } from "../../index.js";
import { useRegistries } from "../support/registries.js";
import { texts } from "../support/results.js";
import { useWorkspace } from "../support/workspace.js";

const HOST = fileURLToPath(new URL("../hosts/sandbox-levels.mjs", import.meta.url));
const CLI = fileURLToPath(new URL("../../bin/toolwright.js", import.meta.url));

/** The sandbox of commands here by default. */
const canHaveNamespaces = spawnSync("unshare", ["-Urmpf", "--mount-proc", "true"]).status === 0;

const workspace = useWorkspace();
const registryHere = useRegistries(workspace);

interface Told {
  text: string;
  error?: { type: string; message: string; details?: { reason: string; howToAllow: string } };
  sandbox?: CommandSandbox;
}

function sandboxOf({ _meta = {} }: CallResult) {
  return (_meta["toolwright/command"] as { sandbox: CommandSandbox }).sandbox;
}

/** Runs a program with this runtime in a user namespace in which no other can be created. */
function withoutNamespaces(...args: string[]) {
  const script = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"';
  return execFileSync("unshare", ["-Ur", "sh", "-c", script, "sh", process.execPath, ...args], {
    encoding: "utf8",
  });
}

describe.runIf(process.platform === "linux" && canHaveNamespaces)("the sandbox", () => {
  test("uses namespaces by default, and reports it", async () => {
    const registry = registryHere();
    const answer = await registry.call("Bash", { command: "echo $$" });
    const { level, network, hidden, cause, limitHit } = sandboxOf(answer);
    expect({ level, network, hidden, cause, limitHit }).toEqual({
      level: "namespaces",
      network: "allow",
      hidden: 0,
    });
    // Its ids are those of its own namespace.
    expect(Number.parseInt(texts(answer).join("\n"), 10)).toBeLessThan(100);
    const task = await registry.call("Bash", { command: "exit 0", run_in_background: true });
    expect(sandboxOf(task).level).toBe("namespaces");
  });

  test("is left out if the host turns it off", async () => {
    const answer = await registryHere({ sandbox: "off" }).call("Bash", { command: "echo $$" });
    expect(sandboxOf(answer)).toEqual({
      level: "none",
      network: "allow",
      hidden: 0,
      readOnly: 0,
    });
  });

  test("is Landlock if namespaces are refused, and commands that need more do not run", () => {
    const told = JSON.parse(withoutNamespaces(HOST, workspace.root)) as Record<string, Told>;
    const cause =
      "user namespaces are refused: ENOSPC; no more are allowed; see `/proc/sys/user/max_user_namespaces`";
    for (const mode of ["auto", "landlock"]) {
      expect(told[mode]?.text).toContain("ran");
      expect(told[mode]?.sandbox).toMatchObject({ level: "landlock", cause, network: "allow" });
      expect(told[mode]?.sandbox?.notHeld?.join()).toContain("the number of processes");
    }
    expect(told["closed"]?.sandbox).toMatchObject({ level: "landlock", network: "deny" });
    expect(told["off"]?.sandbox?.level).toBe("none");
    const { error, sandbox } = told["required"]!;
    expect(sandbox).toBeUndefined();
    expect(error?.details?.reason).toContain(cause);
    expect(error?.details?.howToAllow).toContain('level: "landlock"');
  });

  test("doctor reports the level, and why there is no better one", () => {
    const check = (json: string) => {
      const { checks } = JSON.parse(json) as {
        checks: { name: string; state: string; found: string; advice?: string }[];
      };
      return checks.find(({ name }) => name === "sandbox");
    };
    const here = execFileSync(process.execPath, [CLI, "doctor", "--json"], { encoding: "utf8" });
    expect(check(here)?.found).toBe("namespaces");
    const refused = check(withoutNamespaces(CLI, "doctor", "--json"));
    expect(refused).toMatchObject({ state: "note", found: "landlock" });
    expect(refused?.advice).toContain("user namespaces are refused: ENOSPC");
  });

  test.each<[string, string, object, string, number?]>([
    ["cpu", "while :; do :; done", { cpuSeconds: 1 }, "1 second of CPU time"],
    ["fileSize", "head -c 9000000 /dev/zero > big", { fileSizeMb: 1 }, "1 MB for one file"],
    [
      "processes",
      "for i in $(seq 1 200); do sleep 100 & done 2>/dev/null; wait",
      { processes: 50 },
      "50 processes",
      // bash retries for a long time.
      2_000,
    ],
  ])("reports that the limit `%s` was reached", async (limit, command, limits, words, timeout) => {
    const registry = registryHere({ sandbox: { limits }, shell: { graceMs: 0 } });
    const answer = await registry.call("Bash", {
      command,
      ...(timeout !== undefined && { timeout }),
    });
    expect(answer.isError).toBe(true);
    expect(sandboxOf(answer).limitHit).toBe(limit);
    expect(texts(answer).join("\n")).toContain(`[it reached the limit of ${words}]`);
  });

  test("reports the memory limit if a program runs out of memory", async () => {
    const registry = registryHere({ sandbox: { limits: { memoryMb: 256 } } });
    const answer = await registry.call("Bash", { command: "head -c 900M /dev/zero | tail" });
    expect(texts(answer).join("\n")).toContain("there is a limit of 256 MB of memory");
    const node = await registry.call("Bash", { command: "node -e 1" });
    expect(node.isError).toBeFalsy();
  });
});
