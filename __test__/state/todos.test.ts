import { describe, expect, test } from "vitest";
import type { StateEvents, TodoItem, ToolRegistry } from "../../index.js";
import { useRegistries } from "../support/registries.js";
import { failure, texts } from "../support/results.js";
import { STORES } from "../support/stores.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace);

/** The next event of todos. */
function nextTodos(registry: ToolRegistry): Promise<StateEvents["todos"]> {
  return new Promise((resolve) => {
    const listener = (event: StateEvents["todos"]) => {
      registry.off("todos", listener);
      resolve(event);
    };
    registry.on("todos", listener);
  });
}

function todo(content: string, status: TodoItem["status"] = "pending"): TodoItem {
  return { content, status, activeForm: `${content}…` };
}

describe.each(STORES)("write_todos on the store %s", (_name, options) => {
  const MISSING = "01890a5d-ac96-774b-bcce-b302099a8057";

  test.each([
    [{ action: "add" }, "Task required for add action"],
    [{ action: "add", task: " \n" }, "Task required for add action"],
    [
      { action: "add", task: "x".repeat(10_001) },
      "the task has 10001 bytes; at most 10000 are allowed; choose a shorter one",
    ],
    [{ action: "complete" }, "ID required for complete action"],
    [{ action: "remove", id: "" }, "ID required for remove action"],
    [{ action: "complete", id: MISSING }, `Todo not found: ${MISSING}`],
    [{ action: "remove", id: "x".repeat(10_000) }, `Todo not found: ${"x".repeat(80)}…`],
    [{ action: "list", after: "x" }, "Todo not found: x"],
  ])("refuses %o", async (input, message) => {
    const registry = registryHere(options(workspace));
    const result = await registry.call<string>("write_todos", input);
    expect(result).toEqual(failure("TodoError", message));
  });

  test("returns the changed todo as data", async () => {
    const registry = registryHere(options(workspace));
    const before = Date.now();
    const added = await registry.call("write_todos", { action: "add", task: "write\nit" });
    const [made] = added.structuredContent?.todos ?? [];
    expect(made).toMatchObject({ task: "write\nit", completed: false });
    expect(made?.createdAt).toBeGreaterThanOrEqual(before);
    expect(made?.createdAt).toBeLessThanOrEqual(Date.now());
    const id = made?.id ?? "";
    const completed = await registry.call("write_todos", { action: "complete", id: ` ${id} ` });
    expect(completed.structuredContent).toEqual({ todos: [{ ...made, completed: true }] });
    expect(completed.display).toBe("Completed: write\nit");
    const again = await registry.call("write_todos", { action: "complete", id });
    expect(texts(again)).toEqual([`Completed todo: ${id}`]);
  });

  test("bounds a long list", async () => {
    const registry = registryHere(options(workspace));
    for (let count = 0; count < 15; count += 1) {
      await registry.call("write_todos", { action: "add", task: "x".repeat(9_000) });
    }
    const list = await registry.call("write_todos", { action: "list" });
    const { todos = [], total, complete } = list.structuredContent ?? {};
    expect([todos.length, total, complete]).toEqual([11, 15, false]);
    expect(texts(list)[1]).toBe(
      `[showing 11 of 15 todos, 15 of them open; set after to ${todos[10]?.id} for the next]`,
    );
    const rest = await registry.call("write_todos", { action: "list", after: todos[10]?.id });
    expect(rest.structuredContent).toMatchObject({ total: 4, complete: true });
    const last = rest.structuredContent?.todos.at(-1)?.id;
    const end = await registry.call("write_todos", { action: "list", after: last });
    expect(texts(end)).toEqual(["[no todos come after that one]"]);
  });

  test("shows todos in the order of adding, also simultaneous ones", async () => {
    const registry = registryHere(options(workspace));
    const added = await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        registry.call("write_todos", { action: "add", task: String(at) }),
      ),
    );
    const ids = added.map((it) => it.structuredContent?.todos[0]?.id);
    expect(new Set(ids).size).toBe(50);
    const list = await registry.call("write_todos", { action: "list" });
    const listed = list.structuredContent?.todos.map((it) => it.id);
    expect(listed).toEqual(ids.toSorted());
  });
});

