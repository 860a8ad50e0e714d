// Teams of agents: real agents in JavaScript that send messages through the tools.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import fc from "fast-check";
import type {
  AgentContext,
  SpawnAgent,
  TeamMessage,
  ToolInputs,
  ToolRegistry,
} from "../../index.js";
import { connectClient } from "../support/mcp-clients.js";
import { deferred } from "../support/promises.js";
import { useAskingRegistries, useRegistries } from "../support/registries.js";
import { texts } from "../support/results.js";
import { useWorkspace } from "../support/workspace.js";

const SWITCH = "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS";
const TEAM_TOOLS = ["SendMessage", "TeamCreate", "TeamDelete"];

const workspace = useWorkspace();
const registryHere = useRegistries(workspace, { toolsets: ["claude", "diagnostic"] });
const askingRegistry = useAskingRegistries(workspace);

let before: string | undefined;
beforeEach(() => {
  before = process.env[SWITCH];
  process.env[SWITCH] = "1";
});
afterEach(() => {
  if (before === undefined) delete process.env[SWITCH];
  else process.env[SWITCH] = before;
});

type Message = ToolInputs["SendMessage"];

/** A team `red` with agents of this kind. */
async function teamOf(spawnAgent: SpawnAgent, options: object = {}) {
  const registry = registryHere({ handlers: { spawnAgent }, ...options });
  expect(texts(await registry.call("TeamCreate", { team_name: "red" }))).toEqual([
    "made the team `red`; you lead it as `team-lead`",
  ]);
  const start = async (name: string, more: Partial<ToolInputs["Agent"]> = {}) => {
    const result = await registry.call("Agent", {
      description: "A member",
      prompt: "Work.",
      subagent_type: "general-purpose",
      team_name: "red",
      name,
      run_in_background: true,
      ...more,
    });
    expect(result.error).toBeUndefined();
    return result;
  };
  return { registry, start };
}

async function send(registry: ToolRegistry, message: Message, sessionId?: string) {
  const result = await registry.call("SendMessage", message, { sessionId });
  return result.error === undefined ? texts(result)[0] : result.error.message;
}

/** An agent that answers every text with the same in capitals, and ends when it is asked to. */
async function shouter(_request: unknown, { registry, sessionId, messages }: AgentContext) {
  const heard = [];
  for await (const message of messages()) {
    heard.push(message.type);
    if (message.type === "shutdown_request") {
      const { requestId: request_id } = message;
      const type = "shutdown_response";
      await registry.call("SendMessage", { type, request_id, approve: true }, { sessionId });
    } else if (message.type !== "shutdown_response") {
      const content = message.content.toUpperCase();
      const recipient = message.from;
      await registry.call("SendMessage", { type: "message", recipient, content }, { sessionId });
    }
  }
  return heard.join(", ");
}

/** An agent that works until it is stopped. */
function worker(_request: unknown, { signal }: AgentContext): Promise<string> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve("stopped")));
}

describe("the tools of teams", () => {
  test.each(["1", "true", " TRUE "])("exist if the environment variable is %j", (value) => {
    process.env[SWITCH] = value;
    const names = registryHere().names();
    expect(names.filter((it) => TEAM_TOOLS.includes(it))).toEqual(TEAM_TOOLS);
  });

  test.each([undefined, "", "0", "false"])("do not exist if it is %j", async (value) => {
    if (value === undefined) delete process.env[SWITCH];
    else process.env[SWITCH] = value;
    const registry = registryHere();
    expect(registry.names().filter((it) => TEAM_TOOLS.includes(it))).toEqual([]);
    const { error } = await registry.call("TeamCreate", { team_name: "red" });
    expect(error?.type).toBe("UnknownTool");
  });

  test("need confirmation for a new team, and not for messages", async () => {
    const registry = askingRegistry({});
    expect((await registry.call("TeamCreate", { team_name: "red" })).error?.type).toBe(
      "PolicyDenied",
    );
    const message: Message = { type: "broadcast", content: "x" };
    expect(await send(registry, message)).toBe("you are in no team; make one first");
    expect(TEAM_TOOLS.map((it) => registry.isAllowed(it))).toEqual([true, false, true]);
  });

  test("report missing and superfluous parts of a message", async () => {
    const registry = registryHere();
    for (const [message, problem] of [
      [{ type: "message", content: "x" }, "missing parameter `recipient`, which this `type` needs"],
      [
        { type: "message", recipient: "a", content: " " },
        "missing parameter `content`, which this `type` needs",
      ],
      [
        { type: "broadcast", recipient: "a", content: "x" },
        "parameter `recipient`: a broadcast goes to every member; leave it out, or set `type` to `message`",
      ],
      [{ type: "shutdown_request" }, "missing parameter `recipient`, which this `type` needs"],
      [
        { type: "shutdown_response", request_id: "x" },
        "missing parameter `approve`, which this `type` needs",
      ],
      [
        { type: "shutdown_response", approve: true },
        "missing parameter `request_id`, which this `type` needs",
      ],
    ] as const) {
      const { error } = await registry.call("SendMessage", message);
      expect(error).toEqual({ type: "ValidationError", message: problem });
    }
  });
});

