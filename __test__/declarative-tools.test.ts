// Declarative tools of a host: what their invocations are given, asked and told.
import { afterEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { MessageBus } from "../index.mjs";
import type {
  ConfirmationRequest,
  ConfirmationResponse,
  DeclarativeTool,
  ToolCallConfirmationDetails,
  ToolRegistry,
  ToolRegistryOptions,
} from "../index.js";
import { registriesIn } from "./support/asking";
import { deferred } from "./support/mcp-clients";
import { eventually } from "./support/processes";
import { useWorkspace } from "./support/workspace";

const workspace = useWorkspace();
const made = registriesIn(workspace);
const open: ToolRegistry[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((registry) => registry.close()));
});

type Invocation = ReturnType<DeclarativeTool["createInvocation"]>;
type Parts = { [Key in keyof Invocation]?: unknown };
type Answer = Omit<ConfirmationResponse, "id">;

/** A registry with a declarative tool of these parts, and a person who answers. */
function registryOf(parts: Parts = {}, options: ToolRegistryOptions = {}, answer?: Answer) {
  const registry = made(options);
  open.push(registry);
  const given: unknown[][] = [];
  const ran: unknown[] = [];
  registry.register({
    name: "own",
    displayName: "Own",
    schema: { parameters: { type: "object", properties: { a: { type: "integer" } } } },
    createInvocation(...args: unknown[]) {
      given.push(args);
      return {
        execute() {
          ran.push(args[0]);
          return { llmContent: "ran", returnDisplay: "ran" };
        },
        ...parts,
      } as Invocation;
    },
  } as DeclarativeTool);
  const asked: ConfirmationRequest[] = [];
  if (answer !== undefined) {
    registry.messageBus.on("request", (request) => {
      asked.push(request);
      registry.messageBus.respondToConfirmation({ id: request.id, ...answer });
    });
  }
  return { registry, given, ran, asked };
}

const details = (more: object = {}) => ({
  toolName: "another",
  description: "Delete 40 rows",
  risk: "low" as const,
  locations: ["db:rows"],
  ...more,
});

describe("an invocation is made", () => {
  test("of the checked input and the registry's message bus", async () => {
    const messageBus = new MessageBus();
    const options = { messageBus, permissionMode: "bypassPermissions" } as const;
    const { registry, given, ran } = registryOf({}, options);
    await registry.call("own", { a: "5" });
    registry.createInvocation("own", { a: "6" }).getDescription();
    // Once for the call, and once to describe one that has not been made, whose input is as it came.
    expect(given).toEqual([
      [{ a: 5 }, messageBus],
      [{ a: "6" }, messageBus],
    ]);
    expect(given.map((args) => args[1] === messageBus)).toEqual([true, true]);
    expect(ran).toEqual([{ a: 5 }]);
  });

  test("once for each call: what is asked is what runs", async () => {
    const registry = made({ permissionMode: "bypassPermissions" });
    open.push(registry);
    class Counting {
      steps: string[] = [];
      getDescription = () => "counts";
      async shouldConfirmExecute(signal: AbortSignal) {
        this.steps.push(`asked ${signal.aborted}`);
        return false as const;
      }
      async execute() {
        this.steps.push("ran");
        return { llmContent: this.steps.join(), returnDisplay: "" };
      }
    }
    registry.register({ name: "own", schema: {}, createInvocation: () => new Counting() });
    const result = await registry.createInvocation("own", {}).execute();
    expect(result.llmContent).toBe("asked false,ran");
  });

  test("of what a schema library makes of the input", async () => {
    const registry = made({ permissionMode: "bypassPermissions" });
    open.push(registry);
    const seen: unknown[] = [];
    registry.register({
      name: "own",
      schema: {},
      inputSchema: { a: z.string().transform((it) => it.length) },
      createInvocation: (params: unknown) => ({
        shouldConfirmExecute: async () => {
          seen.push(params);
          return false as const;
        },
        execute: () => ({ llmContent: JSON.stringify(params), returnDisplay: "" }),
      }),
    } as never);
    expect((await registry.createInvocation("own", { a: "four" }).execute()).llmContent).toBe(
      '{"a":4}',
    );
    expect(seen).toEqual([{ a: 4 }]);
  });

  test("and may ask over the bus by itself", async () => {
    const registry = made({ allowedTools: ["own"] });
    open.push(registry);
    registry.messageBus.on("request", ({ id }) =>
      registry.messageBus.respondToConfirmation({ id, approved: true }),
    );
    registry.register({
      name: "own",
      schema: {},
      createInvocation: (_params: unknown, bus: MessageBus) => ({
        execute: async (signal: AbortSignal) => ({
          llmContent: String(await bus.requestConfirmation(details(), signal)),
          returnDisplay: "",
        }),
      }),
    });
    expect((await registry.call("own")).content).toEqual([{ type: "text", text: "true" }]);
  });
});

