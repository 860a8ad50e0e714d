import { execFile, execFileSync } from "node:child_process";
import type { CallResult } from "../../index.js";
import { root, runtimes } from "./runtimes.js";

/** A user without special permissions. */
export const NOBODY = 65_534;

type Call = [tool: string, input: Record<string, unknown>];

export interface After {
  results: CallResult[];
  /** Every name below the directory, with its content or an error; directories end in a slash. */
  files: Record<string, string>;
}

/** The restrictions of the process that makes the calls. */
export interface Bounds {
  /** bash commands that run before the process is replaced by the one that calls. */
  shell?: string;
  /** Run in a separate mount namespace, which ends with the process. */
  ownMounts?: boolean;
  /** Drop the rights of root, if it has them. */
  unprivileged?: boolean;
}

// The addon is loaded first, because an unprivileged user may not be able to read the repository.
const script = `
  const { createToolRegistry } = require("./index.js");
  const fs = require("node:fs");
  const [workspace, unprivileged] = process.argv.slice(-2);
  const calls = fs.readFileSync(0, "utf8");
  if (unprivileged === "true" && process.getuid() === 0) {
    process.setgroups([]);
    process.setgid(${NOBODY});
    process.setuid(${NOBODY});
  }
  const registry = createToolRegistry({ permissionMode: "bypassPermissions", userPolicyFile: false, projectPath: workspace, toolsets: ["claude", "classic"] });
  const list = (folder, prefix) => fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = folder + "/" + entry.name;
    const name = prefix + entry.name + (entry.isDirectory() ? "/" : "");
    try {
      return entry.isDirectory() ? [[name, ""], ...list(path, name)] : [[name, fs.readFileSync(path, "latin1")]];
    } catch (error) { return [[name, error.code]]; }
  });
  (async () => {
    const results = [];
    for (const [tool, input] of JSON.parse(calls)) results.push(await registry.call(tool, input));
    const files = Object.fromEntries(list(workspace, "").sort());
    console.log(JSON.stringify({ results, files }));
  })();
`;

/** Makes calls one after the other in a separate process. */
export function callsInChild(
  workspace: string,
  calls: Call[],
  { shell = "", ownMounts = false, unprivileged = false }: Bounds,
): Promise<After> {
  const node = runtimes[0]?.path as string;
  const own = [node, "-e", script, "--", workspace, `${unprivileged}`];
  const inBash = ["bash", "-c", `set -e\n${shell}\nexec "$@"`, "bash", ...own];
  const [program, ...args] = ownMounts ? ["unshare", "--mount", ...inBash] : inBash;
  return new Promise((resolve, reject) => {
    const options = { cwd: root, timeout: 25_000, killSignal: "SIGKILL" } as const;
    const child = execFile(program as string, args, options, (error, stdout, stderr) => {
      if (error || stderr !== "") reject(new Error(`${error?.message ?? ""}\n${stderr}`));
      else resolve(JSON.parse(stdout) as After);
    });
    child.stdin?.end(JSON.stringify(calls));
  });
}

function works(program: string, args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Whether this user may mount; containers often forbid it even to root. */
export function mayMount(): boolean {
  return works("unshare", ["--mount", "bash", "-c", "mount -t tmpfs -o size=64k none /mnt"]);
}

const XATTR = "import os, sys; path, name = sys.argv[1:3];";

/** Extended attributes, by Python, because Node has no function for them. */
export const attributes = {
  areThere: () => works("python3", ["-c", "import os; os.setxattr"]),
  set(path: string, name: string, value: string): boolean {
    const code = `${XATTR} os.setxattr(path, name, sys.argv[3].encode())`;
    return works("python3", ["-c", code, path, name, value]);
  },
  get(path: string, name: string): string {
    const code = `${XATTR} print(os.getxattr(path, name).decode(), end="")`;
    return execFileSync("python3", ["-c", code, path, name], { encoding: "utf8" });
  },
};
