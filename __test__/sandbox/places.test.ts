// What a command can change without a rule about it: protected paths, paths that do not exist yet, and those that a
// person's approval opens. As root and as an ordinary user, each in a separate host.
import { readFileSync, readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { people, prepare, runInHost, runLine } from "../support/sandbox-ways.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();

describe.each(people)("$name", (person) => {
  const SECRET = "needle-41f7";

  /** Fills the directories, makes the person their owner, and runs lines in the project, one after the other. */
  async function run(
    fill: string,
    lines: (string | { line: string; options: Record<string, unknown> })[],
    script = "",
    env: Record<string, string> = {},
  ) {
    workspace.write("project/way.sh", script);
    const owner = person.user === undefined ? "" : `chown -R ${person.user}:${person.user} .`;
    prepare(`mkdir home tmp other; chmod 755 .\n${fill}\n${owner}`, workspace.root);
    const host = {
      person,
      home: workspace.path("home"),
      width: 1,
      env: { TMPDIR: workspace.path("tmp"), ...env },
    };
    const runs = lines.map((each) => {
      const { line, options } = typeof each === "string" ? { line: each, options: {} } : each;
      const projectPath = workspace.path("project");
      return { projectPath, lines: [line], options: { sandbox: "required", ...options } };
    });
    return (await runInHost(host, runs)).ended.flat();
  }

  /** Everything below a directory, with its content. */
  function contents(folder: string): Record<string, string> {
    const entries = readdirSync(workspace.path(folder), { recursive: true, withFileTypes: true });
    return Object.fromEntries(
      entries
        .filter((entry) => !entry.isDirectory())
        .map((entry) => {
          const path = `${entry.parentPath ?? entry.path}/${entry.name}`;
          return [path.slice(workspace.path(folder).length + 1), readFileSync(path, "latin1")];
        }),
    );
  }

  function exists(...names: string[]): string[] {
    return names.filter((name) => {
      const [, folder = "", last = ""] = /^(.*)\/(.*)$/.exec(name) ?? [];
      return readdirSync(workspace.path(folder)).includes(last);
    });
  }

  const PROTECTED = [
    "project/.toolwright/policy.json",
    "project/.claude/settings.json",
    "project/.vscode/tasks.json",
    "project/.idea/workspace.xml",
    "project/.husky/pre-commit",
    "project/.npmrc",
    "project/.envrc",
    "project/.mcp.json",
    "home/.bashrc",
    "home/.profile",
    "home/.zshrc",
    "home/.gitconfig",
    "home/.npmrc",
    "home/.ssh/authorized_keys",
  ];
  const GIT = "git -c init.defaultBranch=main init -q project";
  const COMMIT = "git -c user.name=a -c user.email=a@a commit -q";

  test("files that programs execute or trust cannot be changed, and other work succeeds", async () => {
    const places = [...PROTECTED, "project/.git/config", "project/.git/hooks/pre-commit"];
    const names = places.map((name) => `../${name}`).join(" ");
    const fill = `${GIT}; cd project; mkdir -p $(dirname ${names}); for f in ${names}; do [ -s $f ] || echo '# mine' > $f; done`;
    const [ended, committed] = await run(
      fill,
      [
        "bash ./way.sh",
        `echo a > a.txt; git add a.txt; ${COMMIT} -m first; git branch b; git log --format=%s`,
      ],
      `for f in ${names}; do echo x >> $f; rm -f $f; mv $f $f.old; echo y > new; mv new $f; chmod 777 $f; done
       for d in $(dirname ${names}); do echo x > $d/new-file; mv $d $d-old; mkdir -p $d; done
       echo wrote > notes.txt; echo fine`,
    );
    expect(ended?.text).toMatch(/^fine$/m);
    expect(committed?.text).toMatch(/^first\n\[exit code 0\]/m);
    expect(readFileSync(workspace.path("project/notes.txt"), "utf8")).toBe("wrote\n");
    const left = { ...contents("project"), ...contents("home") };
    expect(left[".git/config"]).toMatch(/^\[core\][^x]*$/);
    const changed = places.filter((place) => left[place.replace(/^\w+\//, "")] !== "# mine\n");
    expect(changed).toEqual(["project/.git/config"]);
    expect(Object.keys(left).filter((name) => name.includes("-old/"))).toEqual([]);
    expect(
      exists("project/.git/hooks/new-file", "project/.vscode/new-file", "home/.ssh/new-file"),
    ).toEqual([]);
  });

  test("protected paths that do not exist cannot be created, and no placeholder remains", async () => {
    const names = [
      "project/.git/hooks",
      "project/.vscode",
      "project/.toolwright",
      "project/.claude",
      "project/.husky",
      "home/.bashrc",
      "home/.zshrc",
    ];
    const [ended] = await run(
      `${GIT}; rm -r project/.git/hooks`,
      ["bash ./way.sh"],
      `for f in ${names.map((name) => `../${name}`).join(" ")}; do
         mkdir -p $f; echo x > $f/pre-commit; rm -rf $f; echo x > $f; mv $f ../other/x; ln -s ../other $f
       done 2> /dev/null; echo fine`,
    );
    expect(ended?.text).toMatch(/^fine$/m);
    expect(exists(...names)).toEqual([]);
  });

  test("missing paths that rules protect from changes cannot be created", async () => {
    const policy = { deny: ["Edit(locked.txt)", "Edit(locked/**)"] };
    const line = { line: "bash ./way.sh", options: { policy } };
    const script =
      "echo x > locked.txt; mkdir locked; touch locked/x; mv way.sh locked.txt; echo fine";
    const [ended] = await run("", [line], script);
    expect(ended?.text).toMatch(/^fine$/m);
    expect(exists("project/locked.txt", "project/locked")).toEqual([]);
  });

  test("many simultaneous commands share the placeholder of a missing path, and it is removed", async () => {
    const script = "mkdir .vscode; echo x > .vscode/tasks.json; mkdir -p .claude/hooks; echo fine";
    workspace.write("project/way.sh", script);
    const owner = person.user === undefined ? "" : `chown -R ${person.user}:${person.user} .`;
    prepare(`mkdir home; chmod 755 .; ${owner}`, workspace.root);
    const folders = Array.from({ length: 24 }, () => workspace.path("project"));
    const host = { person, home: workspace.path("home"), width: 12 };
    const ended = await runLine(host, "bash ./way.sh", folders, { sandbox: "required" });
    expect(ended.map(({ text }) => /^fine$/m.test(text))).toEqual(folders.map(() => true));
    expect(readdirSync(workspace.path("project"))).toEqual(["way.sh"]);
  });

  test("a trusted file that a command created is reported", async () => {
    const [ended] = await run("", ["bash ./way.sh"], "echo ignore-scripts=false > .npmrc");
    expect(ended?.text).toContain(".npmrc");
  });

  test("an approval of one line opens what it names and nothing else", async () => {
    const [ended] = await run(
      GIT,
      ["echo '# agreed' > .git/hooks/pre-commit; bash ./way.sh"],
      "echo x > .git/hooks/pre-push; echo x >> .git/config; echo fine",
    );
    expect(ended?.text).toMatch(/^fine$/m);
    expect(contents("project")[".git/hooks/pre-commit"]).toBe("# agreed\n");
    expect(exists("project/.git/hooks/pre-push")).toEqual([]);
    expect(contents("project")[".git/config"]).not.toContain("x\n");
  });

  test("an approval of a line that reads a file opens it for that line alone", async () => {
    const options = { policy: { ask: ["Read(.env)"] } };
    const [named, hidden, again] = await run(
      `echo ${SECRET} > project/.env`,
      [
        { line: "cat .env", options },
        { line: "bash ./way.sh", options },
        { line: "cat .env way.sh", options },
      ],
      "cat .env; echo fine",
    );
    expect(named?.text).toContain(SECRET);
    expect(hidden?.text).toMatch(/^fine$/m);
    expect(hidden?.text).not.toContain(SECRET);
    expect(again?.text).toContain(SECRET);
  });

  test("git can write its configuration in a line that does so visibly", async () => {
    const [set, remote] = await run(GIT, [
      "git config alias.x status && git config alias.x",
      "git remote add origin ../other && git remote",
    ]);
    expect([set?.text, remote?.text]).toEqual(["status\n[exit code 0]", "origin\n[exit code 0]"]);
  });

  test("every file that a pattern matches is hidden, in any directory", async () => {
    const folders = "project project/a project/a/.hidden project/node_modules/x/y project/target";
    const options = { policy: { deny: ["Read(**/*.pem)"] } };
    const [ended] = await run(
      `mkdir -p ${folders}; for d in ${folders}; do echo ${SECRET} > $d/key.pem; echo open > $d/key.txt; done
       printf 'target\\nnode_modules\\n' > project/.gitignore`,
      [{ line: "bash ./way.sh", options }],
      "find . -name 'key.*' -exec cat {} +",
    );
    expect(ended?.text.match(/^open$/gm)).toHaveLength(5);
    expect(ended?.text).not.toContain(SECRET);
    expect(ended?.facts?.sandbox).toMatchObject({
      level: "namespaces",
      network: "allow",
      hidden: 5,
    });
  });

  test("a directory that can be entered but not listed is closed if a rule may match its contents", async () => {
    const options = { policy: { deny: ["Read(.env)"] } };
    const [ended] = await run(
      // Last, when everything belongs to the person.
      `mkdir project/theirs; echo ${SECRET} > project/theirs/.env
       trap 'chmod 711 project/theirs; chown 0:0 project/theirs || true' EXIT`,
      [{ line: "bash ./way.sh", options }],
      "cat theirs/.env; mv theirs mine; cat mine/.env; echo fine",
    );
    expect(ended?.text).toMatch(/^fine$/m);
    expect(ended?.text).not.toContain(SECRET);
  });

  test("rules that name files by a link apply, and do not prevent commands from running", async () => {
    const policy = { deny: ["Read(~/**/*.pem)", "Edit(~/made)"] };
    const env = { HOME: workspace.path("linked") };
    const [ended] = await run(
      `mkdir home/deep; echo ${SECRET} > home/deep/key.pem; ln -s home linked`,
      [{ line: "bash ./way.sh", options: { policy } }],
      "cat ~/deep/key.pem ../home/deep/key.pem; touch ~/made ../home/made; echo fine",
      env,
    );
    expect(ended?.text).toMatch(/^fine$/m);
    expect(ended?.text).not.toContain(SECRET);
    expect(exists("home/made")).toEqual([]);
  });

  test("a repository can be cloned into an empty project, and the trusted files in it are reported", async () => {
    const [cloned] = await run(
      `git init -q other/from; mkdir other/from/.vscode; echo '{}' > other/from/.vscode/tasks.json
       git -C other/from add .; git -C other/from -c user.name=a -c user.email=a@a commit -qm first
       rm project/way.sh`,
      ["git -c safe.directory='*' clone -q ../other/from . && ls -A"],
    );
    expect(cloned?.text).toMatch(/^\.git\n\.vscode\n\[exit code 0\]/);
    expect(cloned?.text).toContain("project/.vscode` did not exist before");
  });

  test("with `write: workspace` a command writes only to the workspace and to temporary directories", async () => {
    const sandbox = { mode: "required", write: "workspace", writable: [workspace.path("more")] };
    const [ended] = await run(
      "mkdir more second",
      [
        {
          line: "bash ./way.sh",
          options: { sandbox, additionalDirectories: [workspace.path("second")] },
        },
      ],
      `for d in . ../second ../more "$TMPDIR" /dev/shm; do f=$(mktemp -p $d) && rm $f && echo "wrote $d"; done
       for d in ../home ../other .. /var/tmp /usr/local /etc; do f=$(mktemp -p $d 2>/dev/null) && rm $f && echo "left to $d"; done
       echo x > /dev/null && echo x | tee /dev/stderr | cat > /dev/zero; echo fine`,
    );
    expect(ended?.text.match(/^(?:wrote|left).*$/gm)).toEqual([
      "wrote .",
      "wrote ../second",
      "wrote ../more",
      `wrote ${workspace.path("tmp")}`,
      "wrote /dev/shm",
    ]);
    expect(ended?.text).toMatch(/^fine$/m);
  });

  test("in plan mode a command changes only temporary files", async () => {
    const [ended] = await run(
      "",
      [{ line: "bash ./way.sh", options: { permissionMode: "plan" } }],
      'touch new ../home/new ../other/new; echo x >> way.sh; touch "$TMPDIR/new"; echo fine',
    );
    expect(ended?.text).toMatch(/^fine$/m);
    expect(exists("project/new", "home/new", "other/new")).toEqual([]);
    expect(contents("project")["way.sh"]).not.toContain("x\n");
  });

  test("the answer of a failed command names the path that was closed to it", async () => {
    const options = { policy: { deny: ["Read(.env)"] } };
    const fill = `echo ${SECRET} > project/.env`;
    const [ended] = await run(fill, [{ line: "bash ./way.sh", options }], "cat .env");
    expect(ended?.text).toContain(`commands cannot read \`${workspace.path("project/.env")}\``);
    expect(ended?.facts).toMatchObject({ exitCode: 1, contained: true });
  });
});
