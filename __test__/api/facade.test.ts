import { getEventListeners, setMaxListeners } from "node:events";
import { Worker } from "node:worker_threads";
import { describe, expect, test, vi } from "vitest";
import {
  ToolError,
  ToolRegistry,
  createToolRegistry,
  tool,
  type HandlerAnswer,
  type ToolContext,
  type ToolProgress,
} from "../support/unasked";
import { failure, texts } from "../support/results.js";
import { root, runScript, runtimes } from "../support/runtimes.js";
import { useWorkspace } from "../support/workspace.js";

type Handler = (args: never, context: ToolContext) => HandlerAnswer | Promise<HandlerAnswer>;

/** A registry with one tool, `it`. */
function registryOf(handler: Handler, extras: { timeoutMs?: number } = {}): ToolRegistry {
  const registry = new ToolRegistry();
  registry.register(
    tool({
      name: "it",
      inputSchema: { type: "object", properties: {} },
      handler: handler as (args: unknown, context: ToolContext) => HandlerAnswer,
      ...extras,
    }),
  );
  return registry;
}

function answered(text: string) {
  return { content: [{ type: "text", text }] };
}

function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

async function rejection(promise: Promise<unknown>): Promise<ToolError> {
  const error: unknown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(ToolError);
  return error as ToolError;
}

describe("handlers that fail", () => {
  class Odd {
    get message(): string {
      throw new Error("even its message throws");
    }
  }

  test.each<[string, Handler, string]>([
    [
      "throws before its first await",
      () => {
        throw new TypeError("at once");
      },
      "at once",
    ],
    ["rejects", () => Promise.reject(new RangeError("later")), "later"],
    [
      "throws a string",
      () => {
        throw "plain words";
      },
      "plain words",
    ],
    ["rejects with a number", () => Promise.reject(42), "42"],
    ["rejects with null", () => Promise.reject(null), "null"],
    ["rejects with undefined", () => Promise.reject(), "undefined"],
    ["rejects with a symbol", () => Promise.reject(Symbol("odd")), "Symbol(odd)"],
    ["rejects with an object", () => Promise.reject({ message: "in an object" }), "in an object"],
    [
      "rejects with an object without a prototype",
      () => Promise.reject(Object.create(null)),
      "the tool threw a value without a message",
    ],
    [
      "rejects with an empty error",
      () => Promise.reject(new Error("")),
      "the tool threw a value without a message",
    ],
    [
      "rejects with an error whose message throws",
      () => Promise.reject(new Odd()),
      "the tool threw a value without a message",
    ],
    ["rejects with half a surrogate pair", () => Promise.reject(new Error("x\ud800")), "x\ufffd"],
  ])("one that %s is an error result", async (_how, handler, message) => {
    const registry = registryOf(handler);
    expect(await registry.call("it", {})).toEqual(failure("ToolFailed", message));
    expect(await registry.createInvocation("it", {}).execute()).toEqual({
      llmContent: `Error: ${message}`,
      returnDisplay: message,
      error: { type: "ToolFailed", message },
    });
  });

  test("a ToolError keeps its type", async () => {
    const registry = registryOf(() => {
      throw new ToolError("FileNotFoundError", "no such thing");
    });
    expect(await registry.call("it", {})).toEqual(failure("FileNotFoundError", "no such thing"));
  });

  test("a ToolError of type Cancelled is a result if there was no abort", async () => {
    const registry = registryOf(() => {
      throw new ToolError("Cancelled", "gave up");
    });
    expect(await registry.call("it", {})).toEqual(failure("Cancelled", "gave up"));
  });

  test("a long message is shortened", async () => {
    const { error } = await registryOf(() => {
      throw new Error("x".repeat(1_000_000));
    }).call("it", {});
    expect(error?.message.length).toBeLessThan(20_000);
  });

  test("one that never settles ends at its time limit", async () => {
    const { open, opened } = gate();
    const registry = registryOf(
      (_args, { signal }) => {
        signal?.addEventListener("abort", open);
        return new Promise<never>(() => {});
      },
      { timeoutMs: 20 },
    );
    expect(await registry.call("it", {})).toEqual(
      failure("TimeoutError", "the call was stopped after its limit of 20 ms"),
    );
    await opened;
  });

  test("no failure is an unhandled rejection or an uncaught exception", async () => {
    const heard: unknown[] = [];
    const hear = (error: unknown) => heard.push(error);
    process.on("unhandledRejection", hear);
    process.on("uncaughtException", hear);
    try {
      const registry = registryOf(() => {
        throw new Error("at once");
      });
      registry.register(tool({ name: "late", handler: () => Promise.reject(new Error("late")) }));
      await Promise.all([
        registry.call("it", {}),
        registry.call("late", {}),
        registry.executeTools([{ id: "a", name: "late", input: {} }]),
        rejection(registry.call("late", {}, { signal: AbortSignal.abort() })),
      ]);
      await new Promise((resolve) => setImmediate(resolve));
      expect(heard).toEqual([]);
    } finally {
      process.off("unhandledRejection", hear);
      process.off("uncaughtException", hear);
    }
  });
});

