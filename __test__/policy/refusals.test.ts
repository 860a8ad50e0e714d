import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { tool } from "../../index.mjs";
import type {
  CallResult,
  ErrorType,
  RefusalDetails,
  ToolRegistry,
  ToolRegistryOptions,
} from "../../index.js";
import { connectClient } from "../support/mcp-clients";
import { useAskingRegistries } from "../support/registries";
import { useWorkspace } from "../support/workspace";

const workspace = useWorkspace();

const registryOf = useAskingRegistries(workspace);

/** Matches what a model must not see: settings, rules and other ways by which a host allows something. */
const HOST_ONLY =
  /bypassPermissions|permissionMode|acceptEdits|dontAsk|additionalDirectories|allowedTools|disallowedTools|polic(y|ies)\b|\brules?\b|trustProject|userPolicyFile|readBeforeWrite|toolsets?\b|messageBus|listen(ing|er) for|TimeoutMs|maxResultBytes|the host|(allow|ask|deny|rules)\[\d|\bmode\b/i;

interface Refusal {
  options?: ToolRegistryOptions;
  /** The files before the call. */
  files?: Record<string, string>;
  /** Runs before the call. */
  before?: (registry: ToolRegistry) => unknown;
  call: [name: string, input: () => Record<string, unknown>];
  type: ErrorType;
  /** What the model may do next. */
  next: RegExp;
  /** How a person or the host can allow it; undefined if it cannot be allowed. */
  howToAllow?: RegExp;
}

const write = (path = "a.txt"): Refusal["call"] => ["write_file", () => ({ path, content: "x" })];
const bash = (command: string): Refusal["call"] => ["Bash", () => ({ command })];
const onTheWay = /ask the user, or continue without it/;
const anotherWay = /do it in another way, or ask the user/;

const refusals: Record<string, Refusal> = {
  "no rule, without a listener": {
    call: write(),
    type: "PolicyDenied",
    next: onTheWay,
    howToAllow: /by a rule such as `Edit\(\.\/a\.txt\)`.*listening.*"bypassPermissions"/,
  },
  "a command, without a listener": {
    call: bash("touch a.txt"),
    type: "PolicyDenied",
    next: onTheWay,
    howToAllow: /by a rule such as `Bash\(touch a\.txt\)`.*listening/,
  },
  "a host's tool, without a listener": {
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
  "an ask rule with its own reason": {
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
  "an uncertain command line": {
    options: { policy: { allow: ["Bash(cat:*)"] } },
    call: bash("cat 'a"),
    type: "PolicyDenied",
    next: onTheWay,
    howToAllow: /listening/,
  },
  "a protected path": {
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
  "no answer in time": {
    options: { limits: { confirmationTimeoutMs: 20 } },
    before: (registry) => registry.messageBus.on("request", () => {}),
    call: write(),
    type: "ConfirmationTimeout",
    next: onTheWay,
    howToAllow: /by a rule such as.*confirmationTimeoutMs/,
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
  "a deny rule with its own reason": {
    options: {
      policy: { rules: [{ tool: "write_file", action: "deny", message: "use c.txt" }] },
    },
    call: write(),
    type: "PolicyDenied",
    next: /is not allowed here: use c\.txt[^;]*$/,
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
  "plan mode, for an edit": {
    options: { permissionMode: "plan" },
    call: write(),
    type: "PolicyDenied",
    next: /finish the plan first/,
    howToAllow: /another `permissionMode` than `plan`/,
  },
  "plan mode, for a command": {
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
    howToAllow:
      /by a rule such as `Edit\(\.\/a\.txt\)`.* or by another `permissionMode` than `dontAsk`/,
  },
  "a mode that does not ask, with a rule that asks": {
    options: { permissionMode: "dontAsk", policy: { ask: ["Write"] } },
    call: write(),
    type: "PolicyDenied",
    next: anotherWay,
    howToAllow: /^a host can allow it by another `permissionMode` than `dontAsk`$/,
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
  "a hook that asks in a mode that does not": {
    options: {
      permissionMode: "dontAsk",
      allowedTools: ["Write"],
      hooks: { PreToolUse: [() => ({ decision: "ask", reason: "sure?" })] },
    },
    call: write(),
    type: "PolicyDenied",
    next: /continue without it/,
    howToAllow: /another answer of the hook, or another `permissionMode`/,
  },
  "a hook that blocks": {
    options: { hooks: { PreToolUse: [() => ({ decision: "block" })] } },
    call: write(),
    type: "HookBlocked",
    next: /continue without it, or ask the user/,
    howToAllow: /another answer of its PreToolUse hooks/,
  },
  "a hook that fails": {
    options: { hooks: { PreToolUse: [() => Promise.reject(new Error("broken"))] } },
    call: write(),
    type: "HookBlocked",
    next: /continue without this call, or ask the user/,
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
    next: /continue without it, or ask the user/,
    howToAllow: /another answer of its PreToolUse hooks/,
  },
  "a disabled tool": {
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
    next: /write it whole with write_file/,
    howToAllow: /toolset `claude`/,
  },
  "a call that takes too long": {
    options: { permissionMode: "bypassPermissions", limits: { callTimeoutMs: 20 } },
    call: ["diagnostic_sleep", () => ({ ms: 600_000 })],
    type: "TimeoutError",
    next: /stopped after its limit of 20 ms/,
  },
};

/** The entry points. Each returns the text for the model, and further details for a host or a person. */
type EntryPoint = (
  registry: ToolRegistry,
  name: string,
  input: Record<string, unknown>,
) => Promise<{ model: unknown; host?: HostSide }>;

interface HostSide {
  display?: string | undefined;
  details?: RefusalDetails | undefined;
}

const ofResult = ({ content, structuredContent, display, error }: CallResult) => ({
  model: [content, structuredContent, error?.message],
  host: { display, details: error?.details },
});

const entryPoints: Record<string, EntryPoint> = {
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
    const { details } = (_meta?.["toolwright/error"] ?? {}) as { details?: RefusalDetails };
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
  entryPoints[`executeTools, ${format}`] = async (registry, name, input) => ({
    model: await registry.executeTools([{ id: "1", name, input }], { format }),
  });
}

/** Details for a host or a person that are missing or wrong. */
function untold(host: HostSide | undefined, howToAllow: RegExp | undefined): string[] {
  if (host === undefined || howToAllow === undefined) return [];
  const { display, details } = host;
  const problems: string[] = [];
  if (!howToAllow.test(details?.howToAllow ?? "")) problems.push(`${details?.howToAllow}`);
  if (!display?.includes(details?.howToAllow ?? "?")) problems.push(`display: ${display}`);
  if (!details?.reason) problems.push("no reason");
  return problems;
}

describe.each(Object.entries(refusals))("%s", (_what, refusal) => {
  test.each(Object.entries(entryPoints))(
    "%s: the model learns what to do, and the host how to allow it",
    async (_name, ask) => {
      for (const [name, content] of Object.entries(refusal.files ?? {})) {
        workspace.write(name, content);
      }
      const before = readdirSync(workspace.root);
      const registry = registryOf(refusal.options);
      await refusal.before?.(registry);
      const [name, input] = refusal.call;
      const { model, host } = await ask(registry, name, input());
      const told = JSON.stringify(model).replaceAll("\\n", "\n").replaceAll(/"|\\"/g, "");
      // Paths of the workspace are part of a message, whatever their names.
      const words = told.replaceAll(workspace.root, "");
      expect(words).not.toMatch(HOST_ONLY);
      expect(words).toMatch(refusal.next);
      expect(untold(host, refusal.howToAllow)).toEqual([]);
      expect(readdirSync(workspace.root)).toEqual(before);
      await registry.close();
    },
  );
});

test("an unknown tool: the model gets a list of the known ones", async () => {
  const [message] = await registryOf().executeTools([{ id: "1", name: "write_fil", input: {} }], {
    format: "openai",
  });
  expect(message?.content).toMatch(/^Error: no tool is named `write_fil`; .*`write_file`/);
  expect(message?.content).not.toMatch(HOST_ONLY);
});

describe("the texts about tools for models", () => {
  test("name no setting of the host", () => {
    for (const format of ["mcp", "anthropic", "openai", "openai-responses", "gemini"] as const) {
      const told = JSON.stringify(registryOf().definitions(format))
        // Models know the modes that an agent can be given.
        .replaceAll(/"enum":\["acceptEdits","bypassPermissions"[^\]]*\]/g, "");
      for (const { name } of registryOf().listTools()) expect(told).toContain(name);
      // Rules of ignore files and modes of an edit are not settings.
      expect(told).not.toMatch(
        /bypassPermissions|permissionMode|additionalDirectories|allowedTools|policy|readBeforeWrite|TimeoutMs/i,
      );
    }
  });
});
