import { describe, expect, test } from "vitest";
import {
  ToolError,
  createToolRegistry,
  type CallResult,
  type ToolRegistry,
} from "../support/unasked";
import { errorTypes } from "../../native/binding.js";
import { nestedArrays, nestedObjects } from "../support/nested.js";
import { texts } from "../support/results.js";
import { workingCalls } from "../support/working-calls.js";
import { EVERY_SET, useRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const newRegistry = useRegistries(workspace, { toolsets: EVERY_SET });
const knownTypes = errorTypes();

function registryHere() {
  workspace.write("a.txt", "one\n");
  return newRegistry();
}

/** Calls that would work, so that only the hostile parameter decides. */
function workingCall(name: string): Record<string, unknown> {
  const call = workingCalls(workspace.root)[name];
  if (call === undefined) throw new Error(`write a working call of \`${name}\` for this test`);
  return call;
}

const circular: unknown[] = [];
circular.push(circular);

/** Large values are made by functions, so that the table itself stays small. */
const hostileValues: Record<string, () => unknown> = {
  undefined: () => undefined,
  null: () => null,
  true: () => true,
  "an empty string": () => "",
  "a blank": () => " ",
  "a NUL": () => "\0",
  "a path with a NUL": () => "a\0.txt",
  "../..": () => "../..",
  "many dots": () => "../".repeat(5_000),
  "a long name": () => "n".repeat(5_000),
  "a lone high surrogate": () => "\ud800",
  "a lone low surrogate": () => "a\udc00b",
  "a string of 10 MB": () => "x".repeat(10_000_000),
  "the string NaN": () => "NaN",
  "the string 1e309": () => "1e309",
  "a string of digits": () => "9".repeat(400),
  "-1": () => -1,
  "-0": () => -0,
  "0.5": () => 0.5,
  NaN: () => Number.NaN,
  Infinity: () => Number.POSITIVE_INFINITY,
  "-Infinity": () => Number.NEGATIVE_INFINITY,
  "2**31": () => 2 ** 31,
  "2**32": () => 2 ** 32,
  "2**53": () => 2 ** 53,
  "2**64": () => 2 ** 64,
  "1e308": () => 1e308,
  "5e-324": () => 5e-324,
  "a BigInt": () => 10n,
  "a symbol": () => Symbol("hostile"),
  "a function": () => () => "hostile",
  "a Date": () => new Date(0),
  "an invalid Date": () => new Date(Number.NaN),
  "a Map": () => new Map([["a", 1]]),
  "a RegExp": () => /a/,
  "a buffer": () => Buffer.from("a"),
  "an empty array": () => [],
  "an empty object": () => ({}),
  "a sparse array": () => {
    const sparse: unknown[] = [];
    sparse[3] = "a.txt";
    return sparse;
  },
  "an array of 200,000 items": () => Array.from({ length: 200_000 }, () => "a"),
  "an own __proto__ key": () => JSON.parse('{"__proto__":{"polluted":true}}'),
  "a constructor key": () => ({ constructor: { prototype: { polluted: true } } }),
  "3,000 nested arrays around null": () => nestedArrays(3_000, null),
  "8,000 nested arrays around null": () => nestedArrays(8_000, null),
  "200 nested arrays": () => nestedArrays(200, "deep"),
  "120 nested arrays": () => nestedArrays(120, "deep"),
  "3,000 nested objects": () => nestedObjects(3_000, null),
  "a circle": () => circular,
  "a getter that throws": () => ({
    get boom() {
      throw new Error("getter");
    },
  }),
  "a toJSON that throws": () => ({
    toJSON() {
      throw new Error("toJSON");
    },
  }),
  "a toJSON that throws no error": () => ({
    toJSON() {
      // oxlint-disable-next-line no-throw-literal -- some hosts throw such values
      throw null;
    },
  }),
  "a toJSON of nothing": () => ({ toJSON: () => undefined }),
  "a proxy that throws": () =>
    new Proxy(
      {},
      {
        ownKeys() {
          throw new Error("proxy");
        },
      },
    ),
};

function expectResult(result: CallResult) {
  expect(result.content).toBeInstanceOf(Array);
  expect(result.content.length).toBeGreaterThan(0);
  if (result.isError === undefined) {
    expect(result.error).toBeUndefined();
  } else {
    expect(result.isError).toBe(true);
    expect(knownTypes).toContain(result.error?.type);
    expect(result.error?.message).not.toBe("");
    // No hostile value is echoed at length.
    expect(result.error?.message.length).toBeLessThan(20_000);
  }
}

/** A call must return a result, or reject with an error of this package. */
async function settle(call: () => Promise<unknown>, check: (result: never) => void) {
  try {
    check((await call()) as never);
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    expect(knownTypes).toContain(error.type);
  }
}

async function everyWayIn(registry: ToolRegistry, name: string, input: unknown) {
  await settle(() => registry.call(name, input), expectResult);
  await settle(
    async () => {
      const invocation = registry.createInvocation(name, input);
      expect(invocation.getDescription()).not.toBe("");
      expect(invocation.toolLocations()).toBeInstanceOf(Array);
      expect(await invocation.shouldConfirmExecute()).toBe(false);
      return invocation.execute();
    },
    ({ llmContent, returnDisplay }: { llmContent: unknown; returnDisplay: unknown }) => {
      expect(llmContent).toBeTypeOf("string");
      expect(returnDisplay).toBeTypeOf("string");
    },
  );
  await settle(
    () => registry.executeTools([{ id: "x", name, input }], { format: "mcp" }),
    (results: CallResult[]) => results.forEach(expectResult),
  );
}

/** The result of a normal call, unless a prototype was changed. */
async function echo(registry: ToolRegistry, text: string): Promise<string[]> {
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  return texts(await registry.call("diagnostic_echo", { text }));
}

const specs = createToolRegistry({ toolsets: EVERY_SET }).listTools();

describe.each(specs)("$name", ({ name, inputSchema }) => {
  const parameters = Object.keys(inputSchema["properties"] as object);

  test.each(parameters)("survives every hostile value of %s", async (parameter) => {
    const registry = registryHere();
    const { [parameter]: _, ...missing } = workingCall(name);
    await everyWayIn(registry, name, missing);
    for (const make of Object.values(hostileValues)) {
      await everyWayIn(registry, name, { ...workingCall(name), [parameter]: make() });
    }
    expect(await echo(registry, "alive")).toEqual(["alive"]);
  });

  test("survives every hostile value in place of its input", async () => {
    const registry = registryHere();
    for (const make of Object.values(hostileValues)) await everyWayIn(registry, name, make());
    expect(await echo(registry, "alive")).toEqual(["alive"]);
  });

  // Not in the table, and by one entry point only: Bun needs a second to reject each.
  test("refuses 1e5 nested arrays", async () => {
    const registry = registryHere();
    const [parameter = ""] = parameters;
    const input = { ...workingCall(name), [parameter]: nestedArrays(100_000, "deep") };
    const { error } = await registry.call(name, input);
    expect(error?.type).toBe("ValidationError");
    expect(error?.message).toContain("nests");
    expect(await echo(registry, "alive")).toEqual(["alive"]);
  });

  test("refuses an own __proto__ key as an unknown parameter", async () => {
    const input = JSON.parse(
      `{"__proto__":{"polluted":true},${JSON.stringify(workingCall(name)).slice(1)}`,
    ) as object;
    const { error } = await registryHere().call(name, input);
    expect(error?.type).toBe("ValidationError");
    expect(error?.message).toContain("unknown parameter `__proto__`");
  });
});

describe("numbers never wrap", () => {
  test.each([-1, -(2 ** 32), 2 ** 32, 2 ** 32 + 1, 2 ** 53, 1e308, 0.5, "4294967297", "-1"])(
    "%s is refused for a parameter that is a small integer",
    async (ms) => {
      const { error } = await registryHere().call("diagnostic_sleep", { ms } as never);
      expect(error?.type).toBe("ValidationError");
      expect(error?.message).toContain("parameter `ms`: expected an integer");
      expect(error?.message).toContain(String(ms).slice(0, 10));
    },
  );

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    "%s is refused, also for an optional parameter",
    async (value) => {
      const registry = registryHere();
      const refused = {
        type: "ValidationError",
        message: expect.stringContaining(`got \`${value}\``),
      };
      const input = { path: "a.txt", startLine: value };
      expect((await registry.call("read_file", input)).error).toEqual(refused);
      expect((await registry.createInvocation("read_file", input).execute()).error).toEqual(
        refused,
      );
    },
  );
});

