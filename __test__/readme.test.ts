// README's samples: all of them are checked against the types, and those that stand on their own are run.
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { createToolRegistry } from "../index.mjs";
import { agentEnvironment } from "./support/agent-environment.js";
import { build, installToolwright } from "./support/installed-package.js";
import { useModels } from "./support/loopback-messages-api.js";
import { readmeSample, readmeSamples } from "./support/readme.js";
import { root, runScript, runtimes } from "./support/runtimes.js";
import { useWorkspace } from "./support/workspace.js";

const workspace = useWorkspace();
const modelThatSays = useModels();

/** Links packages of this repository into the workspace's node_modules. */
function link(...names: string[]): void {
  for (const name of names) {
    const place = workspace.path(`node_modules/${name}`);
    mkdirSync(dirname(place), { recursive: true });
    const target = name === "toolwright" ? root : join(root, "node_modules", name);
    symlinkSync(target, place, "dir");
  }
}

/** What samples take for granted: each is a piece of a program. */
const AROUND = `
import type {
  McpSdkServerConfig, McpTransport, ToolRegistry, ToolRegistryOptions, ToolUseBlock, UserAnswers, UserQuestion,
} from "toolwright";
declare global {
  const registry: ToolRegistry;
  const tool: typeof import("toolwright").tool;
  const z: typeof import("zod").z;
  const transport: McpTransport;
  const toolCalls: ToolUseBlock[];
  const signal: AbortSignal;
  const file_path: string;
  const token: string;
  type WebHandler = (request: Request) => Promise<Response>;
  const app: { mount(path: string, handler: WebHandler): unknown };
  const Bun: { serve(options: { idleTimeout: number; fetch: WebHandler }): unknown };
  const lastSeen: number;
  function url(city: string): string;
  function count(table: unknown, signal: AbortSignal): Promise<number>;
  function confirm(question: string): Promise<boolean>;
  function show(output: string): void;
  function ask(questions: readonly UserQuestion[], signal: AbortSignal): Promise<UserAnswers["answers"]>;
  function runMyAgent(prompt: string, server: McpSdkServerConfig, signal: AbortSignal): Promise<string>;
  /** For samples that are options alone. */
  function options(options: ToolRegistryOptions): void;
}
`;

/** A sample as a module: those that are options alone become an argument. */
function asModule(code: string): string {
  const module = /^\w+: \{/.test(code) ? `options({\n${code}\n});` : code;
  return `${module}\nexport {};\n`;
}

test("every sample fits the types", async () => {
  const samples = readmeSamples().filter(({ language }) => language === "js");
  expect(samples.length).toBeGreaterThan(8);
  link("toolwright", "zod", "@anthropic-ai/sdk", "@anthropic-ai/claude-agent-sdk", "@types/node");
  link("pg", "@types/pg");
  workspace.write("around.d.ts", AROUND);
  for (const { place, code } of samples) {
    workspace.write(`${place.replaceAll(" ", "-").toLowerCase()}.mjs`, asModule(code));
  }
  const compilerOptions = {
    allowJs: true,
    checkJs: true,
    noEmit: true,
    strict: true,
    skipLibCheck: true,
    target: "ES2022",
    module: "nodenext",
    types: ["node"],
    lib: ["ES2023", "ESNext.Disposable"],
  };
  const include = ["*.mjs", "around.d.ts"];
  workspace.write("tsconfig.json", JSON.stringify({ compilerOptions, include }));
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const node = process.versions.bun ? "node" : process.execPath;
  const { stdout, code } = await runScript(node, [tsc, "-p", workspace.root], workspace.root);
  expect({ stdout, code }).toEqual({ stdout: "", code: 0 });
});

describe.each(runtimes)("on $name", ({ path: runtime }) => {
  test("the agent in 30 lines asks, runs what the model calls, and ends", async () => {
    const sample = readmeSample("An agent in 30 lines 1");
    expect(sample.trim().split("\n").length).toBeLessThanOrEqual(34);
    link("toolwright", "@anthropic-ai/sdk");
    const script = workspace.write("agent.mjs", sample);
    const notes = workspace.write("notes.txt", "alpha\n");
    const model = await modelThatSays(
      [
        { name: "Read", id: "toolu_1", input: { file_path: notes } },
        { name: "Write", id: "toolu_2", input: { file_path: notes, content: "beta\n" } },
      ],
      [
        {
          name: "Edit",
          id: "toolu_3",
          input: { file_path: notes, old_string: "alpha", new_string: "gamma" },
        },
      ],
      "It says gamma now.",
    );
    const args = [script, "What do the notes say?"];
    const env = agentEnvironment(model, workspace);
    const ended = await runScript(runtime, args, workspace.root, 25_000, { env });

    expect(ended).toMatchObject({ code: 0, stdout: "It says gamma now.\n", stderr: "" });
    expect(model.bodies[0]?.messages).toEqual([
      { role: "user", content: "What do the notes say?" },
    ]);
    expect(model.bodies[0]?.tools?.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["Bash", "Edit", "Glob", "Grep", "Read", "Write"]),
    );
    const shown = model.shownResults();
    expect(shown.get("toolu_1")).toMatchObject({ content: [{ type: "text", text: "1\talpha" }] });
    expect(shown.get("toolu_2")).toMatchObject({ is_error: true });
    expect(shown.get("toolu_3")?.is_error).toBeUndefined();
    expect(readFileSync(notes, "utf8")).toBe("gamma\n");
  });

  test("the Claude Agent SDK shows its model our tools and nothing else", async () => {
    link("toolwright", "@anthropic-ai/claude-agent-sdk");
    const script = workspace.write("agent.mjs", readmeSample("Hand the tools to an agent 1"));
    const notes = workspace.write("notes.txt", "alpha\n");
    const model = await modelThatSays(
      [{ name: "mcp__toolwright__Read", id: "toolu_1", input: { file_path: notes } }],
      "It says alpha.",
    );
    const env = agentEnvironment(model, workspace);
    const ended = await runScript(runtime, [script], workspace.root, 25_000, { env });

    expect(ended).toMatchObject({ code: 0, stdout: "It says alpha.\n" });
    const tools = model.bodies.at(-1)?.tools?.filter(({ defer_loading }) => !defer_loading) ?? [];
    const ours = createToolRegistry({ projectPath: workspace.root });
    expect(tools.map(({ name }) => name)).toEqual(ours.getAllowedToolNames());
    for (const { input_schema } of tools) {
      expect(input_schema).toMatchObject({ type: "object", properties: expect.any(Object) });
    }
    expect(model.shownResults().get("toolu_1")?.content).toEqual([
      { type: "text", text: "1\talpha" },
    ]);
  });

  test("the first example reads a file", async () => {
    link("toolwright");
    workspace.write("src/main.rs", "fn main() {\n}\n");
    const sample = readmeSample("Use 1").replaceAll("/path/to/project", workspace.root);
    const sum = 'await registry.call("add", { a: 1, b: 2 })';
    const script = workspace.write(
      "use.mjs",
      `${sample}\nconsole.log(JSON.stringify([result, ${sum}]));\n`,
    );
    const { stdout } = await runScript(runtime, [script], workspace.root);
    expect(JSON.parse(stdout)).toMatchObject([
      { content: [{ type: "text", text: "1\tfn main() {\n2\t}" }] },
      { content: [{ type: "text", text: "3" }] },
    ]);
  });
});

