// What `explain` returns about a command's sandbox: the files that policy hides or protects.
import { execFileSync } from "node:child_process";
import { linkSync } from "node:fs";
import { expect, test } from "vitest";
import { createToolRegistry } from "../../index.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();

function explained(command: string, options: Record<string, unknown> = {}) {
  const registry = createToolRegistry({
    projectPath: workspace.path("project"),
    userPolicyFile: false,
    ...options,
  });
  try {
    return registry.explain("Bash", { command });
  } finally {
    void registry.close();
  }
}

const probe = createToolRegistry({ projectPath: import.meta.dirname, userPolicyFile: false });
const { level } = probe.explain("Bash", { command: "true" }).sandbox ?? {};
void probe.close();
/** Whether a command can have a sandbox that hides files. */
const hasNamespaces = level === "namespaces";

function below(paths: string[] = []): string[] {
  const root = `${workspace.path("project")}/`;
  return paths.filter((path) => path.startsWith(root)).map((path) => path.slice(root.length));
}

test.runIf(hasNamespaces)(
  "lists the files that a command cannot read, and those that it cannot change",
  () => {
    for (const name of [".env", "a/.env", "a/b.txt", "secrets/key", ".vscode/tasks.json"]) {
      workspace.write(`project/${name}`, "x");
    }
    linkSync(workspace.path("project/.env"), workspace.path("project/a/same"));
    const policy = { deny: ["Read(.env)", "Edit(a/b.txt)"], ask: ["Read(secrets/**)"] };
    const { action, sandbox } = explained("npm test", { policy });
    expect(action).toBe("ask");
    expect(below(sandbox?.hidden)).toEqual([".env", "a/.env", "a/same", "secrets"]);
    expect(below(sandbox?.readOnly)).toEqual(
      expect.arrayContaining([".vscode", "a/b.txt", ".claude"]),
    );
    expect(sandbox).toMatchObject({
      writable: "anywhere",
      network: "allow",
      limits: { processes: 2048 },
    });
    const named = explained("cat secrets/key", { policy }).sandbox;
    expect(below(named?.hidden)).toEqual([".env", "a/.env", "a/same"]);
  },
);

test.runIf(hasNamespaces)(
  "reports that a hidden file can be read from the repository that tracks it",
  () => {
    workspace.write("project/.env", "x");
    workspace.write("project/other.txt", "x");
    const git = (...args: string[]) =>
      execFileSync("git", ["-C", workspace.path("project"), ...args], { stdio: "ignore" });
    git("init", "-q");
    git("add", "other.txt");
    const policy = { deny: ["Read(.env)"] };
    const before = explained("npm test", { policy }).sandbox;
    expect(before?.doesNotHold.join("\n")).not.toContain("git tracks");
    git("add", "-f", ".env");
    const after = explained("npm test", { policy }).sandbox;
    expect(after?.doesNotHold.join("\n")).toContain("git tracks `.env`");
  },
);

test("returns no sandbox if no command runs", () => {
  workspace.write("project/a.txt", "x");
  const registry = createToolRegistry({ projectPath: workspace.path("project") });
  expect(
    registry.explain("Read", { file_path: workspace.path("project/a.txt") }).sandbox,
  ).toBeUndefined();
  void registry.close();
  const denied = explained("rm x", { policy: { deny: ["Bash(rm:*)"] } });
  expect([denied.action, denied.sandbox]).toEqual(["deny", undefined]);
  const off = explained("npm test", { sandbox: "off" });
  expect(off.sandbox).toMatchObject({ level: "none", hidden: [], readOnly: [] });
});
