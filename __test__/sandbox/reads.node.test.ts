// Files that rules deny to read stay closed, whatever a command does. Each way in the table is a script, run by a line
// that names nothing denied and that a person approved: policy cannot know, so the kernel has to enforce it.
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
const ways = waysOf("reads.txt");

const SECRET = "needle-7c1f0a9be2";
const DENIED = { deny: ["Read(.env)", "Read(**/secrets/**)"] };

const FILL = `
  echo "TOKEN=${SECRET}" > .env
  mkdir -p secrets deep/secrets/inner
  echo ${SECRET} | tee secrets/key.txt > deep/secrets/inner/key.txt
  ln .env hard-before
  ln -s .env soft-before
  ln -s secrets folder-before
  echo text > notes.txt
  git -c init.defaultBranch=main init -q
  git add notes.txt
  git -c user.name=a -c user.email=a@a commit -qm first
`;

/** The files that contain the secret although no rule closes them: copies, and objects of git. */
const LEAKS = `
  for way in way-*; do
    grep -rls ${SECRET} $way --exclude-dir=secrets --exclude=.env --exclude=hard-before --exclude=way.sh || true
    for objects in $(find $way -type d -path '*.git/objects'); do
      ! git -c safe.directory='*' -C $objects/.. cat-file --batch-all-objects --batch | grep -qa ${SECRET} || echo $objects
    done
  done
`;

/** The names of the ways that revealed the secret. */
async function thatRead(person: (typeof people)[number], tried: Way[], held: boolean) {
  const folders = plantWays(tried, workspace.root, FILL, person);
  const host = {
    person,
    home: workspace.path("home"),
    open: [...folders.values()].map((folder) => [`${folder}/.env`, "r"] as [string, "r"]),
    ownMounts: !held && person.user === undefined,
  };
  const options = held ? { policy: DENIED, sandbox: "required" } : { sandbox: "off" };
  const ended = await runLine(host, "bash ./way.sh", folders.values(), options);
  return {
    read: tried.filter((_way, at) => ended[at]?.text.includes(SECRET)).map(({ name }) => name),
    notRun: tried.flatMap(({ name }, at) =>
      ended[at]?.facts ? [] : [`${name}: ${ended[at]?.error}`],
    ),
    levels: [...new Set(ended.map(({ facts }) => facts?.sandbox?.["level"]))],
    leaks: held ? prepare(LEAKS, workspace.root).split("\n").filter(Boolean) : [],
  };
}

test("there are at least 60 ways to read a file", () => {
  expect(ways.length).toBeGreaterThanOrEqual(60);
  expect(new Set(ways.map(({ name }) => name)).size).toBe(ways.length);
});

describe.each(people)("$name", (person) => {
  test("reads the file in each way without a sandbox", async () => {
    const tried = ways.filter((way) => works(way, person, workspace.root));
    const { read, notRun } = await thatRead(person, tried, false);
    expect(notRun).toEqual([]);
    expect(tried.map(({ name }) => name).filter((name) => !read.includes(name))).toEqual([]);
  });

  test("cannot read it in any way with one", async () => {
    const after = await thatRead(person, ways, true);
    expect(after).toEqual({ read: [], notRun: [], levels: ["namespaces"], leaks: [] });
  });
});
