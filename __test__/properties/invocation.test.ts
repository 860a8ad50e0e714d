import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ToolError, tool, type ToolResult } from "../support/unasked";
import { errorTypes } from "../../native/binding.js";
import { workingCalls } from "../support/working-calls.js";
import { EVERY_SET, useRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

const RUNS = { numRuns: 150 };
const workspace = useWorkspace();
const newRegistry = useRegistries(workspace, { toolsets: EVERY_SET });
const knownTypes = errorTypes();

function registryHere() {
  workspace.write("a.txt", "one\ntwo\n");
  return newRegistry();
}

interface Parameter {
  type?:
    | "string"
    | "integer"
    | "array"
    | "boolean"
    | "object"
    | ("string" | "boolean" | "number")[];
  minItems?: number;
  oneOf?: { const: string }[];
  minimum?: number;
  maximum?: number;
}

/** A value that the schema of a parameter does not allow, even after coercion. */
function violationOf(parameter: Parameter): fc.Arbitrary<unknown> {
  const noScalar = fc.oneof(
    fc.array(fc.integer(), { minLength: 1, maxLength: 3 }),
    fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.integer()),
  );
  if (parameter.oneOf) {
    const options = new Set(parameter.oneOf.map((option) => option.const));
    const other = fc.string().filter((it) => !options.has(it));
    return fc.oneof(other, fc.integer(), fc.boolean(), noScalar);
  }
  // Several types, all of them scalar.
  if (Array.isArray(parameter.type)) return noScalar;
  switch (parameter.type) {
    case "string":
      return fc.oneof(fc.integer(), fc.boolean(), fc.double({ noInteger: true }), noScalar);
    case "boolean":
      return fc.oneof(
        fc.string().filter((it) => it !== "true" && it !== "false"),
        fc.integer(),
        noScalar,
      );
    case "integer":
      return fc.oneof(
        fc.string().filter((it) => !/^-?\d+$/.test(it)),
        fc.boolean(),
        fc.double({ noInteger: true }),
        noScalar,
        fc.integer({ max: (parameter.minimum ?? 0) - 1 }),
        fc.double({ min: (parameter.maximum ?? 2 ** 53) * 1.5, noNaN: true, max: 1e308 }),
      );
    case "object":
      return fc.oneof(
        fc.string(),
        fc.integer(),
        fc.boolean(),
        fc.array(fc.integer(), { minLength: 1, maxLength: 3 }),
        fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.integer(), { minKeys: 1 }),
      );
    case "array":
      return fc.oneof(
        fc.string(),
        fc.integer(),
        fc.boolean(),
        fc.array(fc.integer(), { minLength: 1, maxLength: 3 }),
        // If none is required, an empty one is allowed.
        ...((parameter.minItems ?? 0) > 0 ? [fc.constant([])] : []),
      );
    case undefined:
      throw new Error("a parameter of a kind that this test does not know");
  }
}

/** Any call of a tool that does not wait: valid, partly valid or nonsense. */
const anyCall: fc.Arbitrary<{ name: string; params: unknown }> = fc.oneof(
  fc.record({
    name: fc.constant("Read"),
    params: fc.record({
      file_path: fc.oneof(fc.constant("/ROOT/a.txt"), fc.string()),
      offset: fc.oneof(fc.integer(), fc.string()),
    }),
  }),
  fc.record({
    name: fc.constant("read_file"),
    params: fc.record(
      { path: fc.oneof(fc.constant("a.txt"), fc.string()), startLine: fc.integer() },
      { requiredKeys: [] },
    ),
  }),
  fc.record({
    name: fc.constant("read_many_files"),
    params: fc.record({ paths: fc.array(fc.string(), { maxLength: 5 }) }),
  }),
  fc.record({
    name: fc.constant("diagnostic_echo"),
    params: fc.record({ text: fc.string({ unit: "grapheme" }) }),
  }),
  fc.record({
    name: fc.constantFrom("Read", "FileRead", "read_file", "read_many_files", "diagnostic_echo"),
    params: fc.anything({ withBigInt: true, withDate: true, withSparseArray: true }),
  }),
);

function inWorkspace(params: unknown): unknown {
  if (params === null || typeof params !== "object" || !("file_path" in params)) return params;
  const { file_path: path } = params;
  return {
    ...params,
    file_path: typeof path === "string" ? path.replace("/ROOT", workspace.root) : path,
  };
}

