// The read-only commands: tools, schema, plugins, policy and doctor.
import { chmodSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createToolRegistry, PolicyEngine } from "../../index.js";
import { CommandLine, program } from "../support/command-line.js";
import { pluginFile, shellTool } from "../support/plugins.js";
import { runtimes } from "../support/runtimes.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();

describe.each(runtimes)("on $name", ({ path }) => {
  const cli = new CommandLine(path, workspace);
  const json = async (...words: string[]) =>
    JSON.parse((await cli.run(words)).stdout) as Record<string, unknown>;

  test("tools lists the tools by set, and as JSON with all details", async () => {
    const { code, stdout, stderr } = await cli.run(["tools", "--set", "project"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^project\n {2}file-reader {7}none {6}Shows a file of the project/);
    const registry = createToolRegistry({ projectPath: workspace.root, toolsets: ["project"] });
    expect(await json("tools", "--set", "project", "--json")).toEqual(registry.listTools());
    await registry.close();
  });

  test("tools searches names and descriptions, and fails without a match", async () => {
    const found = await cli.run(["tools", "ONE cell", "jupyter", "--names"]);
    expect(found.stdout).toBe("NotebookEdit\n");
    expect(await cli.run(["tools", "no-such-word"])).toEqual({
      code: 1,
      stdout: "",
      stderr: "no tool has `no-such-word` in its name or description\n",
    });
  });

  test("a tool that is disallowed is shown as off", async () => {
    const { stdout } = await cli.run(["tools", "--set", "claude", "--disallow", "Bash"]);
    expect(stdout).toMatch(/\n {2}Bash +off /);
  });

  test("schema prints the schema of a tool, of plugin files and of policy files", async () => {
    const registry = createToolRegistry({ projectPath: workspace.root });
    expect(await json("schema", "Edit")).toEqual(registry.getToolInfo("Edit")?.inputSchema);
    await registry.close();
    expect(await json("schema", "--plugin")).toMatchObject({ required: ["name", "tools"] });
    expect(await json("schema", "--policy")).toEqual(PolicyEngine.schema);
  });

  test("plugins new writes plugins of every kind, which are valid and load", async () => {
    const kinds = ["file-read", "http", "shell"];
    const file = (kind: string) => workspace.path(`.config/toolwright/tools/my-${kind}.json`);
    for (const kind of kinds) {
      const { code, stdout } = await cli.run(["plugins", "new", `my-${kind}`, "--handler", kind]);
      expect({ code, stdout }).toEqual({ code: 0, stdout: `${file(kind)}\n` });
    }
    expect(await cli.run(["plugins", "validate"])).toEqual({
      code: 0,
      stdout: kinds.map((kind) => `ok  ${file(kind)}: my-${kind}\n`).join(""),
      stderr: "",
    });
    const listed = await cli.run(["plugins", "list"]);
    expect({ code: listed.code, stderr: listed.stderr }).toEqual({ code: 0, stderr: "" });
    expect(listed.stdout.match(/^ {2}my-[a-z-]+/gm)).toEqual(kinds.map((kind) => `  my-${kind}`));
  });

  test("plugins new overwrites nothing", async () => {
    const file = workspace.write("tools/mine.json", "kept");
    const { code, stderr } = await cli.run(["plugins", "new", "mine", "--plugin-dir", "tools"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^toolwright: `.*mine\.json` cannot be written: EEXIST.*another name/);
    expect(readFileSync(file, "utf8")).toBe("kept");
  });

  test("plugins validate reports the problems of each file", async () => {
    const good = workspace.write("tools/a.json", pluginFile("a", shellTool("a", "true")));
    const bad = workspace.write("tools/b.json", pluginFile("b", { name: "b" }));
    const broken = workspace.write("tools/c.json", "{");
    const { code, stdout } = await cli.run(["plugins", "validate", "tools"]);
    expect(code).toBe(1);
    expect(stdout).toContain(`ok  ${good}: a\n`);
    expect(stdout).toContain(`wrong  ${bad}\n  `);
    expect(stdout).toContain(`wrong  ${broken}\n  \`tools/c.json\` is not JSON: `);
    const checked = await json("plugins", "validate", "tools/a.json", "missing.json", "--json");
    expect(checked).toEqual([
      { file: good, valid: true, errors: [], tools: ["a"] },
      {
        file: workspace.path("missing.json"),
        valid: false,
        errors: [expect.stringMatching(/^`missing\.json` cannot be read: /)],
      },
    ]);
  });

  test("plugins list fails if a file is invalid, and lists the others", async () => {
    workspace.write("tools/a.json", pluginFile("a", shellTool("a", "true")));
    workspace.write("tools/c.json", "{");
    const { code, stdout, stderr } = await cli.run(["plugins", "list", "--plugin-dir", "tools"]);
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: "plugin a\n  a  high      The tool a\n",
    });
    expect(stderr).toMatch(/^wrong {2}.*c\.json: /);
  });

  test("policy explain shows the decision for an agent's call, and runs nothing", async () => {
    const words = ["policy", "explain", "Bash", "-a", "command=git status && touch x"];
    const { code, stdout } = await cli.run([...words, "--allow", "Bash(git status:*)"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ask: no rule allows `touch x`\n {2}decided by: default; risk: /);
    expect(stdout).toMatch(/\n {2}parts:\n {4}allow {2}git status: .*\n {4}ask {2}touch x: /);
    const rule = /\n {2}to allow it: --allow '(.+)'\n/.exec(stdout)?.[1];
    expect((await cli.run([...words, "--allow", rule!])).stdout).toMatch(/^allow: /);
    const verdict = await json(...words, "--disallow", "Bash(touch:*)", "--output", "json");
    expect(verdict).toMatchObject({ action: "deny", basis: "rule" });
  });

  test("policy lint finds rules without effect in a file, and exits with 1", async () => {
    workspace.write(
      "policy.json",
      JSON.stringify({ deny: ["Bash"], allow: ["Bash(git:*)", "Raed"] }),
    );
    const { code, stdout } = await cli.run(["policy", "lint", "policy.json"]);
    expect(code).toBe(1);
    expect(stdout).toContain("shadowed: allow `Bash(git:*)` (allow[0], user)\n  ");
    expect(stdout).toContain("unknown tool: allow `Raed` (allow[1], user)\n  ");
    expect(await json("policy", "lint", "policy.json", "--json")).toHaveLength(3);
    expect(await cli.run(["policy", "lint"])).toEqual({
      code: 0,
      stdout: "every rule has the effect that it seems to have\n",
      stderr: "",
    });
    const missing = await cli.run(["policy", "lint", "missing.json"]);
    expect(missing.code).toBe(1);
    expect(missing.stderr).toMatch(/^toolwright: `missing\.json` cannot be read: /);
  });

  test("doctor reports no problem in a healthy installation", async () => {
    const found = (await json("doctor", "--json")) as { ok: boolean; checks: { name: string }[] };
    expect(found.ok).toBe(true);
    expect(found.checks.map(({ name }) => name)).toEqual([
      "runtime",
      "addon",
      "project",
      "supervisor",
      "sandbox",
      "shell",
      "git",
      "store",
      "plugins",
      "policy",
      "web search",
      "index",
      "MCP servers",
    ]);
    const { code, stdout } = await cli.run(["doctor", "--no-plugins"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ok +runtime: /);
    expect(stdout).toMatch(/\nnote +plugins: not loaded\n/);
    expect(stdout).toMatch(/\neverything works\n$/);
  });

  test("doctor reports only once that the project or the file of MCP servers is wrong", async () => {
    workspace.write("servers.json", "{}");
    for (const [option, file, name] of [
      ["--project", "missing", "project"],
      ["--mcp-config", "servers.json", "MCP servers"],
    ] as const) {
      const { code, stdout } = await cli.run(["doctor", option, file]);
      expect(code).toBe(1);
      const problems = [...stdout.matchAll(/^problem +([^:]+): (.*)$/gm)];
      expect(problems.map((it) => it[1])).toEqual([name]);
      expect(problems[0]![2]).toContain(file);
    }
  });

  test("doctor reports broken plugins and policies, a damaged store and a bad search service", async () => {
    workspace.write(".config/toolwright/tools/a.json", "{");
    workspace.write(".config/toolwright/policy.json", '{"deny": ["Bash("]}');
    workspace.write(".toolwright/policy.json", '{"deny": ["Bash"]}');
    workspace.write("data/toolwright/store.sqlite", "this is no database, and belongs to somebody");
    const { code, stdout } = await cli.run(["doctor", "--json"], "", {
      XDG_DATA_HOME: workspace.path("data"),
      SEARXNG_URL: "not a url",
    });
    expect(code).toBe(1);
    const { ok, checks } = JSON.parse(stdout) as {
      ok: boolean;
      checks: { name: string; state: string; found: string; advice?: string }[];
    };
    expect(ok).toBe(false);
    const problems = checks.filter(({ state }) => state === "problem");
    expect(problems.map(({ name }) => name)).toEqual(["store", "plugins", "policy", "web search"]);
    expect(problems.every(({ advice }) => (advice ?? "") !== "")).toBe(true);
    expect(checks).toContainEqual({
      name: "policy",
      state: "note",
      found: `the project's rules: ${workspace.path(".toolwright/policy.json")}`,
      advice: "used only with `trustProject` or `--trust-project`",
    });
  });

  test.runIf(process.getuid?.() !== 0)("doctor reports an unwritable store", async () => {
    workspace.write("data/x", "");
    chmodSync(workspace.path("data"), 0o500);
    const data = { XDG_DATA_HOME: workspace.path("data") };
    const { stdout } = await cli.run(["doctor"], "", data);
    chmodSync(workspace.path("data"), 0o700);
    expect(stdout).toMatch(/problem +store: /);
  });

  test("tools of MCP servers are added from a file, and doctor checks the servers", async () => {
    const servers = {
      other: { command: path, args: [program, "mcp", "--set", "project", "--no-plugins"] },
      broken: { command: workspace.path("missing") },
    };
    workspace.write("servers.json", JSON.stringify({ mcpServers: { other: servers.other } }));
    workspace.write("a.txt", "one\n");
    const words = ["call", "mcp__other__file-reader", "-a", "path=a.txt"];
    const { code, stdout } = await cli.run([...words, "--mcp-config", "servers.json"]);
    expect({ code, hasText: stdout.includes("one") }).toEqual({ code: 0, hasText: true });
    workspace.write("servers.json", JSON.stringify({ mcpServers: servers }));
    const found = (await json("doctor", "--mcp-config", "servers.json", "--json")) as {
      checks: { name: string; state: string; found: string }[];
    };
    const checks = found.checks.filter(({ name }) => name === "MCP servers");
    expect(checks.map(({ state, found: what }) => [what, state]).sort()).toEqual([
      ["broken: failed", "problem"],
      ["other: 4 tools", "ok"],
    ]);
  });

  test("a file of MCP servers in a wrong form is refused", async () => {
    workspace.write("servers.json", "[]");
    const { code, stderr } = await cli.run(["tools", "--mcp-config", "servers.json"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^toolwright: `servers\.json` has no object `mcpServers`/);
  });
});