test("return a result for any input of a model, and nothing breaks", async () => {
  const { registry, start } = await teamOf(worker);
  await start("anna");
  const value = fc.oneof(
    fc.constantFrom("anna", "team-lead", "message", "broadcast", "shutdown_request"),
    fc.anything(),
    fc.string({ unit: "binary" }),
  );
  const message = fc.record(
    {
      type: fc.oneof(
        fc.constantFrom("message", "broadcast", "shutdown_request", "shutdown_response"),
        value,
      ),
      recipient: value,
      content: value,
      summary: value,
      request_id: value,
      approve: fc.oneof(fc.boolean(), value),
    },
    { requiredKeys: [] },
  );
  const team = fc.record({ team_name: value, description: value }, { requiredKeys: [] });
  const call = fc.oneof(
    message.map((input) => ["SendMessage", input] as const),
    team.map((input) => ["TeamCreate", input] as const),
    fc.anything().map((input) => ["TeamDelete", input] as const),
  );
  await fc.assert(
    fc.asyncProperty(call, async ([name, input]) => {
      const { error } = await registry.call(name as string, input);
      expect([undefined, "ValidationError", "TeamError"]).toContain(error?.type);
    }),
    { numRuns: 300 },
  );
  expect(await send(registry, { type: "message", recipient: "anna", content: "x" })).toMatch(
    /^sent to `anna`$|^nothing was sent: the mailbox of `anna` is full/,
  );
});

test("members answer their lead until they are asked to end, and then the team can be ended", async () => {
  const { registry, start } = await teamOf(shouter);
  const tasks = registry.taskEvents();
  await start("anna");
  await start("bert");
  const mail = registry.teamMessages();
  const message: Message = { type: "broadcast", content: "hello", summary: "a greeting" };
  expect(await send(registry, message)).toBe("sent to `anna`, `bert`");
  const answers = [await mail.next(), await mail.next()].map(({ value }) => value);
  const bySender = answers.sort((a, b) => a!.from.localeCompare(b!.from));
  expect(bySender).toMatchObject([
    { team: "red", from: "anna", type: "message", content: "HELLO" },
    { team: "red", from: "bert", type: "message", content: "HELLO" },
  ]);

  const refused = await registry.call("TeamDelete", {});
  expect(refused.error).toEqual({
    type: "TeamError",
    message:
      "the team `red` still has running members: `anna`, `bert`; ask each to end with a shutdown request, or stop it",
  });
  for (const recipient of ["anna", "bert"]) {
    const asked = await send(registry, { type: "shutdown_request", recipient });
    const id = /`(shutdown-\d+)`$/.exec(asked ?? "")?.[1];
    expect(asked).toBe(`asked \`${recipient}\` to end; the answer will name the request \`${id}\``);
    expect((await mail.next()).value).toMatchObject({
      from: recipient,
      type: "shutdown_response",
      requestId: id,
      approve: true,
    });
    expect(await send(registry, { type: "message", recipient, content: "x" })).toBe(
      `\`${recipient}\` has been shut down and receives no more messages`,
    );
  }
  const ended = [];
  for await (const { type, task } of tasks) {
    if (type === "ended" && ended.push(task.state) === 2) break;
  }
  expect(ended).toEqual(["completed", "completed"]);
  const deleted = await registry.call("TeamDelete", {});
  expect(texts(deleted)).toEqual(["the team `red` has ended; its members were `anna`, `bert`"]);
  expect(deleted.structuredContent).toEqual({ teamName: "red", members: ["anna", "bert"] });
  // The same session may lead another team, and its reader continues.
  await registry.call("TeamCreate", { team_name: "red" });
  await registry.close();
  expect(await mail.next()).toEqual({ done: true, value: undefined });
});

