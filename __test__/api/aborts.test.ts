// An aborted call gives the same result in every phase: a rejection with AbortError, whose cause is the
// signal's reason.
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ToolError, tool } from "../../index.mjs";
import type {
  CallOptions,
  CallResult,
  ErrorType,
  ToolRegistry,
  ToolRegistryOptions,
} from "../../index.js";
import { useAskingRegistries } from "../support/registries";
import { aborted, deferred, rejection } from "../support/promises";
import { eventually } from "../support/processes";
import { useWorkspace } from "../support/workspace";

const workspace = useWorkspace();
const made = useAskingRegistries(workspace);
const never = () => new Promise<never>(() => {});

/** A phase that a call can be in, and how to bring it there. */
interface Phase {
  /** Options that make the call wait; `here` is called when the call waits, with the signal that it can observe. */
  options?: (here: (signal?: AbortSignal) => void) => ToolRegistryOptions;
  prepare?: (registry: ToolRegistry, here: (signal?: AbortSignal) => void) => void;
  call?: [name: string, input: () => unknown];
  /** Whether the call is in the phase, if nothing calls `here`. */
  arrives?: () => boolean;
  /** False if no code of the host waits that could observe the abort. */
  hears?: boolean;
}

const hook =
  (here: (signal: AbortSignal) => void) =>
  (_event: unknown, _id: string, { signal }: { signal: AbortSignal }) => {
    here(signal);
    return never();
  };
const shellHook = () => ({
  type: "command" as const,
  command: `touch '${workspace.path("began")}'; exec sleep 600`,
});
const began = () => existsSync(workspace.path("began"));
const allowed = { permissionMode: "bypassPermissions" } as const;
const declared = (registry: ToolRegistry, parts: object) =>
  registry.register({
    name: "declared",
    schema: {},
    createInvocation: () => ({ execute: never, ...parts }),
  } as never);

const phases: Record<string, Phase> = {
  "a PreToolUse hook": {
    options: (here) => ({ ...allowed, hooks: { PreToolUse: [hook(here)] } }),
  },
  "the second PreToolUse hook, after a rewrite": {
    options: (here) => ({
      ...allowed,
      hooks: { PreToolUse: [() => ({ updatedInput: { a: 1 } }), hook(here)] },
    }),
  },
  "a PreToolUse command": {
    options: () => ({ ...allowed, hooks: { PreToolUse: [shellHook()] } }),
    arrives: began,
    hears: false,
  },
  "a PostToolUse hook": {
    options: (here) => ({ ...allowed, hooks: { PostToolUse: [hook(here), hook(here)] } }),
  },
  "a PostToolUse command": {
    options: () => ({ ...allowed, hooks: { PostToolUse: [shellHook()] } }),
    arrives: began,
    hears: false,
  },
  "a PostToolUseFailure hook": {
    options: (here) => ({ ...allowed, hooks: { PostToolUseFailure: [hook(here)] } }),
    call: ["fails", () => ({})],
  },
  "a PostToolUse hook of a read-only tool": {
    options: (here) => ({ hooks: { PostToolUse: [hook(here)] } }),
    call: ["read_file", () => ({ path: "a.txt" })],
  },
  "a confirmation": {
    prepare: (registry, here) => registry.messageBus.on("request", () => here()),
    hears: false,
  },
  "a confirmation of a change": {
    prepare: (registry, here) => registry.messageBus.on("request", () => here()),
    call: ["write_file", () => ({ path: "new.txt", content: "x" })],
    hears: false,
  },
  "the analysis of a long command line": {
    options: (here) => {
      // Nothing reports its start. The result is the same in any phase.
      queueMicrotask(() => here());
      return { policy: { deny: ["Bash(nope:*)"], ask: ["Bash"] } };
    },
    prepare: (registry) => registry.messageBus.on("request", () => {}),
    call: ["Bash", () => ({ command: "echo $((1 + (2)));".repeat(3_000) })],
    hears: false,
  },
  "the validation of an input by a schema with references": {
    options: (here) => {
      queueMicrotask(() => here());
      return allowed;
    },
    call: ["referring", () => ({ list: Array.from({ length: 1_000 }, () => ({})) })],
    hears: false,
  },
  "the run of a host's tool": {
    options: () => allowed,
    prepare: (registry, here) => {
      registry.register(
        tool({
          name: "mine",
          handler: (_args, { signal }) => {
            here(signal as AbortSignal);
            return never();
          },
        }),
      );
    },
  },
  "the run of a built-in tool": {
    options: () => allowed,
    call: ["Bash", () => ({ command: `touch '${workspace.path("began")}'; exec sleep 600` })],
    arrives: began,
    hears: false,
  },
  "the confirmation of a declarative tool": {
    options: () => allowed,
    prepare: (registry, here) =>
      declared(registry, { shouldConfirmExecute: (it: AbortSignal) => (here(it), never()) }),
    call: ["declared", () => ({})],
  },
  "onConfirm of a declarative tool": {
    prepare: (registry, here) => {
      registry.messageBus.on("request", ({ id }) =>
        registry.messageBus.respondToConfirmation({ id, approved: true }),
      );
      const onConfirm = () => (here(), never());
      declared(registry, { shouldConfirmExecute: () => ({ onConfirm }) });
    },
    call: ["declared", () => ({})],
    hears: false,
  },
  "the run of a declarative tool": {
    options: () => allowed,
    prepare: (registry, here) =>
      declared(registry, { execute: (signal: AbortSignal) => (here(signal), never()) }),
    call: ["declared", () => ({})],
  },
  "a call that a host's tool made": {
    options: () => allowed,
    prepare: (registry, here) => {
      registry.register(
        tool({
          name: "mine",
          handler: (_args, { signal }) => {
            here(signal as AbortSignal);
            const options = { signal: signal as AbortSignal };
            return registry.call("diagnostic_sleep", { ms: 600_000 }, options);
          },
        }),
      );
    },
  },
};

