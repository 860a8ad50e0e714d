import { existsSync, readFileSync, readdirSync } from "node:fs";

let made = 0;

/** A number that makes a `sleep` of this test unlike every other process on the machine. */
export function marker(): string {
  made += 1;
  return `8${String(process.pid).padStart(7, "0")}${String(made).padStart(4, "0")}`;
}

/** The processes that have a marker in their command line; shells that were told it are none of them. */
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

/** Waits for something that happens outside this process; false when it did not in time. */
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

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
