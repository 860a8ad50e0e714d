import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

const commands = new URL("../../scripts/command.mjs", import.meta.url).href;
const { bunPath } = (await import(commands)) as { bunPath(): string };

/** The runtimes of hosts, whichever of them runs the tests. */
export const runtimes = [
  { name: "Node", path: process.versions.bun ? "node" : process.execPath },
  { name: "Bun", path: bunPath() },
];

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** Runs a script until it exits. If it does not, it is killed, which `signal` shows. */
export function runScript(
  runtime: string,
  args: string[],
  cwd = root,
  patienceMs = 100_000,
  { env, ...user }: { env?: Record<string, string>; uid?: number; gid?: number } = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(
      runtime,
      args,
      {
        ...user,
        env: { ...process.env, ...env },
        cwd,
        timeout: patienceMs,
        killSignal: "SIGKILL",
        maxBuffer: 16 * 1024 * 1024,
      },
      (_error, stdout, stderr) =>
        resolve({ code: child.exitCode, signal: child.signalCode, stdout, stderr }),
    );
  });
}
