import { afterEach, describe, expect, test } from "vitest";
import type { ConfirmationResponse, Hooks } from "../../index.js";
import { MessageBus, createToolRegistry, tool } from "../../index.mjs";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const details = { toolName: "Bash", description: "ls", risk: "high" as const };

/** Properties that a test added to every object. */
const polluted: (() => void)[] = [];
afterEach(() => polluted.splice(0).forEach((clean) => clean()));

function pollute(prototype: object, name: string, value: unknown): void {
  Object.defineProperty(prototype, name, { value, configurable: true, writable: true });
  polluted.push(() => Reflect.deleteProperty(prototype, name));
}

/** Answers with an object that is made for each request. */
async function answered(make: (id: string) => unknown): Promise<boolean> {
  const bus = new MessageBus();
  bus.on("request", ({ id }) => bus.respondToConfirmation(make(id) as ConfirmationResponse));
  return bus.requestConfirmation(details);
}

class InheritedYes {
  constructor(readonly id: string) {}
  get approved() {
    return true;
  }
}

describe("a confirmation is refused", () => {
  test.each<[string, (id: string) => unknown]>([
    ["by a boxed true", (id) => ({ id, approved: new Boolean(true) })],
    ["by a value that becomes true in JSON", (id) => ({ id, approved: { toJSON: () => true } })],
    [
      "by an answer that becomes an approval in JSON",
      (id) => ({ id, toJSON: () => ({ approved: true }) }),
    ],
    [
      "by a denial that becomes an approval in JSON",
      (id) => ({ id, approved: false, toJSON: () => ({ id, approved: true }) }),
    ],
    ["by a boxed true whose value is overridden", (id) => ({ id, approved: Object(true) })],
    ["by an inherited approval", (id) => Object.assign(Object.create({ approved: true }), { id })],
    ["by an approval in the answer's class", (id) => new InheritedYes(id)],
    [
      "by an approval that is not enumerable",
      (id) => Object.defineProperty({ id }, "approved", { value: true }),
    ],
    [
      "by a proxy without a property",
      (id) => new Proxy({ id }, { get: (it, key) => it[key as "id"] ?? true }),
    ],
    [
      "by a getter that throws",
      (id) => ({
        id,
        get approved() {
          throw new Error("no");
        },
      }),
    ],
    [
      "by an approval whose input has no JSON form",
      (id) => ({ id, approved: true, updatedInput: { a: 1n } }),
    ],
    [
      "by an approval whose input throws",
      (id) => ({
        id,
        approved: true,
        updatedInput: {
          toJSON() {
            throw Symbol("no");
          },
        },
      }),
    ],
    [
      "by an approval with an invalid message",
      (id) => ({ id, approved: true, message: { toJSON: () => "x" } }),
    ],
  ])("%s", async (_what, make) => {
    expect(await answered(make)).toBe(false);
  });

  test.each<[string, object, string, unknown]>([
    ["approved", Object.prototype, "approved", true],
    ["toJSON", Object.prototype, "toJSON", () => ({ approved: true })],
    ["a boolean's toJSON", Boolean.prototype, "toJSON", () => true],
  ])("even if every object inherits %s", async (_what, prototype, name, value) => {
    const bus = new MessageBus();
    bus.on("request", ({ id }) => {
      pollute(prototype, name, value);
      bus.respondToConfirmation({ id, approved: false });
      bus.respondToConfirmation({ id } as ConfirmationResponse);
    });
    expect(await bus.requestConfirmation(details)).toBe(false);
  });
});

test("an approval is read once", async () => {
  let reads = 0;
  const yes = await answered((id) => ({
    id,
    get approved() {
      reads += 1;
      return reads === 1;
    },
  }));
  expect([yes, reads]).toEqual([true, 1]);
  expect(await answered((id) => Object.assign(Object.create(null), { id, approved: true }))).toBe(
    true,
  );
  expect(await answered((id) => new Proxy({ id, approved: true }, {}))).toBe(true);
});

