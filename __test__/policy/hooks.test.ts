import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ToolRegistry, createToolRegistry } from "../support/unasked";
import type { HookEvent, Hooks } from "../../index.js";
import { refusal, texts } from "../support/results";
import { useWorkspace } from "../support/workspace";

const workspace = useWorkspace();

const ANOTHER_ANSWER = "a host can allow it by another answer of its PreToolUse hooks";

function registryOf(hooks: Hooks) {
  const registry = createToolRegistry({
    projectPath: workspace.root,
    toolsets: ["classic", "diagnostic"],
    hooks,
  });
  return registry;
}

const echo = (registry: ToolRegistry, text = "hi") =>
  registry.call("diagnostic_echo", { text }, { toolUseId: "t1", sessionId: "s1" });

describe("hooks", () => {
  test("a function gets the same arguments as in the Agent SDK", async () => {
    const asked: unknown[] = [];
    const registry = registryOf({
      PreToolUse: [
        {
          matcher: "diagnostic_.*",
          hooks: [
            (event, toolUseId, { signal }) => {
              asked.push([event, toolUseId, signal instanceof AbortSignal]);
            },
          ],
        },
      ],
    });
    expect(texts(await echo(registry))).toEqual(["hi"]);
    const event: HookEvent = {
      hook_event_name: "PreToolUse",
      session_id: "s1",
      transcript_path: "",
      cwd: workspace.root,
      tool_name: "diagnostic_echo",
      tool_use_id: "t1",
      tool_input: { text: "hi" },
    };
    expect(asked).toEqual([[event, "t1", true]]);
    await registry.call("ls", { path: "." }).catch(() => {});
    expect(asked).toHaveLength(1);
  });

  test("a denial, a failure and an invalid answer block the call", async () => {
    const answers = [
      [() => ({ decision: "block" as const, reason: "not now" }), "not now"],
      [
        () => {
          throw new Error("broken");
        },
        "a PreToolUse hook failed: broken",
      ],
      [async () => Promise.reject(new Error("later")), "a PreToolUse hook failed: later"],
      [
        () => "allow" as never,
        "a PreToolUse hook failed: it answered with a string instead of an object",
      ],
      [() => ({ decision: "perhaps" }) as never, "a PreToolUse hook failed: its answer cannot"],
    ] as const;
    for (const [hook, message] of answers) {
      const { error } = await echo(registryOf({ PreToolUse: [hook] }));
      expect(error?.type).toBe("HookBlocked");
      expect(error?.message).toContain(message);
    }
  });

  test("one that takes too long blocks, and its signal is aborted", async () => {
    let aborted: Promise<void> | undefined;
    const registry = registryOf({
      PreToolUse: [
        {
          timeout: 0.05,
          hooks: [
            (_event, _id, { signal }) => {
              aborted = new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
              return new Promise(() => {});
            },
          ],
        },
      ],
    });
    expect(await echo(registry)).toEqual(
      refusal(
        "HookBlocked",
        "a PreToolUse hook failed: no answer within 50 ms; continue without this call, or ask the user",
        ANOTHER_ANSWER,
      ),
    );
    await aborted;
  });

  test("a rewritten input is validated again and is what runs", async () => {
    const rewriting = registryOf({
      PreToolUse: [() => ({ updatedInput: { text: "rewritten" }, additionalContext: "by a hook" })],
    });
    expect(texts(await echo(rewriting))).toEqual(["rewritten", "by a hook"]);
    const breaking = registryOf({ PreToolUse: [() => ({ updatedInput: { text: 5, no: 1 } })] });
    expect((await echo(breaking)).error?.type).toBe("ValidationError");
  });

  test("hooks after a call see its result, and those of failures its error", async () => {
    const events: HookEvent[] = [];
    const registry = registryOf({
      PostToolUse: [
        (event) => {
          events.push(event);
          return { additionalContext: "noted" };
        },
      ],
      PostToolUseFailure: [
        (event) => {
          events.push(event);
        },
      ],
    });
    expect(texts(await echo(registry))).toEqual(["hi", "noted"]);
    await registry.call("read_file", { path: "none" });
    expect(events).toMatchObject([
      {
        hook_event_name: "PostToolUse",
        tool_response: { content: [{ type: "text", text: "hi" }] },
      },
      { hook_event_name: "PostToolUseFailure", error_type: "FileNotFoundError" },
    ]);
  });

  test("output can be withheld from the model", async () => {
    const registry = registryOf({ PostToolUse: [() => ({ suppressOutput: true })] });
    expect(await echo(registry, "secret")).toEqual({
      content: [{ type: "text", text: "[a hook hides this output]" }],
    });
  });

  test("a shell command gets the event, and its exit code is the answer", async () => {
    const registry = registryOf({
      PreToolUse: [
        {
          matcher: "write_file",
          hooks: [{ type: "command", command: "cat > event.json; echo 'not here' >&2; exit 2" }],
        },
      ],
    });
    const result = await registry.call("write_file", { path: "a", content: "x" });
    expect(result).toEqual(refusal("HookBlocked", "not here", ANOTHER_ANSWER));
    expect(existsSync(workspace.path("a"))).toBe(false);
    const event = JSON.parse(readFileSync(workspace.path("event.json"), "utf8"));
    expect(event.tool_input).toEqual({ path: "a", content: "x" });
  });

  test("a shell command without a matcher group runs only for its tools", async () => {
    const registry = registryOf({
      PreToolUse: [{ type: "command", command: "exit 2", matcher: "write_file" }],
    });
    expect((await echo(registry)).isError).toBeUndefined();
    const result = await registry.call("write_file", { path: "a", content: "x" });
    expect(result.error?.type).toBe("HookBlocked");
    const broken = { type: "command" as const, command: "exit 2", matcher: "(" };
    expect(() => registryOf({ PreToolUse: [broken] })).toThrow("is not a regular expression");
  });

  test("a rewrite that differs each time runs once, with the hook's input", async () => {
    let count = 0;
    const registry = registryOf({
      PreToolUse: [
        ({ tool_input }) => {
          count += 1;
          return { updatedInput: { text: `${tool_input["text"]}+` }, additionalContext: "longer" };
        },
      ],
    });
    expect(texts(await echo(registry))).toEqual(["hi+", "longer"]);
    expect(count).toBe(1);
  });

  test("a hook can end the turn: the remaining calls get errors", async () => {
    const registry = registryOf({
      PreToolUse: [
        ({ tool_use_id }) =>
          tool_use_id === "2" ? { continue: false, stopReason: "enough" } : undefined,
      ],
    });
    const blocks = ["1", "2", "3"].map((id) => ({
      id,
      name: "diagnostic_echo",
      input: { text: id },
    }));
    const results = await registry.executeTools(blocks);
    expect(results.map((it) => [it.tool_use_id, it.is_error ?? false])).toEqual([
      ["1", false],
      ["2", true],
      ["3", true],
    ]);
    expect(JSON.stringify(results[2])).toContain("interrupted (enough)");
  });

  test.each([
    [{ PreToolUse: "no" }, "`hooks.PreToolUse` must be an array"],
    [{ PreTool: [() => {}] }, "no hook event is named `PreTool`"],
    [{ PreToolUse: [{ hooks: [5] }] }, "`hooks.PreToolUse[0]` must be a function"],
    [{ PreToolUse: [{ matcher: "(", hooks: [() => {}] }] }, "is not a regular expression"],
    [{ PreToolUse: [{ hooks: [() => {}], timeout: "1" }] }, "timeout` must be a number of seconds"],
    [{ PreToolUse: [{ hooks: [() => {}], only: "Bash" }] }, "unknown field `only`"],
    [{ PreToolUse: [{ hooks: [() => {}], onFailure: "continue" }] }, "always blocks its call"],
    [{ PostToolUse: [{ hooks: [() => {}], onFailure: "ask" }] }, "onFailure` must be"],
    [5, "`hooks` must be an object"],
  ])("refuses %j", (hooks, message) => {
    expect(() => registryOf(hooks as never)).toThrow(message);
  });
});
