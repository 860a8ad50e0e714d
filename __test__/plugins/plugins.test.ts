// Plugin files: how they are found, validated, loaded and reloaded.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { validatePluginConfigFile, validatePluginToolDefinition } from "../../index.mjs";
import type { ToolRegistrationResult } from "../../index.js";
import { definition, pluginFile, shellTool, textOf } from "../support/plugins.js";
import { useRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace, { toolsets: ["classic"] });
const registryOf = (options: object = {}) =>
  registryHere({ pluginDir: workspace.path("tools"), ...options });

/** The example of the specification, unchanged. */
const EXAMPLE = {
  name: "my-tools",
  version: "1.0.0",
  tools: [
    {
      name: "list-todos",
      description: "Find TODO comments in source code",
      inputSchema: {
        type: "object",
        properties: {
          pattern: { type: "string", description: "Search pattern (default: TODO)" },
          directory: { type: "string", description: "Directory to search in" },
        },
      },
      handler: {
        type: "shell",
        command: "grep -rn '{{pattern}}' {{directory}} || true",
        timeout: 10000,
      },
    },
    {
      name: "check-api",
      description: "Check API health endpoint",
      inputSchema: {
        type: "object",
        properties: { url: { type: "string", description: "API URL to check" } },
        required: ["url"],
      },
      handler: { type: "http", url: "{{url}}/health", method: "GET", timeout: 5000 },
    },
  ],
} as const;

