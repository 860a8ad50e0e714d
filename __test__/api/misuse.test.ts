import { types } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as toolwright from "../../index.mjs";
import type { SdkTool } from "../../index.js";
import { nestedObjects } from "../support/nested.js";
import { useWorkspace } from "../support/workspace.js";

const { MessageBus, OutputFormatter, PolicyEngine, ToolError, ToolRegistry, tool } = toolwright;
const workspace = useWorkspace();

type AnyFunction = (...args: unknown[]) => unknown;

const fail = () => {
  throw Symbol("odd");
};
const TRAPS = [
  "apply",
  "construct",
  "defineProperty",
  "deleteProperty",
  "get",
  "getOwnPropertyDescriptor",
  "getPrototypeOf",
  "has",
  "isExtensible",
  "ownKeys",
  "preventExtensions",
  "set",
  "setPrototypeOf",
];
const throwing = (target: object) =>
  new Proxy(target, Object.fromEntries(TRAPS.map((trap) => [trap, fail])));

/** Every property name that the public API is known to read. */
const NAMES =
  "id name input function arguments functionCall args call_id toolUseId sessionId signal onProgress format parallelReads strict after approved message updatedInput alwaysAllow interrupt projectPath permissionMode hooks messageBus toolsets serverName version handler description inputSchema title annotations sideEffect timeoutMs toolName client createInvocation schema tools instructions maxChars maxLines aborted addEventListener reason send start close onmessage onclose then toJSON toString cause rules allow ask deny length";
const throwingGetters = () =>
  Object.defineProperties(
    {},
    Object.fromEntries(NAMES.split(" ").map((name) => [name, { get: fail, enumerable: true }])),
  );
const allOf = (value: unknown) => Object.fromEntries(NAMES.split(" ").map((name) => [name, value]));

const OPTIONS = [
  "projectPath",
  "policy",
  "messageBus",
  "limits",
  "env",
  "shell",
  "allowedTools",
  "version",
];