describe.each(STORES)("TodoWrite on the store %s", (_name, options) => {
  test("replaces the list of its session, and notifies observers", async () => {
    const registry = registryHere(options(workspace));
    const first = [todo("read", "completed"), todo("write", "in_progress"), todo("test")];
    let event = nextTodos(registry);
    const result = await registry.call("TodoWrite", { todos: first }, { sessionId: "a" });
    expect(result).toEqual({
      content: [
        { type: "text", text: "The todo list was updated: 1 pending, 1 in progress, 1 completed" },
      ],
      structuredContent: { oldTodos: [], newTodos: first },
    });
    expect(await event).toEqual({ sessionId: "a", todos: first, previous: [] });
    expect(await registry.todos({ sessionId: "a" })).toEqual(first);
    expect(await registry.todos({ sessionId: "b" })).toEqual([]);
    expect(await registry.todos()).toEqual([]);

    event = nextTodos(registry);
    const emptied = await registry.call("TodoWrite", { todos: [] }, { sessionId: "a" });
    expect(texts(emptied)).toEqual(["The todo list was updated: it is empty"]);
    expect(await event).toEqual({ sessionId: "a", todos: [], previous: first });
    expect(await registry.todos({ sessionId: "a" })).toEqual([]);
  });

  test("recommends one todo in progress, and accepts several", async () => {
    const registry = registryHere(options(workspace));
    const todos = [todo("a", "in_progress"), todo("b", "in_progress")];
    const result = await registry.call("TodoWrite", { todos });
    expect(result.isError).toBeUndefined();
    expect(texts(result)[1]).toBe("[2 todos are in_progress; better have one at a time]");
    expect(await registry.todos()).toEqual(todos);
  });

  test.each([
    [{}],
    [{ todos: "x" }],
    [{ todos: [{ content: "a", status: "pending" }] }],
    [{ todos: [{ content: "a", status: "done", activeForm: "b" }] }],
    [{ todos: [{ content: "", status: "pending", activeForm: "b" }] }],
    [{ todos: [{ content: "a", status: "pending", activeForm: " \t" }] }],
    [{ todos: [{ content: "a", status: "pending", activeForm: "b", priority: 1 }] }],
    [{ todos: Array.from({ length: 1_001 }, () => todo("a")) }],
  ])("refuses %o, and leaves the list unchanged", async (input) => {
    const registry = registryHere(options(workspace));
    await registry.call("TodoWrite", { todos: [todo("kept")] });
    const { error } = await registry.call<string>("TodoWrite", input);
    expect(error?.type).toBe("ValidationError");
    expect(await registry.todos()).toEqual([todo("kept")]);
  });

  test("calls of one turn run in sequence, even if reads run in parallel", async () => {
    const registry = registryHere(options(workspace));
    const blocks = Array.from({ length: 20 }, (_, at) => ({
      type: "tool_use" as const,
      id: `t${at}`,
      name: "TodoWrite",
      input: { todos: [todo(String(at))] },
    }));
    const heard: string[] = [];
    registry.on("todos", ({ todos }) => heard.push(todos[0]?.content ?? ""));
    await registry.executeTools(blocks, { parallelReads: true });
    expect(await registry.todos()).toEqual([todo("19")]);
    await expect.poll(() => heard).toEqual(Array.from({ length: 20 }, (_, at) => String(at)));
  });
});

describe("events", () => {
  test("reach every listener until it is removed, and none after close", async () => {
    const registry = registryHere();
    const heard: string[] = [];
    const first = () => heard.push("first");
    const second = (event: StateEvents["todos"]) => {
      heard.push("second");
      event.todos.length = 0;
    };
    registry.on("todos", first).on("todos", second).on("todos", first);
    let event = nextTodos(registry);
    await registry.call("TodoWrite", { todos: [todo("a")] });
    expect((await event).todos).toEqual([todo("a")]);
    registry.off("todos", first);
    event = nextTodos(registry);
    await registry.call("TodoWrite", { todos: [todo("b")] });
    await event;
    expect(heard).toEqual(["first", "second", "second"]);
    await registry.close();
    registry.on("todos", first);
    await expect(registry.todos()).rejects.toMatchObject({ type: "RegistryClosed" });
  });

  test("of lists that are written simultaneously arrive in the order of the writes", async () => {
    const registry = registryHere({ store: "memory" });
    const count = 100;
    const heard: StateEvents["todos"][] = [];
    const all = new Promise<void>((resolve) => {
      registry.on("todos", (event) => heard.push(event) === count && resolve());
    });
    await Promise.all(
      Array.from({ length: count }, (_, at) =>
        registry.call("TodoWrite", { todos: [todo(`${at}`)] }),
      ),
    );
    await all;
    expect(heard.slice(1).map((it) => it.previous)).toEqual(
      heard.slice(0, -1).map((it) => it.todos),
    );
    expect(heard.at(-1)?.todos).toEqual(await registry.todos());
  });

  test("of a listener that throws cause a warning, and the next listener gets them", async () => {
    const registry = registryHere();
    const warning = new Promise<Error>((resolve) => process.once("warning", resolve));
    registry.on("todos", () => {
      throw new Error("oh");
    });
    const event = nextTodos(registry);
    await registry.call("TodoWrite", { todos: [] });
    await event;
    expect((await warning).message).toBe("a listener of `todos` threw: oh");
  });

  test("are listed in the error for an unknown one", () => {
    const registry = registryHere();
    const on = registry.on.bind(registry) as (name: unknown, listener: unknown) => void;
    expect(() => on("todo", () => {})).toThrow(
      'the events are `"task"`, `"todos"`, `"config"`, `"grant"`, `"plugins"`, `"mcpServer"`, got the string `todo`',
    );
    expect(() => on("todos", 1)).toThrow("a listener must be a function, got number `1`");
  });
});