/** What a handler may do that is no success. */
const failingHandler = fc.oneof(
  fc.anything().map((thrown) => () => {
    throw thrown;
  }),
  fc.anything().map((thrown) => () => Promise.reject(thrown)),
  fc.string({ unit: "grapheme" }).map((message) => () => {
    throw new TypeError(message);
  }),
  fc.string({ unit: "grapheme" }).map((text) => () => ({
    content: [{ type: "text" as const, text }],
    isError: true,
  })),
  fc
    .record({ type: fc.oneof(fc.string(), fc.constantFrom(...knownTypes)), message: fc.string() })
    .map((error) => () => ({ llmContent: "", returnDisplay: "", error })),
);

describe("seed properties of invocations", () => {
  // Feature: stage-03-tools-policy, Property 44: Tool Invocation Parameter Validation
  test("Property 44: input that violates the schema is a ValidationError that names the parameter", async () => {
    const registry = registryHere();
    const cases = registry.listTools().flatMap(({ name, inputSchema }) => {
      const properties = inputSchema["properties"] as Record<string, Parameter>;
      return Object.entries(properties).map(([parameter, schema]) => ({ name, parameter, schema }));
    });
    expect(cases.length).toBeGreaterThan(13);
    const violation = fc
      .constantFrom(...cases)
      .chain(({ name, parameter, schema }) =>
        violationOf(schema).map((value) => ({ name, parameter, value })),
      );
    await fc.assert(
      fc.asyncProperty(violation, async ({ name, parameter, value }) => {
        const params = { ...workingCalls(workspace.root)[name], [parameter]: value };
        const called = await registry.call(name, params);
        const executed = await registry.createInvocation(name, params).execute();
        expect(called.isError).toBe(true);
        expect(called.error?.type).toBe("ValidationError");
        expect(called.error?.message).toContain(`parameter \`${parameter}`);
        expect(called.error?.message).toContain("expected");
        expect(executed.error).toEqual(called.error);
      }),
      { numRuns: 500 },
    );
  });

  // Feature: stage-03-tools-policy, Property 44: Tool Invocation Parameter Validation
  test("Property 44: missing and unknown parameters are ValidationErrors that name them", async () => {
    const registry = registryHere();
    const calls = Object.entries(workingCalls(workspace.root));
    const stranger = fc.stringMatching(/^[a-z]{1,20}$/);
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...calls), stranger, async ([name, params], unknown) => {
        const schema = registry.getToolInfo(name)?.inputSchema as {
          required?: string[];
          properties: object;
        };
        fc.pre(!(unknown in schema.properties));
        const { error } = await registry.call(name, { ...params, [unknown]: 1 });
        const known = Object.keys(schema.properties).map((it) => `\`${it}\``);
        expect(error).toEqual({
          type: "ValidationError",
          message: `unknown parameter \`${unknown}\`; known parameters: ${known.join(", ")}`,
        });
        for (const required of schema.required ?? []) {
          const { [required]: _, ...rest } = params;
          const missing = await registry.call(name, rest);
          expect(missing.error?.type).toBe("ValidationError");
          expect(missing.error?.message).toContain(`missing required parameter \`${required}\``);
        }
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 45: Tool Invocation Description
  test("Property 45: every invocation has a short description", () => {
    const registry = registryHere();
    fc.assert(
      fc.property(anyCall, ({ name, params }) => {
        const description = registry.createInvocation(name, inWorkspace(params)).getDescription();
        expect(description).toBeTypeOf("string");
        expect(description).not.toBe("");
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 45: Tool Invocation Description
  test("Property 45: every invocation of a host's tool has a description, whatever its title", () => {
    const registry = registryHere();
    fc.assert(
      fc.property(fc.string(), fc.object(), (title, params) => {
        registry.register(
          tool({ name: "hosted", title, inputSchema: { a: "string" }, handler: () => "" }),
        );
        const description = registry.createInvocation("hosted", params).getDescription();
        expect(description).toBeTypeOf("string");
        expect(description).not.toBe("");
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 46: Tool Invocation Locations
  test("Property 46: every invocation lists the paths it will touch", () => {
    const registry = registryHere();
    fc.assert(
      fc.property(anyCall, ({ name, params }) => {
        const locations = registry.createInvocation(name, inWorkspace(params)).toolLocations();
        expect(locations).toBeInstanceOf(Array);
        for (const location of locations) {
          expect(location.startsWith(workspace.root)).toBe(true);
        }
      }),
      RUNS,
    );
    const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(names, (names) => {
        const many = registry.createInvocation("read_many_files", { paths: names });
        const single = registry.createInvocation("read_file", { path: names[0] as string });
        const paths = names.map((name) => workspace.path(name));
        expect(many.toolLocations()).toEqual(paths);
        expect(single.toolLocations()).toEqual(paths.slice(0, 1));
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 47: Tool Invocation Confirmation Check
  test("Property 47: the confirmation check returns false or the details", async () => {
    const registry = registryHere();
    await fc.assert(
      fc.asyncProperty(anyCall, async ({ name, params }) => {
        const details = await registry
          .createInvocation(name, inWorkspace(params))
          .shouldConfirmExecute();
        // These tools only read, so they need no confirmation.
        expect(details).toBe(false);
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 48: Tool Invocation Abort Signal Respect
  test("Property 48: an aborted signal stops a native tool and the execution rejects", async () => {
    const registry = registryHere();
    const moment = fc.constantFrom("before", "at once", "in a microtask", "once it runs");
    const reason = fc.oneof(fc.constant(undefined), fc.anything());
    await fc.assert(
      fc.asyncProperty(moment, reason, async (moment, reason) => {
        const controller = new AbortController();
        const abort = () => controller.abort(reason);
        if (moment === "before") abort();
        const execution =
          moment === "once it runs"
            ? registry.call(
                "diagnostic_sleep",
                { ms: 600_000 },
                {
                  signal: controller.signal,
                  onProgress: ({ type }) => type === "start" && abort(),
                },
              )
            : registry
                .createInvocation("diagnostic_sleep", { ms: 600_000 })
                .execute(controller.signal);
        if (moment === "at once") abort();
        if (moment === "in a microtask") queueMicrotask(abort);
        const error = await execution.then(
          () => undefined,
          (error: unknown) => error,
        );
        expect(error).toBeInstanceOf(ToolError);
        const { name, type, cause } = error as ToolError;
        expect({ name, type }).toEqual({ name: "AbortError", type: "Cancelled" });
        expect(cause).toBe(controller.signal.reason);
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 48: Tool Invocation Abort Signal Respect
  test("Property 48: an aborted signal reaches a host's tool and the execution rejects", async () => {
    const registry = registryHere();
    await fc.assert(
      fc.asyncProperty(fc.boolean(), fc.boolean(), async (settles, sendsOutput) => {
        const controller = new AbortController();
        let told: Promise<void> | undefined;
        registry.register(
          tool({
            name: "waits",
            handler: (_args, { signal, updateOutput }) => {
              told = new Promise((resolve) => signal?.addEventListener("abort", () => resolve()));
              if (sendsOutput) updateOutput?.("still here");
              queueMicrotask(() => controller.abort());
              return settles ? told : new Promise<never>(() => {});
            },
          }),
        );
        const execution = registry
          .createInvocation("waits", {})
          .execute(controller.signal, () => {});
        await expect(execution).rejects.toMatchObject({ type: "Cancelled", name: "AbortError" });
        await told;
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 49: Tool Result Format
  test("Property 49: every result has llmContent and returnDisplay", async () => {
    const registry = registryHere();
    const answer = fc.oneof(
      fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
      fc.record({ llmContent: fc.string(), returnDisplay: fc.string() }),
      fc.record({ content: fc.array(fc.record({ type: fc.constant("text"), text: fc.string() })) }),
    );
    const check = (result: ToolResult) => {
      expect(result.llmContent).toBeTypeOf("string");
      expect(result.returnDisplay).toBeTypeOf("string");
    };
    await fc.assert(
      fc.asyncProperty(anyCall, answer, async ({ name, params }, answer) => {
        check(await registry.createInvocation(name, inWorkspace(params)).execute());
        registry.register(tool({ name: "hosted", handler: () => answer as object }));
        check(await registry.createInvocation("hosted", {}).execute());
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 57: Error Result Format
  test("Property 57: every failure has an error with a known type and a message", async () => {
    const registry = registryHere();
    await fc.assert(
      fc.asyncProperty(anyCall, failingHandler, async ({ name, params }, handler) => {
        const { error } = await registry.createInvocation(name, inWorkspace(params)).execute();
        if (error !== undefined) expectError(error);

        registry.register(tool({ name: "fails", handler }));
        const failed = await registry.createInvocation("fails", {}).execute();
        expectError(failed.error);
        expect(failed.llmContent.startsWith("Error: ")).toBe(true);
        const called = await registry.call("fails", {});
        expect(called.isError).toBe(true);
        expect(called.error).toEqual(failed.error);
      }),
      RUNS,
    );
  });
});

function expectError(error: ToolResult["error"]) {
  expect(knownTypes).toContain(error?.type);
  expect(error?.message).toBeTypeOf("string");
  expect(error?.message).not.toBe("");
}
