// The built-in spawner: real agents of the Claude Agent SDK, whose model runs on the loopback interface.
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { query } from "@anthropic-ai/claude-agent-sdk";
import { describe, expect, test } from "vitest";
import { agentSdkSpawner } from "../../lib/host/agent-sdk.mjs";
import type { AgentSdkSpawnerOptions } from "../../lib/host/agent-sdk.js";
import type { CallResult, ToolProgress, ToolRegistryOptions } from "../../index.js";
import { agentEnvironment } from "../support/agent-environment.js";
import { useAgentProcesses } from "../support/agent-processes.js";
import { type LoopbackMessagesApi, useModels } from "../support/loopback-messages-api.js";
import { aborted, deferred, rejection } from "../support/promises.js";
import { useAskingRegistries } from "../support/registries.js";
import { texts } from "../support/results.js";
import { root } from "../support/runtimes.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const modelThatSays = useModels();
const registryOf = useAskingRegistries(workspace);
const agents = useAgentProcesses();

const TASK = { description: "look", prompt: "Use the tools.", subagent_type: "general-purpose" };
const MAIN = { sessionId: "main" };

/** A registry whose agents use the model. */
function registryWith(
  model: LoopbackMessagesApi,
  options: ToolRegistryOptions = {},
  spawner: AgentSdkSpawnerOptions = {},
) {
  const sdkOptions = {
    env: agentEnvironment(model, workspace),
    spawnClaudeCodeProcess: agents.start,
    ...spawner.sdkOptions,
  };
  return registryOf({
    toolsets: ["claude"],
    allowedTools: ["Agent"],
    handlers: { spawnAgent: agentSdkSpawner({ ...spawner, sdkOptions }) },
    ...options,
  });
}

function factsOf(result: CallResult) {
  return result._meta?.["toolwright/agent"] as {
    agentId: string;
    taskId: string;
    usage: Record<string, unknown>;
  };
}

const shown = (model: LoopbackMessagesApi, id: string) =>
  JSON.stringify(model.shownResults().get(id)?.content);

/** The tools that the agent's model can call, without those that it would have to search for. */
function toolsOf(model: LoopbackMessagesApi): string[] {
  const tools = (model.bodies.at(-1)?.tools ?? []).filter((it) => it.defer_loading !== true);
  return tools.map(({ name }) => name).sort();
}

