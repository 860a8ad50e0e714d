// A command that attacks its supervisor or the machine: none of its processes survives, the next command works, and no
// other process is affected. No attack runs without a sandbox: each first checks that it sees only its own processes.
import { readFileSync, readlinkSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { alive, eventually, marker } from "../support/processes.js";
import { people, prepare, runInHost, waysOf } from "../support/sandbox-ways.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const attacks = waysOf("attacks.txt");

const HOST_PID_NAMESPACE = readlinkSync("/proc/self/ns/pid");
const GUARD =
  'test "$(readlink /proc/self/ns/pid)" != "$HOST_PID_NAMESPACE" || { echo NOT CONTAINED; exit 99; }\n';

describe.each(people)("$name", (person) => {
  function plant(): { mark: string; host: Parameters<typeof runInHost>[0] } {
    const mark = marker();
    attacks.forEach(({ script }, at) => workspace.write(`project/attack-${at}.sh`, GUARD + script));
    const owner = person.user === undefined ? "" : `chown -R ${person.user}:${person.user} .`;
    prepare(`mkdir home; chmod 755 .; ${owner}`, workspace.root);
    const env = {
      HOST_PID_NAMESPACE,
      HOST_PID: `${process.pid}`,
      HOST_COMMAND: readFileSync("/proc/self/cmdline", "latin1").replaceAll("\0", " "),
      MARK: mark,
      PRIVATE_TOKEN: "needle-in-the-host",
    };
    return { mark, host: { person, home: workspace.path("home"), env, width: 1 } };
  }

  const lineOf = (at: number) => `exec bash ./attack-${at}.sh`;
  const isLimited = (at: number) => attacks[at]?.conditions.includes("limited") === true;

  async function attack(chosen: number[], limits: object) {
    const { mark, host } = plant();
    const lines = ["echo first", ...chosen.flatMap((at) => [lineOf(at), "echo next"])];
    const options = { sandbox: { mode: "required", limits } };
    const { ended, bystander } = await runInHost(host, [
      { projectPath: workspace.path("project"), lines, options },
    ]);
    const [first, ...rest] = ended[0] ?? [];
    const defects = chosen.flatMap((at, index) => {
      const [it, next] = rest.slice(2 * index, 2 * index + 2);
      const found = [
        ...(it?.text.match(/BROKE OUT.*|NOT CONTAINED/g) ?? []),
        ...(it?.facts?.sandbox?.["level"] === "namespaces"
          ? []
          : [`not in namespaces: ${it?.error}`]),
        ...(it?.facts?.["survivingProcesses"] === 0 ? [] : ["processes survived"]),
        ...(next?.text === "next\n[exit code 0]" ? [] : [`the next command: ${next?.text}`]),
        ...(`${next?.supervisors}` === `${first?.supervisors}` ? [] : ["another supervisor"]),
      ];
      return found.length === 0 ? [] : [[attacks[at]?.name, ...found]];
    });
    const gone = await eventually(() => alive(mark).length === 0, 5_000);
    return { defects, bystander, gone };
  }

  const NOTHING = { defects: [], bystander: "S", gone: true };

  const numbers = attacks.map((_attack, at) => at);

  test("attacks its supervisor without effect", async () => {
    expect(
      await attack(
        numbers.filter((at) => !isLimited(at)),
        {},
      ),
    ).toEqual(NOTHING);
  });

  test("forks endlessly without effect", async () => {
    expect(await attack(numbers.filter(isLimited), { processes: 150 })).toEqual(NOTHING);
  });

  test("attacks a hundred times at once without effect", async () => {
    const { mark, host } = plant();
    const killing = attacks.flatMap(({ script }, at) =>
      /kill .*-1|setsid/.test(script) && !isLimited(at) ? [at] : [],
    );
    const lines = Array.from({ length: 100 }, (_nothing, at) =>
      at % 4 === 3
        ? `echo quiet ${at}; sleep 0.2; echo on ${at}`
        : lineOf(killing[at % killing.length] ?? 0),
    );
    const projectPath = workspace.path("project");
    const options = { sandbox: "required" };
    const { ended, bystander } = await runInHost(host, [
      { projectPath, lines, options, atOnce: true },
    ]);
    const quiet = ended[0]?.filter((_line, at) => at % 4 === 3).map(({ text }) => text);
    expect(quiet).toEqual(
      lines.flatMap((_line, at) => (at % 4 === 3 ? [`quiet ${at}\non ${at}\n[exit code 0]`] : [])),
    );
    expect(ended[0]?.flatMap(({ text }) => text.match(/BROKE OUT.*|NOT CONTAINED/g) ?? [])).toEqual(
      [],
    );
    expect(bystander).toBe("S");
    expect(await eventually(() => alive(mark).length === 0, 5_000)).toBe(true);
  });
});