test("a session without a reader gets messages with the results of its calls", async () => {
  const written = deferred();
  const seen = deferred<string[]>();
  const { registry, start } = await teamOf(async (_request, { sessionId, registry: own }) => {
    await written.promise;
    const result = await own.call("diagnostic_echo", { text: "mine" }, { sessionId });
    seen.resolve(texts(result));
    await send(own, { type: "message", recipient: "team-lead", content: "done" }, sessionId);
    return "ended";
  });
  const ended = registry.taskEvents();
  await start("anna");
  await send(registry, { type: "message", recipient: "anna", content: "one\ntwo" });
  await send(registry, { type: "broadcast", content: "three" });
  const { structuredContent } = await registry.call("SendMessage", {
    type: "shutdown_request",
    recipient: "anna",
    content: "enough",
  });
  const { requestId } = structuredContent as { requestId: string };
  written.resolve();
  expect(await seen.promise).toEqual([
    "mine",
    "[message from `team-lead` to you]\none\ntwo",
    "[message from `team-lead` to the team]\nthree",
    `[\`team-lead\` asks you to end; answer with SendMessage, \`type\` shutdown_response, \`request_id\` ${requestId}]: enough`,
  ]);
  for await (const { type } of ended) if (type === "ended") break;
  expect(texts(await registry.call("TeamDelete", {}))).toEqual([
    "the team `red` has ended; its members were `anna`",
    "[message from `anna` to you]\ndone",
  ]);
});

test("a client that shows a model only the data shows it messages too", async () => {
  const { registry, start } = await teamOf(worker, { structuredContent: true });
  const { structuredContent: facts } = await start("anna");
  const { agentId: sessionId } = facts as { agentId: string };
  registry.register({
    name: "counted",
    handler: () => ({ content: [{ type: "text", text: "1" }], structuredContent: { count: 1 } }),
  });
  const { client } = await connectClient(registry.toMcpServerConfig({ sessionId }).instance);
  const asked = async (name: string, input: Record<string, unknown> = {}) => {
    await send(registry, { type: "message", recipient: "anna", content: `about ${name}` });
    const { structuredContent } = await client.callTool({ name, arguments: input });
    return structuredContent;
  };
  const mail = (name: string) =>
    expect.stringContaining(`[message from \`team-lead\` to you]\nabout ${name}`);
  await client.listTools();
  expect(await asked("TodoWrite", { todos: [] })).toEqual({ text: mail("TodoWrite") });
  expect(await asked("Glob", { pattern: "*" })).toMatchObject({ text: mail("Glob") });
  // Its content has the message, and there are no data to be shown instead.
  expect(await asked("counted")).toBeUndefined();
  const silent = await client.callTool({ name: "TodoWrite", arguments: { todos: [] } });
  expect(silent.structuredContent).toMatchObject({ newTodos: [] });
  await client.close();
});

test("a message to an agent that has ended waits until the agent is resumed", async () => {
  const { registry, start } = await teamOf(async (request, { sessionId, registry: own }) => {
    const result = await own.call("diagnostic_echo", { text: "mine" }, { sessionId });
    return { text: texts(result).join(" | "), isError: request.prompt === "" };
  });
  const first = await start("anna", { run_in_background: false });
  const { agentId } = first.structuredContent as { agentId: string };
  expect(await send(registry, { type: "message", recipient: "anna", content: "more" })).toBe(
    "sent to `anna`; not running: `anna`, which no agent reads now; it is kept until one is resumed under that name",
  );
  const resume = { resume: agentId, run_in_background: false };
  const again = await start("anna", { ...resume, team_name: undefined, name: undefined });
  expect(texts(again).join("\n")).toContain("mine | [message from `team-lead` to you]\nmore");
});

test("a stopped member does not prevent the team from ending", async () => {
  const { registry, start } = await teamOf(worker);
  const { structuredContent } = await start("anna");
  const { taskId } = structuredContent as { taskId: string };
  await registry.call("TaskStop", { task_id: taskId });
  expect(texts(await registry.call("TeamDelete", {}))).toEqual([
    "the team `red` has ended; its members were `anna`",
  ]);
});

test("a full mailbox is an error for the sender, and nothing is sent", async () => {
  const { registry, start } = await teamOf(worker);
  await start("anna");
  await start("bert");
  const message: Message = { type: "message", recipient: "anna", content: "x".repeat(100_000) };
  for (let sent = 0; sent < 10; sent += 1) {
    expect(await send(registry, message)).toBe("sent to `anna`");
  }
  const full =
    "nothing was sent: the mailbox of `anna` is full (at most 1000 messages and 1000000 bytes wait there); try again when messages were read";
  expect(await send(registry, message)).toBe(full);
  expect(await send(registry, { type: "broadcast", content: "x" })).toBe(full);
});

