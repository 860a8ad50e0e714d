// The table of commands: what can be typed, help and completion, and error messages.
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CommandLine } from "../support/command-line.js";
import { root, runtimes } from "../support/runtimes.js";
import { useWorkspace } from "../support/workspace.js";

interface CommandOption {
  name: string;
  short?: string;
  value?: string;
  many?: boolean;
  choices?: string[];
  text: string;
}
interface Command {
  name: string;
  summary: string;
  operands?: string;
  options: CommandOption[];
  examples: string[];
}

const require = createRequire(import.meta.url);
const { COMMANDS } = require(join(root, "lib", "cli", "commands.js")) as { COMMANDS: Command[] };
const { readCommandLine } = require(join(root, "lib", "cli", "command-line.js")) as {
  readCommandLine(words: string[]): unknown;
};
const { version } = require(join(root, "package.json")) as { version: string };
const workspace = useWorkspace();

describe.each(runtimes)("on $name", ({ path }) => {
  const cli = new CommandLine(path, workspace);

  test("without a command, help says where to start", async () => {
    const { code, stdout, stderr } = await cli.run([]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(`toolwright ${version}: the tools of an agent`);
    expect(stdout).toContain("Begin with\n  toolwright serve");
    for (const { name, summary } of COMMANDS) {
      expect(stdout.replaceAll(/\s+/g, " ")).toContain(`${name} ${summary}`);
    }
    for (const words of [["--help"], ["-h"], ["help"]]) {
      expect(await cli.run(words)).toEqual({ code: 0, stdout, stderr: "" });
    }
  });

  test("--version prints the version", async () => {
    const wanted = { code: 0, stdout: `${version}\n`, stderr: "" };
    expect(await cli.run(["--version"])).toEqual(wanted);
    expect(await cli.run(["-V"])).toEqual(wanted);
  });

  test("every command has help with all of its options", async () => {
    const texts = await Promise.all(
      COMMANDS.map(({ name }) => cli.run([...name.split(" "), "--help"])),
    );
    for (const [at, command] of COMMANDS.entries()) {
      const { code, stdout, stderr } = texts[at]!;
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      const begun = `toolwright ${command.name}: ${command.summary} Usage toolwright ${command.name} `;
      expect(stdout.replaceAll(/\s+/g, " ").startsWith(begun)).toBe(true);
      for (const { name, short, value, choices } of command.options) {
        const flags = short === undefined ? `    --${name}` : `-${short}, --${name}`;
        expect(stdout).toContain(`\n  ${flags}${value === undefined ? "" : ` ${value}`}`);
        expect(stdout.replaceAll(/\s+/g, " ")).toContain(choices?.join(", ") ?? "");
      }
      expect(stdout).toContain("\n  -h, --help");
      for (const example of command.examples) expect(stdout).toContain(`\n  ${example}`);
      const long = stdout.split("\n").filter((it) => it.length > 80 && !it.startsWith("  tool"));
      expect(long).toEqual([]);
    }
  });

  test("a mistake exits with 2, and standard output is empty", async () => {
    for (const [words, message] of [
      [["call", "Raed", "{}"], "there is no tool `Raed`; did you mean `Read`?"],
      [["help", "plugns"], "there is no command `plugns`; see `toolwright --help`"],
      [["schema"], "`schema` needs one of: the name of a tool, `--plugin`, `--policy`"],
      [["serve", "--port", "70000"], "`--port` is a number from 0 to 65535, got `70000`"],
      [["plugins", "new", "a b"], "a plugin's name has letters, digits, `_` and `-`, got `a b`"],
      [["\u001B[2J"], "there is no command `\\u{1b}[2J`; see `toolwright --help`"],
      [
        ["call", "Read", "{}", "--json", "{}"],
        "the input is given twice: after the tool's name, and by `--json`",
      ],
    ] as const) {
      const stderr = `toolwright: ${message}\n`;
      expect(await cli.run([...words])).toEqual({ code: 2, stdout: "", stderr });
    }
  });

  test("an option may be joined to its value, come after --, or have several values with commas", async () => {
    const names = async (...words: string[]) =>
      (await cli.run(["tools", "--names", "--no-plugins", ...words])).stdout
        .split("\n")
        .slice(0, -1);
    const [project, both] = [await names("--set=project"), await names("--set", "project,classic")];
    expect(project).toContain("git-status");
    expect(both).toEqual(await names("--set", "project", "--set", "classic"));
    expect(both.length).toBeGreaterThan(project.length);
    expect(await names(`-p${workspace.root}`, "--set=project", "--", "git-status")).toEqual([
      "git-status",
    ]);
  });

  test("FORCE_COLOR turns colours on without a terminal, and 0 turns them off", async () => {
    const coloured = await cli.run(["--help"], "", { FORCE_COLOR: "1", NO_COLOR: "1" });
    expect(coloured.stdout).toContain("\u001B[1mCommands\u001B[22m");
    const grey = await cli.run(["--help"], "", { FORCE_COLOR: "0" });
    expect(grey.stdout).not.toContain("\u001B");
  });

  test("help and version work if the addon does not load, and doctor says why", async () => {
    const broken = { NAPI_RS_NATIVE_LIBRARY_PATH: workspace.path("missing.node") };
    expect((await cli.run(["--version"], "", broken)).code).toBe(0);
    expect((await cli.run(["call", "--help"], "", broken)).code).toBe(0);
    const { code, stdout } = await cli.run(["doctor"], "", broken);
    expect(code).toBe(1);
    expect(stdout).toMatch(/problem +addon: .*there is no file `.*missing\.node`/);
  });
});

describe("a typing mistake", () => {
  test.each([
    [["tols"], "there is no command `tols`; did you mean `tools`?"],
    [["frobnicate"], "there is no command `frobnicate`; see `toolwright --help`"],
    [["plugins", "lst"], "there is no command `plugins lst`; did you mean `list`?"],
    [["policy", "zz"], "there is no command `policy zz`; there are `explain`, `lint`"],
    [["tools", "--jsno"], "`tools` has no option `--jsno`; did you mean `--json`?"],
    [
      ["tools", "--frobnicate"],
      "`tools` has no option `--frobnicate`; see `toolwright tools --help`",
    ],
    [["tools", "-x"], "`tools` has no option `-x`; see `toolwright tools --help`"],
    [
      ["--json", "tools"],
      "a command comes first, and `--json` is an option; see `toolwright --help`",
    ],
    [["tools", "--set"], "`--set` needs a value, NAME; see `toolwright tools --help`"],
    [["tools", "--set", "clasic"], "`--set` cannot be `clasic`; did you mean `classic`?"],
    [["tools", "--json=yes"], "`--json` takes no value"],
    [["tools", "-p", "a", "-p", "b"], "`--project` is given twice"],
    [["call"], "`call` needs TOOL [JSON | -]; see `toolwright call --help`"],
    [["call", "Read", "{}", "x"], "`x` is one operand too many; see `toolwright call --help`"],
    [["doctor", "x"], "`x` is one operand too many; see `toolwright doctor --help`"],
    [["completion", "tcsh"], "SHELL cannot be `tcsh`; there are `bash`, `zsh`, `fish`"],
  ])("%j is refused with a suggestion", (words, message) => {
    expect(() => readCommandLine(words)).toThrow(
      expect.objectContaining({ message, exitCode: 2 }) as Error,
    );
  });
});
