// Permission modes of single sessions, and how a session leaves plan mode.
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type {
  ConfirmationRequest,
  ConfirmationResponse,
  PermissionMode,
  ToolRegistry,
} from "../../index.js";
import { useAskingRegistries } from "../support/registries.js";
import { texts } from "../support/results.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryOf = useAskingRegistries(workspace);
const PLAN = { plan: "1. Write `a.txt`.\n2. Run the tests." };
const A = { sessionId: "a" };
const B = { sessionId: "b" };

/** Answers every request, and returns the requests. */
function answering(
  registry: ToolRegistry,
  answer: Omit<ConfirmationResponse, "id">,
): ConfirmationRequest[] {
  const requests: ConfirmationRequest[] = [];
  registry.messageBus.on("request", (request) => {
    requests.push(request);
    registry.messageBus.respondToConfirmation({ id: request.id, ...answer });
  });
  return requests;
}

function write(registry: ToolRegistry, name: string, session = {}) {
  return registry.call("Write", { file_path: workspace.path(name), content: "x" }, session);
}

describe("ExitPlanMode", () => {
  test("shows a person the plan, and an approval restores the previous mode", async () => {
    const registry = registryOf({ permissionMode: "acceptEdits" });
    registry.setPermissionMode("plan");
    expect((await write(registry, "a.txt")).error?.type).toBe("PolicyDenied");
    const requests = answering(registry, { approved: true });
    const result = await registry.call("ExitPlanMode", {
      ...PLAN,
      allowedPrompts: [{ tool: "Bash", prompt: "run the tests" }],
    });
    expect(requests).toHaveLength(1);
    expect(requests[0]?.details).toMatchObject({
      toolName: "ExitPlanMode",
      reason: "a person decides whether to leave mode `plan`",
      suggestedRules: [],
    });
    expect(requests[0]?.details.description).toBe(
      `Leave plan mode and carry out this plan:\n\n${PLAN.plan}\n\nThe plan needs:\n- Bash: run the tests`,
    );
    expect(result.structuredContent).toEqual({ mode: "acceptEdits", plan: PLAN.plan });
    expect(texts(result)[0]).toContain(PLAN.plan);
    expect(registry.getPermissionMode()).toBe("acceptEdits");
    expect((await write(registry, "a.txt")).error).toBeUndefined();
  });

  test("returns to the default mode if the registry started in plan mode", async () => {
    const registry = registryOf({ permissionMode: "plan" });
    answering(registry, { approved: true });
    // Entering plan mode again keeps the mode to return to.
    registry.setPermissionMode("plan");
    await registry.call("ExitPlanMode", PLAN);
    expect(registry.getPermissionMode()).toBe("default");
  });

  test("stays in plan mode after a denial, and returns the reason", async () => {
    const registry = registryOf({ permissionMode: "plan" });
    answering(registry, { approved: false, message: "tests first" });
    const { error } = await registry.call("ExitPlanMode", PLAN);
    expect(error).toMatchObject({
      type: "PolicyDenied",
      message: "the user said no to `ExitPlanMode`: tests first",
    });
    expect(registry.getPermissionMode()).toBe("plan");
    expect((await write(registry, "a.txt")).error?.type).toBe("PolicyDenied");
    expect(existsSync(workspace.path("a.txt"))).toBe(false);
  });

  test("returns the person's changes of the plan to the model", async () => {
    const registry = registryOf({ permissionMode: "plan" });
    const requests: string[] = [];
    registry.messageBus.on("request", ({ id }) => {
      requests.push(id);
      const updatedInput = { plan: "Only read." };
      registry.messageBus.respondToConfirmation({ id, approved: true, updatedInput });
    });
    const result = await registry.call("ExitPlanMode", PLAN);
    expect(requests).toHaveLength(1);
    expect(texts(result)[0]).toMatch(/Only read\.$/);
  });

  test("is refused without a listener", async () => {
    const registry = registryOf({ permissionMode: "plan" });
    const { error } = await registry.call("ExitPlanMode", PLAN);
    expect(error?.type).toBe("PolicyDenied");
    expect(registry.getPermissionMode()).toBe("plan");
  });

  test("is refused by a rule that denies it, without a question", async () => {
    const registry = registryOf({ permissionMode: "plan", policy: { deny: ["ExitPlanMode"] } });
    const requests = answering(registry, { approved: true });
    expect((await registry.call("ExitPlanMode", PLAN)).error?.type).toBe("PolicyDenied");
    expect([requests, registry.getPermissionMode()]).toEqual([[], "plan"]);
  });

  test.each<[string, object]>([
    ["a rule allows it", { policy: { allow: ["ExitPlanMode"] } }],
    ["every tool is allowed", { policy: { allow: ["*"] } }],
    ["the default is to allow", { policy: { defaultAction: "allow" } }],
    [
      "a hook allows it",
      { hooks: { PreToolUse: [() => ({ hookSpecificOutput: { permissionDecision: "allow" } })] } },
    ],
  ])("asks a person even if %s", async (_what, options) => {
    const registry = registryOf({ permissionMode: "plan", ...options });
    const requests = answering(registry, { approved: true, alwaysAllow: true });
    for (const count of [1, 2]) {
      registry.setPermissionMode("plan");
      expect((await registry.call("ExitPlanMode", PLAN)).error).toBeUndefined();
      expect(requests).toHaveLength(count);
    }
  });

  test.each<PermissionMode>(["default", "acceptEdits", "dontAsk", "bypassPermissions"])(
    "says so if the mode is %s, without a question",
    async (permissionMode) => {
      const registry = registryOf({ permissionMode });
      const requests = answering(registry, { approved: true });
      const { error } = await registry.call("ExitPlanMode", PLAN);
      expect(error?.type).toBe("PlanModeError");
      expect(error?.message).toMatch(/is not in plan mode/);
      expect([requests, registry.getPermissionMode()]).toEqual([[], permissionMode]);
    },
  );

  test.each<[string, object]>([
    ["an empty plan", { plan: " \n" }],
    ["no plan", {}],
    ["too long a plan", { plan: "x".repeat(200_001) }],
  ])("refuses %s", async (_what, input) => {
    const registry = registryOf({ permissionMode: "plan" });
    const requests = answering(registry, { approved: true });
    const name: string = "ExitPlanMode";
    expect((await registry.call(name, input)).error?.type).toBe("ValidationError");
    expect(requests).toEqual([]);
  });

  test("called twice at once, leaves once", async () => {
    const registry = registryOf({ permissionMode: "plan" });
    const ids: string[] = [];
    registry.messageBus.on("request", ({ id }) => {
      ids.push(id);
      if (ids.length < 2) return;
      for (const id of ids) registry.messageBus.respondToConfirmation({ id, approved: true });
    });
    const calls = [PLAN, PLAN].map((plan) => registry.call("ExitPlanMode", plan));
    const types = (await Promise.all(calls)).map(({ error }) => error?.type);
    expect(types.sort()).toEqual(["PlanModeError", undefined]);
    expect(registry.getPermissionMode()).toBe("default");
  });

  test("escapes terminal control characters", async () => {
    const registry = registryOf({ permissionMode: "plan" });
    const requests = answering(registry, { approved: false });
    await registry.call("ExitPlanMode", { plan: "a\u001B[2Jb" });
    expect(requests[0]?.details.description).not.toContain("\u001B");
  });
});