describe("the details of its own question", () => {
  test("are what a person is asked with, over the same bus, once", async () => {
    const more = { title: "Rows\u202e", rows: [{ id: 1 }], message: "certain?" };
    const parts = { shouldConfirmExecute: async () => details(more) };
    const { registry, asked, ran } = registryOf(parts, {}, { approved: true });
    expect((await registry.call("own", { a: 1 }, { toolUseId: "t" })).isError).toBeUndefined();
    expect(asked).toHaveLength(1);
    expect(asked[0]?.details).toEqual({
      // Not another tool's: who asks is not for it to say.
      toolName: "own",
      description: "Delete 40 rows",
      risk: "low",
      locations: ["db:rows"],
      reason: "no rule allows `own`",
      suggestedRules: ["own"],
      title: "Rows\\u{202e}",
      rows: [{ id: 1 }],
      message: "certain?",
      input: { a: 1 },
      toolUseId: "t",
      sessionId: "default",
    });
    expect(ran).toEqual([{ a: 1 }]);
  });

  test("fall back to what the invocation and the tool say", async () => {
    const own = { getDescription: () => "Mine", toolLocations: () => ["here"] };
    const shown = async (parts: Parts) => {
      const { registry } = registryOf(parts);
      const asked = await registry.createInvocation("own", {}).shouldConfirmExecute();
      const { description, locations, risk } = asked as ToolCallConfirmationDetails;
      return [description, locations, risk];
    };
    expect(await shown({ shouldConfirmExecute: () => ({}) })).toEqual(["Own {}", [], "high"]);
    expect(await shown({ ...own, shouldConfirmExecute: () => ({}) })).toEqual([
      "Mine",
      ["here"],
      "high",
    ]);
    // No question of its own does not spare the person one.
    expect(await shown({ ...own, shouldConfirmExecute: () => false })).toEqual([
      "Mine",
      ["here"],
      "high",
    ]);
    expect(await shown(own)).toEqual(["Mine", ["here"], "high"]);
  });

  test("do not lower the risk that a rule states", async () => {
    const policy = { rules: [{ tool: "own", action: "ask", risk: "medium" }] } as const;
    const { registry } = registryOf({ shouldConfirmExecute: () => details() }, { policy });
    const asked = await registry.createInvocation("own", {}).shouldConfirmExecute();
    expect(asked).toMatchObject({ risk: "medium" });
  });

  test("cannot pass for another call", async () => {
    const forged = {
      input: {},
      toolUseId: "x",
      sessionId: "y",
      reason: "z",
      suggestedRules: ["*"],
    };
    const parts = { shouldConfirmExecute: () => details(forged) };
    const { registry, asked } = registryOf(parts, {}, { approved: false });
    const peeked = await registry.createInvocation("own", { a: 1 }).shouldConfirmExecute();
    await registry.call("own", { a: 1 }, { toolUseId: "t", sessionId: "s" });
    const own = { reason: "no rule allows `own`", suggestedRules: ["own"] };
    expect(asked[0]?.details).toMatchObject({
      input: { a: 1 },
      toolUseId: "t",
      sessionId: "s",
      ...own,
    });
    expect(peeked).toMatchObject(own);
    expect(Object.keys(peeked)).not.toContain("input");
  });
});

