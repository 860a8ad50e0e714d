// Ways around a rule, each a separate script: reads the tables and runs the ways.
import { execFile, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { root } from "./runtimes.js";

export interface Way {
  name: string;
  /** sh commands that all succeed if the way works at all. */
  conditions: string[];
  script: string;
}

/** The ways of a table in `fixtures/sandbox`. */
export function waysOf(table: string): Way[] {
  const text = readFileSync(join(root, "__test__/fixtures/sandbox", table), "utf8");
  return text
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [name = "", ...lines] = section.split("\n");
      const conditions = lines
        .filter((line) => line.startsWith("#? "))
        .map((line) => line.slice(3));
      const script = lines.filter((line) => !line.startsWith("#? ")).join("\n");
      return { name, conditions, script };
    });
}

/** The user that runs the tools. */
export interface Person {
  name: string;
  /** Undefined for the user that runs the tests. */
  user?: number;
}

export const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

/** Root and an ordinary user if the tests run as root; otherwise the current user. */
export const people: Person[] = isRoot
  ? [{ name: "root" }, { name: "an ordinary user", user: NOBODY }]
  : [{ name: "an ordinary user" }];

export function isOrdinary({ user }: Person): boolean {
  return user !== undefined || !isRoot;
}

/** Directories of programs that an ordinary user can run as well. */
export const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Whether a way works at all for a person on this machine. */
export function works(
  { conditions }: Way,
  person: Person,
  folder: string,
  variables: Record<string, string> = {},
): boolean {
  return conditions.every((condition) => {
    if (condition === "root") return !isOrdinary(person);
    const who = person.user === undefined ? {} : { uid: person.user, gid: person.user };
    const options = { ...who, env: { PATH, HOME: folder, ...variables }, cwd: folder } as const;
    return spawnSync("sh", ["-c", condition], { ...options, stdio: "ignore" }).status === 0;
  });
}

/** Lines of one registry. */
export interface Run {
  projectPath: string;
  lines: string[];
  options?: Record<string, unknown>;
  /** Run the lines at the same time instead of one after the other. */
  atOnce?: boolean;
}

/** The outcome of a line. */
export interface Ended {
  text: string;
  error?: string;
  facts?: Record<string, unknown> & { sandbox?: Record<string, unknown> };
  /** The processes that supervised the host's commands then, if they were not stopped. */
  supervisors: string[];
}

export interface Host {
  person: Person;
  /** The home of the process, which exists. */
  home: string;
  /** Files that another process of the person has open, and how. */
  open?: [path: string, flags: "r" | "r+"][];
  /** How many registries there are at once. */
  width?: number;
  /** Run in a separate mount namespace, so that mounts of a line end with the process. */
  ownMounts?: boolean;
  env?: Record<string, string>;
}

/** The outcome of each line of each run, and the state of another process of the same user. */
export interface HostReport {
  ended: Ended[][];
  bystander: string;
}

/** Runs lines in a separate host, as a person. */
export async function runInHost(host: Host, runs: Run[]): Promise<HostReport> {
  const { person, home, open = [], width = 4, ownMounts = false } = host;
  // A copy, because an ordinary user may not be able to enter the repository.
  const supervisorPath = join(home, "..", "toolwright-supervisor");
  if (!existsSync(supervisorPath)) {
    copyFileSync(join(root, "native/toolwright-supervisor"), supervisorPath);
    chmodSync(supervisorPath, 0o755);
  }
  const given = runs.map(({ options, ...run }) => ({
    ...run,
    options: { shell: { supervisorPath }, ...options },
  }));
  const own = [process.execPath, join(root, "__test__/hosts/sandbox-lines.mjs")];
  const [program = "", ...args] = ownMounts ? ["unshare", "--mount", ...own] : own;
  const env = {
    PATH,
    HOME: home,
    USER: isOrdinary(person) ? "nobody" : "root",
    LANG: "C.UTF-8",
    ...host.env,
  };
  const options = { cwd: root, env, timeout: 110_000, killSignal: "SIGKILL" } as const;
  return new Promise((resolve, reject) => {
    const child = execFile(
      program,
      args,
      { ...options, maxBuffer: 64 << 20 },
      (error, output, stderr) => {
        if (error || stderr !== "") reject(new Error(`${error?.message ?? ""}\n${stderr}`));
        else resolve(JSON.parse(output) as HostReport);
      },
    );
    child.stdin?.end(JSON.stringify({ user: person.user, open, width, runs: given }));
  });
}

/** Runs one line in each of some directories, and returns the outcomes. */
export async function runLine(
  host: Host,
  line: string,
  folders: Iterable<string>,
  options: Record<string, unknown>,
): Promise<Ended[]> {
  const runs = [...folders].map((projectPath) => ({ projectPath, lines: [line], options }));
  return (await runInHost(host, runs)).ended.flat();
}

/** Runs a bash script without a sandbox, as preparation; it has to succeed. */
export function prepare(script: string, cwd: string, env: Record<string, string> = {}): string {
  const { status, stdout, stderr } = spawnSync("bash", ["-euc", script], {
    cwd,
    env: { PATH, HOME: cwd, GIT_CONFIG_NOSYSTEM: "1", ...env },
    encoding: "utf8",
    maxBuffer: 64 << 20,
  });
  if (status !== 0) throw new Error(`the preparation failed: ${stderr}`);
  return stdout;
}

/** Makes a directory for each way, filled by a script, with the way as `way.sh` in it, and a home beside them. */
export function plantWays(
  ways: Way[],
  parent: string,
  fill: string,
  person: Person,
): Map<Way, string> {
  const template = join(parent, "template");
  mkdirSync(template);
  prepare(fill, template);
  const folders = new Map(
    ways.map((way, at) => [way, join(parent, `way-${at}`, "project")] as const),
  );
  prepare(
    `mkdir home; for at in {0..${ways.length - 1}}; do mkdir way-$at; cp -a template way-$at/project; done`,
    parent,
  );
  for (const [{ script }, folder] of folders) writeFileSync(join(folder, "way.sh"), script);
  if (person.user !== undefined) prepare(`chown -R ${person.user}:${person.user} .`, parent);
  chmodSync(parent, 0o755);
  return folders;
}
