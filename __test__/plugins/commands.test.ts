// The `shell` and `file-read` handlers: arguments, refusals, and how a call ends.
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { CallResult } from "../../index.js";
import {
  definition,
  pluginFile,
  plantRecorder,
  recorded,
  shellTool,
  textOf,
} from "../support/plugins.js";
import { limitToBegin } from "../support/processes.js";
import { useRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace, { toolsets: [] });

async function registryWith(tools: object[], options: object = {}) {
  workspace.write("tools/p.json", pluginFile("p", ...tools));
  const registry = registryHere({ pluginDir: workspace.path("tools"), ...options });
  const { errors } = await registry.initialize();
  expect(errors).toEqual([]);
  return registry;
}

/** Attempts to become more than one argument. */
const ATTEMPTS = [
  "it's",
  '"quoted"',
  "'; touch pwned; '",
  '"; touch pwned; "',
  "$(touch pwned)",
  "`touch pwned`",
  "; touch pwned",
  "&& touch pwned",
  "| touch pwned",
  "& touch pwned &",
  "x\ntouch pwned\n",
  "x\r\ntouch pwned",
  "> pwned",
  "< /etc/passwd",
  "$HOME ${HOME} $1 $@ $$ $0",
  "{{b}} {{a}} {{{a}}}",
  "*",
  "?? [a-z] {a,b} ~ ~root",
  "\\",
  "\\'",
  "a\\\nb",
  "!! !x #y",
  "a b\tc  d",
  "",
  " ",
  "äöü 日本 \u{1f600} \u202e",
  "\u0001\u0007\u001b[31m",
  "x".repeat(10_000),
];

/** Templates with a placeholder in every kind of position. */
const PLACES: [string, (value: string) => string[]][] = [
  ["RECORD {{a}}", (a) => [a]],
  ["RECORD '{{a}}' x", (a) => [a, "x"]],
  ['RECORD "{{a}}"', (a) => [a]],
  ["RECORD --of={{a}}", (a) => [`--of=${a}`]],
  ["RECORD pre{{a}}post", (a) => [`pre${a}post`]],
  ["RECORD 'it'\\''s {{a}}' -- {{a}}", (a) => [`it's ${a}`, "--", a]],
  ["RECORD {{a}} || true", (a) => [a]],
  ["RECORD '{{a}}' | cat", (a) => [a]],
  ['RECORD x"{{a}}"y 2>&1', (a) => [`x${a}y`]],
  ["cd . && (RECORD {{a}} '$x' {{a}})", (a) => [a, "$x", a]],
  ["if true; then RECORD --x='{{a}}'; fi", (a) => [`--x=${a}`]],
  ["timeout 60 RECORD {{a}}", (a) => [a]],
];

