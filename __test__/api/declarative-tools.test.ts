// Declarative tools of a host: what their invocations receive and return.
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { MessageBus } from "../../index.mjs";
import type { ToolCallConfirmationDetails, ToolRegistryOptions } from "../../index.js";
import { nestedArrays } from "../support/nested";
import { type Parts, details, thrower, withOwnTool } from "../support/own-tool";
import { deferred } from "../support/promises";
import { useAskingRegistries } from "../support/registries";
import { texts } from "../support/results";
import { useWorkspace } from "../support/workspace";

const workspace = useWorkspace();
const made = useAskingRegistries(workspace);
const registryOf = withOwnTool(made);

describe("declarative tools", () => {
  function declarative() {
    return {
      name: "declared",
      displayName: "Declared",
      schema: {
        name: "declared",
        description: "Describes its calls.",
        parameters: {
          type: "object",
          properties: { path: { type: "string" } },
          required: ["path"],
        },
      },
      createInvocation: ({ path }: { path: string }) => ({
        getDescription: () => `touch ${path}`,
        toolLocations: () => [path],
        execute: async (_signal: AbortSignal, updateOutput?: (text: string) => void) => {
          updateOutput?.("half");
          return { llmContent: `touched ${path}`, returnDisplay: "Done" };
        },
      }),
    };
  }

  test("are registered, retrieved, described and run", async () => {
    const registry = made({ toolsets: [], permissionMode: "bypassPermissions" });
    const object = declarative();
    registry.register(object);
    expect(registry.get("declared")).toBe(object);
    expect(registry.getFunctionSchemas()).toEqual([object.schema]);
    const invocation = registry.createInvocation("declared", { path: "a.txt" });
    expect(invocation.getDescription()).toBe("touch a.txt");
    expect(invocation.toolLocations()).toEqual(["a.txt"]);
    const outputs: string[] = [];
    expect(await invocation.execute(undefined, (text) => outputs.push(text))).toEqual({
      llmContent: "touched a.txt",
      returnDisplay: "Done",
    });
    expect(outputs).toEqual(["half"]);
    expect(await registry.call("declared", { path: "a.txt" })).toEqual({
      content: [{ type: "text", text: "touched a.txt" }],
      display: "Done",
    });
  });

  test("have their input validated first", async () => {
    const registry = made({ toolsets: [], permissionMode: "bypassPermissions" });
    registry.register(declarative());
    expect((await registry.call("declared", {})).error).toEqual({
      type: "ValidationError",
      message: "missing required parameter `path`, expected a string",
    });
  });

  test("a built-in tool of one registry can be registered in another", async () => {
    workspace.write("a.txt", "hi");
    const read = made({ permissionMode: "bypassPermissions" }).get("read_file");
    const other = made({ toolsets: [], permissionMode: "bypassPermissions" });
    other.register(read as NonNullable<typeof read>);
    expect(other.get("read_file")).toBe(read);
    expect(texts(await other.call("read_file", { path: "a.txt" }))).toEqual(["hi"]);
  });
});

describe("an invocation is made", () => {
  test("from the validated input and the registry's message bus", async () => {
    const messageBus = new MessageBus();
    const options = { messageBus, permissionMode: "bypassPermissions" } as const;
    const { registry, given, ran } = registryOf({}, options);
    await registry.call("own", { a: "5" });
    registry.createInvocation("own", { a: "6" }).getDescription();
    // One for the call, and one for a description without a call, whose input is not validated.
    expect(given).toEqual([
      [{ a: 5 }, messageBus],
      [{ a: "6" }, messageBus],
    ]);
    expect(given.map((args) => args[1] === messageBus)).toEqual([true, true]);
    expect(ran).toEqual([{ a: 5 }]);
  });

  test("once for each call: the confirmed invocation is the one that runs", async () => {
    const registry = made({ permissionMode: "bypassPermissions" });
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

  test("from the output of a schema library", async () => {
    const registry = made({ permissionMode: "bypassPermissions" });
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

  test("and may use the bus for its own questions", async () => {
    const registry = made({ allowedTools: ["own"] });
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

describe("the details of its own confirmation", () => {
  test("are shown to a person, over the same bus, once", async () => {
    const more = { title: "Rows\u202e", rows: [{ id: 1 }], message: "certain?" };
    const parts = { shouldConfirmExecute: async () => details(more) };
    const { registry, asked, ran } = registryOf(parts, {}, { approved: true });
    expect((await registry.call("own", { a: 1 }, { toolUseId: "t" })).isError).toBeUndefined();
    expect(asked).toHaveLength(1);
    expect(asked[0]?.details).toEqual({
      // Not another tool's name: the invocation does not choose it.
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

  test("default to the texts of the invocation and the tool", async () => {
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
    // An invocation without its own confirmation does not skip the person's.
    expect(await shown({ ...own, shouldConfirmExecute: () => false })).toEqual([
      "Mine",
      ["here"],
      "high",
    ]);
    expect(await shown(own)).toEqual(["Mine", ["here"], "high"]);
  });

  test("do not lower the risk that a rule sets", async () => {
    const policy = { rules: [{ tool: "own", action: "ask", risk: "medium" }] } as const;
    const { registry } = registryOf({ shouldConfirmExecute: () => details() }, { policy });
    const asked = await registry.createInvocation("own", {}).shouldConfirmExecute();
    expect(asked).toMatchObject({ risk: "medium" });
  });

  test("cannot impersonate another call", async () => {
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

describe("policy has priority over it", () => {
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

  test("a denied call makes no invocation", async () => {
    const { registry, given } = registryOf(asks, { policy: { deny: ["own"] } });
    await registry.call("own", {});
    expect(given).toEqual([]);
  });

  test("changes of policy while it is asked take effect", async () => {
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

  test(`an answer "always" applies to its own confirmations as well`, async () => {
    const always = { approved: true, alwaysAllow: true };
    const { registry, asked, ran } = registryOf(asks, {}, always);
    await registry.call("own", { a: 1 });
    await registry.call("own", { a: 2 });
    expect([asked.length, ran.length]).toEqual([1, 2]);
  });
});

describe("an invalid confirmation refuses the call, whatever policy allows", () => {
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
    ["has an invalid description", () => ({ description: 5 }), /could not say/],
    ["has invalid locations", () => ({ locations: [5] }), /could not say/],
    ["has an unknown risk", () => ({ risk: "none" }), /could not say/],
    ["has an invalid onConfirm", () => ({ onConfirm: "x" }), /could not say/],
    ["cannot be read", () => ({ ...details(), big: 1n }), /could not say/],
    ["nests too deep", () => ({ deep: nestedArrays(500) }), /could not say/],
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

  test("one that takes too long ends with the call's time limit, and its signal is aborted", async () => {
    const registry = made({ permissionMode: "bypassPermissions" });
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

  test("an invocation that cannot be made fails like the call itself", async () => {
    const registry = made();
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

  test("invalid texts are replaced by ours", () => {
    const odd: unknown[] = [5, "", null, undefined, {}, Promise.reject(new Error("no")), [5]];
    for (const word of odd) {
      const parts = { getDescription: () => word, toolLocations: () => word };
      const { registry } = registryOf(parts);
      const invocation = registry.createInvocation("own", {});
      expect([invocation.getDescription(), invocation.toolLocations()]).toEqual(["Own {}", []]);
    }
  });
});