describe("plugin files", () => {
  test("are loaded by initialize, and their tools are listed with their source", async () => {
    workspace.write("tools/mine.json", JSON.stringify(EXAMPLE));
    const registry = registryOf();
    const before = registry.getToolCount();
    expect(await registry.initialize()).toEqual({
      success: true,
      toolCount: before + 2,
      errors: [],
    });
    expect(registry.getToolInfo("list-todos")).toMatchObject({
      name: "list-todos",
      description: EXAMPLE.tools[0].description,
      source: "plugin",
      pluginName: "my-tools",
      inputSchema: EXAMPLE.tools[0].inputSchema,
      sideEffect: "network",
    });
    expect(registry.getToolInfo("read_file")).toMatchObject({ source: "builtin" });
    expect(registry.getToolInfo("read_file")).not.toHaveProperty("pluginName");
    expect(registry.getAllowedToolNames()).toContain("mcp__toolwright__check-api");
  });

  test("can be the example of the specification, which works unchanged", async () => {
    workspace.plant({
      "tools/mine.json": JSON.stringify(EXAMPLE),
      "src/a.js": "// TODO: one\n",
      "my src/b.js": "// TODO: two\n// FIXME\n",
    });
    const registry = registryOf();
    await registry.initialize();
    const call = async (input: object) => textOf(await registry.call("list-todos", input));
    expect(await call({ pattern: "TODO", directory: "src" })).toBe("src/a.js:1:// TODO: one");
    expect(await call({ pattern: "FIXME", directory: "my src" })).toBe("my src/b.js:2:// FIXME");
    expect(await call({ pattern: "nothing", directory: "src" })).toBe("(no output)");
  });

  test("are found by the environment variable, and not without a directory", async () => {
    workspace.write("elsewhere/a.json", pluginFile("p", shellTool("one", "ls")));
    vi.stubEnv("TOOLWRIGHT_TOOLS_DIR", workspace.path("elsewhere"));
    try {
      const registry = registryHere();
      await registry.initialize();
      expect(registry.hasTool("one")).toBe(true);
      const none = registryHere({ pluginDir: false });
      expect(await none.initialize()).toMatchObject({ success: true, errors: [] });
      expect(none.hasTool("one")).toBe(false);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test("are reported as missing if the directory was named", async () => {
    const registry = registryOf();
    const { success, errors } = await registry.initialize();
    expect(success).toBe(false);
    expect(errors).toEqual([
      { source: workspace.path("tools"), message: expect.stringContaining("does not exist") },
    ]);
  });

  test("are refused one by one, and all others load", async () => {
    workspace.plant({
      "tools/a.json": "{ not json",
      "tools/b.json": pluginFile("b", shellTool("fine", "ls"), { name: "no name!" }),
      "tools/c.json": "[]",
      "tools/d.json": JSON.stringify({ name: "d", tools: [], extra: 1 }),
      "tools/e.json": `{"name":"e","tools":[],"version":"${"x".repeat(1024 * 1024)}"}`,
      "tools/f.json": `{"name":"f","tools":${"[".repeat(500)}${"]".repeat(500)}}`,
      "tools/g.json": Buffer.from([0x7b, 0xff, 0x7d]),
      "tools/z.json": pluginFile("z", shellTool("last", "ls")),
      "tools/.hidden.json": "{",
      "tools/other.txt": "{",
      "target.json": pluginFile("t", shellTool("linked", "ls")),
    });
    symlinkSync(workspace.path("target.json"), workspace.path("tools/link.json"));
    execFileSync("mkfifo", [workspace.path("tools/pipe.json")]);
    mkdirSync(workspace.path("tools/folder.json"));
    const registry = registryOf();
    const { success, errors } = await registry.initialize();
    expect(success).toBe(false);
    const told = Object.fromEntries(
      errors.map(({ source, message }) => [source.replace(/.*\//, ""), message]),
    );
    expect(told).toEqual({
      "a.json": expect.stringContaining("not valid JSON"),
      "b.json": expect.stringContaining("missing required field `description`"),
      "c.json": "expected an object, got an array",
      "d.json": expect.stringContaining("unknown field `extra`"),
      "e.json": expect.stringContaining("larger than 1048576 bytes"),
      "f.json": expect.stringContaining("recursion limit"),
      "g.json": expect.stringContaining("UTF-8"),
      "link.json": expect.stringContaining("a symbolic link"),
      "pipe.json": expect.stringContaining("a FIFO"),
      "folder.json": expect.stringContaining("a directory"),
    });
    expect(["fine", "last", "linked"].map((name) => registry.hasTool(name))).toEqual([
      true,
      true,
      false,
    ]);
  });

  test("cannot use the name of another tool", async () => {
    workspace.plant({
      "tools/a.json": pluginFile(
        "a",
        shellTool("read_file", "ls"),
        shellTool("Bash", "ls"),
        shellTool("FileRead", "ls"),
        shellTool("mcp__x__y", "ls"),
        shellTool("own", "ls"),
        shellTool("twice", "ls a"),
        shellTool("twice", "ls b"),
      ),
      "tools/b.json": pluginFile("b", shellTool("twice", "ls"), shellTool("good", "ls")),
    });
    const registry = registryOf();
    registry.register({ name: "own", handler: () => "mine" });
    const { errors } = await registry.initialize();
    expect(errors.map(({ source, toolName }) => [source.slice(-6), toolName])).toEqual([
      ["a.json", "read_file"],
      ["a.json", "Bash"],
      ["a.json", "FileRead"],
      ["a.json", "mcp__x__y"],
      ["a.json", "twice"],
      ["b.json", "twice"],
      ["a.json", "own"],
    ]);
    expect(registry.getToolInfo("own")?.source).toBe("host");
    expect(registry.getToolInfo("read_file")?.source).toBe("builtin");
    expect(registry.getToolInfo("twice")?.pluginName).toBe("a");
    expect(registry.hasTool("good")).toBe(true);
  });
});

describe("reloadPlugins", () => {
  const named = (registry: ReturnType<typeof registryOf>) =>
    registry
      .listTools()
      .filter(({ source }) => source === "plugin")
      .map(({ name, description }) => `${name}: ${description}`);

  test("adds, changes and removes tools, and keeps the others", async () => {
    workspace.plant({
      "tools/a.json": pluginFile("a", shellTool("one", "echo 1"), shellTool("two", "echo 2")),
      "tools/b.json": pluginFile("b", shellTool("three", "echo 3")),
    });
    const registry = registryOf();
    await registry.initialize();
    const [one, two] = [registry.get("one"), registry.get("two")];
    workspace.write(
      "tools/a.json",
      pluginFile("a", shellTool("one", "echo 1"), {
        ...shellTool("two", "echo 2"),
        description: "new",
      }),
    );
    workspace.write("tools/c.json", pluginFile("c", shellTool("four", "echo 4")));
    workspace.delete("tools/b.json");
    const builtin = registry.listTools().filter(({ source }) => source === "builtin");
    expect(await registry.reloadPlugins()).toEqual({
      success: true,
      toolCount: builtin.length + 3,
      errors: [],
    });
    expect(named(registry)).toEqual(["four: The tool four", "one: The tool one", "two: new"]);
    expect(registry.listTools().filter(({ source }) => source === "builtin")).toEqual(builtin);
    expect(registry.get("one")).toBe(one);
    expect(registry.get("two")).not.toBe(two);
    expect(textOf(await registry.call("four", {}))).toBe("4");
    rmSync(workspace.path("tools"), { recursive: true });
    await registry.reloadPlugins();
    expect(named(registry)).toEqual([]);
  });

  test("keeps the tools of a file that has become invalid, and reports it", async () => {
    const file = workspace.write(
      "tools/a.json",
      pluginFile("a", shellTool("one", "echo 1"), shellTool("two", "echo 2")),
    );
    const registry = registryOf();
    await registry.initialize();
    writeFileSync(file, "{ half a fi");
    expect(await registry.reloadPlugins()).toMatchObject({
      success: false,
      errors: [{ source: file, message: expect.stringContaining("its tools stay as they were") }],
    });
    expect(textOf(await registry.call("one", {}))).toBe("1");
    writeFileSync(
      file,
      pluginFile("a", shellTool("one", "eval {{x}}", "x"), shellTool("three", "echo 3")),
    );
    expect(await registry.reloadPlugins()).toMatchObject({
      success: false,
      errors: [
        {
          source: file,
          toolName: "one",
          message: expect.stringMatching(/`eval` runs .*the tool stays as it was/),
        },
      ],
    });
    expect(named(registry)).toEqual(["one: The tool one", "three: The tool three"]);
    expect(textOf(await registry.call("one", {}))).toBe("1");
  });

  test("lets a running call finish with the tool it started with", async () => {
    const go = workspace.path("go");
    execFileSync("mkfifo", [go]);
    const file = workspace.write("tools/a.json", pluginFile("a", shellTool("wait", `cat ${go}`)));
    const registry = registryOf();
    await registry.initialize();
    const started = new Promise<void>((resolve) => {
      writeFile(go).then(resolve, resolve);
    });
    const running = registry.call("wait", {});
    rmSync(file);
    await registry.reloadPlugins();
    expect(registry.hasTool("wait")).toBe(false);
    await started;
    expect(textOf(await running)).toBe("went");
  });
});

/** Opening waits for a reader, so this resolves once the command runs. */
async function writeFile(fifo: string): Promise<void> {
  const { writeFile: write } = await import("node:fs/promises");
  await write(fifo, "went");
}

describe("watchPlugins", () => {
  test("reloads files when they change, also in a directory that is created later", async () => {
    const registry = registryOf({ watchPlugins: true });
    await registry.initialize();
    workspace.write("tools/a.json", pluginFile("a", shellTool("one", "echo 1")));
    await vi.waitFor(() => expect(registry.hasTool("one")).toBe(true), { timeout: 60_000 });
    workspace.write("tools/b.json", pluginFile("b", shellTool("two", "echo 2")));
    await vi.waitFor(() => expect(registry.hasTool("two")).toBe(true), { timeout: 60_000 });
    workspace.delete("tools/a.json");
    await vi.waitFor(() => expect(registry.hasTool("one")).toBe(false), { timeout: 60_000 });
    expect(registry.hasTool("two")).toBe(true);
  }, 200_000);

  test("reports what a change led to, and what is wrong with a file", async () => {
    workspace.write("tools/a.json", pluginFile("a", shellTool("one", "echo 1")));
    const registry = registryOf({ watchPlugins: true });
    const { toolCount } = await registry.initialize();
    const told: ToolRegistrationResult[] = [];
    registry.on("plugins", (result) => told.push(result));
    workspace.write("tools/a.json", "{ broken");
    const errors = [
      {
        source: workspace.path("tools/a.json"),
        message: expect.stringMatching(/not valid JSON.*; its tools stay as they were$/),
      },
    ];
    const broken = { success: false, toolCount, errors };
    await vi.waitFor(() => expect(told.at(-1)).toEqual(broken), { timeout: 60_000 });
    expect(registry.hasTool("one")).toBe(true);
    // A file that is no plugin is not reported.
    workspace.write("tools/notes.txt", "x");
    workspace.write("tools/a.json", pluginFile("a", shellTool("two", "echo 1")));
    const right = { success: true, toolCount, errors: [] };
    await vi.waitFor(() => expect(told.at(-1)).toEqual(right), { timeout: 60_000 });
    expect(registry.hasTool("two")).toBe(true);
    const texts = told.map((it) => JSON.stringify(it));
    expect(texts.filter((it, index) => it === texts[index - 1])).toEqual([]);
  }, 200_000);

  test("ends with the registry", async () => {
    workspace.write("tools/a.json", pluginFile("a", shellTool("one", "echo 1")));
    const [watching, closed] = [
      registryOf({ watchPlugins: true }),
      registryOf({ watchPlugins: true }),
    ];
    await Promise.all([watching.initialize(), closed.initialize()]);
    await closed.close();
    workspace.write("tools/b.json", pluginFile("b", shellTool("two", "echo 2")));
    await vi.waitFor(() => expect(watching.hasTool("two")).toBe(true), { timeout: 60_000 });
    expect(closed.hasTool("two")).toBe(false);
  });
});

describe("validation", () => {
  test("accepts and returns what can be loaded", () => {
    expect(validatePluginConfigFile({ $schema: "x", ...EXAMPLE })).toEqual({
      valid: true,
      errors: [],
      config: EXAMPLE,
    });
    for (const tool of EXAMPLE.tools) {
      expect(validatePluginToolDefinition(tool)).toEqual({ valid: true, errors: [] });
    }
  });

  test("names every problem with its place", () => {
    const { valid, errors, config } = validatePluginConfigFile({
      name: "p",
      tools: [
        { name: "a" },
        shellTool("fine", "ls"),
        { ...shellTool("b c", "sh -c {{x}}", "x"), inputSchema: { type: "string" } },
        "nothing",
      ],
    });
    expect({ valid, config }).toEqual({ valid: false, config: undefined });
    expect(errors).toEqual([
      expect.stringMatching(/^tools\[0\] \(`a`\): .*`description`.*`inputSchema`.*`handler`/),
      expect.stringMatching(/^tools\[2\] \(`b c`\): field `name`: `b c` cannot be a tool's name/),
      expect.stringMatching(/^tools\[2\] \(`b c`\): field `inputSchema`: .*object/),
      expect.stringMatching(/^tools\[2\] \(`b c`\): field `handler.command`: /),
      "tools[3]: expected an object, got a string",
    ]);
  });

  const shell = { type: "shell", command: "ls" } as const;
  test.each([
    [{}, "missing required field `name`"],
    [null, "expected an object, got null"],
    [[], "expected an object, got an array"],
    [{ ...definition("a", shell), extra: 1 }, "unknown field `extra`"],
    [{ ...definition("a", shell), description: "" }, "`description`"],
    [{ ...definition("a", shell), description: 5 }, "`description`"],
    [{ ...definition("x".repeat(65), shell) }, "1 to 64 letters"],
    [definition("Read", shell), "a built-in tool is named `Read`"],
    [{ ...definition("a", shell), handler: {} }, "missing required field `handler.type`"],
    [{ ...definition("a", shell), handler: { type: "exec" } }, "`shell`, `http` or `file-read`"],
    [{ ...definition("a", shell), handler: { type: "shell" } }, "missing required field `command`"],
    [definition("a", { ...shell, timeout: 0 }), "`timeout`"],
    [definition("a", { ...shell, timeout: 600_001 }), "`timeout`"],
    [definition("a", { ...shell, env: {} } as never), "unknown field `env`"],
    [definition("a", { type: "http", url: "ftp://x" }), "`https://`"],
    [definition("a", { type: "http", url: "https://x", method: "DELETE" as never }), "`method`"],
    [definition("a", { type: "http", url: "https://x", headers: { "a b": "c" } }), "`a b`"],
    [definition("a", { type: "http", url: "https://x", headers: { a: "b\r\nc: d" } }), "one line"],
    [definition("a", { type: "http", url: "https://x", headers: { Host: "y" } }), "`Host`"],
    [definition("a", { type: "http", url: "https://x", headers: { a: "{{k}}" } }, ["k"]), "fixed"],
    [definition("a", { type: "file-read", basePath: "docs" }), "the property `path`"],
    [definition("a", { type: "file-read" } as never, ["path"]), "`basePath`"],
    [definition("a", { type: "file-read", basePath: "d", maxSize: -1 }, ["path"]), "`maxSize`"],
    [
      {
        ...definition("a", shell),
        inputSchema: { type: "object", properties: { n: { type: "integer", default: "x" } } },
      },
      "the default of `n` does not fit",
    ],
    [
      {
        ...definition("a", shell),
        inputSchema: { type: "object", properties: { n: { type: 5 } } },
      },
      "not valid JSON Schema",
    ],
    [
      { ...definition("a", shell), inputSchema: { $ref: "http://127.0.0.1/x", type: "object" } },
      "not valid JSON Schema",
    ],
  ])("of %j reports %s", (data, problem) => {
    const { valid, errors } = validatePluginToolDefinition(data);
    expect(valid).toBe(false);
    expect(errors.join("\n")).toContain(problem);
  });

  test("reports values that are not JSON", () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    for (const data of [cyclic, 1n, () => 1, Symbol("x"), undefined, Number.NaN]) {
      const { valid, errors } = validatePluginConfigFile(data);
      expect({ valid, told: errors.length > 0 }).toEqual({ valid: false, told: true });
    }
  });

  test("agrees with the package's schema, which editors use", () => {
    const schema = JSON.parse(
      readFileSync(new URL("../../schema/plugin.schema.json", import.meta.url), "utf8"),
    );
    expect(schema).toMatchObject({
      $schema: "http://json-schema.org/draft-07/schema#",
      required: ["name", "tools"],
      additionalProperties: false,
    });
    expect(Object.keys(schema.properties)).toEqual(["$schema", "name", "version", "tools"]);
  });
});
