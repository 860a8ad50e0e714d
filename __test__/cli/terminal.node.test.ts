// The command line on a real terminal: a person confirms, sees the diff, and can interrupt.
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CommandLine, hasTerminals } from "../support/command-line.js";
import { runtimes } from "../support/runtimes.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const QUESTION = /Run it\?.*> /;

/** The text without colours, with plain line ends. */
function plain(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replaceAll(/\u001B\[[\d;]*m/g, "").replaceAll("\r\n", "\n");
}

describe.runIf(hasTerminals).each(runtimes)("on $name", ({ path }) => {
  const cli = new CommandLine(path, workspace);
  const write = (file: string, ...more: string[]) =>
    cli.startOnTerminal([
      "call",
      "Write",
      "-a",
      `file_path=${file}`,
      "-a",
      "content=new\n",
      ...more,
    ]);

  test("a typed call runs without confirmation, and shows its diff", async () => {
    const file = workspace.write("a.txt", "old\n");
    const { stdout, code } = await write(file).ended;
    expect(plain(stdout)).toContain("-old\n+new\n");
    expect(stdout).toContain("\u001B[31m-old");
    expect({ code, content: readFileSync(file, "utf8") }).toEqual({ code: 0, content: "new\n" });
  });

  test("a change of a protected path is confirmed with the diff, and a yes runs the call", async () => {
    const file = workspace.write(".git/config", "old\n");
    const running = write(file);
    const asked = plain(await running.wrote(QUESTION));
    expect(asked).toContain("Write (medium risk): ");
    expect(asked).toContain("is run or trusted by other programs");
    expect(asked).toContain("-old\n+new\n");
    expect(readFileSync(file, "utf8")).toBe("old\n");
    running.type("yes\n");
    const { code } = await running.ended;
    expect({ code, content: readFileSync(file, "utf8") }).toEqual({ code: 0, content: "new\n" });
  });

  test("no, the end of input, and three invalid lines refuse the call", async () => {
    const file = workspace.path(".git/config");
    for (const typed of ["n\n", "\u0004", "what\n\nperhaps\n"]) {
      const running = write(file);
      await running.wrote(QUESTION);
      running.type(typed);
      const { code, stdout } = await running.ended;
      expect(plain(stdout)).toContain("PolicyDenied: the user said no to `Write`");
      expect({ code, isThere: existsSync(file) }).toEqual({ code: 1, isThere: false });
    }
  });

  test(`"always" applies to later calls in the project`, async () => {
    const file = workspace.path("a.txt");
    const first = write(file, "--permission-mode", "default");
    const asked = plain(await first.wrote(QUESTION));
    expect(asked).toContain("[y]es, [n]o, [a]lways > ");
    expect(asked).toContain("in this project from now on");
    first.type("a\n");
    expect((await first.ended).code).toBe(0);
    const { code, stdout } = await write(file, "--permission-mode", "default").ended;
    expect({ code, isAsked: QUESTION.test(stdout) }).toEqual({ code: 0, isAsked: false });
  });

  test(`a rule that asks also asks about a typed call, and its yes cannot be "always"`, async () => {
    workspace.write(".config/toolwright/policy.json", JSON.stringify({ ask: ["Bash(touch:*)"] }));
    const running = cli.startOnTerminal(["call", "Bash", "-a", "command=touch x"]);
    expect(plain(await running.wrote(QUESTION))).toContain("[y]es, [n]o > ");
    running.type("a\ny\n");
    expect((await running.ended).code).toBe(0);
    expect(existsSync(workspace.path("x"))).toBe(true);
  });

  test("the output of a command is shown while it runs, and only once", async () => {
    workspace.write("wait.sh", "echo first; until [ -e go ]; do sleep 0.05; done; echo last");
    const running = cli.startOnTerminal(["call", "Bash", "-a", "command=sh wait.sh"]);
    await running.wrote("first");
    workspace.write("go", "");
    expect(plain((await running.ended).stdout)).toBe("first\nlast\n[exit code 0]\n");
  });

  test("a tool's result cannot control the terminal", async () => {
    workspace.write("a.txt", "\u001B[2Jx\u0007\n");
    const { stdout } = await cli.startOnTerminal(["call", "read_file", "-a", "path=a.txt"]).ended;
    expect(stdout).toBe("\\u{1b}[2Jx\\u{7}\r\n");
  });

  test("Ctrl-C cancels the call, ends its command, and exits with 130", async () => {
    const running = cli.startOnTerminal([
      "call",
      "Bash",
      "-a",
      "command=echo $$ > pid; echo up; sleep 600",
      // In a sandbox the process would see a different id than the one outside.
      "--sandbox",
      "off",
    ]);
    await running.wrote("up");
    running.type("\u0003");
    expect((await running.ended).code).toBe(130);
    const pid = Number(readFileSync(workspace.path("pid"), "utf8"));
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });

  test("Ctrl-C at a question refuses the call", async () => {
    const file = workspace.path(".git/config");
    const running = write(file);
    await running.wrote(QUESTION);
    running.type("\u0003");
    const { code } = await running.ended;
    expect({ code, isThere: existsSync(file) }).toEqual({ code: 130, isThere: false });
  });

  test("Ctrl-C interrupts waiting for typed input", async () => {
    const running = cli.startOnTerminal(["call", "Bash", "-"]);
    await running.wrote("end it with Ctrl-D");
    running.type("\u0003");
    expect((await running.ended).code).toBe(130);
  });

  test("lists fit the terminal, and have colours unless NO_COLOR is set", async () => {
    const { stdout } = await cli.startOnTerminal(["tools", "--set", "claude"], 60).ended;
    expect(stdout).toContain("\u001B[1mclaude\u001B[22m");
    const lines = plain(stdout).trimEnd().split("\n");
    expect(lines.filter((line) => line.length > 60)).toEqual([]);
    expect(lines.some((line) => line.endsWith("…"))).toBe(true);
    const grey = await cli.startOnTerminal(["tools"], 60, { NO_COLOR: "1" }).ended;
    expect(grey.stdout).not.toContain("\u001B");
  });
});
