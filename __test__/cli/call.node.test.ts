// `toolwright call`: parsing of parameters, output streams, and which calls run.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CommandLine } from "../support/command-line.js";
import { definition, pluginFile } from "../support/plugins.js";
import { root, runtimes } from "../support/runtimes.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();

const ITEM = { type: "object", properties: { n: { type: "integer" }, text: { type: "string" } } };
const NESTED = {
  type: "object",
  properties: { depth: { type: "integer" }, inner: { type: "object" } },
};
/** Parameters of every type. */
const SCHEMA = {
  type: "object",
  additionalProperties: false,
  properties: {
    text: { type: "string" },
    count: { type: "integer" },
    ratio: { type: ["number", "null"] },
    flag: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    sizes: { type: "array", items: { type: "integer" } },
    nested: { $ref: "#/definitions/nested" },
    items: { type: "array", items: ITEM },
    either: { anyOf: [{ type: "string" }, { type: "integer" }] },
    free: {},
    "a.b": { type: "integer" },
    "-n": { type: "boolean" },
  },
  definitions: { nested: NESTED },
};

const { callInput } = createRequire(import.meta.url)(join(root, "lib/cli/call-input.js")) as {
  callInput(
    typed: { json?: string; args?: string[] },
    schema: object,
    readInput: () => Promise<string>,
  ): Promise<unknown>;
};