describe("a session", () => {
  test("has its own mode, and other sessions do not change", async () => {
    const registry = registryOf({ permissionMode: "bypassPermissions" });
    registry.setPermissionMode("plan", A);
    expect((await write(registry, "a.txt", A)).error?.type).toBe("PolicyDenied");
    expect((await write(registry, "b.txt", B)).error).toBeUndefined();
    expect([registry.getPermissionMode(A), registry.getPermissionMode(B)]).toEqual([
      "plan",
      "bypassPermissions",
    ]);
    expect(
      registry.explain("Write", { file_path: workspace.path("a.txt"), content: "" }, A),
    ).toMatchObject({
      action: "deny",
      basis: "mode",
    });
    registry.setPermissionMode(null, A);
    expect((await write(registry, "a.txt", A)).error).toBeUndefined();
  });

  test("keeps its mode when the registry's changes", () => {
    const registry = registryOf({});
    registry.setPermissionMode("acceptEdits", A);
    registry.setPermissionMode("plan");
    registry.setPolicy({ deny: ["Bash"] });
    expect([registry.getPermissionMode(A), registry.getPermissionMode(B)]).toEqual([
      "acceptEdits",
      "plan",
    ]);
    expect(registry.explain("Bash", { command: "true" }, A).action).toBe("deny");
  });

  test.each<[string, (registry: ToolRegistry) => void, PermissionMode, PermissionMode]>([
    [
      "had its own mode before",
      (registry) => registry.setPermissionMode("acceptEdits", A).setPermissionMode("plan", A),
      "acceptEdits",
      "default",
    ],
    [
      "followed the registry",
      (registry) => registry.setPermissionMode("plan", A),
      "default",
      "default",
    ],
    [
      "and the registry are both in plan mode",
      (registry) => registry.setPermissionMode("plan", A).setPermissionMode("plan"),
      "default",
      "plan",
    ],
    [
      "is in plan mode because the registry is",
      (registry) => registry.setPermissionMode("acceptEdits").setPermissionMode("plan"),
      "acceptEdits",
      "acceptEdits",
    ],
  ])("that %s leaves plan mode, and only that", async (_what, enter, own, other) => {
    const registry = registryOf({});
    answering(registry, { approved: true });
    enter(registry);
    expect((await registry.call("ExitPlanMode", PLAN, A)).error).toBeUndefined();
    expect([registry.getPermissionMode(A), registry.getPermissionMode(B)]).toEqual([own, other]);
  });

  test("has left plan mode for calls that arrive while a person is asked", async () => {
    const registry = registryOf({ permissionMode: "plan" });
    const reasons: (string | undefined)[] = [];
    registry.messageBus.on("request", async ({ id, details }) => {
      reasons.push(details.reason);
      if (reasons.length === 1) await registry.call("ExitPlanMode", PLAN);
      registry.messageBus.respondToConfirmation({ id, approved: true });
    });
    expect((await registry.call("Bash", { command: "true" })).error).toBeUndefined();
    expect((await write(registry, "a.txt")).error).toBeUndefined();
    expect(reasons).toEqual([
      "in mode `plan`, commands, fetches and agents have to be confirmed",
      "a person decides whether to leave mode `plan`",
      `no rule allows \`${workspace.path("a.txt")}\``,
    ]);
  });

  test.each<[string, unknown, unknown]>([
    ["an unknown mode", "yolo", A],
    ["an internal mode", "planDontAsk", A],
    ["no mode for the registry", null, {}],
    ["an invalid session id", "plan", { sessionId: 7 }],
    ["invalid options", "plan", "a"],
  ])("refuses %s", (_what, mode, options) => {
    const registry = registryOf({});
    expect(() =>
      registry.setPermissionMode(mode as PermissionMode, options as { sessionId: string }),
    ).toThrow(expect.objectContaining({ type: "InvalidOptions" }));
  });

  test("in dontAsk is refused without a question whether to leave plan mode", async () => {
    const registry = registryOf({ permissionMode: "plan" });
    registry.setPermissionMode("dontAsk", A);
    expect((await registry.call("ExitPlanMode", PLAN, A)).error?.type).toBe("PlanModeError");
  });
});