describe("an agent of the Agent SDK", () => {
  test("works with the registry's tools in its own session, and returns its answer", async () => {
    const file_path = workspace.write("notes.txt", "alpha\n");
    const model = await modelThatSays(
      [{ name: "mcp__toolwright__Read", id: "toolu_1", input: { file_path } }],
      "It says alpha.",
    );
    const registry = registryWith(model, { permissionMode: "bypassPermissions" });
    const news: ToolProgress[] = [];
    const result = await registry.call(
      "Agent",
      { ...TASK, model: "haiku", max_turns: 4 },
      { ...MAIN, onProgress: (it) => news.push(it) },
    );
    expect(texts(result)[0]).toBe("It says alpha.");
    expect(shown(model, "toolu_1")).toContain("alpha");
    expect(model.bodies.at(-1)?.model).toMatch(/haiku/);
    expect(factsOf(result).usage).toMatchObject({ turns: 2 });
    expect(news).toContainEqual({ type: "step", progress: 1, message: "mcp__toolwright__Read" });
    // The agent's session has read the file; the conversation that started it has not.
    const write = await registry.call("Write", { file_path, content: "x" }, MAIN);
    expect(write.error?.type).toBe("NotReadError");
  });

  test("has only the registry's tools", async () => {
    const model = await modelThatSays("Nothing to do.");
    const registry = registryWith(model, { disallowedTools: ["Bash"] });
    await registry.call("Agent", TASK, MAIN);
    const names = toolsOf(model);
    expect(names.sort()).toEqual(registry.getAllowedToolNames().sort());
    expect(names).not.toContain("mcp__toolwright__Bash");
  });

  test("is limited to the rights of the conversation that started it", async () => {
    const file_path = workspace.path("a.txt");
    const model = await modelThatSays(
      [
        { name: "mcp__toolwright__Write", id: "toolu_1", input: { file_path, content: "x" } },
        { name: "mcp__toolwright__Bash", id: "toolu_2", input: { command: "touch b.txt" } },
        { name: "Bash", id: "toolu_3", input: { command: "touch c.txt" } },
      ],
      "I could not.",
    );
    const registry = registryWith(model, { permissionMode: "bypassPermissions" });
    const requests: string[] = [];
    registry.messageBus.on("request", ({ id, details }) => {
      requests.push(details.toolName);
      registry.messageBus.respondToConfirmation({ id, approved: details.toolName === "Agent" });
    });
    registry.setPermissionMode("plan", MAIN);
    const result = await registry.call("Agent", { ...TASK, mode: "bypassPermissions" }, MAIN);
    expect(texts(result)[0]).toBe("I could not.");
    expect(requests).toEqual(["Agent", "Bash"]);
    expect(shown(model, "toolu_1")).toContain("while a plan is made, nothing is changed");
    expect(shown(model, "toolu_2")).toContain("the user said no");
    for (const name of ["a.txt", "b.txt", "c.txt"]) {
      expect(existsSync(workspace.path(name))).toBe(false);
    }
  });

  test("starts agents itself, up to the limit", async () => {
    const input = { ...TASK, prompt: "Go deeper." };
    const model = await modelThatSays(
      [{ name: "mcp__toolwright__Agent", id: "toolu_1", input }],
      "Deep enough.",
    );
    const limits = { maxAgentDepth: 2 };
    const registry = registryWith(model, { limits, permissionMode: "bypassPermissions" });
    const result = await registry.call("Agent", TASK, MAIN);
    expect(texts(result)[0]).toBe("Deep enough.");
    const results = model.bodies.map((body) => JSON.stringify(body.messages));
    expect(results.some((it) => it.includes("nested 2 deep at most"))).toBe(true);
    expect(shown(model, "toolu_1")).toContain("Deep enough.");
  });

  test("is resumed with its earlier messages", async () => {
    const model = await modelThatSays("First answer.", "Second answer.");
    const registry = registryWith(model);
    const { agentId } = factsOf(await registry.call("Agent", TASK, MAIN));
    const input = { ...TASK, prompt: "And now?", resume: agentId };
    const again = await registry.call("Agent", input, MAIN);
    expect(texts(again)[0]).toBe("Second answer.");
    const said = JSON.stringify(model.bodies.at(-1)?.messages);
    expect(said).toContain("First answer.");
    expect(said).toContain("And now?");
  });

  test("that was stopped is resumed with its earlier messages", async () => {
    const model = await modelThatSays(
      [{ name: "mcp__toolwright__hang", id: "toolu_1", input: {} }],
      // The process may send one more request before it ends.
      "An answer.",
      "An answer.",
    );
    const registry = registryWith(model, { permissionMode: "bypassPermissions" });
    const started = deferred();
    registry.register({
      name: "hang",
      handler: () => {
        started.resolve();
        return new Promise(() => {});
      },
    });
    const first = await registry.call("Agent", { ...TASK, run_in_background: true }, MAIN);
    await started.promise;
    const { agentId, taskId } = factsOf(first);
    await registry.call("TaskStop", { task_id: taskId }, MAIN);
    await agents.ended();
    const input = { ...TASK, prompt: "And now?", resume: agentId };
    const again = await registry.call("Agent", input, MAIN);
    expect(texts(again)[0]).toBe("An answer.");
    const said = JSON.stringify(model.bodies.at(-1)?.messages);
    expect(said).toContain("Use the tools.");
    expect(said).toContain("And now?");
  });

  test("that takes too many turns says so, with its result so far", async () => {
    const read = (id: string) => ({
      name: "mcp__toolwright__Glob",
      id,
      input: { pattern: "*" },
    });
    const model = await modelThatSays([read("toolu_1")], [read("toolu_2")], "Done.");
    const registry = registryWith(model);
    const result = await registry.call("Agent", { ...TASK, max_turns: 1 }, MAIN);
    expect(result.error?.type).toBe("AgentError");
    expect(texts(result)[0]).toMatch(/the agent was stopped after \d+ turns/);
  });

  test("in the background is stopped by TaskStop, with its process", async () => {
    const started = deferred<AbortSignal>();
    const model = await modelThatSays([
      { name: "mcp__toolwright__hang", id: "toolu_1", input: {} },
    ]);
    const registry = registryWith(model, { permissionMode: "bypassPermissions" });
    registry.register({
      name: "hang",
      handler: (_input, { signal }) => {
        if (signal !== undefined) started.resolve(signal);
        return new Promise(() => {});
      },
    });
    const result = await registry.call("Agent", { ...TASK, run_in_background: true }, MAIN);
    const signal = await started.promise;
    const { taskId } = factsOf(result);
    const stopped = await registry.call("TaskStop", { task_id: taskId }, MAIN);
    expect(stopped.error).toBeUndefined();
    await aborted(signal);
    expect(registry.tasks()).toMatchObject([{ id: taskId, kind: "agent", state: "stopped" }]);
    await agents.ended();
  });

  test("is aborted together with the call", async () => {
    const started = deferred();
    const model = await modelThatSays([
      { name: "mcp__toolwright__hang", id: "toolu_1", input: {} },
    ]);
    const registry = registryWith(model, { permissionMode: "bypassPermissions" });
    registry.register({
      name: "hang",
      handler: () => {
        started.resolve();
        return new Promise(() => {});
      },
    });
    const controller = new AbortController();
    const call = rejection(registry.call("Agent", TASK, { ...MAIN, signal: controller.signal }));
    await started.promise;
    controller.abort();
    expect(await call).toMatchObject({ type: "Cancelled" });
    await agents.ended();
  });

  test("of a kind has only that kind's prompt and tools", async () => {
    const model = await modelThatSays("Looked.");
    const agents = { reader: { prompt: "You only read.", tools: ["Read", "Grep"] } };
    const registry = registryWith(model, {}, { agents });
    await registry.call("Agent", { ...TASK, subagent_type: "reader" }, MAIN);
    const body = model.bodies.at(-1) as { system?: unknown };
    expect(JSON.stringify(body.system)).toContain("You only read.");
    expect(toolsOf(model)).toEqual(["mcp__toolwright__Grep", "mcp__toolwright__Read"]);
    const { error } = await registry.call("Agent", { ...TASK, subagent_type: "writer" }, MAIN);
    expect(error?.message).toBe(
      "no agent is of the kind `writer`; there are `reader`, `general-purpose`",
    );
  });
});

