import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ToolRegistry, tool } from "../support/unasked";
import { failure } from "../support/results.js";

const RUNS = { numRuns: 200 };

/** Names that differ in ways that affect sorting: case, digits, `_` and `-`. */
const toolName = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/),
  fc.stringMatching(/^[abAB1_-]{1,4}$/),
);
const toolNames = fc.uniqueArray(toolName, { minLength: 1, maxLength: 30 });
const text = fc.string({ unit: "grapheme", maxLength: 60 });
const schema = fc
  .uniqueArray(fc.tuple(fc.stringMatching(/^[a-z]{1,12}$/), fc.boolean(), text), {
    selector: ([name]) => name,
    maxLength: 6,
  })
  .chain((fields) =>
    fc.constantFrom("string", "number", "integer", "boolean", "array", "object").map((type) => ({
      type: "object",
      properties: Object.fromEntries(
        fields.map(([name, , description]) => [name, { type, description }]),
      ),
      required: fields.filter(([, required]) => required).map(([name]) => name),
    })),
  );

function toolOf(name: string, answer = name) {
  return tool({ name, description: `about ${name}`, handler: async () => answer });
}

describe("seed properties of the registry", () => {
  // Feature: stage-03-tools-policy, Property 1: Tool Registration and Retrieval
  test("Property 1: a registered tool is retrieved by its name as the same object", () => {
    fc.assert(
      fc.property(toolNames, (names) => {
        const registry = new ToolRegistry();
        const tools = names.map((name) => toolOf(name));
        for (const it of tools) registry.register(it);
        for (const it of tools) {
          expect(registry.get(it.name)).toBe(it);
          expect(registry.hasTool(it.name)).toBe(true);
        }
        expect(registry.getToolCount()).toBe(tools.length);
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 2: Tool Replacement
  test("Property 2: of two tools with the same name only the second is retrieved and called", async () => {
    await fc.assert(
      fc.asyncProperty(toolName, async (name) => {
        const registry = new ToolRegistry();
        const [first, second] = [toolOf(name, "first"), toolOf(name, "second")];
        registry.register(first);
        expect(registry.get(name)).toBe(first);
        registry.register(second);
        expect(registry.get(name)).toBe(second);
        expect(registry.list()).toEqual([second]);
        expect(await registry.call(name)).toEqual({ content: [{ type: "text", text: "second" }] });
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 3: Tool Unregistration
  test("Property 3: an unregistered tool is no longer retrievable and the others still are", async () => {
    await fc.assert(
      fc.asyncProperty(toolNames, fc.nat(), async (names, pick) => {
        const registry = new ToolRegistry();
        const tools = names.map((name) => toolOf(name));
        for (const it of tools) registry.register(it);
        const gone = names[pick % names.length] as string;
        const rest = tools.filter(({ name }) => name !== gone);
        expect(registry.unregister(gone)).toBe(true);
        expect(registry.unregister(gone)).toBe(false);
        expect(registry.names()).not.toContain(gone);
        expect(registry.list()).toHaveLength(rest.length);
        for (const it of rest) expect(registry.get(it.name)).toBe(it);
        for (const { name } of rest) registry.unregister(name);
        expect(registry.get(gone)).toBeUndefined();
        expect(registry.hasTool(gone)).toBe(false);
        expect(await registry.call(gone)).toEqual(
          failure("UnknownTool", `no tool is named \`${gone}\`; no tool is registered`),
        );
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 4: Tool List Ordering and Consistency
  test("Property 4: the list is alphabetical, complete and the same each time", () => {
    fc.assert(
      fc.property(toolNames, (names) => {
        const registry = new ToolRegistry();
        for (const name of names) registry.register(toolOf(name));
        const sorted = [...names].sort((a, b) => a.localeCompare(b, "en"));
        expect(registry.names()).toEqual(sorted);
        expect(registry.list().map(({ name }) => name)).toEqual(sorted);
        expect(registry.listTools().map(({ name }) => name)).toEqual(sorted);
        expect(registry.list()).toEqual(registry.list());
      }),
      { numRuns: 500 },
    );
  });

  // Feature: stage-03-tools-policy, Property 5: Schema Generation Completeness
  test("Property 5: there is one function schema per tool, with every field unchanged", () => {
    const described = fc.record({ name: toolName, description: text, parameters: schema });
    fc.assert(
      fc.property(
        fc.uniqueArray(described, { selector: ({ name }) => name, maxLength: 12 }),
        (tools) => {
          const registry = new ToolRegistry();
          for (const { name, description, parameters } of tools) {
            registry.register(
              tool({ name, description, inputSchema: parameters, handler: () => "" }),
            );
          }
          const sorted = [...tools].sort((a, b) => a.name.localeCompare(b.name, "en"));
          expect(registry.getFunctionSchemas()).toEqual(sorted);
        },
      ),
      RUNS,
    );
  });
});