describe.each(runtimes)("on $name", ({ path }) => {
  const cli = new CommandLine(path, workspace);

  test("a result is printed unchanged, on standard output alone", async () => {
    workspace.write("a.txt", "one\ntwo\n");
    expect(await cli.run(["call", "read_file", "--arg", "path=a.txt"])).toEqual({
      code: 0,
      stdout: "one\ntwo\n",
      stderr: "",
    });
  });

  test("the input is JSON from --json or standard input, and --arg adds to it", async () => {
    workspace.write("a.txt", "one\ntwo\nthree\n");
    const wanted = { code: 0, stdout: "two\n", stderr: "" };
    const input = '{"path": "a.txt", "startLine": 2, "endLine": 2}';
    expect(await cli.run(["call", "read_file", input])).toEqual(wanted);
    expect(await cli.run(["call", "read_file", "--json", input])).toEqual(wanted);
    expect(await cli.run(["call", "read_file", "-"], input)).toEqual(wanted);
    const begun = ["call", "read_file", "--json", "-", "-a", "startLine=2", "-a", "endLine=2"];
    expect(await cli.run(begun, '{"path": "a.txt", "startLine": 1}')).toEqual(wanted);
  });

  test("--output json prints the whole result, even of a call that failed", async () => {
    workspace.write("a.txt", "one\n");
    const good = await cli.run(["call", "read_file", "-a", "path=a.txt", "-o", "json"]);
    expect(JSON.parse(good.stdout)).toMatchObject({ content: [{ type: "text", text: "one\n" }] });
    const bad = await cli.run(["call", "read_file", "-a", "path=b.txt", "-o", "json"]);
    expect(bad.code).toBe(1);
    expect(JSON.parse(bad.stdout)).toMatchObject({ error: { type: "FileNotFoundError" } });
  });

  test("--dry-run prints the input and runs nothing", async () => {
    const words = ["call", "Bash", "--dry-run", "-a", "command=@-", "-a", "timeout=5"];
    const { code, stdout } = await cli.run(words, "touch x");
    expect({ code, input: JSON.parse(stdout) as unknown }).toEqual({
      code: 0,
      input: { command: "touch x", timeout: 5 },
    });
    expect(existsSync(workspace.path("x"))).toBe(false);
  });

  test("a failure is reported on standard error, after the output of a command", async () => {
    const missing = await cli.run(["call", "read_file", "-a", "path=b.txt"]);
    expect({ ...missing, stderr: "" }).toEqual({ code: 1, stdout: "", stderr: "" });
    expect(missing.stderr).toMatch(/^FileNotFoundError: .*b\.txt/);
    const failed = await cli.run(["call", "Bash", "-a", "command=echo out; exit 3"]);
    expect(failed).toEqual({
      code: 1,
      stdout: "",
      stderr: "out\n[exit code 3]\nShellExecutionError: Command exited with code 3\n",
    });
  });

  test("progress goes to standard error, and --quiet shows none", async () => {
    const wanted = { code: 0, stdout: "out\n[exit code 0]\n" };
    const words = ["call", "Bash", "-a", "command=echo out"];
    expect(await cli.run(words)).toEqual({ ...wanted, stderr: "out\n" });
    expect(await cli.run([...words, "-q"])).toEqual({ ...wanted, stderr: "" });
  });

  test("a call changes files without confirmation, even files that were not read", async () => {
    const file = workspace.write("a.txt", "one\n");
    const words = ["call", "Edit", "-a", `file_path=${file}`, "-a", "old_string=one", "-a"];
    expect((await cli.run([...words, "new_string=two"])).code).toBe(0);
    expect(readFileSync(file, "utf8")).toBe("two\n");
  });

  test("without a terminal, a call that needs confirmation is refused, with the rule that allows it", async () => {
    const file = workspace.path(".git/config");
    const words = ["call", "Write", "-a", `file_path=${file}`, "-a", "content=x"];
    // A "yes" from a pipe does not count.
    const { code, stdout, stderr } = await cli.run(words, "y\ny\n");
    expect({ code, stdout, isThere: existsSync(file) }).toEqual({
      code: 1,
      stdout: "",
      isThere: false,
    });
    expect(stderr).toMatch(/^PolicyDenied: .*is run or trusted by other programs/);
    expect(stderr).toMatch(/\nhere: --allow 'Edit\(\.\/\.git\/config\)'\n$/);
    expect((await cli.run([...words, "--allow", "Edit(./.git/config)"])).code).toBe(0);
    expect(readFileSync(file, "utf8")).toBe("x");
  });

  test("rules deny typed calls, and a stricter mode confirms more of them", async () => {
    const words = ["call", "Bash", "-a", "command=touch x"];
    for (const limit of [
      ["--disallow", "Bash(touch:*)"],
      ["--permission-mode", "default"],
    ]) {
      const { code, stderr } = await cli.run([...words, ...limit]);
      expect({ code, isThere: existsSync(workspace.path("x")) }).toEqual({
        code: 1,
        isThere: false,
      });
      expect(stderr).toMatch(/^PolicyDenied: /);
    }
    workspace.write(".config/toolwright/policy.json", JSON.stringify({ deny: ["Bash(touch:*)"] }));
    expect((await cli.run(words)).stderr).toMatch(/^PolicyDenied: /);
    workspace.delete(".config/toolwright/policy.json");
    workspace.write(".toolwright/policy.json", JSON.stringify({ deny: ["Bash(touch:*)"] }));
    expect((await cli.run([...words, "--trust-project"])).stderr).toMatch(/^PolicyDenied: /);
    expect((await cli.run(words)).code).toBe(0);
  });

  test("plugins are loaded, and problems with one are a note", async () => {
    const echo = definition("echo", { type: "shell", command: "true" });
    workspace.write(".config/toolwright/tools/echo.json", pluginFile("echo", echo));
    workspace.write(".config/toolwright/tools/broken.json", "{");
    const { code, stderr } = await cli.run(["call", "echo"]);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^note: .*broken\.json: /);
    const without = await cli.run(["call", "echo", "--no-plugins"]);
    expect(without.code).toBe(2);
    expect(without.stderr).toMatch(/^toolwright: there is no tool `echo`/);
  });

  test("a background command is reported to end with the program", async () => {
    const words = ["call", "Bash", "-a", "command=sleep 600", "-a", "run_in_background=true"];
    const { code, stderr } = await cli.run(words);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^note: background work ends with this command \(.+\); /);
  });

  test("a signal cancels the call, and the exit code names the signal", async () => {
    for (const [signal, code] of [
      ["SIGINT", 130],
      ["SIGTERM", 143],
    ] as const) {
      const running = cli.start(["call", "Bash", "-a", "command=echo up; sleep 600"]);
      await running.wrote("up");
      running.signal(signal);
      expect(await running.ended).toEqual({ code, stdout: "", stderr: "up\n" });
    }
  });

  test("a reader that closes the pipe is no error", async () => {
    workspace.write("big.txt", "line\n".repeat(50_000));
    for (const words of [
      ["tools", "--json"],
      ["call", "read_file", "-a", "path=big.txt", "-o", "json"],
    ]) {
      const running = cli.start(words);
      running.stopReading();
      const { code, stderr } = await running.ended;
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    }
  });

  test("--help after a tool's name shows its parameters", async () => {
    const { code, stdout } = await cli.run(["call", "read_file", "--help"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^read_file: /);
    expect(stdout).toMatch(/\n {2}path=string +\(required\) /);
    expect(stdout).toMatch(/\n {2}startLine=integer /);
  });
});

