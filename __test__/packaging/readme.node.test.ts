// The documents: their samples are checked against the types and run if they are complete, their links
// resolve, and README stays short.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, test } from "vitest";
import { createToolRegistry, validatePluginConfigFile } from "../../index.mjs";
import { agentEnvironment } from "../support/agent-environment.js";
import { build, installToolwright } from "../support/installed-package.js";
import { useModels } from "../support/loopback-messages-api.js";
import type { Sample } from "../support/readme.js";
import {
  allDocuments,
  anchorsOf,
  documentText,
  linksOf,
  proseOf,
  sampleAt,
  samplesOf,
  userDocuments,
  userSamples,
} from "../support/readme.js";
import { root, runScript, runtimes } from "../support/runtimes.js";
import { useWorkspace } from "../support/workspace.js";

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

/** Declarations that samples assume, because each is a part of a program. */
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
  /** For samples that consist only of options. */
  function options(options: ToolRegistryOptions): void;
}
`;

/** Complete samples that need a service, each with the test that runs it or the reason why none does. */
const RUN_ELSEWHERE: Record<string, string> = {
  "README.md: An agent in 30 lines 1": "asks a model; has a test below",
  "docs/agents.md: The Claude Agent SDK 1": "asks a model; has a test below",
  "docs/tools.md: Call a tool 1": "names a path that does not exist; has a test below",
  "docs/mcp.md: Use the tools of other servers 1": "connects to servers that do not exist",
  "docs/state.md: Redis and PostgreSQL 1": "needs a server; the tests of stores have one",
};

const nameOf = ({ document, place }: Sample) => `${document}: ${place}`;

/** A sample that makes a registry or an engine itself is a whole program. */
const isComplete = ({ code }: Sample) => /^import .* from "toolwright";/m.test(code);

/** A sample as a module. One that consists only of options becomes an argument. */
function asModule(code: string): string {
  const module = /^\w+: \{/.test(code) ? `options({\n${code}\n});` : code;
  return `${module}\nexport {};\n`;
}

/** What the comments of a sample say that it prints: `console.log(x); // → text`. */
function printedBy(code: string): string[] {
  return [...code.matchAll(/^\s*console\.log\(.*\); \/\/ → (.*)$/gm)].map((it) => it[1] ?? "");
}