async function until(holds: () => boolean): Promise<undefined> {
  if (!(await eventually(holds, 20_000))) throw new Error("the call never came there");
}

/** Starts a call. `there` resolves when the call is in the phase. */
function started(
  { options, prepare, call, arrives }: Phase,
  given: CallOptions = {},
  method = "call",
) {
  workspace.write("a.txt", "one\n");
  const arrived = deferred<AbortSignal | undefined>();
  const registry = made(options?.(arrived.resolve) ?? {});
  registry.register(tool({ name: "mine", inputSchema: { type: "object" }, handler: () => "x" }));
  registry.register(
    tool({ name: "fails", handler: () => ({ llmContent: "", error: { message: "no" } }) }),
  );
  const items = { type: "array", items: { $ref: "#/$defs/item" } };
  registry.register(
    tool({
      name: "referring",
      inputSchema: {
        type: "object",
        properties: { list: items },
        $defs: { item: { type: "object" } },
      },
      handler: never,
    }),
  );
  prepare?.(registry, arrived.resolve);
  const [name, input] = call ?? ["mine", () => ({})];
  const methods: Record<string, () => Promise<unknown>> = {
    call: () => registry.call(name, input(), given),
    execute: () => registry.createInvocation(name, input()).execute(given.signal, () => {}),
    executeTools: () =>
      registry.executeTools(
        [1, 2].map((id) => ({ id: `${id}`, name, input: input() as Record<string, unknown> })),
        { ...given, format: "mcp" },
      ),
  };
  const result = methods[method]?.() as Promise<CallResult>;
  result.catch(() => {});
  const there = arrives === undefined ? arrived.promise : until(arrives);
  return { registry, there, result };
}

/** The properties of a rejection that an abort guarantees. */
async function rejectionOf(promise: Promise<unknown>) {
  const error = (await rejection(promise)) as ToolError;
  const { name, type, code, message, cause } = error;
  return { name, type, code, message, cause, isOurs: error instanceof ToolError };
}

const abort = (cause: unknown) => ({
  name: "AbortError",
  type: "Cancelled",
  code: "Cancelled",
  message: "the call was cancelled",
  cause,
  isOurs: true,
});

