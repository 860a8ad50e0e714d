// Calls of plugin tools take the usual path: policy decides about what they touch, and hooks see them. Plugin
// files themselves are code, which no tool writes without a rule for it.
import { existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import type { PermissionMode, ToolRegistryOptions } from "../../index.js";
import { definition, pluginFile, shellTool, textOf } from "../support/plugins.js";
import { useAskingRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const askingRegistry = useAskingRegistries(workspace);

async function registryOf(options: ToolRegistryOptions = {}) {
  workspace.plant({
    "tools/p.json": pluginFile(
      "p",
      shellTool("search", "grep -rn {{a}} src || true", "a"),
      shellTool("list", "ls -- {{a}}", "a"),
      definition("docs", { type: "file-read", basePath: "docs" }, ["path"]),
      definition("outside", { type: "file-read", basePath: dirname(workspace.root) }, ["path"]),
      definition("ask-api", { type: "http", url: "https://api.example.com/{{a}}" }, ["a"]),
    ),
    "docs/a.md": "A",
    "docs/.env": "SECRET=1",
    "src/x": "x",
  });
  const registry = askingRegistry({ pluginDir: workspace.path("tools"), ...options });
  expect((await registry.initialize()).errors).toEqual([]);
  return registry;
}

describe("policy", () => {
  const decided = async (options: ToolRegistryOptions, name: string, input: object) =>
    (await registryOf(options)).explain(name, input).action;

  test("asks about every call that no rule covers", async () => {
    const registry = await registryOf();
    const decide = (name: string, input: object) => registry.explain(name, input).action;
    expect(decide("search", { a: "x" })).toBe("ask");
    expect(decide("ask-api", { a: "x" })).toBe("ask");
    expect(decide("docs", { path: "a.md" })).toBe("ask");
    expect(decide("outside", { path: "x" })).toBe("ask");
    const refused = await registry.call("search", { a: "x" });
    expect(refused.error?.type).toBe("PolicyDenied");
  });

  test.each<[ToolRegistryOptions, string, object, string]>([
    [{ allowedTools: ["search"] }, "search", { a: "x" }, "allow"],
    // An allow rule for another tool does not allow a plugin's; a limit applies to every tool.
    [{ allowedTools: ["Bash(ls:*)", "Bash"] }, "list", { a: "x" }, "ask"],
    [{ allowedTools: ["list"], disallowedTools: ["Bash(ls:*)"] }, "list", { a: "x" }, "deny"],
    [
      { allowedTools: ["list"], disallowedTools: ["Read(**/.env)"] },
      "list",
      { a: "docs/.env" },
      "deny",
    ],
    [{ disallowedTools: ["Read(**/.env)"] }, "docs", { path: ".env" }, "deny"],
    [
      { allowedTools: ["docs"], disallowedTools: ["Read(**/.env)"] },
      "docs",
      { path: ".env" },
      "deny",
    ],
    [
      { allowedTools: ["docs"], disallowedTools: ["Read(**/.env)"] },
      "docs",
      { path: "a.md" },
      "allow",
    ],
    [{ allowedTools: ["ask-api"] }, "ask-api", { a: "x" }, "allow"],
    [
      { permissionMode: "bypassPermissions", disallowedTools: ["WebFetch(domain:example.com)"] },
      "ask-api",
      { a: "x" },
      "deny",
    ],
    [{ permissionMode: "plan", allowedTools: ["docs"] }, "docs", { path: "a.md" }, "allow"],
    [{ permissionMode: "plan", allowedTools: ["list"] }, "list", { a: "x" }, "ask"],
    [{ permissionMode: "dontAsk" }, "search", { a: "x" }, "deny"],
  ])("by %j of %s %j is %s", async (options, name, input, action) => {
    expect(await decided(options, name, input)).toBe(action);
  });

  test("shows a person the command with its values", async () => {
    const registry = await registryOf();
    const invocation = registry.createInvocation("search", { a: "it's; rm -rf /" });
    expect(invocation.getDescription()).toBe("search: grep -rn 'it'\\''s; rm -rf /' src || true");
    expect(registry.createInvocation("ask-api", { a: "a/b" }).getDescription()).toBe(
      "ask-api: POST https://api.example.com/a%2Fb",
    );
  });

  test("passes calls to hooks, with the values that will be used", async () => {
    const seen: unknown[] = [];
    const registry = await registryOf({
      permissionMode: "bypassPermissions",
      hooks: {
        PreToolUse: [
          ({ tool_name, tool_input }) => {
            seen.push([tool_name, tool_input]);
            return tool_name === "list" ? { updatedInput: { a: "docs" } } : undefined;
          },
        ],
      },
    });
    expect(textOf(await registry.call("list", { a: "src" }))).toBe("a.md");
    expect(seen).toEqual([["list", { a: "src" }]]);
  });
});

describe("plugin files", () => {
  const MODES: PermissionMode[] = [
    "default",
    "acceptEdits",
    "plan",
    "dontAsk",
    "bypassPermissions",
  ];
  const attempts = (file: string): [string, object][] => [
    ["Write", { file_path: file, content: "{}" }],
    ["write_file", { path: file, content: "{}" }],
    ["Bash", { command: `echo '{}' > ${file}` }],
    ["Bash", { command: `cp x.json ${file}` }],
    ["Bash", { command: `mv x.json ${dirname(file)}/` }],
    ["Bash", { command: `cd ${dirname(file)} && touch evil.json` }],
    ["Bash", { command: `tee ${file} < x.json` }],
    ["shell", { command: `ln -s x.json ${file}` }],
  ];

  test.each(MODES)("are never written unconfirmed in mode %s", async (permissionMode) => {
    for (const [folder, isThere] of [
      ["tools", true],
      ["later/tools", false],
    ] as const) {
      const pluginDir = workspace.path(folder);
      if (isThere) mkdirSync(pluginDir, { recursive: true });
      const registry = askingRegistry({
        pluginDir,
        permissionMode,
        allowedTools: ["Write", "Bash", "Edit"],
      });
      const file = `${pluginDir}/evil.json`;
      for (const [name, input] of attempts(file)) {
        const { action } = registry.explain(name, input);
        const { error } = await registry.call(name, input);
        expect([name, input, action === "allow", error?.type]).toEqual([
          name,
          input,
          false,
          "PolicyDenied",
        ]);
      }
      expect(existsSync(file)).toBe(false);
    }
  });

  test("in the user's directory are protected, whatever directory is used", () => {
    const home = process.env.XDG_CONFIG_HOME ?? `${process.env.HOME}/.config`;
    const registry = askingRegistry({
      pluginDir: false,
      permissionMode: "bypassPermissions",
      additionalDirectories: ["/"],
    });
    const input = { file_path: `${home}/toolwright/tools/evil.json`, content: "{}" };
    expect(registry.explain("Write", input).action).toBe("ask");
  });

  test("are protected behind a link too", async () => {
    mkdirSync(workspace.path("real"));
    symlinkSync(workspace.path("real"), workspace.path("tools"));
    const registry = askingRegistry({
      pluginDir: workspace.path("tools"),
      permissionMode: "bypassPermissions",
    });
    for (const folder of ["real", "tools"]) {
      const input = { file_path: workspace.path(`${folder}/evil.json`), content: "{}" };
      expect(registry.explain("Write", input).action).toBe("ask");
    }
  });

  test("are written if a rule names the path", async () => {
    mkdirSync(workspace.path("tools"));
    const registry = askingRegistry({
      pluginDir: workspace.path("tools"),
      allowedTools: ["Edit(tools/**)"],
    });
    const file_path = workspace.path("tools/good.json");
    const content = pluginFile("good", shellTool("good", "ls"));
    expect((await registry.call("Write", { file_path, content })).error).toBeUndefined();
    await registry.reloadPlugins();
    expect(registry.hasTool("good")).toBe(true);
    rmSync(file_path);
  });
});