describe("a value in a command", () => {
  test.each(PLACES)("is one literal argument in %s", async (template, wanted) => {
    const recorder = plantRecorder(workspace);
    const registry = await registryWith([
      shellTool("record", template.replaceAll("RECORD", recorder), "a"),
    ]);
    for (const value of ATTEMPTS) {
      const result = await registry.call("record", { a: value });
      expect(recorded(result)).toEqual(wanted(value));
    }
    expect((await registry.call("record", { a: "x" })).isError).toBeUndefined();
    expect(execFileSync("ls", [workspace.root]).toString().split("\n")).not.toContain("pwned");
  });

  test.each(PLACES)("is refused in %s if no program can accept it", async (template) => {
    const recorder = plantRecorder(workspace);
    const registry = await registryWith([
      shellTool("record", template.replaceAll("RECORD", recorder), "a"),
    ]);
    for (const a of ["a\0b", "x".repeat(10_001)]) {
      expect((await registry.call("record", { a })).error).toMatchObject({
        type: "ValidationError",
        message: expect.stringContaining("parameter `a`"),
      });
    }
  });

  test("is refused where it would be an option", async () => {
    const recorder = plantRecorder(workspace);
    const registry = await registryWith([
      shellTool("bare", `${recorder} {{a}}`, "a"),
      shellTool("piped", `${recorder} '{{a}}' | cat`, "a"),
      shellTool("ended", `${recorder} -- {{a}}`, "a"),
    ]);
    for (const a of ["-o", "--output=/etc/passwd", "-", "--", "-rf"]) {
      for (const name of ["bare", "piped"]) {
        expect((await registry.call(name, { a })).error?.message).toContain("begins with `-`");
      }
      expect(recorded(await registry.call("ended", { a }))).toEqual(["--", a]);
    }
  });

  test("that is missing removes its argument, unless it has a default", async () => {
    const recorder = plantRecorder(workspace);
    const inputSchema = {
      type: "object",
      properties: {
        a: { type: "string", default: "TODO" },
        n: { type: "integer", default: 3 },
        b: { type: "string" },
      },
    };
    const registry = await registryWith([
      { ...shellTool("plain", `${recorder} {{a}} -n{{n}} --b={{b}} {{b}} z`), inputSchema },
      {
        ...shellTool("script", `${recorder} {{a}} -n{{n}} --b={{b}} {{b}} z || true`),
        inputSchema,
      },
    ]);
    for (const name of ["plain", "script"]) {
      const call = async (input: object) => recorded(await registry.call(name, input));
      expect(await call({})).toEqual(["TODO", "-n3", "z"]);
      expect(await call({ a: null, b: null })).toEqual(["TODO", "-n3", "z"]);
      expect(await call({ a: "x", n: "7", b: "B" })).toEqual(["x", "-n7", "--b=B", "B", "z"]);
      expect((await registry.call(name, { c: 1 })).error?.type).toBe("ValidationError");
    }
  });
});

describe("a command of a plugin", () => {
  test("returns its output, and its exit code if that is not 0", async () => {
    const registry = await registryWith([
      shellTool("good", "printf 'a\\nb\\n'"),
      shellTool("bad", "echo out; echo err >&2; exit 3"),
      shellTool("silent", "true"),
      shellTool("missing", "no-such-program-here {{a}}", "a"),
    ]);
    expect(textOf(await registry.call("good", {}))).toBe("a\nb");
    const bad = await registry.call("bad", {});
    expect(textOf(bad)).toBe("out\nerr\n[exit code 3]");
    expect(bad.error).toMatchObject({ type: "ShellExecutionError" });
    expect(textOf(await registry.call("silent", {}))).toBe("(no output)");
    expect((await registry.call("missing", {})).error?.type).toBe("ShellExecutionError");
  });

  test("is stopped at its time limit with all its children, whatever the host's limit", async () => {
    const timeout = await limitToBegin(registryHere({ toolsets: ["claude"] }), 300);
    const handler = { type: "shell", command: "echo begun; sleep 1000", timeout } as const;
    const registry = await registryWith([definition("slow", handler)], {
      shell: { onTimeout: "background", graceMs: 100 },
    });
    const result = await registry.call("slow", {});
    expect(result.error).toMatchObject({ type: "ShellTimeoutError" });
    expect(textOf(result)).toContain("begun");
    expect(registry.tasks().filter(({ state }) => state === "running")).toEqual([]);
  });

  test("ends when the caller aborts", async () => {
    const registry = await registryWith([shellTool("slow", "echo begun; sleep 1000")]);
    const abort = new AbortController();
    const onProgress = () => abort.abort();
    await expect(
      registry.call("slow", {}, { signal: abort.signal, onProgress }),
    ).rejects.toMatchObject({ type: "Cancelled" });
  });

  test("starts in the directory of its file, and has no secrets", async () => {
    mkdirSync(workspace.path("sub dir"));
    const registry = await registryWith(
      [
        shellTool("here", "pwd"),
        definition("there", { type: "shell", command: "pwd", cwd: "sub dir" }),
        definition("nowhere", { type: "shell", command: "pwd", cwd: "no/such" }),
        shellTool("secret", 'echo "<$PLUGIN_API_KEY>"'),
      ],
      {},
    );
    expect(textOf(await registry.call("here", {}))).toBe(workspace.root);
    expect(textOf(await registry.call("there", {}))).toBe(workspace.path("sub dir"));
    expect((await registry.call("nowhere", {})).error?.message).toContain(
      "`no/such` does not exist",
    );
    process.env.PLUGIN_API_KEY = "s3cret";
    try {
      const fresh = registryHere({ pluginDir: workspace.path("tools") });
      await fresh.initialize();
      expect(textOf(await fresh.call("secret", {}))).toBe("<>");
    } finally {
      delete process.env.PLUGIN_API_KEY;
    }
  });
});

