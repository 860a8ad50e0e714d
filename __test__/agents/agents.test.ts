// Agents that the tool `Agent` starts. A function of the host runs them.
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ToolError } from "../../index.mjs";
import type {
  AgentContext,
  AgentRequest,
  CallResult,
  SpawnAgent,
  ToolProgress,
  ToolRegistry,
} from "../../index.js";
import { PNG } from "../support/pictures.js";
import { alive, eventually, marker } from "../support/processes.js";
import { aborted, deferred, rejection } from "../support/promises.js";
import { useRegistries } from "../support/registries.js";
import { texts } from "../support/results.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace, { toolsets: ["claude"] });

const TASK = { description: "look around", prompt: "Look around.", subagent_type: "explorer" };

function registryWith(spawnAgent: SpawnAgent, options: object = {}): ToolRegistry {
  return registryHere({ handlers: { spawnAgent }, ...options });
}

interface AgentFacts {
  agentId: string;
  taskId: string;
  state: string;
  usage?: object;
}

function factsOf(result: CallResult): AgentFacts {
  return result._meta?.["toolwright/agent"] as AgentFacts;
}

/** Starts an agent in the background and returns the facts about it. */
async function inBackground(registry: ToolRegistry, input: object = {}): Promise<AgentFacts> {
  const result = await registry.call("Agent", { ...TASK, run_in_background: true, ...input });
  expect(result.error).toBeUndefined();
  return factsOf(result);
}

