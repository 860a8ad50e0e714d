// The completion scripts contain every command and option of the table, and work in a real shell.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CommandLine, program } from "../support/command-line.js";
import { root, runtimes } from "../support/runtimes.js";
import { useWorkspace } from "../support/workspace.js";

interface Command {
  name: string;
  options: { name: string; choices?: string[] }[];
}

const { COMMANDS } = createRequire(import.meta.url)(join(root, "lib/cli/commands.js")) as {
  COMMANDS: Command[];
};
const workspace = useWorkspace();
const cli = new CommandLine(runtimes[0]!.path, workspace);
const has = (shell: string) => spawnSync(shell, ["-c", "true"]).status === 0;

describe.each(["bash", "zsh", "fish"])("the script for %s", (shell) => {
  test("has every command and every option, with its choices", async () => {
    const { code, stdout } = await cli.run(["completion", shell]);
    expect(code).toBe(0);
    for (const { name, options } of COMMANDS) {
      for (const word of name.split(" ")) expect(stdout).toContain(word);
      for (const option of options) {
        expect(stdout).toContain(shell === "fish" ? `-l ${option.name}` : `--${option.name}`);
        expect(stdout).toContain(option.choices?.join(" ") ?? "");
      }
    }
  });

  test.runIf(has(shell))("is valid for the shell", async () => {
    const { stdout } = await cli.run(["completion", shell]);
    workspace.write("script", stdout);
    const { status, stderr } = spawnSync(shell, ["-n", "script"], { cwd: workspace.root });
    expect({ status, stderr: stderr.toString() }).toEqual({ status: 0, stderr: "" });
  });
});

describe.runIf(has("bash"))("in bash", () => {
  /** The completions that bash offers for the last of these words. */
  async function offered(...words: string[]): Promise<string[]> {
    workspace.write("completion.bash", (await cli.run(["completion", "bash"])).stdout);
    const script = `
      source ./completion.bash
      toolwright() { "$RUNTIME" "$PROGRAM" "$@"; }
      COMP_WORDS=(toolwright "$@"); COMP_CWORD=$#
      _toolwright
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = spawnSync("bash", ["-c", script, "bash", ...words], {
      cwd: workspace.root,
      env: cli.environment({ RUNTIME: cli.runtime, PROGRAM: program }),
      encoding: "utf8",
    });
    return stdout.split("\n").filter(Boolean);
  }

  test("words, options, their values, tools and files are offered", async () => {
    workspace.plant({ "my plugin.json": "{}", "sub/x": "" });
    expect(await offered("pl")).toEqual(["plugins"]);
    expect(await offered("plugins", "")).toEqual(["validate", "list", "new"]);
    expect(await offered("call", "NotebookE")).toEqual(["NotebookEdit"]);
    expect(await offered("call", "Read", "--perm")).toEqual(["--permission-mode"]);
    expect(await offered("call", "Read", "--output", "")).toEqual(["text", "json"]);
    expect(await offered("plugins", "validate", "my")).toEqual(["my plugin.json"]);
    expect(await offered("tools", "--project", "s")).toEqual(["sub"]);
    expect(await offered("completion", "")).toEqual(["bash", "zsh", "fish"]);
    expect(await offered("call", "Read", "--allow", "")).toEqual([]);
  });
});