test("every sample matches the types", async () => {
  const samples = userSamples("js");
  expect(samples.length).toBeGreaterThan(25);
  link("toolwright", "zod", "@anthropic-ai/sdk", "@anthropic-ai/claude-agent-sdk", "@types/node");
  link("pg", "@types/pg");
  workspace.write("around.d.ts", AROUND);
  for (const sample of samples) {
    const name = nameOf(sample)
      .replaceAll(/[^\w]+/g, "-")
      .toLowerCase();
    workspace.write(`${name}.mjs`, asModule(sample.code));
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

test("every JSON sample is JSON, and every plugin a valid one", () => {
  const samples = userSamples("json").map((it) => JSON.parse(it.code) as Record<string, unknown>);
  const plugins = samples.filter((it) => `${it["$schema"]}`.includes("plugin.schema.json"));
  expect(plugins.length).toBeGreaterThan(0);
  for (const plugin of plugins) {
    expect(validatePluginConfigFile(plugin)).toMatchObject({ valid: true, errors: [] });
  }
});

test("every sample that is run elsewhere exists and is complete", () => {
  const complete = userSamples("js").filter(isComplete).map(nameOf);
  expect(complete).toEqual(expect.arrayContaining(Object.keys(RUN_ELSEWHERE)));
});

describe.each(runtimes)("on $name", ({ path: runtime }) => {
  const programs = userSamples("js").filter((it) => isComplete(it) && !RUN_ELSEWHERE[nameOf(it)]);

  test.each(programs.map((it) => [nameOf(it), it] as const))("%s runs", async (_, { code }) => {
    link("toolwright");
    workspace.write("package.json", '{ "scripts": { "test": "echo passed" } }');
    workspace.write(".env", "KEY=1\n");
    const script = workspace.write("sample.mjs", code);
    const ended = await runScript(runtime, [script], workspace.root, 25_000);
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    // Node and Bun show objects differently, so blanks and line ends do not count.
    const squeezed = (text: string) => text.replaceAll(/[\s,]/g, "").replaceAll('"', "'");
    expect(squeezed(ended.stdout)).toContain(squeezed(printedBy(code).join("\n")));
  });

  test("the agent in 30 lines asks, runs what the model calls, and ends", async () => {
    const sample = sampleAt("README.md", "An agent in 30 lines 1");
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

  test("the Claude Agent SDK gives its model our tools and no others", async () => {
    link("toolwright", "@anthropic-ai/claude-agent-sdk");
    const sample = sampleAt("docs/agents.md", "The Claude Agent SDK 1");
    const script = workspace.write("agent.mjs", sample);
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
    const sample = sampleAt("docs/tools.md", "Call a tool 1");
    const here = sample.replaceAll("/path/to/project", workspace.root);
    const sum = 'await registry.call("add", { a: 1, b: 2 })';
    const script = workspace.write(
      "use.mjs",
      `${here}\nconsole.log(JSON.stringify([result, ${sum}]));\n`,
    );
    const { stdout } = await runScript(runtime, [script], workspace.root);
    expect(JSON.parse(stdout)).toMatchObject([
      { content: [{ type: "text", text: "1\tfn main() {\n2\t}" }] },
      { content: [{ type: "text", text: "3" }] },
    ]);
  });
});

describe("every command in the documents", () => {
  const lines = userSamples("sh").flatMap(({ code }) => code.match(/^npx toolwright .*$/gm) ?? []);
  const commands = [...new Set(lines.map((it) => it.replace(/\s+#.*$/, "")))];

  test("is found", () => {
    expect(commands.length).toBeGreaterThan(6);
  });

  test.each(commands)("%s works", async (command) => {
    workspace.write("src/main.rs", "// TODO\n");
    // A server would run until it is ended.
    const isServer = /^npx toolwright (?:serve|mcp)\b(?!.*--config)/.test(command);
    const cli = `"${process.execPath}" "${join(root, "bin", "toolwright.js")}"`;
    const line = command.replace("npx toolwright", cli) + (isServer ? " --help" : "");
    const env = { HOME: workspace.root, XDG_DATA_HOME: workspace.path(".data") };
    const ended = await runScript("sh", ["-c", line], workspace.root, 60_000, { env });
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/\w/) });
  });
});

describe.runIf(build === "linux-x64-gnu")("the documented way to bundle", () => {
  const bundles = samplesOf("docs/bundling.md");
  const bun = runtimes.find(({ name }) => name === "Bun")?.path ?? "bun";

  test("are three", () => {
    expect(bundles.map(({ language }) => language)).toEqual(["sh", "sh", "sh"]);
  });

  test.each(bundles)("$place works", async ({ code }) => {
    installToolwright(workspace.root);
    link("esbuild", "@esbuild/linux-x64");
    mkdirSync(workspace.path("node_modules/.bin"));
    // As a user calls them: npx and bun, without network access.
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

describe("the text of the documents", () => {
  test("README has at most 900 words, code included", () => {
    expect(documentText("README.md").split(/\s+/).filter(Boolean).length).toBeLessThanOrEqual(900);
  });

  test("every page in docs/ is in the index of its directory", () => {
    const pages = allDocuments().filter((it) => it.startsWith("docs/"));
    const indexes = pages.filter((it) => it.endsWith("/README.md"));
    const linked = new Set(
      indexes.flatMap((index) =>
        linksOf(index).map(({ target }) => normalize(join(dirname(index), target))),
      ),
    );
    expect(indexes).toContain("docs/decisions/README.md");
    expect(pages.filter((it) => it !== "docs/README.md" && !linked.has(it))).toEqual([]);
  });

  test("lines have at most 100 characters, except in tables and for links", () => {
    const long = userDocuments().flatMap((document) =>
      proseOf(document)
        .filter(({ text }) => text.length > 100 && !/^\s*(?:\||<|!\[)/.test(text))
        .map(({ line }) => `${document}:${line}`),
    );
    expect(long).toEqual([]);
  });

  test("every relative link leads to a file, and every anchor to a heading", () => {
    const links = allDocuments().flatMap(linksOf);
    const relative = links.filter(({ target }) => !/^[a-z]+:/.test(target));
    expect(relative.length).toBeGreaterThan(40);
    const broken = relative.filter(({ document, target }) => {
      const [path = "", anchor] = target.split("#");
      const file = path === "" ? document : normalize(join(dirname(document), path));
      if (!existsSync(join(root, file))) return true;
      return anchor !== undefined && file.endsWith(".md") && !anchorsOf(file).has(anchor);
    });
    expect(broken.map(({ document, line, target }) => `${document}:${line} ${target}`)).toEqual([]);
  });
});
