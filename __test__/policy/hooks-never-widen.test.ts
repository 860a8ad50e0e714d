import { mkdirSync, readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { tool } from "../../index.mjs";
import type { ToolRegistryOptions } from "../../index.js";
import { useAskingRegistries } from "../support/registries";
import { useWorkspace } from "../support/workspace";

const workspace = useWorkspace();

const registryOf = useAskingRegistries(workspace);

type Call = [name: string, input: Record<string, unknown>];

const write = (path = "a.txt"): Call => ["write_file", { path, content: "x" }];
const bash = (command: string): Call => ["Bash", { command }];

describe("hooks never widen", () => {
  const allowing = { PreToolUse: [() => ({ decision: "allow" as const })] };
  const held: [what: string, options: ToolRegistryOptions, call: Call][] = [
    ["a protected file", {}, write(".git/config")],
    ["a protected file that does not exist yet", {}, write("sub/.bashrc")],
    ["a command that writes there", {}, bash("echo x > .git/hooks/pre-commit")],
    ["a command that may write there", {}, bash('cp x "$d/pre-commit"')],
    ["a program with such a path as its argument", {}, bash("cp x .git/hooks/")],
    ["an ask rule", { policy: { ask: ["Write"] } }, write()],
    ["an ask rule for everything", { policy: { rules: [{ tool: "*", action: "ask" }] } }, write()],
    ["an ask rule about a command", { policy: { ask: ["Bash(make:*)"] } }, bash("make")],
    ["a limit that may apply", { policy: { deny: ["Read(.env)"] } }, bash("cat $x")],
    ["a deny rule", { policy: { deny: ["Write"] } }, write()],
    ["a default that denies", { policy: { defaultAction: "deny" } }, write()],
  ];
  const modes = ["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"] as const;

  const cases = modes.flatMap((mode) => held.map(([what, ...rest]) => ({ mode, what, rest })));

  test.each(cases)(
    "mode $mode: $what",
    async ({ mode: permissionMode, rest: [options, [name, input]] }) => {
      mkdirSync(workspace.path(".git/hooks"), { recursive: true });
      const registry = registryOf({ ...options, permissionMode, hooks: allowing });
      const { error } = await registry.call(name, input);
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

  test("the ask for a line without a certain meaning is not lifted", async () => {
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