describe("agentSdkSpawner", () => {
  test.each(["tools", "mcpServers", "permissionMode", "allowedTools", "settingSources", "agents"])(
    "refuses %s, with which an agent could bypass the registry",
    (name) => {
      const sdkOptions = { [name]: [] };
      expect(() => agentSdkSpawner({ sdkOptions })).toThrow(
        expect.objectContaining({ type: "InvalidOptions" }),
      );
    },
  );

  test.each([[7, {}], ["x", {}], [{ query: 7 }], [{ agents: 7 }], [{ models: null }]])(
    "refuses invalid arguments: %j %j",
    (...args) => {
      const spawner = agentSdkSpawner as (...args: unknown[]) => unknown;
      expect(() => spawner(...args)).toThrow(expect.objectContaining({ type: "InvalidOptions" }));
    },
  );

  test("uses the `query` that is passed to it", async () => {
    const model = await modelThatSays("Mine.");
    let calls = 0;
    const registry = registryWith(
      model,
      {},
      {
        query: (parameters) => {
          calls += 1;
          return query(parameters);
        },
      },
    );
    expect(texts(await registry.call("Agent", TASK, MAIN))[0]).toBe("Mine.");
    expect(calls).toBe(1);
  });

  test("is the same with require and import", () => {
    const required = createRequire(import.meta.url)("../../lib/host/agent-sdk.js");
    expect(required.agentSdkSpawner).toBe(agentSdkSpawner);
    const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    expect(exports["./agent-sdk"]).toMatchObject({
      import: { default: "./lib/host/agent-sdk.mjs" },
      require: { default: "./lib/host/agent-sdk.js" },
    });
  });
});

describe("a registry without a spawner", () => {
  /** The package in a separate directory, with or without the Agent SDK installed. */
  function installed(withSdk: boolean): string {
    const place = workspace.path("host/node_modules");
    const home = join(place, "toolwright");
    mkdirSync(home, { recursive: true });
    for (const name of ["index.js", "index.mjs", "lib", "native", "package.json"]) {
      cpSync(join(root, name), join(home, name), { recursive: true });
    }
    if (withSdk) {
      mkdirSync(join(place, "@anthropic-ai"));
      const sdk = "@anthropic-ai/claude-agent-sdk";
      symlinkSync(join(root, "node_modules", sdk), join(place, sdk));
    }
    return pathToFileURL(join(home, "index.mjs")).href;
  }

  test("uses the Agent SDK where it is installed", async () => {
    const model = await modelThatSays("Out of the box.");
    const kept = { ...process.env };
    // A registry without a spawner uses the environment of the process.
    Object.assign(process.env, agentEnvironment(model, workspace));
    try {
      const registry = registryOf({ toolsets: ["claude"], allowedTools: ["Agent"] });
      const result = await registry.call("Agent", TASK, MAIN);
      expect(texts(result)[0]).toBe("Out of the box.");
    } finally {
      for (const name of Object.keys(process.env)) {
        if (!(name in kept)) delete process.env[name];
      }
      Object.assign(process.env, kept);
    }
  });

  test("says how to get agents where it is not installed", async () => {
    const { createToolRegistry } = await import(installed(false));
    const registry = createToolRegistry({
      projectPath: workspace.root,
      userPolicyFile: false,
      allowedTools: ["Agent"],
    });
    const { error } = await registry.call("Agent", TASK);
    expect(error).toMatchObject({
      type: "AgentError",
      message: "no agent can be started here; do the work yourself",
    });
    expect(error.details.howToAllow).toContain("handlers.spawnAgent");
    expect(error.details.howToAllow).toContain("@anthropic-ai/claude-agent-sdk");
    await registry.close();
  });
});