describe("policy stands above it", () => {
  const asks = { shouldConfirmExecute: () => details() };

  test.each<[string, ToolRegistryOptions, "runs" | "asks" | "refused"]>([
    ["a deny rule", { policy: { deny: ["own"] } }, "refused"],
    ["the mode plan", { permissionMode: "plan" }, "refused"],
    ["the mode dontAsk", { permissionMode: "dontAsk" }, "refused"],
    ["a disabled tool", { disallowedTools: ["own"] }, "refused"],
    ["nothing", {}, "asks"],
    ["an ask rule", { policy: { ask: ["own"] }, permissionMode: "bypassPermissions" }, "asks"],
    ["an allow rule", { allowedTools: ["own"] }, "runs"],
    ["a default that allows", { policy: { defaultAction: "allow" } }, "runs"],
    ["bypassPermissions", { permissionMode: "bypassPermissions" }, "runs"],
    ["a hook that allows", { hooks: { PreToolUse: [() => ({ decision: "allow" })] } }, "runs"],
    [
      "a hook that asks",
      { allowedTools: ["own"], hooks: { PreToolUse: [() => ({ decision: "ask" })] } },
      "asks",
    ],
  ])("%s", async (_what, options, expected) => {
    const { registry, asked, ran } = registryOf(asks, options, { approved: true });
    const { error } = await registry.call("own", {});
    expect(asked.map((it) => it.details.description)).toEqual(
      expected === "asks" ? ["Delete 40 rows"] : [],
    );
    expect(ran).toHaveLength(expected === "refused" ? 0 : 1);
    expect(error === undefined).toBe(expected !== "refused");
  });

  test("a denied call is not even made", async () => {
    const { registry, given } = registryOf(asks, { policy: { deny: ["own"] } });
    await registry.call("own", {});
    expect(given).toEqual([]);
  });

  test("what changes while it thinks counts", async () => {
    const { registry, ran } = registryOf(
      {
        shouldConfirmExecute: () => {
          registry.setPolicy({ deny: ["own"] });
          return false;
        },
      },
      { allowedTools: ["own"] },
    );
    expect((await registry.call("own", {})).error?.type).toBe("PolicyDenied");
    expect(ran).toEqual([]);
  });

  test("an answer that is to hold from now on holds for its questions as well", async () => {
    const always = { approved: true, alwaysAllow: true };
    const { registry, asked, ran } = registryOf(asks, {}, always);
    await registry.call("own", { a: 1 });
    await registry.call("own", { a: 2 });
    expect([asked.length, ran.length]).toEqual([1, 2]);
  });
});

describe("a question that is none refuses the call, whatever policy allows", () => {
  const symbol = Symbol("odd");
  const broken: [string, () => unknown, RegExp][] = [
    ["throws", () => Promise.reject(new Error("not today")), /refuses the call: not today/],
    ["throws at once", thrower(new Error("not today")), /refuses the call: not today/],
    ["throws nothing", thrower(undefined), /refuses the call/],
    ["throws a symbol", thrower(symbol), /refuses the call/],
    ["answers true", () => true, /could not say/],
    ["answers nothing", () => undefined, /could not say/],
    ["answers null", () => null, /could not say/],
    ["answers a text", () => "no", /could not say/],
    ["answers a list", () => [], /could not say/],
    ["answers a function", () => () => false, /could not say/],
    ["has a description that is none", () => ({ description: 5 }), /could not say/],
    ["has locations that are none", () => ({ locations: [5] }), /could not say/],
    ["has no such risk", () => ({ risk: "none" }), /could not say/],
    ["has an onConfirm that is none", () => ({ onConfirm: "x" }), /could not say/],
    ["cannot be read", () => ({ ...details(), big: 1n }), /could not say/],
    ["nests too deep", () => ({ deep: nested(500) }), /could not say/],
    ["is a proxy that throws", () => new Proxy({}, { ownKeys: thrower(symbol) }), /could not say/],
  ];

  const options: Record<string, ToolRegistryOptions> = {
    "where policy asks": {},
    "where policy allows": { allowedTools: ["own"] },
    "in bypassPermissions": { permissionMode: "bypassPermissions" },
  };
  const cases = Object.keys(options).flatMap((where) =>
    broken.map(([what, answer, message]) => [where, what, answer, message] as const),
  );

  test.each(cases)("%s: one that %s", async (where, _what, shouldConfirmExecute, message) => {
    const parts = { shouldConfirmExecute };
    const { registry, asked, ran } = registryOf(parts, options[where], { approved: true });
    const { error } = await registry.call("own", {});
    expect(error).toMatchObject({ type: "PolicyDenied", message: expect.stringMatching(message) });
    expect(error?.details?.howToAllow).toContain("shouldConfirmExecute");
    await expect(registry.createInvocation("own", {}).shouldConfirmExecute()).rejects.toMatchObject(
      { type: "PolicyDenied", message: error?.message },
    );
    expect([asked, ran]).toEqual([[], []]);
  });

  test("one that takes too long ends with the call's time, and hears of it", async () => {
    const registry = made({ permissionMode: "bypassPermissions" });
    open.push(registry);
    const told = deferred();
    const execute = vi.fn<() => never>();
    registry.register({
      name: "own",
      schema: {},
      timeoutMs: 20,
      createInvocation: () => ({
        shouldConfirmExecute: (signal: AbortSignal) => {
          signal.addEventListener("abort", () => told.resolve());
          return new Promise<never>(() => {});
        },
        execute,
      }),
    });
    expect((await registry.call("own")).error?.type).toBe("TimeoutError");
    await told.promise;
    expect(execute).not.toHaveBeenCalled();
  });

  test("an invocation that cannot be made fails as its work would", async () => {
    const registry = made();
    open.push(registry);
    const rejected = () => Promise.reject(new Error("no such row"));
    for (const createInvocation of [thrower(new Error("no such row")), rejected]) {
      registry.register({ name: "own", schema: {}, createInvocation } as never);
      const error = { type: "ToolFailed", message: "no such row" };
      const invocation = registry.createInvocation("own", {});
      expect(invocation.getDescription()).toBe("own {}");
      expect((await invocation.execute()).error).toEqual(error);
      await expect(invocation.shouldConfirmExecute()).rejects.toMatchObject(error);
    }
  });

  test("words that are none are left to us", () => {
    const odd: unknown[] = [5, "", null, undefined, {}, Promise.reject(new Error("no")), [5]];
    for (const word of odd) {
      const parts = { getDescription: () => word, toolLocations: () => word };
      const { registry } = registryOf(parts);
      const invocation = registry.createInvocation("own", {});
      expect([invocation.getDescription(), invocation.toolLocations()]).toEqual(["Own {}", []]);
    }
  });
});

