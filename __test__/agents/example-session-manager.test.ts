// The example in examples/session-manager, with both kinds of agents.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { query } from "@anthropic-ai/claude-agent-sdk";
import { describe, expect, test, vi } from "vitest";
import { agentEnvironment } from "../support/agent-environment.js";
import { useModels } from "../support/loopback-messages-api.js";
import { useRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

// Plain JavaScript, as a reader of the example runs it.
const exampleFile = (name: string) =>
  new URL(`../../examples/session-manager/${name}.mjs`, import.meta.url);
const { createSessionManager } = await import(exampleFile("session-manager").href);
const { agentSdkRunner } = await import(exampleFile("agent-sdk").href);
const { toolAgentRunner } = await import(exampleFile("claude-code-tool-agent").href);
const { ScriptedAgent } = await import(exampleFile("scripted-agent").href);

const workspace = useWorkspace();
const registryHere = useRegistries(workspace, { toolsets: ["project", "diagnostic"] });
const modelThatSays = useModels();

type Event = { type: string; data: Record<string, unknown> };

/** Runs a conversation to its end and returns its events. */
async function eventsOf(runAgent: object, prompt: string, onEvent?: (event: Event) => void) {
  const manager = createSessionManager({ toolRegistry: registryHere(), runAgent } as never);
  const events: Event[] = [];
  const id = manager.start({
    prompt,
    projectPath: workspace.root,
    onEvent: (event: Event) => {
      events.push(event);
      onEvent?.(event);
      if (event.type === "tool_use" && prompt.startsWith("diagnostic_sleep")) manager.cancel(id);
    },
  });
  const state = await manager.ended(id);
  return { events, state, types: events.map(({ type }) => type) };
}

describe("the session manager", () => {
  test("forwards the events of an agent with ClaudeCodeToolAgent's interface", async () => {
    workspace.write("a.txt", "hello\n");
    const { events, types, state } = await eventsOf(
      toolAgentRunner(ScriptedAgent),
      'workspace-info\nfile-reader {"path":"a.txt"}\nno-such-tool',
    );
    const call = ["tool_use", "tool_result"];
    expect(types).toEqual([...call, ...call, "tool_use", "error", "message", "completed"]);
    expect(JSON.stringify(events[3]?.data)).toContain("hello");
    expect(state).toBe("completed");
  });

  test("cancels a conversation, and its running call", async () => {
    const { types, state } = await eventsOf(
      toolAgentRunner(ScriptedAgent),
      'diagnostic_sleep {"ms":600000}',
    );
    expect(state).toBe("cancelled");
    expect(types.at(-1)).toBe("cancelled");
  });

  test("reports that an agent failed", async () => {
    const broken = () => Promise.reject(new Error("no account"));
    const { events, state } = await eventsOf(broken, "");
    expect(state).toBe("failed");
    expect(events[0]).toMatchObject({ type: "error", data: { message: "no account" } });
  });

  test("continues when a listener fails, and listeners can be removed after the end", async () => {
    const told = vi.spyOn(console, "error").mockImplementation(() => {});
    const runAgent = toolAgentRunner(ScriptedAgent);
    const manager = createSessionManager({ toolRegistry: registryHere(), runAgent } as never);
    const onEvent = () => {
      throw new Error("no connection");
    };
    const id = manager.start({ prompt: "workspace-info", projectPath: workspace.root, onEvent });
    const types: string[] = [];
    const remove = manager.subscribe(id, ({ type }: Event) => types.push(type));
    expect(await manager.ended(id)).toBe("completed");
    expect(types.at(-1)).toBe("completed");
    expect(remove()).toBe(true);
    expect(told).toHaveBeenCalled();
    told.mockRestore();
  });

  test("forwards the events of the Claude Agent SDK", async () => {
    workspace.write("a.txt", "hello\n");
    const model = await modelThatSays(
      [{ name: "mcp__toolwright__file-reader", id: "toolu_1", input: { path: "a.txt" } }],
      "It says hello.",
    );
    const env = agentEnvironment(model, workspace);
    const { events, types, state } = await eventsOf(agentSdkRunner(query, { env }), "Read a.txt.");
    expect(types).toEqual(["tool_use", "tool_result", "message", "completed"]);
    expect(JSON.stringify(events[1]?.data)).toContain("hello");
    expect(events[2]?.data).toEqual({ role: "assistant", text: "It says hello." });
    expect(state).toBe("completed");
  });

  test("runs from the command line", () => {
    const main = fileURLToPath(exampleFile("main"));
    const output = execFileSync(process.execPath, [main], { encoding: "utf8" });
    expect(output).toContain('tool_use {"toolUseId":"call_1","name":"workspace-info"');
    expect(output).toMatch(/completed \{\}\n$/);
  });
});