test("messages of each member arrive in order, whatever other members send", async () => {
  const count = 50;
  const { registry, start } = await teamOf(async (_request, { sessionId, registry: own }) => {
    for (let at = 0; at < count; at += 1) {
      const content = String(at);
      await send(own, { type: "message", recipient: "team-lead", content }, sessionId);
    }
    return "all sent";
  });
  const mail = registry.teamMessages();
  const names = ["anna", "bert", "cleo"];
  await Promise.all(names.map((name) => start(name)));
  const heard = new Map<string, string[]>(names.map((name) => [name, []]));
  let last = 0;
  for (let at = 0; at < count * names.length; at += 1) {
    const { value } = (await mail.next()) as { value: TeamMessage & { content: string } };
    expect(value.number).toBeGreaterThan(last);
    last = value.number;
    heard.get(value.from)?.push(value.content);
  }
  const wanted = Array.from({ length: count }, (_, at) => String(at));
  for (const name of names) expect(heard.get(name)).toEqual(wanted);
});

describe("an agent joins no team", () => {
  const start = (registry: ToolRegistry, more: object, sessionId?: string) =>
    registry.call(
      "Agent",
      {
        description: "A member",
        prompt: "Work.",
        subagent_type: "general-purpose",
        run_in_background: true,
        team_name: "red",
        name: "anna",
        ...more,
      },
      { sessionId },
    );

  test("that does not exist, with a name in use, or from a session that does not lead it", async () => {
    const { registry, start: begin } = await teamOf(worker);
    await begin("anna");
    for (const [more, sessionId, problem] of [
      [{ team_name: "blue" }, undefined, "there is no team named `blue`; teams: `red`"],
      [{}, undefined, "the team `red` has a member named `anna` already; choose another name"],
      [{ name: "b" }, "other", "there is no team named `red`; there are no teams"],
    ] as const) {
      const { error } = await start(registry, more, sessionId);
      expect(error).toEqual({ type: "TeamError", message: problem });
    }
    // A refused agent leaves nothing running.
    expect(registry.tasks().map(({ state }) => state)).toEqual(["running"]);
  });
});

describe("a reader", () => {
  test("ends with its signal, and messages come with results again", async () => {
    const { registry, start } = await teamOf(async (_request, { sessionId, registry: own }) => {
      await send(own, { type: "broadcast", content: "hello" }, sessionId);
      return "ended";
    });
    const controller = new AbortController();
    const mail = registry.teamMessages({ signal: controller.signal });
    const waiting = mail.next();
    controller.abort();
    expect(await waiting).toEqual({ done: true, value: undefined });
    const result = await start("anna", { run_in_background: false });
    expect(texts(result).at(-1)).toBe("[message from `anna` to the team]\nhello");
  });

  test("of a closed registry has nothing to read", async () => {
    const registry = registryHere();
    await registry.close();
    expect(await registry.teamMessages().next()).toEqual({ done: true, value: undefined });
  });

  test("with invalid arguments is refused", () => {
    const registry = registryHere();
    for (const options of [1, { sessionId: 1 }, { signal: "x" }]) {
      expect(() => registry.teamMessages(options as never)).toThrow(
        expect.objectContaining({ type: "InvalidOptions" }),
      );
    }
  });
});

test("closing the registry ends agents that wait for messages", async () => {
  const waiting = deferred();
  const ended = deferred<unknown>();
  const { registry, start } = await teamOf(async (_request, { messages }) => {
    const next = messages().next();
    waiting.resolve();
    ended.resolve(await next);
    return "ended";
  });
  await start("anna");
  await waiting.promise;
  await registry.close();
  expect(await ended.promise).toEqual({ done: true, value: undefined });
});

test("a coordinator of the host replaces the built-in one", async () => {
  const seen: unknown[] = [];
  const note =
    (what: string, answer: unknown) => (input: object, context: { sessionId: string }) => {
      seen.push([what, input, context.sessionId]);
      return answer;
    };
  const registry = registryHere({
    handlers: {
      spawnAgent: ({ team_name }: { team_name: string }) => `in ${team_name}`,
      team: {
        create: note("create", { message: "made elsewhere" }),
        send: note("send", undefined),
        delete: note("delete", "gone"),
      },
    },
  });
  const call = async (name: "TeamCreate" | "SendMessage" | "TeamDelete", input: object) => {
    const result = await registry.call(name, input as never, { sessionId: "s" });
    return [texts(result), result.structuredContent];
  };
  const team = { team_name: "any name", description: "d", agent_type: "lead" };
  expect(await call("TeamCreate", team)).toEqual([["made elsewhere"], { teamName: "any name" }]);
  const message = { type: "shutdown_response", request_id: "r", approve: false };
  expect(await call("SendMessage", message)).toEqual([["sent"], {}]);
  expect(await call("TeamDelete", {})).toEqual([["gone"], {}]);
  expect(seen).toEqual([
    ["create", team, "s"],
    ["send", message, "s"],
    ["delete", {}, "s"],
  ]);
  const agent = { description: "d", prompt: "p", subagent_type: "t", team_name: "x", name: "y" };
  expect(texts(await registry.call("Agent", agent))[0]).toContain("in x");
});
