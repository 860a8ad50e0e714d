import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createToolRegistry, tool } from "../index.mjs";
import type { CallResult, ErrorType, ToolRegistry, ToolRegistryOptions } from "../index.js";
import { connectClient } from "./support/mcp-clients";
import { useWorkspace } from "./support/workspace";

const workspace = useWorkspace();

function registryOf(options: ToolRegistryOptions = {}): ToolRegistry {
  return createToolRegistry({
    projectPath: workspace.root,
    toolsets: ["claude", "classic", "diagnostic"],
    userPolicyFile: false,
    ...options,
  });
}

/** What no model is told: the settings, rules and ways by which a host allows something. */
const HOST_ONLY =
  /bypassPermissions|permissionMode|acceptEdits|dontAsk|additionalDirectories|allowedTools|disallowedTools|polic(y|ies)\b|\brules?\b|trustProject|userPolicyFile|readBeforeWrite|toolsets?\b|messageBus|listen(ing|er) for|TimeoutMs|maxResultBytes|the host|(allow|ask|deny|rules)\[\d|\bmode\b/i;

interface Refusal {
  options?: ToolRegistryOptions;
  /** What is there before the call. */
  files?: Record<string, string>;
  /** Done before the call. */
  before?: (registry: ToolRegistry) => unknown;
  call: [name: string, input: () => Record<string, unknown>];
  type: ErrorType;
  /** What the model may do next. */
  next: RegExp;
  /** How a person or the host allows it; nothing where nobody can. */
  howToAllow?: RegExp;
}

const write = (path = "a.txt"): Refusal["call"] => ["write_file", () => ({ path, content: "x" })];
const bash = (command: string): Refusal["call"] => ["Bash", () => ({ command })];
const onTheWay = /ask the user, or go on without it/;
const anotherWay = /do it in another way, or ask the user/;

const refusals: Record<string, Refusal> = {
  "no rule, and nobody listens": {
    call: write(),
    type: "PolicyDenied",
    next: onTheWay,
    howToAllow: /by a rule such as `Edit\(\.\/a\.txt\)`.*listening.*"bypassPermissions"/,
  },
  "a command, and nobody listens": {
    call: bash("touch a.txt"),
    type: "PolicyDenied",
    next: onTheWay,
    howToAllow: /by a rule such as `Bash\(touch a\.txt\)`.*listening/,
  },
  "a host's tool, and nobody listens": {
    before: (registry) =>
      registry.register(
        tool({ name: "mine", description: "", inputSchema: {}, handler: () => "" }),
      ),
    call: ["mine", () => ({})],
    type: "PolicyDenied",
    next: onTheWay,
    howToAllow: /by a rule such as `mine`/,
  },
  "an ask rule": {
    options: { policy: { ask: ["Edit(a.txt)"] }, permissionMode: "bypassPermissions" },
    call: write(),
    type: "PolicyDenied",
    next: onTheWay,
    howToAllow: /listening.*ask rule `Edit\(a\.txt\)` \(ask\[0\] of the host's options\)/,
  },
  "an ask rule with words of its own": {
    options: { policy: { rules: [{ tool: "write_file", action: "ask", message: "why?" }] } },
    call: write(),
    type: "PolicyDenied",
    next: /why\?; ask the user/,
    howToAllow: /rules\[0\] of the host's options/,
  },
  "a limit that may apply": {
    options: { policy: { deny: ["Read(.env)"], allow: ["Bash(cat:*)"] } },
    call: bash("cat $x"),
    type: "PolicyDenied",
    next: onTheWay,
    howToAllow: /listening.*deny rule `Read\(\.env\)`/,
  },
  "a line that is not certain": {
    options: { policy: { allow: ["Bash(cat:*)"] } },
    call: bash("cat 'a"),
    type: "PolicyDenied",
    next: onTheWay,
    howToAllow: /listening/,
  },
  "a protected place": {
    options: { permissionMode: "bypassPermissions" },
    call: write(".git/config"),
    type: "PolicyDenied",
    next: onTheWay,
    howToAllow: /by a rule such as `Edit\(\.\/\.git\/config\)`/,
  },
  "a listener that throws": {
    before: (registry) =>
      registry.messageBus.on("request", () => {
        throw new Error("no screen");
      }),
    call: write(),
    type: "PolicyDenied",
    next: onTheWay,
    howToAllow: /by a rule such as/,
  },
  "nobody answers in time": {
    options: { limits: { confirmationTimeoutMs: 20 } },
    before: (registry) => registry.messageBus.on("request", () => {}),
    call: write(),
    type: "ConfirmationTimeout",
    next: onTheWay,
    howToAllow: /by a rule such as/,
  },
  "the user says no": {
    before: (registry) =>
      registry.messageBus.on("request", ({ id }) =>
        registry.messageBus.respondToConfirmation({ id, approved: false, message: "use b.txt" }),
      ),
    call: write(),
    type: "PolicyDenied",
    next: /the user said no to `write_file`: use b\.txt/,
  },
  "a deny rule": {
    options: { policy: { deny: ["Edit(a.txt)"] } },
    call: write(),
    type: "PolicyDenied",
    next: anotherWay,
    howToAllow: /changing the deny rule `Edit\(a\.txt\)` \(deny\[0\] of the host's options\)/,
  },
  "a deny rule with words of its own": {
    options: {
      policy: { rules: [{ tool: "write_file", action: "deny", message: "use c.txt" }] },
    },
    call: write(),
    type: "PolicyDenied",
    next: /: use c\.txt$/,
    howToAllow: /rules\[0\] of the host's options/,
  },
  "a deny rule about a command": {
    options: { policy: { deny: ["Bash(rm:*)"] } },
    call: bash("true && rm -rf x"),
    type: "PolicyDenied",
    next: anotherWay,
    howToAllow: /deny rule `Bash\(rm:\*\)`/,
  },
  "a default that denies": {
    options: { policy: { defaultAction: "deny" } },
    call: write(),
    type: "PolicyDenied",
    next: anotherWay,
    howToAllow: /by a rule such as `Edit\(\.\/a\.txt\)`/,
  },
  "a plan in the making, for an edit": {
    options: { permissionMode: "plan" },
    call: write(),
    type: "PolicyDenied",
    next: /finish the plan first/,
    howToAllow: /another `permissionMode` than `plan`/,
  },
  "a plan in the making, for a command": {
    options: { permissionMode: "plan" },
    call: bash("make"),
    type: "PolicyDenied",
    next: onTheWay,
    howToAllow: /listening.*another `permissionMode`/,
  },
  "a mode that does not ask": {
    options: { permissionMode: "dontAsk" },
    call: write(),
    type: "PolicyDenied",
    next: anotherWay,
    howToAllow: /another `permissionMode` than `dontAsk`/,
  },
  "a hook that asks": {
    options: {
      permissionMode: "bypassPermissions",
      hooks: { PreToolUse: [() => ({ decision: "ask", reason: "sure?" })] },
    },
    call: write(),
    type: "PolicyDenied",
    next: onTheWay,
    howToAllow: /listening.*another answer of the hook/,
  },
  "a hook that asks where nobody is asked": {
    options: {
      permissionMode: "dontAsk",
      allowedTools: ["Write"],
      hooks: { PreToolUse: [() => ({ decision: "ask", reason: "sure?" })] },
    },
    call: write(),
    type: "PolicyDenied",
    next: /go on without it/,
    howToAllow: /another answer of the hook, or another `permissionMode`/,
  },
  "a hook that blocks": {
    options: { hooks: { PreToolUse: [() => ({ decision: "block" })] } },
    call: write(),
    type: "HookBlocked",
    next: /go on without it, or ask the user/,
    howToAllow: /another answer of its PreToolUse hooks/,
  },
  "a hook that fails": {
    options: { hooks: { PreToolUse: [() => Promise.reject(new Error("broken"))] } },
    call: write(),
    type: "HookBlocked",
    next: /go on without this call, or ask the user/,
    howToAllow: /another answer of its PreToolUse hooks/,
  },
  "hooks that do not agree": {
    options: {
      hooks: {
        PreToolUse: ["b.txt", "c.txt"].map((path) => () => ({
          updatedInput: { path, content: "" },
        })),
      },
    },
    call: write(),
    type: "HookBlocked",
    next: /go on without it, or ask the user/,
    howToAllow: /another answer of its PreToolUse hooks/,
  },
  "a tool that is switched off": {
    options: { disallowedTools: ["write_file"] },
    call: write(),
    type: "ToolDisabled",
    next: /use another tool, or ask the user/,
    howToAllow: /out of `disallowedTools`/,
  },
  "a path outside the workspace": {
    call: ["read_file", () => ({ path: "/etc/hostname" })],
    type: "PathOutsideWorkspace",
    next: /use a path inside it, or ask the user/,
    howToAllow: /`additionalDirectories`/,
  },
  "a write outside the workspace": {
    call: ["Write", () => ({ file_path: `${workspace.root}-evil/a`, content: "" })],
    type: "PathOutsideWorkspace",
    next: /use a path inside it, or ask the user/,
    howToAllow: /`additionalDirectories`/,
  },
  "a search outside the workspace": {
    call: ["Grep", () => ({ pattern: "x", path: "/etc" })],
    type: "PathOutsideWorkspace",
    next: /use a path inside it, or ask the user/,
    howToAllow: /`additionalDirectories`/,
  },
  "a command outside the workspace": {
    call: ["shell", () => ({ command: "ls", cwd: "/etc" })],
    type: "PathOutsideWorkspace",
    next: /use a path inside it, or ask the user/,
    howToAllow: /`additionalDirectories`/,
  },
  "a file that was not read": {
    options: { permissionMode: "bypassPermissions" },
    files: { "a.txt": "one" },
    call: [
      "Edit",
      () => ({ file_path: workspace.path("a.txt"), old_string: "one", new_string: "two" }),
    ],
    type: "NotReadError",
    next: /read it first/,
    howToAllow: /`readBeforeWrite: false`/,
  },
  "a file that was not read, written": {
    options: { permissionMode: "bypassPermissions" },
    files: { "a.txt": "one" },
    call: ["Write", () => ({ file_path: workspace.path("a.txt"), content: "two" })],
    type: "NotReadError",
    next: /read it first/,
    howToAllow: /`readBeforeWrite: false`/,
  },
  "a notebook as text": {
    options: { permissionMode: "bypassPermissions" },
    files: { "a.ipynb": "{}" },
    call: ["edit_file", () => ({ path: "a.ipynb", edits: [{ target: "{", replacement: "[" }] })],
    type: "FileEditError",
    next: /change its cells with NotebookEdit/,
    howToAllow: /toolset `claude`/,
  },
  "a tool that is not there": {
    call: ["write_fil", () => ({})],
    type: "UnknownTool",
    next: /the closest of .* `write_file`/,
  },
  "a call that takes too long": {
    options: { permissionMode: "bypassPermissions", limits: { callTimeoutMs: 20 } },
    call: ["diagnostic_sleep", () => ({ ms: 600_000 })],
    type: "TimeoutError",
    next: /stopped after its limit of 20 ms/,
  },
};

/** The doors: each gives what a model is told, and what a host or a person is, where it is told more. */
type Door = (
  registry: ToolRegistry,
  name: string,
  input: Record<string, unknown>,
) => Promise<{ model: unknown; host?: unknown }>;

const ofResult = ({ content, structuredContent, display, error }: CallResult) => ({
  model: [content, structuredContent, error?.message],
  host: { display, details: error?.details },
});

const doors: Record<string, Door> = {
  call: async (registry, name, input) => ofResult(await registry.call(name, input)),
  "an invocation": async (registry, name, input) => {
    const { llmContent, returnDisplay, error } = await registry
      .createInvocation(name, input)
      .execute();
    return {
      model: [llmContent, error?.message],
      host: { display: returnDisplay, details: error?.details },
    };
  },
  "an MCP client": async (registry, name, input) => {
    const { client } = await connectClient(registry.toMcpServerConfig().instance);
    const { content, structuredContent, _meta } = await client.callTool({ name, arguments: input });
    await client.close();
    const told = _meta?.["toolwright/error"] as { details?: { howToAllow: string } };
    const { details } = told;
    return {
      model: [content, structuredContent],
      host: { display: details?.howToAllow, details },
    };
  },
  "executeTools, mcp": async (registry, name, input) => {
    const [result] = await registry.executeTools([{ id: "1", name, input }], { format: "mcp" });
    return ofResult(result as unknown as CallResult);
  },
};
for (const format of ["anthropic", "openai", "openai-responses", "gemini"] as const) {
  doors[`executeTools, ${format}`] = async (registry, name, input) => ({
    model: await registry.executeTools([{ id: "1", name, input }], { format }),
  });
}

describe.each(Object.entries(refusals))("%s", (_what, refusal) => {
  test.each(Object.entries(doors))(
    "%s: the model learns what to do, the host how to allow",
    async (doorName, door) => {
      for (const [name, content] of Object.entries(refusal.files ?? {}))
        workspace.write(name, content);
      const before = readdirSync(workspace.root);
      const registry = registryOf(refusal.options);
      await refusal.before?.(registry);
      const [name, input] = refusal.call;
      const thrown = doorName === "an invocation" && refusal.type === "UnknownTool";
      const outcome = door(registry, name, input());
      if (thrown) {
        await expect(outcome).rejects.toMatchObject({ type: "UnknownTool" });
        return;
      }
      if (doorName === "an MCP client" && refusal.type === "UnknownTool") {
        // The protocol has an error of its own for it.
        await expect(outcome).rejects.toThrow();
        return;
      }
      const { model, host } = await outcome;
      const told = JSON.stringify(model).replaceAll("\\n", "\n").replaceAll(/"|\\"/g, "");
      // Paths of the workspace are part of a message, whatever their names.
      const words = told.replaceAll(workspace.root, "");
      expect(words).not.toMatch(HOST_ONLY);
      const wanted = new RegExp(refusal.next.source.replace(/\$$/, "(?=[\\],}])"), "s");
      expect(words).toMatch(wanted);
      if (host !== undefined && refusal.howToAllow !== undefined) {
        const { display, details } = host as {
          display?: string;
          details?: { howToAllow: string; reason: string };
        };
        expect(details?.howToAllow).toMatch(refusal.howToAllow);
        expect(display).toContain(details?.howToAllow);
        expect(details?.reason).not.toBe("");
      }
      expect(readdirSync(workspace.root)).toEqual(before);
      await registry.close();
    },
  );
});

describe("what models are told of tools", () => {
  test("names no setting of the host", () => {
    for (const format of ["mcp", "anthropic", "openai", "openai-responses", "gemini"] as const) {
      const told = JSON.stringify(registryOf().definitions(format));
      for (const { name } of registryOf().listTools()) expect(told).toContain(name);
      // Rules of ignore files and modes of an edit are no settings.
      expect(told).not.toMatch(
        /bypassPermissions|permissionMode|additionalDirectories|allowedTools|policy|readBeforeWrite|TimeoutMs/i,
      );
    }
  });
});

describe("between the question and the yes", () => {
  const changes: Record<string, [(registry: ToolRegistry) => unknown, ErrorType | undefined]> = {
    nothing: [() => {}, undefined],
    "setPolicy denies": [
      (registry) => registry.setPolicy({ deny: ["Edit(a.txt)"] }),
      "PolicyDenied",
    ],
    "setPolicy asks": [(registry) => registry.setPolicy({ ask: ["Write"] }), undefined],
    "withAllowed allows": [(registry) => registry.withAllowed("Write"), undefined],
    "setPermissionMode plan": [(registry) => registry.setPermissionMode("plan"), "PolicyDenied"],
    "setPermissionMode dontAsk": [
      (registry) => registry.setPermissionMode("dontAsk"),
      "PolicyDenied",
    ],
    "setPermissionMode bypassPermissions": [
      (registry) => registry.setPermissionMode("bypassPermissions"),
      undefined,
    ],
    reloadPolicy: [
      (registry) => {
        writeFileSync(workspace.path("user.json"), JSON.stringify({ deny: ["Write"] }));
        registry.reloadPolicy();
      },
      "PolicyDenied",
    ],
    unregister: [(registry) => registry.unregister("write_file"), "UnknownTool"],
    "another tool of the name": [
      (registry) =>
        registry.register(
          tool({ name: "write_file", description: "", inputSchema: {}, handler: () => "" }),
        ),
      "UnknownTool",
    ],
  };

  async function run(ask: (registry: () => ToolRegistry) => ToolRegistryOptions) {
    const userPolicyFile = workspace.write("user.json", "{}");
    const registry: ToolRegistry = registryOf({ userPolicyFile, ...ask(() => registry) });
    return registry;
  }

  test.each(Object.entries(changes))("%s, while a person is asked", async (_what, change) => {
    const [meanwhile, type] = change;
    const registry = await run(() => ({}));
    registry.messageBus.on("request", ({ id }) => {
      meanwhile(registry);
      registry.messageBus.respondToConfirmation({ id, approved: true, alwaysAllow: true });
    });
    const { error } = await registry.call("write_file", { path: "a.txt", content: "x" });
    expect(error?.type).toBe(type);
    expect(readdirSync(workspace.root).includes("a.txt")).toBe(type === undefined);
    await registry.close();
  });

  test.each(Object.entries(changes))("%s, while a hook runs", async (what, change) => {
    const [meanwhile, type] = change;
    const registry = await run((registry) => ({
      hooks: {
        PreToolUse: [
          () => {
            meanwhile(registry());
            return { decision: "allow" };
          },
        ],
      },
    }));
    const { error } = await registry.call("write_file", { path: "a.txt", content: "x" });
    // Nobody listens, and a hook does not answer for a rule that asks.
    const wanted = what === "setPolicy asks" ? "PolicyDenied" : type;
    expect(error?.type).toBe(wanted);
    expect(readdirSync(workspace.root).includes("a.txt")).toBe(wanted === undefined);
    await registry.close();
  });

  test("a file that changed since its diff was shown is not written", async () => {
    const registry = registryOf();
    const file_path = workspace.write("a.txt", "one\ntwo\n");
    await registry.call("Read", { file_path });
    registry.messageBus.on("request", ({ id, details }) => {
      expect(details.diff).toContain("-one\n+1\n");
      writeFileSync(file_path, "one\ntwo\nrm -rf /\n");
      registry.messageBus.respondToConfirmation({ id, approved: true });
    });
    const edit = { file_path, old_string: "one", new_string: "1" };
    const { error } = await registry.call("Edit", edit);
    expect(error?.type).toBe("StaleFileError");
    expect(error?.message).toContain("nothing was written; read the file again");
    expect(readFileSync(file_path, "utf8")).toBe("one\ntwo\nrm -rf /\n");
  });
});

describe("hooks never widen", () => {
  const allowing = { PreToolUse: [() => ({ decision: "allow" as const })] };
  const held: [what: string, options: ToolRegistryOptions, call: Refusal["call"]][] = [
    ["a protected file", {}, write(".git/config")],
    ["a protected file that does not exist yet", {}, write("sub/.bashrc")],
    ["a command that writes there", {}, bash("echo x > .git/hooks/pre-commit")],
    ["a command that may write there", {}, bash("cd build && cp ../x .")],
    ["a program that is given such a place", {}, bash("cp x .git/hooks/")],
    ["an ask rule", { policy: { ask: ["Write"] } }, write()],
    ["an ask rule for everything", { policy: { rules: [{ tool: "*", action: "ask" }] } }, write()],
    ["an ask rule about a command", { policy: { ask: ["Bash(make:*)"] } }, bash("make")],
    ["a limit that may apply", { policy: { deny: ["Read(.env)"] } }, bash("cat $x")],
    ["a deny rule", { policy: { deny: ["Write"] } }, write()],
    ["a default that denies", { policy: { defaultAction: "deny" } }, write()],
  ];
  const modes = ["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"] as const;

  test.each(modes.flatMap((mode) => held.map((it) => [mode, ...it] as const)))(
    "mode %s: %s",
    async (permissionMode, _what, options, [name, input]) => {
      mkdirSync(workspace.path(".git/hooks"), { recursive: true });
      const registry = registryOf({ ...options, permissionMode, hooks: allowing });
      const { error } = await registry.call(name, input());
      expect(error?.type).toBe("PolicyDenied");
      expect(readdirSync(workspace.root)).toEqual([".git"]);
      expect(readdirSync(workspace.path(".git/hooks"))).toEqual([]);
      await registry.close();
    },
  );

  test.each([
    ["default", true],
    ["acceptEdits", true],
    ["plan", false],
    ["dontAsk", false],
    ["bypassPermissions", true],
  ] as const)("mode %s: the plain default ask is lifted: %s", async (permissionMode, lifted) => {
    const registry = registryOf({ permissionMode, hooks: allowing });
    registry.register(
      tool({ name: "mine", description: "", inputSchema: {}, handler: () => "ran" }),
    );
    const { error } = await registry.call("mine", {});
    expect(error?.type).toBe(lifted ? undefined : "PolicyDenied");
  });

  test("a line whose meaning is not certain is not lifted", async () => {
    for (const permissionMode of ["default", "acceptEdits", "plan", "dontAsk"] as const) {
      const registry = registryOf({ permissionMode, hooks: allowing });
      for (const command of ["echo 'a", "echo a\u200b"]) {
        const { error } = await registry.call("Bash", { command });
        expect([command, error?.type]).toEqual([command, "PolicyDenied"]);
      }
      await registry.close();
    }
  });
});

describe("what a person is shown", () => {
  const hidden = [
    "\u202e",
    "\u2066",
    "\u200b",
    "\u200d",
    "\ufeff",
    "\u061c",
    "\u{e0041}",
    "\u001b",
  ];

  test.each(hidden.map((it) => [it.codePointAt(0)?.toString(16) ?? "", it] as const))(
    "U+%s is written out wherever it stands",
    async (code, character) => {
      const seen = `\\u{${code}}`;
      const name = `a${character}b`;
      const registry = registryOf({
        policy: {
          ask: [`Edit(./${name}/**)`],
          rules: [{ tool: "own", action: "ask", message: name }],
        },
      });
      registry.register({
        name: "own",
        displayName: name,
        description: "",
        inputSchema: { type: "object", properties: { x: { type: "string" } } },
        createInvocation: () => ({
          getDescription: () => name,
          toolLocations: () => [name],
          execute: async () => ({ llmContent: "", returnDisplay: name }),
        }),
      } as never);
      const calls: [string, Record<string, unknown>][] = [
        ["write_file", { path: name, content: "x" }],
        ["write_file", { path: `${name}/c`, content: "x" }],
        ["write_file", { path: "plain", content: `x ${character}\n` }],
        ["Bash", { command: `echo ${name} > ${name}` }],
        ["own", { x: name }],
      ];
      for (const [tool, input] of calls) {
        const shown: unknown[] = [registry.explain(tool, input)];
        const invocation = registry.createInvocation(tool, input);
        shown.push(invocation.getDescription(), invocation.toolLocations());
        shown.push(await invocation.shouldConfirmExecute());
        const { display, error } = await registry.call(tool, input);
        shown.push(display, error);
        const asked = new Promise((resolve) =>
          registry.messageBus.once("request", ({ id, details: { input: _input, ...details } }) => {
            resolve(details);
            registry.messageBus.respondToConfirmation({ id, approved: false });
          }),
        );
        await registry.call(tool, input);
        shown.push(await asked);
        const all = JSON.stringify(shown, (_key, value) =>
          typeof value === "string" ? value.replaceAll("\\", "/") : value,
        );
        expect(all).not.toContain(character);
        expect(all).not.toContain(JSON.stringify(character).slice(1, -1));
        expect(all).toContain(seen.replace("\\", "/"));
      }
      const lints = JSON.stringify(
        registryOf({ allowedTools: [`Edit(./${name})`, `Edit(./${name})`] }).lintPolicy(),
      );
      expect(lints).toContain("redundant");
      expect(lints).not.toContain(character);
      await registry.close();
    },
  );

  test("no rule is suggested that cannot be written visibly, and those that are work", async () => {
    for (const name of ["a b", "a)b", "[x]*", "日本", "a'b", "a\\b"]) {
      const registry = registryOf();
      const { error } = await registry.call("write_file", { path: name, content: "" });
      const rules = error?.details?.suggestedRules ?? [];
      expect(rules).toHaveLength(1);
      const allowed = registryOf({ allowedTools: JSON.parse(JSON.stringify(rules)) });
      expect(allowed.explain("write_file", { path: name, content: "" }).action).toBe("allow");
    }
    for (const name of ["a\u202eb", "a\u200bb", "a\nb", "a\tb", "a\u00a0b"]) {
      const { error } = await registryOf().call("write_file", { path: name, content: "" });
      expect(error?.details?.suggestedRules).toBeUndefined();
      expect(error?.details?.howToAllow).not.toContain("by a rule");
    }
  });
});
