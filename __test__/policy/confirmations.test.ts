import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { tool } from "../../index.mjs";
import type { ErrorType, ToolRegistry, ToolRegistryOptions } from "../../index.js";
import { useAskingRegistries } from "../support/registries";
import { useWorkspace } from "../support/workspace";

const workspace = useWorkspace();

const registryOf = useAskingRegistries(workspace);

describe("between the question and the approval", () => {
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
    "another tool with the name": [
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
    // There is no listener, and a hook does not answer for a rule that asks.
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

describe("text for a person", () => {
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
    "U+%s is escaped in every position",
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

  test("only rules that can be written visibly are suggested, and they work", async () => {
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
