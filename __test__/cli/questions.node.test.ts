// The CLI asks the questions of AskUserQuestion in its terminal or pipe.
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root, runtimes } from "../support/runtimes.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const cli = join(root, "bin", "toolwright.js");

const QUESTION = {
  question: "Which database?",
  header: "Database",
  options: [
    { label: "PostgreSQL", description: "A server" },
    { label: "SQLite", description: "A file" },
  ],
};

/** The input of a call that asks the same question once or several times, with changes. */
function input(...changes: object[]): string {
  return JSON.stringify({ questions: changes.map((it) => Object.assign({}, QUESTION, it)) });
}

interface Answered {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a program, with these lines as its whole standard input. */
function run(program: string, args: string[], lines: string): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: workspace.root });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk) => (stdout += chunk));
    child.stderr.on("data", (chunk) => (stderr += chunk));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
    child.stdin.end(lines);
  });
}

const MENU = "\n[Database] Which database?\n  1. PostgreSQL: A server\n  2. SQLite: A file\n";
const ONE = "A number, or an answer of your own.\n";
const SEVERAL = "Numbers with commas between them; other words are an answer of your own.\n";

describe.each(runtimes)("on $name", ({ path }) => {
  const ask = (json: string, lines: string, ...options: string[]) =>
    run(path, [cli, "call", ...options, "AskUserQuestion", json], lines);

  test("a number chooses an option, and standard output has only the result", async () => {
    expect(await ask(input({}), "2\n")).toEqual({
      code: 0,
      stdout: "Which database? → SQLite\n",
      stderr: `${MENU}${ONE}> `,
    });
  });

  test("each question takes a line, commas separate options, and other words are answers", async () => {
    const questions = input(
      { multiSelect: true },
      { question: "And then?" },
      { question: "Really?" },
    );
    const { stdout, stderr, code } = await ask(
      questions,
      "2, postgresql, 2,none of them\nsqlite\na, b\n",
    );
    expect(stdout).toBe(
      "Which database? → SQLite, PostgreSQL, none of them\nAnd then? → SQLite\nReally? → a, b\n",
    );
    expect(stderr).toContain(`${MENU}${SEVERAL}> `);
    expect(code).toBe(0);
  });

  test("a label with a comma can be typed", async () => {
    const label = "Read, then write";
    const options = [...QUESTION.options, { label, description: "Both" }];
    const asked = input({ multiSelect: true, options });
    const { stdout } = await ask(asked, "read, then  write\n", "--output", "json");
    const { structuredContent } = JSON.parse(stdout) as { structuredContent: object };
    expect(structuredContent).toEqual({ answers: { [QUESTION.question]: [label] } });
  });

  test("an invalid line is asked for again, at most three times", async () => {
    const twice = await ask(input({}), "3\n\n1\n");
    expect(twice).toEqual({
      code: 0,
      stdout: "Which database? → PostgreSQL\n",
      stderr: `${MENU}${ONE}> There is no option 3; there are 1 to 2.\n> Please answer the question.\n> `,
    });
    const never = await ask(input({}), "0\n3\n99\n1\n");
    expect(never.code).toBe(1);
    expect(never.stderr).toMatch(
      /ToolFailed: the questions were not answered: 3 lines were no answer\n$/,
    );
  });

  test("the end of standard input is an error", async () => {
    for (const [json, lines] of [
      [input({}), ""],
      [input({}, { question: "And then?" }), "1\n"],
      ["-", input({})],
    ] as const) {
      const { code, stdout, stderr } = await ask(json, lines);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toMatch(
        /ToolFailed: the questions were not answered: standard input has ended\n$/,
      );
    }
  });

  test("text from the model cannot control the terminal", async () => {
    const { stderr } = await ask(
      input({ question: "\u001B[2JReally?\u0007", header: "\u001B]0;x" }),
      "1\n",
    );
    // eslint-disable-next-line no-control-regex
    expect(stderr).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F]/);
    expect(stderr).toContain("\\u{1b}[2JReally?");
  });

  test("a question whose text is a name of Object.prototype is answered like any other", async () => {
    const { stdout } = await ask(input({ question: "__proto__" }), "1\n", "--output", "json");
    const { structuredContent } = JSON.parse(stdout) as { structuredContent: object };
    expect(JSON.stringify(structuredContent)).toBe('{"answers":{"__proto__":"PostgreSQL"}}');
  });

  const hasTerminals = spawnSync("script", ["-qec", "true", "/dev/null"]).status === 0;

  test.runIf(hasTerminals)("a person answers on a terminal", async () => {
    const quoted = [path, cli, "call", "AskUserQuestion", input({})].map(
      (it) => `'${it.replaceAll("'", `'\\''`)}'`,
    );
    const { stdout, code } = await run("script", ["-qec", quoted.join(" "), "/dev/null"], "2\n");
    const lines = stdout.split("\r\n");
    expect(lines).toContain("[Database] Which database?");
    expect(lines.join("\n")).toMatch(/Which database\? → SQLite\n$/);
    expect(code).toBe(0);
  });
});