test.each([
  ["alwaysAllow", new Boolean(true)],
  ["alwaysAllow", { toJSON: () => true }],
  ["alwaysAllow", 1],
])("%s: %o grants nothing", async (name, value) => {
  const registry = createToolRegistry({ projectPath: workspace.root, userPolicyFile: false });
  registry.register(tool({ name: "mine", handler: () => "x" }));
  let asked = 0;
  registry.messageBus.on("request", ({ id }) => {
    asked += 1;
    registry.messageBus.respondToConfirmation({ id, approved: true, [name]: value });
  });
  await registry.call("mine");
  await registry.call("mine");
  expect(asked).toBe(2);
  await registry.close();
});

test("interrupt: a boxed true interrupts nothing", async () => {
  const registry = createToolRegistry({ projectPath: workspace.root, userPolicyFile: false });
  registry.register(tool({ name: "mine", handler: () => "x" }));
  let asked = 0;
  registry.messageBus.on("request", ({ id }) => {
    asked += 1;
    const interrupt = Object(true) as boolean;
    registry.messageBus.respondToConfirmation({ id, approved: false, interrupt });
  });
  await registry.executeTools(["1", "2"].map((id) => ({ id, name: "mine", input: {} })));
  expect(asked).toBe(2);
  await registry.close();
});

describe("a hook's answer", () => {
  async function hooked(answer: () => unknown): Promise<string> {
    const hooks = { PreToolUse: [answer] } as Hooks;
    const registry = createToolRegistry({
      projectPath: workspace.root,
      userPolicyFile: false,
      hooks,
    });
    registry.register(tool({ name: "mine", handler: () => "ran" }));
    const { error } = await registry.call("mine");
    await registry.close();
    return error?.type ?? "ran";
  }

  test("that is plain is accepted", async () => {
    expect(await hooked(() => ({ decision: "approve" }))).toBe("ran");
    expect(await hooked(() => ({ hookSpecificOutput: { permissionDecision: "allow" } }))).toBe(
      "ran",
    );
    expect(await hooked(() => Object.assign(Object.create(null), { decision: "approve" }))).toBe(
      "ran",
    );
    // There is no listener.
    expect(await hooked(() => undefined)).toBe("PolicyDenied");
    expect(await hooked(() => ({}))).toBe("PolicyDenied");
  });

  test.each<[string, () => unknown]>([
    ["a boxed word", () => ({ decision: new String("approve") })],
    ["a word by toJSON", () => ({ decision: { toJSON: () => "approve" } })],
    ["an answer by toJSON", () => ({ toJSON: () => ({ decision: "approve" }) })],
    ["a block by toJSON", () => ({ toJSON: () => ({ decision: "block" }) })],
    ["an inherited word", () => Object.create({ decision: "approve" })],
    [
      "an inherited part",
      () => Object.create({ hookSpecificOutput: { permissionDecision: "allow" } }),
    ],
    [
      "a part by toJSON",
      () => ({ hookSpecificOutput: { toJSON: () => ({ permissionDecision: "allow" }) } }),
    ],
    ["a boxed text", () => new String("x")],
    ["a function", () => () => {}],
    ["a symbol", () => Symbol("x")],
    ["a boxed boolean", () => ({ continue: new Boolean(true) })],
    ["a word in an array", () => ({ decision: ["approve"] })],
    [
      "a getter that throws",
      () => ({
        get decision() {
          throw Symbol("no");
        },
      }),
    ],
    [
      "a proxy that throws",
      () =>
        new Proxy(
          {},
          {
            getOwnPropertyDescriptor() {
              throw new Error("no");
            },
          },
        ),
    ],
  ])("that has %s blocks the call", async (_what, answer) => {
    expect(await hooked(answer)).toBe("HookBlocked");
  });

  test("is read once", async () => {
    let reads = 0;
    const answer = {
      get decision() {
        reads += 1;
        return reads === 1 ? "block" : "approve";
      },
    };
    expect([await hooked(() => answer), reads]).toEqual(["HookBlocked", 1]);
  });
});