describe("an agent in the foreground", () => {
  test("gets everything that the model asked for, and its answer is the result", async () => {
    const calls: [AgentRequest, AgentContext][] = [];
    const registry = registryWith((request, context) => {
      calls.push([request, context]);
      return { text: "All is well.", usage: { tokens: 7 } };
    });
    const input = {
      ...TASK,
      model: "haiku",
      max_turns: "5",
      name: "scout",
      mode: "plan",
      run_in_background: false,
    };
    const alias: string = "Task";
    const result = await registry.call(alias, input, { sessionId: "main", toolUseId: "t1" });
    const [[request, context] = []] = calls;
    expect(request).toEqual({ ...input, max_turns: 5 });
    expect(context).toMatchObject({
      parentSessionId: "main",
      toolUseId: "t1",
      depth: 1,
      background: false,
      projectPath: workspace.root,
      registry,
    });
    const { agentId, sessionId } = context ?? {};
    expect(agentId).toMatch(/^agent-[0-9a-f]{16}$/);
    expect(sessionId).toBe(agentId);
    expect(texts(result)).toEqual([
      "All is well.",
      `[agent \`${agentId}\` has ended; to continue it, call this tool with resume \`${agentId}\`]`,
    ]);
    expect(result.structuredContent).toMatchObject({
      agentId,
      subagentType: "explorer",
      state: "completed",
      usage: { tokens: 7 },
    });
    expect(registry.tasks()).toEqual([]);
  });

  test.each<[string, unknown, string[]]>([
    ["a text", "done", ["done"]],
    ["nothing", undefined, ["(the agent gave no answer)"]],
    ["an empty text", "", ["(the agent gave no answer)"]],
    ["blanks alone", { text: " \n" }, ["(the agent gave no answer)"]],
    ["content as text", { content: "done" }, ["done"]],
    [
      "blocks",
      {
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      },
      ["a", "b"],
    ],
  ])("may answer with %s", async (_what, answer, shown) => {
    const registry = registryWith(() => answer as string);
    const result = await registry.call("Agent", TASK);
    expect(result.error).toBeUndefined();
    expect(texts(result).slice(0, -1)).toEqual(shown);
  });

  test("may answer with images, and content that is no image is reported", async () => {
    const image = (data: string) => ({ type: "image" as const, data, mimeType: "image/gif" });
    const content = [image(PNG), image("no base64"), image(btoa("no image"))];
    const result = await registryWith(() => ({ content })).call("Agent", TASK);
    expect(result.content[0]).toEqual({ type: "image", data: PNG, mimeType: "image/png" });
    const words = result.content.slice(1, -1).map((it) => (it.type === "text" ? it.text : ""));
    expect(words).toEqual([
      expect.stringMatching(/^\[an image of the agent \(image\/gif\) is not shown: .*base64/),
      expect.stringMatching(/^\[an image of the agent \(image\/gif\) is not shown: /),
    ]);
  });

  test("cannot make its facts unbounded", async () => {
    const usage = { words: "x".repeat(100_000) };
    const result = await registryWith(() => ({ text: "done", usage })).call("Agent", TASK);
    expect(factsOf(result).usage).toBeUndefined();
    expect(texts(result)[0]).toBe("done");
  });

  test.each<[string, unknown]>([
    ["a number", 7],
    ["an array", ["done"]],
    ["invalid content", { content: 7 }],
    ["an invalid block", { content: [{ type: "video" }] }],
    ["an invalid text", { text: 7 }],
  ])("that answers with %s has failed", async (_what, answer) => {
    const registry = registryWith(() => answer as string);
    const result = await registry.call("Agent", TASK);
    expect(result.error?.type).toBe("AgentError");
    expect(result.error?.message).toContain("`handlers.spawnAgent` gave an answer");
  });

  test("that throws has failed, with its message", async () => {
    const registry = registryWith(() => {
      throw new Error("out of credit");
    });
    const result = await registry.call("Agent", TASK);
    expect(result.isError).toBe(true);
    expect(result.error).toMatchObject({ type: "ToolFailed", message: "out of credit" });
    expect(texts(result).at(-1)).toMatch(/failed: out of credit; to continue it/);
  });

  test("that reports a failure keeps its text", async () => {
    const registry = registryWith(() => ({ text: "half of it", isError: true }));
    const result = await registry.call("Agent", TASK);
    expect(result.error?.type).toBe("AgentError");
    expect(texts(result)[0]).toBe("half of it");
    expect(factsOf(result).state).toBe("failed");
  });

  test("shows its progress while it works, and nothing after the call", async () => {
    const late = deferred<AgentContext>();
    const registry = registryWith(async (_request, context) => {
      context.updateOutput("one\n");
      context.reportProgress({ progress: 1, total: 2, message: "half" });
      late.resolve(context);
      await aborted(context.signal);
      context.updateOutput("too late\n");
      return "stopped";
    });
    const news: ToolProgress[] = [];
    const controller = new AbortController();
    const call = rejection(
      registry.call("Agent", TASK, {
        signal: controller.signal,
        onProgress: (it) => news.push(it),
      }),
    );
    await late.promise;
    await eventually(() => news.length >= 3, 60_000);
    controller.abort();
    expect(await call).toMatchObject({ type: "Cancelled" });
    await registry.close();
    expect(news.filter(({ type }) => type === "output")).toEqual([
      { type: "output", text: "one\n" },
    ]);
    expect(news).toContainEqual({ type: "step", progress: 1, total: 2, message: "half" });
  });

  test("is aborted together with the call", async () => {
    const started = deferred<AgentContext>();
    const registry = registryWith((_request, context) => {
      started.resolve(context);
      return new Promise(() => {});
    });
    const controller = new AbortController();
    const call = rejection(registry.call("Agent", TASK, { signal: controller.signal }));
    const { signal, sessionId } = await started.promise;
    controller.abort(new Error("enough"));
    await aborted(signal);
    expect(await call).toMatchObject({ type: "Cancelled", cause: new Error("enough") });
    const after = await registry.call("Glob", { pattern: "*" }, { sessionId });
    expect(after.error).toMatchObject({ type: "AgentError" });
  });

  test("that never answers ends at its time limit", async () => {
    const limits = { agentTimeoutMs: 50 };
    const registry = registryWith(() => new Promise(() => {}), { limits, shell: { graceMs: 10 } });
    const result = await registry.call("Agent", TASK);
    expect(result.error).toMatchObject({ type: "TimeoutError" });
    expect(factsOf(result).state).toBe("stopped");
  });

  test.each<[string, object, RegExp]>([
    ["no prompt", { prompt: undefined }, /prompt/],
    ["a blank prompt", { prompt: " \n" }, /`prompt` is blank/],
    ["another model", { model: "gpt" }, /model/],
    ["no turns", { max_turns: 0 }, /max_turns/],
    ["half a turn", { max_turns: 1.5 }, /max_turns/],
    ["another mode", { mode: "yolo" }, /mode/],
    ["an internal mode", { mode: "planDontAsk" }, /mode/],
    ["a team without a name", { team_name: "crew" }, /`name` is missing/],
    ["an unknown parameter", { tools: ["Read"] }, /tools/],
  ])("is not started with %s", async (_what, input, words) => {
    let calls = 0;
    const registry = registryWith(() => void (calls += 1));
    const { error } = await registry.call("Agent", { ...TASK, ...input });
    expect(error?.type).toBe("ValidationError");
    expect(error?.message).toMatch(words);
    expect(calls).toBe(0);
  });

  test("needs confirmation unless a rule allows it", async () => {
    let calls = 0;
    const registry = registryWith(() => void (calls += 1), { permissionMode: "default" });
    const { error } = await registry.call("Agent", TASK);
    expect(error?.type).toBe("PolicyDenied");
    registry.messageBus.on("request", ({ id, details }) => {
      expect(details).toMatchObject({ toolName: "Agent", risk: "high" });
      expect(details.description).toContain("Look around.");
      registry.messageBus.respondToConfirmation({ id, approved: true });
    });
    expect((await registry.call("Agent", TASK)).error).toBeUndefined();
    expect(calls).toBe(1);
  });
});

describe("an agent in the background", () => {
  test("is a task that can be read, and ends with its answer", async () => {
    const go = deferred();
    const registry = registryWith(async (_request, context) => {
      context.updateOutput("working\n");
      await go.promise;
      return { content: "the end", agentId: "mine" };
    });
    const { agentId, taskId } = await inBackground(registry);
    expect(registry.tasks()).toMatchObject([
      { id: taskId, kind: "agent", agentId, state: "running", command: "Look around." },
    ]);
    await eventually(() => registry.tasks()[0]?.outputBytes === 8, 60_000);
    const first = await registry.call("TaskOutput", { task_id: taskId, block: false });
    expect(texts(first)[0]).toBe(
      `task \`${taskId}\` is running\n\nworking\n[output from byte 0 to 8, all so far]`,
    );
    go.resolve();
    const last = await registry.call("TaskOutput", { task_id: taskId });
    expect(texts(last)[0]).toBe(
      `task \`${taskId}\` completed\n\nthe end\n[output from byte 8 to 16, all so far]`,
    );
    expect(registry.tasks()).toMatchObject([{ state: "completed", kind: "agent" }]);
    expect(registry.tasks()[0]).not.toHaveProperty("exitCode");
  });

  test("is reported by events, each once", async () => {
    const registry = registryWith(() => "done");
    const events = registry.taskEvents();
    const { taskId } = await inBackground(registry);
    expect((await events.next()).value).toMatchObject({
      sequence: 1,
      type: "started",
      task: { id: taskId, kind: "agent", state: "running" },
    });
    expect((await events.next()).value).toMatchObject({
      sequence: 2,
      type: "ended",
      task: { id: taskId, kind: "agent", state: "completed" },
    });
  });

  test("that throws has failed", async () => {
    const registry = registryWith(() => Promise.reject(new ToolError("HttpError", "no network")));
    const { taskId } = await inBackground(registry);
    const result = await registry.call("TaskOutput", { task_id: taskId });
    expect(texts(result)[0]).toContain(`task \`${taskId}\` failed: no network`);
    expect(registry.tasks()).toMatchObject([{ state: "failed" }]);
  });

  test("is stopped by TaskStop, and its last output is kept", async () => {
    const registry = registryWith(async (_request, context) => {
      await aborted(context.signal);
      return "I got half way";
    });
    const { taskId } = await inBackground(registry);
    const stopped = await registry.call("TaskStop", { task_id: taskId });
    expect(texts(stopped)[0]).toBe(
      `task \`${taskId}\` stopped; so was everything that its agent had started`,
    );
    const output = await registry.call("TaskOutput", { task_id: taskId });
    expect(texts(output)[0]).toContain("I got half way");
    const again = await registry.call("TaskStop", { task_id: taskId });
    expect(texts(again)[0]).toContain("it was already stopped");
  });

  test("that never answers is stopped too", async () => {
    const registry = registryWith(() => new Promise(() => {}), { shell: { graceMs: 10 } });
    const { taskId } = await inBackground(registry);
    await registry.call("TaskStop", { task_id: taskId });
    expect(registry.tasks()).toMatchObject([{ id: taskId, state: "stopped" }]);
  });

  test("ends neither with the call that started it nor with its signal", async () => {
    const go = deferred();
    const registry = registryWith(() => go.promise.then(() => "done"));
    const controller = new AbortController();
    const result = await registry.call(
      "Agent",
      { ...TASK, run_in_background: true },
      { signal: controller.signal },
    );
    controller.abort();
    expect(registry.tasks()).toMatchObject([{ state: "running" }]);
    go.resolve();
    const { taskId } = factsOf(result);
    const output = await registry.call("TaskOutput", { task_id: taskId });
    expect(texts(output)[0]).toContain("done");
  });

  test("does not exist for other conversations", async () => {
    const registry = registryWith(() => "done");
    const { taskId } = await inBackground(registry);
    const foreign = { sessionId: "other" };
    const read = await registry.call("TaskOutput", { task_id: taskId }, foreign);
    expect(read.error?.type).toBe("TaskNotFoundError");
  });

  test("is aborted when the registry closes, and close() waits for it", async () => {
    const ended: string[] = [];
    const registry = registryWith(async (_request, context) => {
      await aborted(context.signal);
      await new Promise(setImmediate);
      ended.push(context.agentId);
    });
    const agents = await Promise.all([inBackground(registry), inBackground(registry)]);
    await registry.close();
    expect(ended.sort()).toEqual(agents.map(({ agentId }) => agentId).sort());
  });

  test("that never answers does not prevent the registry from closing", async () => {
    const registry = registryWith(() => new Promise(() => {}), { shell: { graceMs: 10 } });
    await inBackground(registry);
    const foreground = registry.call("Agent", TASK);
    await registry.close();
    expect((await foreground).error?.type).toBe("RegistryClosed");
  });

  test("leaves nothing behind after a thousand runs", { timeout: 600_000 }, async () => {
    const registry = registryWith(async (_request, { registry, sessionId, updateOutput }) => {
      const { error } = await registry.call("Glob", { pattern: "*" }, { sessionId });
      updateOutput(error?.message ?? "found");
      return "done";
    });
    const files: (string | undefined)[] = [];
    for (let round = 0; round < 100; round += 1) {
      const agents = await Promise.all(Array.from({ length: 10 }, () => inBackground(registry)));
      const reads = agents.map(({ taskId }) => registry.call("TaskOutput", { task_id: taskId }));
      for (const result of await Promise.all(reads)) expect(texts(result)[0]).toContain("done");
      files.push(registry.tasks()[0]?.outputFile);
    }
    const kept = registry.tasks();
    expect(kept).toHaveLength(256);
    expect(kept.every(({ state }) => state === "completed")).toBe(true);
    // The oldest agents are removed, with their files.
    expect(existsSync(files[0] ?? "")).toBe(false);
    await registry.close();
    expect(existsSync(kept.at(-1)?.outputFile ?? "")).toBe(false);
  });
});

describe("an agent that has ended", () => {
  test("is resumed by its id or by the host's id", async () => {
    const resumed: (string | undefined)[] = [];
    const sessions: string[] = [];
    const registry = registryWith((request, { sessionId }) => {
      resumed.push(request.resume);
      sessions.push(sessionId);
      return { text: "done", agentId: `sdk-${resumed.length}` };
    });
    const { agentId } = factsOf(await registry.call("Agent", TASK));
    for (const resume of [agentId, "sdk-2"]) {
      const again = await registry.call("Agent", { ...TASK, resume });
      expect(factsOf(again).agentId).toBe(agentId);
    }
    expect(resumed).toEqual([undefined, "sdk-1", "sdk-2"]);
    expect(new Set(sessions)).toEqual(new Set([agentId]));
  });

  test("still has its record of read files when it is resumed", async () => {
    const file = workspace.write("a.txt", "one\n");
    const results: (string | undefined)[] = [];
    const registry = registryWith(async (request, { registry, sessionId }) => {
      const call = (name: string, input: object) => registry.call(name, input, { sessionId });
      if (request.resume === undefined) await call("Read", { file_path: file });
      else results.push((await call("Write", { file_path: file, content: "two\n" })).error?.type);
      return "done";
    });
    const { agentId } = factsOf(await registry.call("Agent", TASK));
    await registry.call("Agent", { ...TASK, resume: agentId });
    const elsewhere = await registry.call("Write", { file_path: file, content: "three\n" });
    expect([results, elsewhere.error?.type]).toEqual([[undefined], "NotReadError"]);
  });

  test("is not known to other conversations, and an error for an unknown id lists the known ones", async () => {
    const registry = registryWith(() => "done");
    const { agentId } = factsOf(await registry.call("Agent", TASK));
    const wrong = await registry.call("Agent", { ...TASK, resume: "agent-1" });
    expect(wrong.error).toMatchObject({
      type: "AgentError",
      message: `no agent of this conversation has the id \`agent-1\`; the latest are \`${agentId}\` (look around)`,
    });
    const foreign = await registry.call(
      "Agent",
      { ...TASK, resume: agentId },
      { sessionId: "other" },
    );
    expect(foreign.error?.message).toMatch(/no agent can be resumed/);
  });

  test("cannot be resumed while it runs", async () => {
    const registry = registryWith(() => new Promise(() => {}), { shell: { graceMs: 10 } });
    const { agentId } = await inBackground(registry);
    const { error } = await registry.call("Agent", { ...TASK, resume: agentId });
    expect(error?.message).toMatch(/still running/);
  });

  test("ends its commands and the agents that it started", async () => {
    const mark = marker();
    const inner = deferred<AgentContext>();
    const registry = registryWith(async (request, context) => {
      const { registry, sessionId, signal } = context;
      if (request.subagent_type === "inner") {
        inner.resolve(context);
        await aborted(signal);
        return "stopped";
      }
      const command = `sleep ${mark}`;
      await registry.call("Bash", { command, run_in_background: true }, { sessionId });
      const input = { ...TASK, subagent_type: "inner", run_in_background: true };
      await registry.call("Agent", input, { sessionId });
      await inner.promise;
      return "done";
    });
    await registry.call("Agent", TASK);
    const { signal, depth } = await inner.promise;
    expect([signal.aborted, depth]).toEqual([true, 2]);
    expect(registry.tasks().map(({ state }) => state)).toEqual(["stopped", "stopped"]);
    expect(await eventually(() => alive(mark).length === 0, 60_000)).toBe(true);
  });
});

describe("limits", () => {
  test("agents nest only up to the limit", async () => {
    const errors: (string | undefined)[] = [];
    const depths: number[] = [];
    const registry = registryWith(
      async (_request, { registry, sessionId, depth }) => {
        depths.push(depth);
        const { error } = await registry.call("Agent", TASK, { sessionId });
        errors.push(error?.message);
        return "done";
      },
      { limits: { maxAgentDepth: 2 } },
    );
    expect((await registry.call("Agent", TASK)).error).toBeUndefined();
    expect(depths).toEqual([1, 2]);
    expect(errors).toEqual([
      "agents may be nested 2 deep at most, and you are an agent of that depth; do the work yourself",
      undefined,
    ]);
  });

  test("only a limited number run at once", async () => {
    const go = deferred();
    const limits = { maxAgents: 2 };
    const registry = registryWith(() => go.promise.then(() => "done"), { limits });
    const { taskId } = await inBackground(registry);
    await inBackground(registry);
    const { error } = await registry.call("Agent", TASK);
    expect(error).toMatchObject({ type: "AgentError" });
    expect(error?.message).toMatch(/^2 agents are running already/);
    expect(error?.details?.howToAllow).toContain("limits.maxAgents");
    go.resolve();
    await registry.call("TaskOutput", { task_id: taskId });
    expect((await registry.call("Agent", TASK)).error).toBeUndefined();
  });

  test("an option turns agents off", async () => {
    const registry = registryWith(() => "done", { limits: { maxAgentDepth: 0 } });
    const { error } = await registry.call("Agent", TASK);
    expect(error?.message).toBe("no agents can be started here; do the work yourself");
  });
});

test("an agent has its own todos, and they are removed when it ends", async () => {
  const lists: unknown[] = [];
  const todo = (content: string) => ({
    todos: [{ content, status: "pending" as const, activeForm: content }],
  });
  const registry = registryWith(async (request, { registry, sessionId }) => {
    const { structuredContent } = await registry.call("TodoWrite", todo(request.prompt), {
      sessionId,
    });
    lists.push(structuredContent?.oldTodos);
    return "done";
  });
  await registry.call("TodoWrite", todo("mine"));
  const { agentId } = factsOf(await registry.call("Agent", TASK));
  await registry.call("Agent", { ...TASK, resume: agentId });
  const { structuredContent } = await registry.call("TodoWrite", todo("mine again"));
  expect([...lists, structuredContent?.oldTodos]).toEqual([[], [], todo("mine").todos]);
});