describe("parameters are parsed by the schema of the tool", () => {
  /** The input that the tool would get. */
  const read = (...args: string[]) =>
    callInput({ args }, SCHEMA, () => Promise.resolve("typed in"));

  test.each([
    [["text=a=b c"], { text: "a=b c" }],
    [["text="], { text: "" }],
    [["text=5", "count=5", "ratio=-.5e1"], { text: "5", count: 5, ratio: -5 }],
    [["ratio=null", "flag=false"], { ratio: null, flag: false }],
    [["flag", "-n"], { flag: true, "-n": true }],
    [["tags=a", "tags=b,c"], { tags: ["a", "b,c"] }],
    [["sizes=1", "sizes=2"], { sizes: [1, 2] }],
    [["tags:=[]"], { tags: [] }],
    [["nested.depth=2", "nested.inner.x=y"], { nested: { depth: 2, inner: { x: "y" } } }],
    [["items.0.n=1", "items.0.text=a", "items.1.n=2"], { items: [{ n: 1, text: "a" }, { n: 2 }] }],
    [['items:={"n": 1}', 'items:={"n": 2}'], { items: [{ n: 1 }, { n: 2 }] }],
    [["either=5", "free=5"], { either: "5", free: "5" }],
    [["either:=5", 'free:={"a": [1]}'], { either: 5, free: { a: [1] } }],
    [["a.b=5"], { "a.b": 5 }],
    [["text=@-"], { text: "typed in" }],
    [["text=@@home"], { text: "@home" }],
    [["free.__proto__.x=1"], { free: JSON.parse('{"__proto__": {"x": "1"}}') as object }],
  ])("%j", async (args, input) => {
    expect(await read(...args)).toEqual(input);
  });

  test("@ reads a file, as text or as JSON", async () => {
    const text = workspace.write("text.txt", " äöü\n");
    const value = workspace.write("value.json", '{"depth": 2}');
    expect(await read(`text=@${text}`, `nested:=@${value}`)).toEqual({
      text: " äöü\n",
      nested: { depth: 2 },
    });
  });

  test.each([
    ["count=many", "`--arg count=many`: `count` takes a whole number, got `many`"],
    ["count=", "`--arg count=`: `count` takes a whole number, got ``"],
    ["flag=yes", "`--arg flag=yes`: `flag` takes true or false, got `yes`"],
    ["text", "`--arg text`: `text` needs a value: `text=…`"],
    ["=x", "`--arg =x` has no name before `=`"],
    [
      "nested=x",
      "`--arg nested=x`: `nested` takes an object; write `nested:=JSON`, or `nested.name=value`",
    ],
    [
      "items.1.n=1",
      "`--arg items.1.n=1`: the list has 0 items so far, so the next one is 0, not 1",
    ],
    ["items.x.n=1", "`--arg items.x.n=1`: `x` is no place in a list, which count from 0"],
    ["tex=x", "`--arg tex=x`: there is no parameter `tex`; did you mean `text`?"],
    [
      "text=@missing.txt",
      /`--arg text=@missing\.txt`: `missing\.txt` cannot be read \(ENOENT.*write `@@` for/,
    ],
    ["free:={", /`free` is not JSON \(.*\): \{/],
  ])("%s is refused", async (arg, message) => {
    await expect(read(arg)).rejects.toThrow(message);
  });

  test("a parameter that is no list may be given only once", async () => {
    await expect(read("text=a", "text=b")).rejects.toThrow("`--arg text=b`: `text` is given twice");
    await expect(read("text=a", "text.b=c")).rejects.toThrow("that nothing can be put into");
  });

  test("a file that is not text is refused", async () => {
    const file = workspace.write("a.bin", new Uint8Array([0xff, 0xfe, 0x00]));
    await expect(read(`text=@${file}`)).rejects.toThrow("a.bin` is not UTF-8 text");
  });
});