describe.runIf(build === "linux-x64-gnu")("README's way to bundle", () => {
  const bundles = readmeSamples().filter(({ place }) => place.startsWith("Bundle it "));
  const bun = runtimes.find(({ name }) => name === "Bun")?.path ?? "bun";

  test("are three", () => {
    expect(bundles.map(({ language }) => language)).toEqual(["sh", "sh", "sh"]);
  });

  test.each(bundles)("$place works", async ({ code }) => {
    installToolwright(workspace.root);
    link("esbuild", "@esbuild/linux-x64");
    mkdirSync(workspace.path("node_modules/.bin"));
    // Named as a user has them: npx and bun, without asking the network for either.
    writeFileSync(workspace.path("node_modules/.bin/npx"), `#!/bin/sh\nexec "$@"\n`);
    chmodSync(workspace.path("node_modules/.bin/npx"), 0o755);
    symlinkSync(bun, workspace.path("node_modules/.bin/bun"));
    symlinkSync("../esbuild/bin/esbuild", workspace.path("node_modules/.bin/esbuild"));
    workspace.write(
      "app.mjs",
      `import { createToolRegistry } from "toolwright";
       const registry = createToolRegistry({ permissionMode: "bypassPermissions", userPolicyFile: false });
       registry.call("Bash", { command: "echo it works" }).then((result) => {
         console.log(result.content[0].text, result._meta["toolwright/command"].contained);
         return registry.close();
       });`,
    );
    const env = {
      PATH: `${workspace.path("node_modules/.bin")}:${process.env["PATH"]}`,
      TMPDIR: workspace.root,
      BUN_TMPDIR: workspace.root,
    };
    const bundled = await runScript("sh", ["-ec", code], workspace.root, 25_000, { env });
    if (bundled.code !== 0) throw new Error(bundled.stderr);

    workspace.delete("node_modules");
    const file = /dist\/(app[.\w]*)/.exec(code)?.[1] ?? "";
    const program = workspace.path(`dist/${file}`);
    const commands = file === "app" ? [[program]] : runtimes.map(({ path }) => [path, program]);
    for (const [command = "", ...args] of commands) {
      const { stdout, stderr } = await runScript(command, args, workspace.root, 25_000, { env });
      expect({ stdout, stderr }).toEqual({ stdout: "it works\n[exit code 0] true\n", stderr: "" });
    }
  });
});
