// Kernel objects that are not files: control groups, IPC objects and keys. A command reaches none outside of its sandbox,
// and leaves none in a sandbox that is used again.
import { spawnSync } from "node:child_process";
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import {
  PATH,
  type Person,
  type Way,
  isOrdinary,
  isRoot,
  people,
  plantWays,
  prepare,
  runInHost,
  runLine,
  waysOf,
  works,
} from "../support/sandbox-ways.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const ways = waysOf("objects.txt");

/** More commands than sandboxes that wait for one, so one of these gets the sandbox of an earlier command. */
const ROUND = 12;

let group: string | undefined;
afterEach(() => {
  if (group !== undefined) rmdirSync(group);
  group = undefined;
});

/** Makes a control group that belongs to a person, if this user can make one. */
function groupOf({ user = 0 }: Person): Record<string, string> {
  const mounts = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  const place = mounts.find((it) => it.includes(" - cgroup2 "))?.split(" ")[4];
  if (!isRoot || place === undefined) return {};
  group = join(place, `toolwright-test-${process.pid}`);
  mkdirSync(group);
  const files = ["", "cgroup.procs", "cgroup.freeze", "cgroup.kill"];
  for (const file of files) chownSync(join(group, file), user, user);
  return { GROUP: group };
}

/** Runs the lines of a way that begin with a mark, outside, as the person. */
function runMarked(mark: string, way: Way, person: Person, cwd: string): void {
  const lines = way.script.split("\n").filter((line) => line.startsWith(mark));
  const script = lines.map((line) => line.slice(mark.length)).join("\n");
  const who = person.user === undefined ? {} : { uid: person.user, gid: person.user };
  spawnSync("bash", ["-c", script], { ...who, cwd, env: { PATH, HOME: cwd } });
}

/** The names of the ways that reached an object. */
async function thatReach(person: Person, tried: Way[], env: Record<string, string>, mode: string) {
  const folders = plantWays(tried, workspace.root, "true", person);
  for (const [way, folder] of folders) runMarked("#! ", way, person, folder);
  const host = { person, home: workspace.path("home"), env };
  const ended = await runLine(host, "bash ./way.sh", folders.values(), { sandbox: mode });
  for (const [way, folder] of folders) runMarked("#- ", way, person, folder);
  return {
    reached: tried.filter((_way, at) => ended[at]?.text.includes("REACHED")).map((it) => it.name),
    levels: [...new Set(ended.map(({ facts }) => facts?.sandbox?.["level"]))],
  };
}

describe.each(people)("$name", (person) => {
  test("reaches each object without a sandbox", async () => {
    const env = groupOf(person);
    const tried = ways.filter((way) => works(way, person, workspace.root, env));
    expect(tried.length).toBeGreaterThan(isOrdinary(person) && !isRoot ? 3 : 6);
    const { reached } = await thatReach(person, tried, env, "off");
    expect(tried.map(({ name }) => name).filter((name) => !reached.includes(name))).toEqual([]);
  });

  test("reaches none with one", async () => {
    const after = await thatReach(person, ways, groupOf(person), "required");
    expect(after).toEqual({ reached: [], levels: ["namespaces"] });
  });

  test("leaves none for the next command", async () => {
    const make =
      "ipcmk -M 4096 && ipcmk -Q && ipcmk -S 1 && echo left > /dev/shm/left && echo made";
    const look = "ipcs | grep -c $(id -un); ls -A /dev/shm; readlink /proc/self/ns/pid";
    const lines = Array.from({ length: ROUND }, (_, at) => (at % 3 === 1 ? make : look));
    workspace.write("project/file", "");
    workspace.write("home/file", "");
    const owner = person.user === undefined ? "" : `chown -R ${person.user}:${person.user} .`;
    prepare(`chmod 755 .; ${owner}`, workspace.root);
    const host = { person, home: workspace.path("home") };
    const run = { projectPath: workspace.path("project"), lines, options: { sandbox: "required" } };
    const [ended = []] = (await runInHost(host, [run])).ended;
    const made = ended.filter((_, at) => at % 3 === 1).map(({ text }) => text);
    expect(made.every((text) => text.includes("made"))).toBe(true);
    const seen = ended.filter((_, at) => at % 3 !== 1).map(({ text }) => text);
    expect(seen.map((text) => text.replace(/pid:\[\d+\]/, "pid"))).toEqual(
      seen.map(() => "0\npid\n[exit code 0]"),
    );
    // Sandboxes in which nothing was left are used again.
    expect(new Set(seen).size).toBeLessThan(seen.length);
  });

  test.skipIf(!existsSync("/dev/shm"))("sees a workspace that is in /dev/shm", async () => {
    const projectPath = mkdtempSync("/dev/shm/toolwright-");
    try {
      writeFileSync(join(projectPath, "file"), "text");
      workspace.write("home/file", "");
      const owner = person.user === undefined ? "" : `chown -R ${person.user} ${projectPath} .`;
      prepare(`chmod 755 .; ${owner}`, workspace.root);
      const host = { person, home: workspace.path("home") };
      const run = { projectPath, lines: ["cat file"], options: { sandbox: "required" } };
      const [[ended] = []] = (await runInHost(host, [run])).ended;
      expect(ended?.text).toBe("text\n[exit code 0]");
      expect(`${ended?.facts?.sandbox?.["notHeld"]}`).toContain("shared memory");
    } finally {
      rmSync(projectPath, { recursive: true });
    }
  });
});
