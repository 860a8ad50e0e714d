import { existsSync, readFileSync, readdirSync } from "node:fs";
import type { ToolRegistry } from "../../index.js";

let made = 0;

/** A unique number, so that a `sleep` of this test differs from every other process on the machine. */
export function marker(): string {
  made += 1;
  return `8${String(process.pid).padStart(7, "0")}${String(made).padStart(4, "0")}`;
}

/** The processes with a marker in their command line, without shells that only pass it on. */
export function alive(wanted: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      const line = read(`/proc/${pid}/cmdline`);
      return line.includes(wanted) && !line.includes("-c\0");
    })
    .map(Number);
}

/** The direct children of a process, with their names and states. */
export function childrenOf(parent: number): { pid: number; name: string; state: string }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const stat = /^\d+ \((?<name>.*)\) (?<state>.) (?<parent>\d+)/s.exec(
        read(`/proc/${pid}/stat`),
      );
      if (Number(stat?.groups?.["parent"]) !== parent) return [];
      return [
        {
          pid: Number(pid),
          name: stat?.groups?.["name"] ?? "",
          state: stat?.groups?.["state"] ?? "",
        },
      ];
    });
}

export function openDescriptors(pid: number | "self" = "self"): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

export function isRunning(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && !/\) Z /.test(read(`/proc/${pid}/stat`));
}

/** Waits for an event outside this process; false if it did not happen in time. */
export async function eventually(holds: () => boolean, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (!holds()) {
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => {
      setTimeout(resolve, 10);
    });
  }
  return true;
}

/**
 * A time limit within which a command has surely begun: many times as long as one takes now, and at least so many
 * milliseconds. A time limit counts from the start of the shell, which may take long on a loaded machine.
 */
export async function limitToBegin(registry: ToolRegistry, leastMs: number): Promise<number> {
  const began = performance.now();
  await registry.call("Bash", { command: "true" });
  return Math.max(leastMs, Math.ceil(20 * (performance.now() - began)));
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