describe("onConfirm", () => {
  async function outcomes(options: ToolRegistryOptions, answer?: Answer) {
    const onConfirm = vi.fn<(outcome: string) => void>();
    const parts = { shouldConfirmExecute: () => details({ onConfirm }) };
    const { registry, ran } = registryOf(parts, options, answer);
    const call = registry.call("own", { a: 1 });
    return { registry, call, ran, told: () => onConfirm.mock.calls.map(([outcome]) => outcome) };
  }

  test("hears of a yes before the work begins", async () => {
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
  ])("hears of %s", async (_what, options, answer, outcome) => {
    const { call, ran, told } = await outcomes(options, answer);
    expect((await call).error?.type).toBe("PolicyDenied");
    expect(await eventually(() => told().length > 0, 20_000)).toBe(true);
    expect(told()).toEqual([outcome]);
    expect(ran).toEqual([]);
  });

  test("hears that nobody answered in time", async () => {
    const limits = { confirmationTimeoutMs: 20 };
    const { registry, call, told } = await outcomes({ limits });
    registry.messageBus.on("request", () => {});
    expect((await call).error?.type).toBe("ConfirmationTimeout");
    expect(await eventually(() => told().length > 0, 20_000)).toBe(true);
    expect(told()).toEqual(["timeout"]);
  });

  test("hears that the registry was closed meanwhile", async () => {
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
  ])("hears nothing where nobody was asked: %s", async (_what, options) => {
    const { registry, call, told } = await outcomes(options);
    await call;
    await registry.createInvocation("own", {}).shouldConfirmExecute();
    await registry.close();
    expect(told()).toEqual([]);
  });

  test("of an input that the person edited: the invocation that runs hears of the yes", async () => {
    const heard: unknown[] = [];
    const registry = made();
    open.push(registry);
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

  test("that throws keeps the call from running", async () => {
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

  test("that never ends keeps the call from running, for as long as a person has to answer", async () => {
    const onConfirm = () => new Promise<never>(() => {});
    const parts = { shouldConfirmExecute: () => details({ onConfirm }) };
    const limits = { confirmationTimeoutMs: 200 };
    const { registry, ran } = registryOf(parts, { limits }, { approved: true });
    const { error } = await registry.call("own", {});
    // On a machine that is busy enough, the answer itself comes too late.
    expect(["TimeoutError", "ConfirmationTimeout"]).toContain(error?.type);
    expect(ran).toEqual([]);
  });
});

function thrower(thrown: unknown) {
  return (): never => {
    throw thrown;
  };
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}
