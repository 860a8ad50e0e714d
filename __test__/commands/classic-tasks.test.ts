// Background commands of `shell` are read and stopped by tools of the same set.
import { describe, expect, test } from "vitest";
import { alive, marker } from "../support/processes.js";
import { useRegistries } from "../support/registries.js";
import { texts } from "../support/results.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryOf = useRegistries(workspace);
const registryHere = (options: object = {}) => registryOf({ toolsets: ["classic"], ...options });

async function start(registry: ReturnType<typeof registryHere>, command: string) {
  const result = await registry.call("shell", { command, background: true });
  const { taskId } = (result._meta ?? {})["toolwright/command"] as { taskId: string };
  return { taskId, words: texts(result).join("\n") };
}

describe("a background command of the classic set", () => {
  test("names the tools that read and stop it, with their parameter", async () => {
    const { taskId, words } = await start(registryHere(), "true");
    expect(words).toContain(
      `read its output and status with task_output (taskId \`${taskId}\`); stop it with task_stop`,
    );
    expect(words).not.toMatch(/TaskOutput|TaskStop|task_id/);
  });

  test("is read to its end, each part once", async () => {
    const registry = registryHere();
    const { taskId } = await start(
      registry,
      "echo one; while [ ! -e go ]; do sleep 0.01; done; echo two; exit 3",
    );
    let first = "";
    while (!first.includes("one")) {
      first += texts(await registry.call("task_output", { taskId, block: false })).join("\n");
    }
    expect(first).toContain(`task \`${taskId}\` is running`);
    workspace.write("go", "");
    const last = await registry.call("task_output", { taskId });
    expect(texts(last)).toEqual([
      `task \`${taskId}\` failed with exit code 3\n\ntwo\n[output from byte 4 to 8, all so far]`,
    ]);
    const again = await registry.call("task_output", { taskId, offset: 0 });
    expect(texts(again)[0]).toContain("one\ntwo");
  });

  test("is stopped with all its children", async () => {
    const registry = registryHere();
    const mark = marker();
    const { taskId } = await start(registry, `sleep ${mark} & echo up; sleep ${mark}`);
    const result = await registry.call("task_stop", { taskId });
    expect(texts(result)).toEqual([expect.stringContaining(`task \`${taskId}\` stopped`)]);
    expect(alive(mark)).toEqual([]);
    const state = await registry.call("task_output", { taskId });
    expect(state._meta?.["toolwright/task"]).toMatchObject({ state: "stopped" });
  });

  test("is read and stopped without confirmation, and rules treat it as in the other set", async () => {
    const registry = registryHere({
      permissionMode: "default",
      allowedTools: ["shell"],
      policy: { deny: ["TaskStop"] },
    });
    const { taskId } = await start(registry, "true");
    expect((await registry.call("task_output", { taskId })).isError).toBeUndefined();
    expect((await registry.call("task_stop", { taskId })).error?.type).toBe("PolicyDenied");
  });

  test("that another conversation started does not exist", async () => {
    const registry = registryHere();
    const { taskId } = await start(registry, "true");
    const other = await registry.call("task_output", { taskId }, { sessionId: "other" });
    expect(other.error?.type).toBe("TaskNotFoundError");
  });
});
