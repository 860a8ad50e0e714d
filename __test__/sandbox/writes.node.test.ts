// Files that rules deny to change stay unchanged, whatever a command does; see reads.node.test.ts.
import { describe, expect, test } from "vitest";
import {
  type Way,
  people,
  plantWays,
  prepare,
  runLine,
  waysOf,
  works,
} from "../support/sandbox-ways.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const ways = waysOf("writes.txt");

const FILL = `
  git -c init.defaultBranch=main init -q
  echo text > notes.txt
  git add notes.txt
  git -c user.name=a -c user.email=a@a commit -qm first
  echo more >> notes.txt
  echo mine > mine.txt
  ln -s .git soft-before
  ln .git/config hard-before
`;

/** Names, kinds, modes, owners, times, link targets and contents of everything below each way's .git. */
const STATE = `
  for way in way-*; do
    { cd $way
      find project/.git -printf '%p %y %m %U %l\\n' -type f -printf '%T@ ' -exec md5sum {} + 2>&1 | sort | md5sum
      find . -name .git -o -name elsewhere | sort | md5sum
      cd ..
    } | md5sum
  done
`;

/** The names of the ways that changed something. */
async function thatWrote(person: (typeof people)[number], tried: Way[], held: boolean) {
  const folders = plantWays(tried, workspace.root, FILL, person);
  const state = () =>
    prepare(STATE.replace("way-*", `way-{0..${tried.length - 1}}`), workspace.root).split("\n");
  const host = {
    person,
    home: workspace.path("home"),
    open: [...folders.values()].map((folder) => [`${folder}/.git/config`, "r+"] as [string, "r+"]),
    ownMounts: !held && person.user === undefined,
  };
  const options = held
    ? { policy: { deny: ["Edit(.git/**)"] }, sandbox: "required" }
    : { sandbox: "off" };
  const before = state();
  const ended = await runLine(host, "bash ./way.sh", folders.values(), options);
  const after = state();
  return {
    wrote: tried.filter((_way, at) => before[at] !== after[at]).map(({ name }) => name),
    notRun: tried.flatMap(({ name }, at) =>
      ended[at]?.facts ? [] : [`${name}: ${ended[at]?.error}`],
    ),
    levels: [...new Set(ended.map(({ facts }) => facts?.sandbox?.["level"]))],
  };
}

test("there are at least 30 ways to change a file", () => {
  expect(ways.length).toBeGreaterThanOrEqual(30);
  expect(new Set(ways.map(({ name }) => name)).size).toBe(ways.length);
});

describe.each(people)("$name", (person) => {
  test("changes the repository in each way without a sandbox", async () => {
    const tried = ways.filter((way) => works(way, person, workspace.root));
    const { wrote, notRun } = await thatWrote(person, tried, false);
    expect(notRun).toEqual([]);
    expect(tried.map(({ name }) => name).filter((name) => !wrote.includes(name))).toEqual([]);
  });

  test("changes nothing in any way with one", async () => {
    const after = await thatWrote(person, ways, true);
    expect(after).toEqual({ wrote: [], notRun: [], levels: ["namespaces"] });
  });
});