describe("strings stay unchanged", () => {
  test.each(["\ud800", "a\udfffb", "\udc00\ud800"])(
    "a lone surrogate is refused, not replaced: %j",
    async (text) => {
      const { error } = await registryHere().call("diagnostic_echo", { text });
      expect(error?.type).toBe("ValidationError");
      expect(error?.message).toContain("surrogate");
    },
  );

  test.each([
    "",
    "\0",
    "\u2028\u2029",
    "😀",
    "e\u0301",
    "\ufeff",
    "\ufffd",
    "\\ud800",
    '"',
    "\u007f",
  ])("%j is returned unchanged", async (text) => {
    const { content } = await registryHere().call("diagnostic_echo", { text });
    expect(content).toEqual([{ type: "text", text }]);
  });

  test("10 MB are returned bounded, with a note about the cut", async () => {
    const registry = registryHere();
    const result = await registry.call("diagnostic_echo", { text: "0123456789".repeat(1_000_000) });
    const [shown = "", note] = texts(result);
    expect(shown.length).toBeLessThanOrEqual(4 * 1024 * 1024);
    expect(shown.length).toBeGreaterThan(4 * 1024 * 1024 - 2_000);
    expect(note).toMatch(/^\[result cut: \d+ of 10000000 bytes of text are shown; /);
  });
});

describe("panics", () => {
  test.each(["prepare", "run", "blocking"] as const)(
    "in the stage %s become error results with their message, and the next call works",
    async (stage) => {
      const registry = registryHere();
      for (let round = 0; round < 20; round += 1) {
        const message = `on purpose, round ${round}: \`{}\` %s ü`;
        const result = await registry.call("diagnostic_panic", { message, stage });
        expect(result.isError).toBe(true);
        expect(result.error?.type).toBe("InternalError");
        expect(result.error?.message).toContain(message);
        expect(await echo(registry, "alive")).toEqual(["alive"]);
      }
    },
  );

  test("in many simultaneous calls do not affect other calls", async () => {
    const registry = registryHere();
    const panicked = (index: number): unknown => expect.stringContaining(`panic ${index}`);
    const calls = Array.from({ length: 60 }, (_, index) =>
      index % 2 === 0
        ? registry.call("diagnostic_panic", {
            message: `panic ${index}`,
            stage: (["prepare", "run", "blocking"] as const)[index % 3],
          })
        : registry.call("diagnostic_echo", { text: `echo ${index}` }),
    );
    const results = await Promise.all(calls);
    expect(results.map((result) => texts(result)[0])).toEqual(
      calls.map((_, index) => (index % 2 === 0 ? panicked(index) : `echo ${index}`)),
    );
  });

  test("while a call is described do not crash the host", () => {
    const invocation = registryHere().createInvocation("diagnostic_panic", {
      message: "on purpose",
      stage: "prepare",
    });
    expect(invocation.getDescription()).not.toBe("");
    expect(invocation.toolLocations()).toEqual([]);
  });
});

describe("names", () => {
  test.each(["", "\0", "\ud800", "__proto__", "constructor", "x".repeat(1_000_000), "\n", "Read "])(
    "a call of a tool named %j is answered",
    async (name) => {
      const registry = registryHere();
      const { error } = await registry.call(name, {});
      expect(error?.type).toBe("UnknownTool");
      expect(error?.message.length).toBeLessThan(1_000);
      expect(registry.get(name)).toBeUndefined();
    },
  );
});