describe.each(Object.entries(phases))("during %s", (what, phase) => {
  test.each(["call", "execute"])("an abort rejects: %s", async (method) => {
    const controller = new AbortController();
    const { there, result, registry } = started(phase, { signal: controller.signal }, method);
    const signal = await there;
    const reason = { what };
    controller.abort(reason);
    expect(await rejectionOf(result)).toEqual(abort(reason));
    if (phase.hears !== false) await aborted(signal as AbortSignal);
    expect(existsSync(workspace.path("new.txt"))).toBe(false);
    // The registry still works.
    const next = registry.call("read_file", { path: "a.txt" }, { signal: AbortSignal.abort(1) });
    expect(await rejectionOf(next)).toEqual(abort(1));
  });

  test("aborting the turn settles the running call and the calls that remain", async () => {
    const controller = new AbortController();
    const { there, result } = started(phase, { signal: controller.signal }, "executeTools");
    await there;
    controller.abort();
    const types = (await (result as Promise<unknown> as Promise<CallResult[]>)).map(
      ({ error }) => error?.type,
    );
    expect(types).toEqual(["Cancelled", "Cancelled"]);
  });

  test("close() is no abort: the call resolves, even with a signal", async () => {
    const { signal } = new AbortController();
    const { there, registry, result } = started(phase, { signal });
    await there;
    await registry.close();
    // Work that was done before is reported.
    const done: Record<string, ErrorType> = { "a PostToolUseFailure hook": "ToolFailed" };
    const type = what.includes("PostToolUse") ? done[what] : "RegistryClosed";
    expect((await result).error?.type).toBe(type);
  });
});

describe("an abort", () => {
  test("before the start prevents the call from starting", async () => {
    const asked: unknown[] = [];
    const hooks = { PreToolUse: [() => void asked.push("hook")] };
    const registry = made({ hooks });
    registry.messageBus.on("request", () => asked.push("person"));
    declared(registry, { shouldConfirmExecute: () => asked.push("tool") });
    for (const name of ["declared", "write_file"]) {
      const input = name === "declared" ? {} : { path: "new.txt", content: "" };
      const signal = AbortSignal.abort("over");
      expect(await rejectionOf(registry.call(name, input, { signal }))).toEqual(abort("over"));
      const invocation = registry.createInvocation(name, input);
      expect(await rejectionOf(invocation.execute(signal))).toEqual(abort("over"));
      expect(await rejectionOf(invocation.shouldConfirmExecute(signal))).toEqual(abort("over"));
    }
    expect(asked).toEqual([]);
  });

  test("while shouldConfirmExecute waits for the tool rejects, and reaches the tool", async () => {
    const registry = made();
    const there = deferred<AbortSignal>();
    declared(registry, {
      shouldConfirmExecute: (it: AbortSignal) => (there.resolve(it), never()),
    });
    const controller = new AbortController();
    const asked = registry.createInvocation("declared", {}).shouldConfirmExecute(controller.signal);
    const signal = await there.promise;
    controller.abort("over");
    expect(await rejectionOf(asked)).toEqual(abort("over"));
    await aborted(signal);
  });

  test("by a hook itself is an abort, whatever the hook returns", async () => {
    for (const event of ["PreToolUse", "PostToolUse"] as const) {
      for (const answer of [
        undefined,
        { decision: "block" as const },
        { decision: "allow" as const },
      ]) {
        const controller = new AbortController();
        const aborts = () => {
          controller.abort(event);
          return answer;
        };
        const registry = made({ ...allowed, hooks: { [event]: [aborts] } });
        const { signal } = controller;
        const call = registry.call("diagnostic_echo", { text: "x" }, { signal });
        expect(await rejectionOf(call)).toEqual(abort(event));
      }
    }
  });

  test("after a file was changed keeps the result, because the change was made", async () => {
    const controller = new AbortController();
    const aborts = () => controller.abort();
    const registry = made({ ...allowed, hooks: { PostToolUse: [aborts, aborts] } });
    const input = { path: "new.txt", content: "x" };
    const result = await registry.call("write_file", input, { signal: controller.signal });
    expect(result.isError).toBeUndefined();
    expect(readFileSync(workspace.path("new.txt"), "utf8")).toBe("x");
  });

  test("is distinguished from a hook's timeout, which blocks", async () => {
    const slow = { hooks: [never], timeout: 0.02 };
    const registry = made({ ...allowed, hooks: { PreToolUse: [slow] } });
    const { signal } = new AbortController();
    const { error } = await registry.call("diagnostic_echo", { text: "x" }, { signal });
    expect(error?.type).toBe("HookBlocked");
    expect(error?.message).toContain("no answer within 20 ms");
  });
});
