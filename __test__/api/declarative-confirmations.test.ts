// What the invocation of a declarative tool learns about the answer to its own confirmation.
import { describe, expect, test, vi } from "vitest";
import type { ToolRegistryOptions } from "../../index.js";
import { details, thrower, withOwnTool, type Answer } from "../support/own-tool";
import { eventually } from "../support/processes";
import { deferred } from "../support/promises";
import { useAskingRegistries } from "../support/registries";
import { useWorkspace } from "../support/workspace";

const workspace = useWorkspace();
const made = useAskingRegistries(workspace);
const registryOf = withOwnTool(made);

describe("onConfirm", () => {
  async function outcomes(options: ToolRegistryOptions, answer?: Answer) {
    const onConfirm = vi.fn<(outcome: string) => void>();
    const parts = { shouldConfirmExecute: () => details({ onConfirm }) };
    const { registry, ran } = registryOf(parts, options, answer);
    const call = registry.call("own", { a: 1 });
    return { registry, call, ran, told: () => onConfirm.mock.calls.map(([outcome]) => outcome) };
  }

  test("is called with an approval before the work starts", async () => {
    const steps: string[] = [];
    const parts = {
      shouldConfirmExecute: () => ({
        steps,
        async onConfirm(this: { steps: string[] }, outcome: string) {
          await Promise.resolve();
          this.steps.push(outcome);
        },
      }),
      execute: () => {
        steps.push("ran");
        return { llmContent: "", returnDisplay: "" };
      },
    };
    await registryOf(parts, {}, { approved: true }).registry.call("own", {});
    expect(steps).toEqual(["approved", "ran"]);
  });

  test.each<[string, ToolRegistryOptions, Answer | undefined, string]>([
    ["a no", {}, { approved: false }, "denied"],
    ["no listener", {}, undefined, "cancelled"],
  ])("is called with %s", async (_what, options, answer, outcome) => {
    const { call, ran, told } = await outcomes(options, answer);
    expect((await call).error?.type).toBe("PolicyDenied");
    expect(await eventually(() => told().length > 0, 20_000)).toBe(true);
    expect(told()).toEqual([outcome]);
    expect(ran).toEqual([]);
  });

  test("is called when the confirmation times out", async () => {
    const limits = { confirmationTimeoutMs: 20 };
    const { registry, call, told } = await outcomes({ limits });
    registry.messageBus.on("request", () => {});
    expect((await call).error?.type).toBe("ConfirmationTimeout");
    expect(await eventually(() => told().length > 0, 20_000)).toBe(true);
    expect(told()).toEqual(["timeout"]);
  });

  test("is called when the registry is closed meanwhile", async () => {
    const { registry, call, told } = await outcomes({});
    const asked = deferred();
    registry.messageBus.on("request", () => asked.resolve());
    await asked.promise;
    await registry.close();
    expect((await call).error?.type).toBe("RegistryClosed");
    expect(told()).toEqual(["cancelled"]);
  });

  test.each<[string, ToolRegistryOptions]>([
    ["policy allows", { allowedTools: ["own"] }],
    ["a mode allows", { permissionMode: "bypassPermissions" }],
  ])("is not called without a question: %s", async (_what, options) => {
    const { registry, call, told } = await outcomes(options);
    await call;
    await registry.createInvocation("own", {}).shouldConfirmExecute();
    await registry.close();
    expect(told()).toEqual([]);
  });

  test("is called on the invocation that runs, if the person edited the input", async () => {
    const heard: unknown[] = [];
    const registry = made();
    registry.register({
      name: "own",
      schema: { parameters: { type: "object", properties: { a: { type: "integer" } } } },
      createInvocation: ({ a }: { a: number }) => ({
        shouldConfirmExecute: () => ({ onConfirm: (outcome: string) => heard.push([a, outcome]) }),
        execute: () => {
          heard.push([a, "ran"]);
          return { llmContent: "", returnDisplay: "" };
        },
      }),
    } as never);
    registry.messageBus.on("request", ({ id }) =>
      registry.messageBus.respondToConfirmation({ id, approved: true, updatedInput: { a: 2 } }),
    );
    await registry.call("own", { a: 1 });
    await registry.close();
    expect(heard).toHaveLength(3);
    expect(heard).toEqual(
      expect.arrayContaining([
        [1, "cancelled"],
        [2, "approved"],
        [2, "ran"],
      ]),
    );
  });

  test("that throws prevents the call", async () => {
    for (const onConfirm of [
      thrower(new Error("busy")),
      async () => thrower(new Error("busy"))(),
    ]) {
      const parts = { shouldConfirmExecute: () => details({ onConfirm }) };
      const { registry, ran } = registryOf(parts, {}, { approved: true });
      expect((await registry.call("own", {})).error).toEqual({
        type: "ToolFailed",
        message: "busy",
      });
      expect(ran).toEqual([]);
    }
  });

  test("that never settles prevents the call after the confirmation timeout", async () => {
    const onConfirm = () => new Promise<never>(() => {});
    const parts = { shouldConfirmExecute: () => details({ onConfirm }) };
    const limits = { confirmationTimeoutMs: 200 };
    const { registry, ran } = registryOf(parts, { limits }, { approved: true });
    const { error } = await registry.call("own", {});
    // On a busy machine the answer itself may come too late.
    expect(["TimeoutError", "ConfirmationTimeout"]).toContain(error?.type);
    expect(ran).toEqual([]);
  });
});
