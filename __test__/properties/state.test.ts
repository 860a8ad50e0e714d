import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import type { ToolRegistry } from "../../index.js";
import { useRegistries } from "../support/registries.js";
import { STORES } from "../support/stores.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace);

/** Any text that is well-formed and not empty. */
const text = (maxLength: number) => fc.string({ unit: "binary", minLength: 1, maxLength });
/** Keys, among them those that objects, paths and patterns treat specially. */
const key = fc.oneof(
  text(40),
  fc.constantFrom(
    "__proto__",
    "constructor",
    "a/b",
    "../x",
    "%",
    "%2F",
    "%0A",
    "*",
    "a\nb",
    "\0",
    '"',
  ),
);
const task = text(60).filter((it) => it.trim() !== "");
const RUNS = { numRuns: 40 };

describe.each(STORES)("seed properties on the store %s", (_name, options) => {
  let registry: ToolRegistry;
  beforeEach(() => {
    registry = registryHere(options(workspace));
  });

  async function execute(name: "memory" | "write_todos", params: object) {
    return registry.createInvocation<string>(name, params).execute();
  }

  const memory = (params: object) => execute("memory", params);
  const todos = (params: object) => execute("write_todos", params);

  async function data(name: "memory" | "write_todos", input: object) {
    const { structuredContent } = await registry.call<string>(name, input);
    return structuredContent as {
      keys: string[];
      todos: { id: string; task: string; completed: boolean }[];
    };
  }

  /** The keys in a listing, as a model reads it. */
  function keysIn(llmContent: string): string[] {
    const lines = llmContent.split("\n").filter((line) => !line.startsWith("["));
    return lines.map((line) => (line.startsWith('"') ? (JSON.parse(line) as string) : line));
  }

  async function clear() {
    const { keys } = await data("memory", { action: "list" });
    for (const stored of keys) await memory({ action: "delete", key: stored });
  }

  async function add(added: string): Promise<string> {
    const { llmContent, returnDisplay } = await todos({ action: "add", task: added });
    expect(returnDisplay.startsWith("Added: ")).toBe(true);
    return /^Added todo: ([-\da-f]{36})$/.exec(llmContent)?.[1] ?? "";
  }

  async function listed() {
    return (await data("write_todos", { action: "list" })).todos;
  }

  // Feature: stage-03-tools-policy, Property 50: Memory Storage Round Trip
  test("Property 50: what is stored is what is retrieved", async () => {
    await fc.assert(
      fc.asyncProperty(key, text(200), async (name, value) => {
        const stored = await memory({ action: "set", key: name, value });
        expect(stored.llmContent).toBe(`Stored ${name}`);
        const { llmContent, error } = await memory({ action: "get", key: name });
        expect([llmContent, error]).toEqual([value, undefined]);
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 51: Memory Deletion
  test("Property 51: what is deleted is not found", async () => {
    await fc.assert(
      fc.asyncProperty(key, text(50), async (name, value) => {
        await memory({ action: "set", key: name, value });
        const { llmContent } = await memory({ action: "delete", key: name });
        expect(llmContent).toBe(`Deleted ${name}`);
        const found = await memory({ action: "get", key: name });
        expect(found).toEqual({ llmContent: "Key not found", returnDisplay: "Key not found" });
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 52: Memory Key Listing
  test("Property 52: a listing has the stored keys, and no others", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(key, { maxLength: 8 }), async (names) => {
        await clear();
        for (const name of names) await memory({ action: "set", key: name, value: "x" });
        const { llmContent, returnDisplay } = await memory({ action: "list" });
        expect(keysIn(llmContent).toSorted()).toEqual(names.toSorted());
        expect(returnDisplay).toBe(`${names.length} keys`);
        const { keys } = await data("memory", { action: "list" });
        expect(keys.toSorted()).toEqual(names.toSorted());
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 53: Todo Addition
  test("Property 53: a new todo is in the list, open, with a unique id", async () => {
    await fc.assert(
      fc.asyncProperty(task, async (added) => {
        const before = await listed();
        const id = await add(added);
        expect(before.map((it) => it.id)).not.toContain(id);
        const fresh = expect.objectContaining({ id, task: added, completed: false });
        expect(await listed()).toEqual([...before, fresh]);
      }),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 54: Todo Completion
  test("Property 54: a todo that was completed is completed", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(task, { minLength: 1, maxLength: 4 }),
        fc.nat(),
        async (all, at) => {
          const ids: string[] = [];
          for (const each of all) ids.push(await add(each));
          const id = ids[at % ids.length] ?? "";
          const before = await listed();
          const { llmContent } = await todos({ action: "complete", id });
          expect(llmContent).toBe(`Completed todo: ${id}`);
          for (const it of before) it.completed ||= it.id === id;
          expect(await listed()).toEqual(before);
        },
      ),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 55: Todo Removal
  test("Property 55: only the removed todo is gone", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(task, { minLength: 1, maxLength: 4 }),
        fc.nat(),
        async (all, at) => {
          const ids: string[] = [];
          for (const each of all) ids.push(await add(each));
          const id = ids[at % ids.length] ?? "";
          const before = await listed();
          const { llmContent } = await todos({ action: "remove", id });
          expect(llmContent).toBe(`Removed todo: ${id}`);
          expect(await listed()).toEqual(before.filter((it) => it.id !== id));
          const { error } = await todos({ action: "remove", id });
          expect(error).toEqual({ type: "TodoError", message: `Todo not found: ${id}` });
        },
      ),
      RUNS,
    );
  });

  // Feature: stage-03-tools-policy, Property 56: Todo Listing
  test("Property 56: the list shows every todo with its state, each on separate lines", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(task, fc.boolean()), { maxLength: 5 }), async (all) => {
        for (const { id } of await listed()) await todos({ action: "remove", id });
        const rows: string[] = [];
        for (const [each, isDone] of all) {
          const id = await add(each);
          if (isDone) await todos({ action: "complete", id });
          const lines = each.replaceAll(/\r\n|\r|\n/g, "\n    ");
          rows.push(`[${isDone ? "x" : " "}] ${id}: ${lines}`);
        }
        const { llmContent, returnDisplay } = await todos({ action: "list" });
        expect(llmContent).toBe(rows.length === 0 ? "[no todos]" : rows.join("\n"));
        expect(returnDisplay).toBe(`${rows.length} todos`);
      }),
      RUNS,
    );
  });
});