function revoked(target: object): unknown {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

const cycle: Record<string, unknown> = {};
cycle["cycle"] = cycle;

const ODD: [string, () => unknown][] = [
  ["undefined", () => undefined],
  ["null", () => null],
  ["true", () => true],
  ["0", () => 0],
  ["NaN", () => Number.NaN],
  ["-Infinity", () => Number.NEGATIVE_INFINITY],
  ["a BigInt", () => 1n],
  ["an empty string", () => ""],
  ["a string", () => "x"],
  ["half a surrogate pair", () => "\ud800"],
  ["a NUL", () => "\0"],
  ["a symbol", () => Symbol("odd")],
  ["a function", () => () => {}],
  ["a function that throws", () => fail],
  ["a function whose toString throws", () => Object.assign(() => {}, { toString: fail })],
  ["a class", () => Map],
  ["an empty array", () => []],
  ["an array of odd things", () => [null, undefined, Symbol("odd"), {}, []]],
  ["a sparse array", () => Array(3)],
  ["an empty object", () => ({})],
  ["an object without a prototype", () => Object.create(null)],
  ["a proxy that throws", () => throwing({})],
  ["a proxy of an array that throws", () => throwing([])],
  ["a proxy of a function that throws", () => throwing(() => {})],
  ["a revoked proxy", () => revoked({})],
  ["a revoked proxy of an array", () => revoked([])],
  ["a revoked proxy of a function", () => revoked(() => {})],
  ["getters that throw", throwingGetters],
  ["an object of nulls", () => allOf(null)],
  ["an object of numbers", () => allOf(5)],
  ["an object of symbols", () => allOf(Symbol("odd"))],
  ["an object of objects", () => allOf({})],
  ["an object of functions that throw", () => allOf(fail)],
  ["an object of objects without a prototype", () => allOf(Object.create(null))],
  ["a frozen object", () => Object.freeze({ send() {} })],
  ["a toJSON that throws", () => ({ toJSON: fail })],
  ["a toString that throws", () => ({ toString: fail })],
  // oxlint-disable-next-line unicorn/no-thenable -- a host may pass one
  ["a thenable that throws", () => Object.defineProperty({}, "then", { get: fail })],
  ["a cycle", () => cycle],
  ["deep nesting", () => nestedObjects(10_000)],
  ["a date", () => new Date(Number.NaN)],
  ["a map", () => new Map([[{}, {}]])],
  ["a typed array", () => new Uint8Array(3)],
  ["a boxed string", () => new String("x")],
  ["an error", () => new Error("odd")],
];

/** Rejections of promises that were not awaited. */
const later: Promise<string | undefined>[] = [];

async function turns(count: number): Promise<undefined> {
  for (let turn = 0; turn < count; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  return undefined;
}

/** The rejections of promises that have settled by now. */
async function wrongSince(): Promise<(string | undefined)[]> {
  const ends = await Promise.all(later.splice(0).map((end) => Promise.race([end, turns(20)])));
  return ends.filter((end) => end !== undefined);
}

/** What a function threw, or its promise rejected with, unless it is a ToolError. */
async function wrongEnd(run: () => unknown): Promise<string | undefined> {
  const wrong = (error: unknown) => {
    if (error instanceof ToolError) return undefined;
    return error instanceof Error ? `${error.stack}` : `threw a ${typeof error}`;
  };
  try {
    const returned = run();
    if (!types.isPromise(returned)) return undefined;
    const ended = returned.then(() => undefined, wrong);
    later.push(ended);
    return await Promise.race([ended, turns(1)]);
  } catch (error) {
    return wrong(error);
  }
}

/** Each odd value in each position, with valid values before it. */
async function attack(name: string, method: AnyFunction, fitting: unknown[]): Promise<string[]> {
  const found: string[] = [];
  for (const [what, make] of ODD) {
    for (const place of [0, 1, 2, 3]) {
      const args = [...fitting.slice(0, place), make()];
      while (args.length <= place) args.unshift("x");
      const wrong = await wrongEnd(() => method(...args));
      if (wrong !== undefined) found.push(`${name}, ${what} in place ${place}: ${wrong}`);
    }
  }
  return found;
}

function methodsOf(object: object): [string, AnyFunction][] {
  const found = new Map<string, AnyFunction>();
  const ends = new Set<unknown>([null, Object.prototype, Function.prototype]);
  for (let at = object; !ends.has(at); at = Object.getPrototypeOf(at)) {
    for (const key of Reflect.ownKeys(at)) {
      const value: unknown = Object.getOwnPropertyDescriptor(at, key)?.value;
      const isMethod = typeof value === "function" && key !== "constructor";
      if (isMethod && !found.has(String(key))) found.set(String(key), value as AnyFunction);
    }
  }
  return [...found];
}

const echo = { name: "diagnostic_echo", input: { text: "x" } };

/** Valid arguments, for methods that would not look at later arguments without them. */
const FITTING: Record<string, unknown[]> = {
  __proto__: null as never,
  call: [echo.name, echo.input, {}],
  createInvocation: [echo.name, echo.input, {}],
  explain: [echo.name, echo.input, {}],
  evaluate: ["Bash", { command: "ls" }],
  executeTools: [[{ id: "a", ...echo }], {}],
  definitions: ["mcp", {}],
  on: ["task", () => {}, {}],
  off: ["task", () => {}],
  undo: ["toolu_1", {}],
  requestConfirmation: [{ toolName: "x" }, undefined, 100],
  truncate: ["text", {}],
  handler: [echo.input, {}],
  execute: [undefined, () => {}],
};

const unhandled: unknown[] = [];
const hearRejection = (reason: unknown) => unhandled.push(reason);
beforeAll(() => void process.on("unhandledRejection", hearRejection));
afterAll(() => void process.off("unhandledRejection", hearRejection));

function registryHere() {
  const registry = new ToolRegistry({
    projectPath: workspace.root,
    userPolicyFile: false,
    permissionMode: "bypassPermissions",
    toolsets: ["diagnostic"],
  });
  registry.register(tool({ name: "mine", handler: () => "x" }));
  return registry;
}

type Registry = ReturnType<typeof registryHere>;

const declarative = {
  name: "own",
  schema: {},
  createInvocation: () => ({ getDescription: fail, toolLocations: fail, execute: fail }),
};

/** Every object with methods that a user can obtain. */
const OBJECTS: [string, (registry: Registry) => object][] = [
  ["a registry", (registry) => registry],
  ["a message bus", (registry) => registry.messageBus],
  ["an invocation", (registry) => registry.createInvocation(echo.name, echo.input)],
  [
    "an invocation of a host's tool",
    (registry) => {
      registry.register(declarative as never);
      return registry.createInvocation("own", {});
    },
  ],
  ["a tool of a registry", (registry) => registry.get(echo.name) as object],
  ["an MCP instance", (registry) => registry.toMcpServerConfig().instance as object],
  ["an iterator of events", (registry) => registry.taskEvents()],
  ["a policy engine", () => new PolicyEngine({})],
  ["a tool", () => tool({ name: "it", inputSchema: { a: "string" }, handler: () => "x" })],
  ["the output formatter", () => OutputFormatter],
];

/** Not guarded: `emit` throws what listeners throw. */
const LEFT_OUT = new Set(["emit", "prototype"]);

describe.each(OBJECTS)("%s", (_what, make) => {
  test("fails with its own errors only, for every odd value", async () => {
    const registry = registryHere();
    const names = methodsOf(make(registry)).map(([name]) => name);
    await registry.close();
    const found: string[] = [];
    expect(names.length).toBeGreaterThan(0);
    for (const name of names.filter((it) => !LEFT_OUT.has(it))) {
      const own = registryHere();
      const object = make(own) as Record<string, AnyFunction>;
      const method: AnyFunction = (...args) => object[name]?.(...args);
      found.push(...(await attack(name, method, FITTING[name] ?? [])));
      await own.close();
    }
    expect(found).toEqual([]);
    expect(await wrongSince()).toEqual([]);
    expect(unhandled).toEqual([]);
  });

  test("reports a method that is called on another object", async () => {
    const registry = registryHere();
    const object = make(registry);
    const others = [
      undefined,
      null,
      {},
      5,
      Object.create(Object.getPrototypeOf(object)),
      throwing({}),
    ];
    const found: string[] = [];
    for (const [name, method] of methodsOf(object)) {
      if (LEFT_OUT.has(name)) continue;
      for (const [index, other] of [...others, new Proxy(object, {})].entries()) {
        const args = FITTING[name] ?? [];
        const wrong = await wrongEnd(() => Reflect.apply(method, other, args));
        if (wrong !== undefined) found.push(`${name} on other ${index}: ${wrong}`);
      }
    }
    await registry.close();
    expect(found).toEqual([]);
  });
});

describe("an export", () => {
  test.each(Object.entries(toolwright).filter(([name]) => name !== "default"))(
    "%s fails with its own errors only, for every odd value",
    async (name, exported) => {
      const isClass = /^[A-Z]/.test(name);
      const call: AnyFunction = (...args) =>
        isClass
          ? Reflect.construct(exported as AnyFunction, args)
          : (exported as AnyFunction)(...args);
      const fitting = name === "tool" ? ["it", "what it does", {}, () => {}] : [{}];
      expect(await attack(name, call, fitting)).toEqual([]);
    },
  );

  test("a tool's handler accepts every odd value, whatever the form of its schema", async () => {
    const field = {
      "~standard": {
        version: 1,
        vendor: "x",
        validate: (value: unknown) => ({ value }),
        jsonSchema: { input: () => ({}) },
      },
    };
    for (const inputSchema of [undefined, { a: "string" }, { field }, { type: "object" }]) {
      const { handler } = tool({
        name: "it",
        inputSchema: inputSchema as never,
        handler: () => "x",
      }) as SdkTool;
      expect(await attack("handler", handler as AnyFunction, [{}])).toEqual([]);
    }
  });

  test("odd hooks and odd fields of options are refused with clear errors", async () => {
    const found: string[] = [];
    for (const [what, make] of ODD) {
      for (const options of [
        { hooks: make() },
        { hooks: { PreToolUse: make() } },
        { hooks: { PreToolUse: [make()] } },
        { hooks: { PreToolUse: [{ hooks: [make()] }] } },
        { hooks: { PreToolUse: [{ hooks: [], matcher: make() }] } },
        { hooks: { PreToolUse: [{ hooks: [() => {}], timeout: make() }] } },
        { hooks: { PreToolUse: [{ type: "command", command: make() }] } },
        ...OPTIONS.map((name) => ({ [name]: make() })),
      ]) {
        const wrong = await wrongEnd(() => void new ToolRegistry(options as never));
        if (wrong !== undefined) found.push(`${what} in ${Object.keys(options)}: ${wrong}`);
      }
    }
    expect(found).toEqual([]);
  });
});

test("a turn of billions of blocks is refused before it is read", async () => {
  const registry = registryHere();
  const turn = registry.executeTools(Array(2 ** 32 - 1) as never);
  expect(await wrongEnd(() => turn)).toBeUndefined();
  await expect(turn).rejects.toThrow("up to 10000");
  await registry.close();
});

test("an invalid listener of a bus is refused with our own error", () => {
  const bus = new MessageBus();
  for (const method of ["on", "once", "off", "addListener", "prependListener"] as const) {
    const wrong = bus as unknown as Record<string, AnyFunction>;
    expect(() => wrong[method]?.("request", 5)).toThrow(ToolError);
  }
});