describe("what handlers return", () => {
  const protoKey = JSON.parse('{"__proto__":{"polluted":true}}') as object;

  test.each<[string, HandlerAnswer | bigint | symbol, object]>([
    ["a text", "words", answered("words")],
    ["an empty text", "", { ...answered(""), display: "(no output)" }],
    ["a number", 1.5, answered("1.5")],
    ["a boolean", false, answered("false")],
    ["a BigInt", 10n, answered("10")],
    ["a symbol", Symbol("s"), answered("Symbol(s)")],
    ["nothing", undefined, answered("[the tool returned nothing]")],
    ["null", null, answered("[the tool returned nothing]")],
    [
      "a value without a JSON form",
      { toJSON: () => undefined },
      answered("[the tool returned nothing]"),
    ],
    ["an object", { a: [1] }, answered('{\n  "a": [\n    1\n  ]\n}')],
    ["an array", [1, 2], answered("[\n  1,\n  2\n]")],
    ["a Date", new Date(0), answered('"1970-01-01T00:00:00.000Z"')],
    ["half a surrogate pair", "a\ud800b", answered("a\ufffdb")],
    [
      "an own __proto__ key",
      protoKey,
      answered('{\n  "__proto__": {\n    "polluted": true\n  }\n}'),
    ],
    ["content as a text", { content: "words" }, answered("words")],
    ["content blocks", { content: [{ type: "text", text: "a" }] }, answered("a")],
    ["no content blocks", { content: [] }, { content: [], display: "(no output)" }],
    [
      "an image",
      { content: [{ type: "image", data: "aGk=", mimeType: "image/png" }] },
      { content: [{ type: "image", data: "aGk=", mimeType: "image/png" }] },
    ],
    [
      "a block of an unknown type",
      { content: [{ type: "resource_link", uri: "file:///a", name: "a" }] },
      { content: [{ type: "resource_link", uri: "file:///a", name: "a" }] },
    ],
    [
      "an invalid image block",
      { content: [{ type: "image", data: "aGk=", mimeType: 5 as never }] },
      { content: [{ type: "image", data: "aGk=", mimeType: 5 }] },
    ],
    [
      "structured content",
      { content: [{ type: "text", text: "a" }], structuredContent: { n: 1 } },
      { ...answered("a"), structuredContent: { n: 1 } },
    ],
    [
      "an error flag",
      { content: [{ type: "text", text: "bad" }], isError: true },
      failure("ToolFailed", "bad"),
    ],
    ["llmContent", { llmContent: "m", returnDisplay: "p" }, { ...answered("m"), display: "p" }],
    [
      "llmContent with an error",
      { llmContent: "m", returnDisplay: "p", error: { type: "HttpError", message: "404" } },
      {
        ...answered("m"),
        isError: true,
        display: "p",
        error: { type: "HttpError", message: "404" },
      },
    ],
    [
      "an error of an unknown type",
      { llmContent: "", error: { type: "MyError", message: "mine" } },
      failure("ToolFailed", "mine"),
    ],
    ...["text", 5, true, [1]].map((structuredContent): [string, object, object] => [
      `structured content that is no object (${typeof structuredContent})`,
      { content: [], structuredContent },
      failure("ToolFailed", expect.stringContaining("must answer structuredContent as an object")),
    ]),
    [
      "no structured content",
      { content: [], structuredContent: null },
      { content: [], display: "(no output)" },
    ],
  ])("%s is a result", async (_what, answer, expected) => {
    const registry = registryOf(() => answer as HandlerAnswer);
    expect(await registry.call("it", {})).toEqual(expected);
    const later = registryOf(async () => answer as HandlerAnswer);
    expect(await later.call("it", {})).toEqual(expected);
  });

  test("a __proto__ key in structured content stays a key", async () => {
    const registry = registryOf(() => ({ content: [], structuredContent: protoKey }));
    const { structuredContent } = await registry.call("it", {});
    expect(Object.keys(structuredContent as object)).toEqual(["__proto__"]);
    expect(Object.getPrototypeOf(structuredContent)).toBe(Object.prototype);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test.each<[string, () => unknown]>([
    [
      "a circle",
      () => {
        const circle: Record<string, unknown> = {};
        circle["self"] = circle;
        return circle;
      },
    ],
    ["a BigInt inside", () => ({ n: 1n })],
    ["a BigInt in structured content", () => ({ content: [], structuredContent: { n: 1n } })],
    [
      "a getter that throws",
      () => ({
        get boom(): never {
          throw new Error("no");
        },
      }),
    ],
    ["content that is not a list of blocks", () => ({ content: ["words"] })],
    [
      "too deep nesting",
      () => {
        let nest: unknown = 1;
        for (let level = 0; level < 100_000; level += 1) nest = [nest];
        return { content: [], structuredContent: nest };
      },
    ],
  ])("%s is an error result and does no harm", async (_what, make) => {
    const registry = registryOf(() => make() as HandlerAnswer);
    const result = await registry.call("it", {});
    expect(result.isError).toBe(true);
    expect(result.error?.type).toBe("ToolFailed");
    expect(result.error?.message).not.toBe("");
    registry.register(tool({ name: "it", handler: () => "fine" }));
    expect(await registry.call("it", {})).toEqual(answered("fine"));
  });

  test("a huge answer is cut, and says so", async () => {
    const registry = registryOf(() => "0123456789\n".repeat(1_000_000));
    const [shown = "", note] = texts(await registry.call("it", {}));
    expect(shown.length).toBeLessThanOrEqual(4 * 1024 * 1024);
    expect(shown.endsWith("9\n")).toBe(true);
    expect(note).toMatch(/^\[result cut: \d+ of 11000000 bytes of text are shown; /);
  });

  test("a thenable answer is awaited", async () => {
    // oxlint-disable-next-line no-thenable -- hosts have their own promises
    const thenable = { then: (resolve: (text: string) => void) => resolve("at last") };
    expect(await registryOf(() => thenable).call("it", {})).toEqual(answered("at last"));
  });
});

describe("what handlers get", () => {
  test("they get the ids and the session", async () => {
    const seen: object[] = [];
    const registry = registryOf((_args, { toolUseId, sessionId }) => {
      seen.push({ toolUseId, sessionId });
    });
    await registry.call("it", {}, { toolUseId: "toolu_1", sessionId: "s-1" });
    await registry.call("it", {});
    await registry.call("it", {});
    expect(seen).toEqual([
      { toolUseId: "toolu_1", sessionId: "s-1" },
      { toolUseId: "call_1", sessionId: "default" },
      { toolUseId: "call_2", sessionId: "default" },
    ]);
  });

  test("the input is a copy, so later changes by the caller have no effect", async () => {
    const registry = new ToolRegistry();
    registry.register(
      tool({ name: "it", inputSchema: { list: "array" }, handler: (args) => JSON.stringify(args) }),
    );
    const deep = { deep: true };
    const params: { list?: unknown[] } = { list: [1, deep] };
    const call = registry.call("it", params);
    const turn = registry.executeTools([{ id: "a", name: "it", input: params }], { format: "mcp" });
    const invocation = registry.createInvocation("it", params);
    params.list?.push("changed");
    deep.deep = false;
    delete params.list;
    const expected = answered('{"list":[1,{"deep":true}]}');
    expect(await call).toEqual(expected);
    expect(await turn).toEqual([expected]);
    expect((await invocation.execute()).llmContent).toBe(expected.content[0]?.text);
  });

  test("a handler may change its input without an effect elsewhere", async () => {
    const params = { list: [1] };
    const registry = new ToolRegistry();
    registry.register(
      tool({
        name: "it",
        inputSchema: { list: "array" },
        handler: ({ list }) => {
          list.push(2);
          return String(list);
        },
      }),
    );
    expect(await registry.call("it", params)).toEqual(answered("1,2"));
    expect(params).toEqual({ list: [1] });
  });

  test("200 simultaneous calls each get their own answer", async () => {
    const registry = registryOf(async (args: { n?: number }) => {
      await new Promise((resolve) => setImmediate(resolve));
      return String(args.n);
    });
    const calls = Array.from({ length: 200 }, (_, n) => registry.call("it", { n }));
    const results = await Promise.all(calls);
    expect(results).toEqual(Array.from({ length: 200 }, (_, n) => answered(String(n))));
  });

  test("a handler may call its own registry", async () => {
    const registry = registryOf(async () => texts(await registry.call("inner"))[0]);
    registry.register(tool({ name: "inner", handler: () => "from inside" }));
    expect(await registry.call("it", {})).toEqual(answered("from inside"));
  });
});

describe("abort signals", () => {
  const waiting: Handler = () => new Promise<never>(() => {});

  test("a signal that is already aborted prevents the call", async () => {
    const handler = vi.fn<() => string>(() => "ran");
    const registry = registryOf(handler);
    const reason = new Error("changed my mind");
    const options = { signal: AbortSignal.abort(reason) };
    for (const call of [
      registry.call("it", {}, options),
      registry.createInvocation("it", {}).execute(options.signal),
      registry.toMcpServerConfig().tools[0]?.handler({}, options) as Promise<unknown>,
    ]) {
      const error = await rejection(call);
      expect(error).toMatchObject({
        name: "AbortError",
        type: "Cancelled",
        code: "Cancelled",
        message: "the call was cancelled",
      });
      expect(error.cause).toBe(reason);
    }
    expect(handler).not.toHaveBeenCalled();
  });

  test("a signal that is aborted meanwhile ends the call and reaches the handler", async () => {
    const controller = new AbortController();
    const { open, opened } = gate();
    let reason: unknown;
    const registry = registryOf((_args, { signal }) => {
      expect(signal?.aborted).toBe(false);
      signal?.addEventListener("abort", () => {
        reason = signal.reason;
        open();
      });
      queueMicrotask(() => controller.abort());
      return new Promise<never>(() => {});
    });
    const error = await rejection(registry.call("it", {}, { signal: controller.signal }));
    expect(error.cause).toBe(controller.signal.reason);
    await opened;
    expect(reason).toBeInstanceOf(ToolError);
    expect(reason).toMatchObject({ type: "Cancelled", name: "AbortError" });
  });

  test("AbortSignal.timeout ends a call", async () => {
    const error = await rejection(
      registryOf(waiting).call("it", {}, { signal: AbortSignal.timeout(5) }),
    );
    expect(error.type).toBe("Cancelled");
    expect((error.cause as Error).name).toBe("TimeoutError");
  });

  test("one signal ends many calls", async () => {
    const registry = createToolRegistry({ toolsets: ["diagnostic"] });
    const controller = new AbortController();
    // Node warns about more than ten listeners on one signal.
    setMaxListeners(50, controller.signal);
    let started = 0;
    const onProgress = ({ type }: ToolProgress) => {
      if (type !== "start") return;
      started += 1;
      if (started === 50) controller.abort();
    };
    const options = { signal: controller.signal, onProgress };
    const calls = Array.from({ length: 50 }, () =>
      rejection(registry.call("diagnostic_sleep", { ms: 600_000 }, options)),
    );
    const types = (await Promise.all(calls)).map(({ type }) => type);
    expect(types).toEqual(Array.from({ length: 50 }, () => "Cancelled"));
  });

  test("the caller's onabort is not replaced", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const onabort = vi.fn<() => void>();
    // oxlint-disable-next-line prefer-add-event-listener -- the test checks that it is not replaced
    signal.onabort = onabort;
    const call = rejection(registryOf(waiting).call("it", {}, { signal }));
    expect(signal.onabort).toBe(onabort);
    controller.abort();
    await call;
    expect(onabort).toHaveBeenCalledOnce();
  });

  test("no listener remains, however the call ends", async () => {
    const registry = registryOf(() => "done");
    registry.register(tool({ name: "fails", handler: () => Promise.reject(new Error("no")) }));
    const { signal } = new AbortController();
    for (let round = 0; round < 20; round += 1) {
      await registry.call("it", {}, { signal });
      await registry.call("fails", {}, { signal });
      await registry.call("unknown", {}, { signal });
      await registry.createInvocation("it", {}).execute(signal);
      await registry.executeTools([{ id: "a", name: "it", input: {} }], { signal });
    }
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("an abort after the end changes nothing", async () => {
    const controller = new AbortController();
    let seen: AbortSignal | undefined;
    const registry = registryOf((_args, { signal }) => {
      seen = signal;
      return "done";
    });
    expect(await registry.call("it", {}, { signal: controller.signal })).toEqual(answered("done"));
    controller.abort();
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen?.aborted).toBe(false);
  });

  test("an answer after the abort is ignored", async () => {
    const controller = new AbortController();
    const { open, opened } = gate();
    const registry = registryOf(async (_args, { signal }) => {
      queueMicrotask(() => controller.abort());
      await new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()));
      open();
      return "too late";
    });
    expect((await rejection(registry.call("it", {}, { signal: controller.signal }))).type).toBe(
      "Cancelled",
    );
    await opened;
    registry.register(tool({ name: "it", handler: () => "next" }));
    expect(await registry.call("it", {})).toEqual(answered("next"));
  });

  test.each([{}, 5, "signal", new AbortController()])("%s is not a signal", async (signal) => {
    const error = await rejection(registryOf(waiting).call("it", {}, { signal: signal as never }));
    expect(error.type).toBe("InvalidOptions");
    expect(error.message).toContain("`signal` must be an AbortSignal");
  });

  test("null means no signal", async () => {
    const registry = registryOf(() => "done");
    expect(await registry.call("it", {}, { signal: null as never })).toEqual(answered("done"));
  });
});

describe("progress", () => {
  test("arrives in order: start, output of the handler, end, then the result", async () => {
    const registry = registryOf(async (_args, { updateOutput, reportProgress }) => {
      for (let step = 1; step <= 50; step += 1) updateOutput?.(`piece ${step}`);
      await new Promise((resolve) => setImmediate(resolve));
      reportProgress?.({ progress: 1, total: 2, message: "half" });
      updateOutput?.("last");
      return "done";
    });
    const log: unknown[] = [];
    const call = registry.call("it", {}, { toolUseId: "t", onProgress: (news) => log.push(news) });
    await call.then((result) => log.push(result));
    expect(log).toEqual([
      { type: "start", tool: "it", toolUseId: "t" },
      ...Array.from({ length: 50 }, (_, index) => ({ type: "output", text: `piece ${index + 1}` })),
      { type: "step", progress: 1, total: 2, message: "half" },
      { type: "output", text: "last" },
      { type: "end", tool: "it", toolUseId: "t", elapsedMs: expect.any(Number), isError: false },
      answered("done"),
    ]);
  });

  test("of a native tool arrives in order", async () => {
    const registry = createToolRegistry({ toolsets: ["diagnostic"] });
    const log: unknown[] = [];
    const onProgress = (news: ToolProgress) => log.push(news);
    const input = { ms: 3, steps: 3 };
    log.push(await registry.call("diagnostic_sleep", input, { toolUseId: "t", onProgress }));
    const step = (progress: number) => [
      { type: "step", progress, total: 3 },
      { type: "output", text: `step ${progress}\n` },
    ];
    expect(log).toEqual([
      { type: "start", tool: "diagnostic_sleep", toolUseId: "t" },
      ...step(1),
      ...step(2),
      ...step(3),
      {
        type: "end",
        tool: "diagnostic_sleep",
        toolUseId: "t",
        elapsedMs: expect.any(Number),
        isError: false,
      },
      answered("waited 3 ms"),
    ]);
  });

  test("of a failed call ends with an error, and of a refused one never starts", async () => {
    const registry = registryOf(() => {
      throw new Error("no");
    });
    const types: unknown[] = [];
    const onProgress = (news: ToolProgress) =>
      types.push(news.type === "end" ? [news.type, news.isError] : news.type);
    await registry.call("it", {}, { onProgress });
    expect(types).toEqual(["start", ["end", true]]);
    await registry.call("unknown", {}, { onProgress });
    await registry.call("it", 5, { onProgress });
    expect(types).toEqual(["start", ["end", true]]);
  });

  test("an invocation reports only output", async () => {
    const registry = registryOf((_args, { updateOutput, reportProgress }) => {
      updateOutput?.("a");
      reportProgress?.({ progress: 1 });
      updateOutput?.("b");
      return "done";
    });
    const heard: string[] = [];
    const result = await registry
      .createInvocation("it", {})
      .execute(undefined, (text) => heard.push(text));
    expect(heard).toEqual(["a", "b"]);
    expect(result).toEqual({ llmContent: "done", returnDisplay: "done" });
  });

  test("a listener that throws causes a warning and does no harm", async () => {
    const emitWarning = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    try {
      const registry = registryOf(() => "done");
      const onProgress = vi.fn<() => void>(() => {
        throw new Error("listener");
      });
      expect(await registry.call("it", {}, { onProgress })).toEqual(answered("done"));
      expect(onProgress).toHaveBeenCalledTimes(2);
      expect(emitWarning).toHaveBeenCalledWith(
        "an onProgress callback threw: listener",
        "ToolwrightWarning",
      );
    } finally {
      emitWarning.mockRestore();
    }
  });

  test("updates after the end are ignored", async () => {
    let tell: ((text: string) => void) | undefined;
    const registry = registryOf((_args, { updateOutput }) => {
      tell = updateOutput;
      return "done";
    });
    const heard: string[] = [];
    await registry.call("it", {}, { onProgress: ({ type }) => heard.push(type) });
    tell?.("too late");
    await new Promise((resolve) => setImmediate(resolve));
    expect(heard).toEqual(["start", "end"]);
  });

  test("odd updates do no harm", async () => {
    const registry = registryOf((_args, { updateOutput, reportProgress }) => {
      updateOutput?.("\ud800" as string);
      updateOutput?.(5 as never);
      reportProgress?.({ progress: Number.NaN });
      reportProgress?.({ progress: "half" as never });
      return "done";
    });
    const heard: ToolProgress[] = [];
    const result = await registry.call("it", {}, { onProgress: (news) => heard.push(news) });
    expect(result).toEqual(answered("done"));
    expect(heard.slice(1, 3)).toEqual([
      { type: "output", text: "\ufffd" },
      { type: "output", text: "5" },
    ]);
  });

  test("a listener that is no function is an error", async () => {
    const call = registryOf(() => "done").call("it", {}, { onProgress: "loud" as never });
    expect((await rejection(call)).type).toBe("InvalidOptions");
  });
});

describe("processes", () => {
  const workspace = useWorkspace();
  const body = `
    const registry = createToolRegistry({ permissionMode: "bypassPermissions", toolsets: ["claude", "classic", "diagnostic"] });
    registry.register(tool({ name: "mine", handler: async () => "mine" }));
    registry.toMcpServerConfig();
    const controller = new AbortController();
    const results = [
      await registry.call("diagnostic_echo", { text: "native" }, { signal: controller.signal, onProgress() {} }),
      await registry.call("mine", {}),
    ];
    console.log(results.map((result) => result.content[0].text).join(" "));
    globalThis.kept = registry;`;

  describe.each(runtimes)("on $name", ({ path }) => {
    test("one that requires the package exits although the registry is open", async () => {
      const file = workspace.write(
        "host.cjs",
        `const { createToolRegistry, tool } = require(${JSON.stringify(root)});
        (async () => { ${body} })();`,
      );
      expect(await runScript(path, [file])).toEqual({
        code: 0,
        signal: null,
        stdout: "native mine\n",
        stderr: "",
      });
    });

    test("one that imports the package exits although the registry is open", async () => {
      const file = workspace.write(
        "host.mjs",
        `import { createToolRegistry, tool } from ${JSON.stringify(`${root}/index.mjs`)};\n${body}`,
      );
      expect(await runScript(path, [file])).toEqual({
        code: 0,
        signal: null,
        stdout: "native mine\n",
        stderr: "",
      });
    });

    test("one that waits only for a call gets its result before it exits", async () => {
      const file = workspace.write(
        "waits.cjs",
        `const { createToolRegistry, tool } = require(${JSON.stringify(root)});
        const registry = createToolRegistry({ permissionMode: "bypassPermissions", toolsets: ["diagnostic"] });
        registry.register(tool({ name: "mine", handler: () => registry.call("diagnostic_sleep", { ms: 50 }) }));
        registry.call("mine", {}).then((result) => console.log(result.content[0].text));`,
      );
      expect(await runScript(path, [file])).toEqual({
        code: 0,
        signal: null,
        stdout: "waited 50 ms\n",
        stderr: "",
      });
    });

    test("one that calls process.exit with calls in flight exits cleanly", async () => {
      const file = workspace.write(
        "exits.cjs",
        `const { createToolRegistry, tool } = require(${JSON.stringify(root)});
        const registry = createToolRegistry({ permissionMode: "bypassPermissions", toolsets: ["diagnostic"] });
        registry.register(tool({ name: "mine", handler: () => new Promise(() => {}) }));
        for (let n = 0; n < 20; n += 1) {
          registry.call("diagnostic_sleep", { ms: 600000 });
          registry.call("mine", {});
        }
        registry.call("diagnostic_echo", {}).then(() => process.exit(7));`,
      );
      expect(await runScript(path, [file])).toMatchObject({ code: 7, signal: null, stderr: "" });
    });
  });
});

describe("worker threads", () => {
  const script = (work: string) => `
    const { parentPort } = require("node:worker_threads");
    const { createToolRegistry, tool } = require(${JSON.stringify(root)});
    const registry = createToolRegistry({ permissionMode: "bypassPermissions", toolsets: ["diagnostic"] });
    registry.register(tool({ name: "mine", handler: async () => "mine" }));
    registry.register(tool({ name: "never", handler: () => new Promise(() => {}) }));
    ${work}`;

  function nextMessage(worker: Worker): Promise<unknown> {
    return new Promise((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
    });
  }

  test("load the package, call tools and exit", async () => {
    const worker = new Worker(
      script(`(async () => {
        const results = [await registry.call("diagnostic_echo", { text: "native" }), await registry.call("mine", {})];
        parentPort.postMessage(results.map((result) => result.content[0].text));
      })();`),
      { eval: true },
    );
    const ended = new Promise((resolve) => worker.once("exit", resolve));
    expect(await nextMessage(worker)).toEqual(["native", "mine"]);
    expect(await ended).toBe(0);
  });

  test("several work at the same time as the main thread", async () => {
    const work = `(async () => {
      const calls = Array.from({ length: 50 }, (_, n) => registry.call("diagnostic_echo", { text: String(n) }));
      const results = await Promise.all(calls);
      parentPort.postMessage(results.map((result) => result.content[0].text).join());
    })();`;
    const expected = Array.from({ length: 50 }, (_, n) => n).join();
    const workers = [1, 2, 3].map(() => new Worker(script(work), { eval: true }));
    const registry = createToolRegistry({ toolsets: ["diagnostic"] });
    const [result, ...messages] = await Promise.all([
      registry.call("diagnostic_echo", { text: "main" }),
      ...workers.map(nextMessage),
    ]);
    expect(texts(result)).toEqual(["main"]);
    expect(messages).toEqual([expected, expected, expected]);
    await Promise.all(workers.map((worker) => worker.terminate()));
  });

  test("terminated 100 times with calls in flight leave the process intact", async () => {
    const work = `
      const silent = () => ({ onProgress() {}, signal: new AbortController().signal });
      for (let n = 0; n < 5; n += 1) {
        registry.call("diagnostic_sleep", { ms: 600000, steps: 100 }, silent());
        registry.call("diagnostic_sleep", { ms: 20, steps: 20 }, silent());
        registry.call("never", {}, silent());
        registry.call("mine", {});
      }
      registry.call("diagnostic_echo", {}).then(() => parentPort.postMessage("running"));`;
    const once = async () => {
      const worker = new Worker(script(work), { eval: true });
      expect(await nextMessage(worker)).toBe("running");
      await worker.terminate();
    };
    for (let round = 0; round < 50; round += 1) await Promise.all([once(), once()]);
    const registry = createToolRegistry({ toolsets: ["diagnostic"] });
    expect(texts(await registry.call("diagnostic_echo", { text: "alive" }))).toEqual(["alive"]);
  });
});