describe("a file-read tool", () => {
  const reader = (basePath: string, maxSize?: number) =>
    definition("docs", { type: "file-read", basePath, maxSize }, ["path"], ["path"]);
  const failure = (result: CallResult) => [result.error?.type, textOf(result)];

  test("reads text of its directory, in any encoding", async () => {
    workspace.plant({
      "docs/a.md": "# A\n",
      "docs/sub/b.txt": Buffer.from("\ufeffgr\u00fc\u00df", "utf16le"),
    });
    const registry = await registryWith([reader("docs")]);
    expect(textOf(await registry.call("docs", { path: "a.md" }))).toBe("# A\n");
    expect(textOf(await registry.call("docs", { path: "./sub/../sub/b.txt" }))).toBe("grüß");
    expect(textOf(await registry.call("docs", { path: workspace.path("docs/a.md") }))).toBe(
      "# A\n",
    );
  });

  test("cannot leave its directory", async () => {
    workspace.plant({ "docs/a.md": "A", "docs-evil/x": "secret", x: "secret" });
    symlinkSync(workspace.path("x"), workspace.path("docs/link"));
    symlinkSync("/etc", workspace.path("docs/etc"));
    symlinkSync(workspace.path("docs/a.md"), workspace.path("docs/inner"));
    symlinkSync("/nowhere/at/all", workspace.path("docs/dangling"));
    const registry = await registryWith([reader("docs")]);
    for (const path of [
      "../x",
      "../../etc/passwd",
      "/etc/passwd",
      "../docs-evil/x",
      workspace.path("docs-evil/x"),
      "link",
      "etc/passwd",
      "dangling",
      "a.md/../../x",
      "a\0b",
      "..",
    ]) {
      const result = await registry.call("docs", { path });
      expect([path, result.isError]).toEqual([path, true]);
      expect(textOf(result)).not.toContain("secret");
    }
    expect(failure(await registry.call("docs", { path: "../x" }))).toEqual([
      "PathOutsideWorkspace",
      `\`../x\` is outside \`${workspace.path("docs")}\`, the directory that this tool reads; use a path inside it`,
    ]);
    expect(textOf(await registry.call("docs", { path: "inner" }))).toBe("A");
  });

  test("refuses files that are too large or binary, and directories", async () => {
    workspace.plant({
      "docs/large": "x".repeat(101),
      "docs/fits": "x".repeat(100),
      "docs/bin": "a\0b",
    });
    execFileSync("mkfifo", [workspace.path("docs/pipe")]);
    const registry = await registryWith([reader("docs", 100)]);
    expect(textOf(await registry.call("docs", { path: "fits" }))).toHaveLength(100);
    const told = async (path: string) => failure(await registry.call("docs", { path }));
    expect(await told("large")).toEqual(["FileReadError", expect.stringContaining("101 bytes")]);
    expect(await told("bin")).toEqual(["FileReadError", expect.stringContaining("binary")]);
    expect(await told("pipe")).toEqual(["FileReadError", expect.stringContaining("a FIFO")]);
    expect(await told(".")).toEqual(["FileReadError", expect.stringContaining("a directory")]);
    expect(await told("none")).toEqual([
      "FileNotFoundError",
      expect.stringContaining("no file at"),
    ]);
  });
});
