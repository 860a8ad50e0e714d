// A host that makes many registries and drops them. It prints, as JSON, how many of the dropped objects were
// collected. Run with the name of a scenario; with Node's --expose-gc, or on Bun.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MessageBus, createSdkMcpServer, createToolRegistry, tool } from "../../index.mjs";

const [scenario, projectPath, count = "100", seconds = "600"] = process.argv.slice(2);
const options = { projectPath, userPolicyFile: false, permissionMode: "bypassPermissions" };

/** The number of collections before an object counts as leaked; far more than is ever needed. */
const ROUNDS = 100;

const made = {};
const collected = {};
const finalization = new FinalizationRegistry((kind) => {
  collected[kind] = (collected[kind] ?? 0) + 1;
});

function watched(kind, object) {
  made[kind] = (made[kind] ?? 0) + 1;
  finalization.register(object, kind);
  return object;
}

/** Collects garbage until every object was collected, or the limit is reached. */
async function collectAll(
  isDone = () => Object.keys(made).every((kind) => made[kind] === collected[kind]),
) {
  for (let round = 0; round < ROUNDS && !isDone(); round += 1) {
    if (globalThis.Bun) Bun.gc(true);
    else globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Everything that can keep a registry alive, with functions of the host that refer to it. */
async function busyRegistry(messageBus) {
  const registry = watched(
    "registry",
    createToolRegistry({
      ...options,
      toolsets: ["claude", "diagnostic"],
      policy: { ask: ["asked"] },
      rememberGrants: "project",
      handlers: { summarize: () => registry.names() },
      ...(messageBus ? { messageBus } : {}),
      hooks: {
        PreToolUse: [watched("hook", () => void registry.names())],
        PostToolUse: [() => void registry.names()],
      },
    }),
  );
  if (!messageBus) {
    watched("bus", registry.messageBus);
    registry.messageBus.on("request", ({ id }) => {
      registry.messageBus.respondToConfirmation({ id, approved: true });
    });
    registry.messageBus.on("settled", () => void registry.names());
  }
  const handler = watched("handler", async () => `${registry.getToolCount()}`);
  registry.register(tool({ name: "mine", handler }));
  registry.register(tool({ name: "asked", handler: () => registry.call("mine") }));
  registry.registerMcpTool({ serverName: "far", toolName: "it", handler: () => registry.names() });
  registry.on("task", () => void registry.names());
  const listener = watched("listener", () => void registry.names());
  registry.on("todos", listener).on("config", listener).on("grant", listener);
  await registry.call("TodoWrite", { todos: [] });
  await registry.call("Config", { setting: "theme", value: "dark" });
  await registry.todos();
  await registry.config.list();
  const events = registry.taskEvents();
  const { signal } = new AbortController();
  await registry.call("mine", {}, { signal, onProgress: () => void registry.names() });
  const answer = await registry.call("asked");
  if (answer.isError) throw new Error(JSON.stringify(answer));
  await registry.executeTools([{ id: "a", name: "mine", input: {} }]);
  await registry.createInvocation("mine", {}).execute();
  const transport = watched("transport", {
    send: (message) => void transport.got.push(message),
    got: [],
  });
  await registry.toMcpServerConfig().instance.connect(transport);
  await requestOver(transport, "initialize", INITIALIZE);
  const called = await requestOver(transport, "tools/call", { name: "mine", arguments: {} });
  if (called.result?.isError !== false) throw new Error(JSON.stringify(called));
  return { registry, events };
}

const INITIALIZE = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "t", version: "1" },
};

let requests = 0;

function requestOver(transport, method, params) {
  requests += 1;
  const id = requests;
  return new Promise((resolve) => {
    const { send } = transport;
    transport.send = (message) => {
      if (message.id !== id) return send(message);
      transport.send = send;
      resolve(message);
    };
    transport.onmessage({ jsonrpc: "2.0", id, method, params });
  });
}

/** One after the other, in functions that have returned, so that none of their locals remains. */
async function times(make) {
  for (let number = 0; number < Number(count); number += 1) await make();
}

/** The running supervisors of this process. */
function supervisors() {
  return readdirSync("/proc").filter((pid) => {
    try {
      return new RegExp(`\\(toolwright-supe\\) [^Z] ${process.pid} `).test(
        readFileSync(`/proc/${pid}/stat`, "latin1"),
      );
    } catch {
      return false;
    }
  });
}

const scenarios = {
  async closed() {
    await times(async () => {
      const { registry, events } = await busyRegistry();
      const end = events.next();
      await registry.close();
      if (!(await end).done) throw new Error("the iterator did not end");
    });
  },
  async dropped() {
    await times(async () => void (await busyRegistry()));
  },
  /** A bus that outlives its registries: some are closed, others only dropped. */
  async sharedBus() {
    globalThis.bus = new MessageBus();
    globalThis.bus.on("request", ({ id }) =>
      globalThis.bus.respondToConfirmation({ id, approved: true }),
    );
    let number = 0;
    await times(async () => {
      const { registry } = await busyRegistry(globalThis.bus);
      number += 1;
      if (number % 2 === 0) await registry.close();
    });
  },
  /** The options of a closed registry are still alive; the registry is not. */
  async everythingElseKept() {
    globalThis.kept = [];
    await times(async () => {
      const transport = { send() {} };
      const hook = () => {};
      const handler = () => "x";
      const registry = watched(
        "registry",
        createToolRegistry({ ...options, hooks: { PreToolUse: [hook] } }),
      );
      registry.register(tool({ name: "mine", handler }));
      const events = registry.taskEvents();
      const { instance } = registry.toMcpServerConfig();
      await instance.connect(transport);
      await registry.call("mine");
      await registry.close();
      globalThis.kept.push(transport, hook, handler, events, instance, registry.messageBus);
    });
  },
  async buses() {
    await times(async () => {
      const bus = watched("bus", new MessageBus());
      bus.on("request", ({ id }) => bus.respondToConfirmation({ id, approved: true }));
      if (!(await bus.requestConfirmation({ toolName: "x" }))) throw new Error("refused");
    });
  },
  /** Clients connect and disappear; the registry stays. */
  async transports() {
    globalThis.registry = createToolRegistry({ ...options });
    const { instance } = globalThis.registry.toMcpServerConfig();
    await times(async () => {
      const transport = watched("transport", { send() {} });
      await instance.connect(transport);
      await requestOver(transport, "ping", {});
    });
  },
  async servers() {
    await times(async () => {
      const config = watched(
        "config",
        createSdkMcpServer({ name: "s", tools: [tool({ name: "a", handler: () => "b" })] }),
      );
      await config.instance.connect({ send() {} });
    });
  },
  /** Registries that could not be made. */
  async refused() {
    globalThis.bus = new MessageBus();
    await times(async () => {
      const hook = watched("hook", () => {});
      try {
        createToolRegistry({
          ...options,
          messageBus: globalThis.bus,
          nonsense: 1,
          hooks: { PreToolUse: [hook] },
        });
      } catch {
        return;
      }
      throw new Error("it was made");
    });
  },
  async tools() {
    globalThis.registry = createToolRegistry({ ...options });
    await times(async () => {
      const handler = watched("handler", () => "x");
      globalThis.registry.register(tool({ name: "again", handler }));
      await globalThis.registry.call("again");
    });
    globalThis.registry.unregister("again");
  },
  /** Every registry has run a command, and every second has one in the background. */
  async supervisors() {
    const seen = new Set();
    let number = 0;
    await times(async () => {
      const registry = watched(
        "registry",
        createToolRegistry({ ...options, shell: { graceMs: 0 } }),
      );
      number += 1;
      const command = number % 2 === 0 ? `sleep ${seconds}` : "true";
      const result = await registry.call("Bash", { command, run_in_background: number % 2 === 0 });
      if (result.isError) throw new Error(JSON.stringify(result));
      for (const pid of supervisors()) seen.add(pid);
      // Keeps the registry reachable until here, so that its supervisor is seen before it ends.
      registry.names();
    });
    await collectAll();
    await collectAll(() => supervisors().length === 0);
    return { supervisors: { started: seen.size, left: supervisors().length } };
  },
  /** The registry and the bus are unreachable, but their results are awaited. */
  async pending() {
    let open;
    const gate = new Promise((resolve) => {
      open = resolve;
    });
    const waits = tool({ name: "waits", handler: async () => (await gate, "waited") });
    const registryThatWaits = () => {
      const hooks = { PreToolUse: [{ matcher: "waits", hooks: [async () => void (await gate)] }] };
      const registry = watched("registry", createToolRegistry({ ...options, hooks }));
      registry.register(waits);
      return registry;
    };
    const called = async () => (await registryThatWaits().call("waits")).content[0].text;
    const asked = () => {
      const bus = watched("bus", new MessageBus());
      bus.on("request", async ({ id }) => {
        await gate;
        bus.respondToConfirmation({ id, approved: true });
      });
      return bus.requestConfirmation({ toolName: "x" });
    };
    const served = async () => {
      const transport = watched("transport", { send() {} });
      await registryThatWaits().toMcpServerConfig().instance.connect(transport);
      await requestOver(transport, "initialize", INITIALIZE);
      const { result } = await requestOver(transport, "tools/call", {
        name: "waits",
        arguments: {},
      });
      return result.content[0].text;
    };
    const heard = async () => {
      const registry = registryThatWaits();
      const events = registry.taskEvents();
      const command = "until [ -e go ]; do sleep 0.02; done";
      await registry.call("Bash", { command, run_in_background: true });
      for await (const { type } of events) if (type === "ended") return type;
    };
    const answers = Promise.all([called(), asked(), served(), heard()]);
    await collectAll(() => false);
    const early = { ...collected };
    open();
    writeFileSync(join(projectPath, "go"), "");
    return { early, answers: await answers };
  },
  /** The handles of the event loop for each open registry, and after close(). */
  async handles() {
    const handles = () =>
      process.report.getReport().libuv.filter(({ type }) => type === "async").length;
    await createToolRegistry({ ...options }).close();
    await collectAll(() => false);
    const before = handles();
    globalThis.registries = [];
    for (let number = 0; number < 10; number += 1) {
      const registry = createToolRegistry({ ...options, hooks: { PreToolUse: [() => {}] } });
      for (let name = 0; name < 50; name += 1)
        registry.register(tool({ name: `t${name}`, handler: () => "x" }));
      registry.on("task", () => {});
      await registry.call("t1", {}, { onProgress() {} });
      await registry.toMcpServerConfig().instance.connect({ send() {} });
      globalThis.registries.push(registry);
    }
    await collectAll(() => false);
    const open = handles();
    for (const registry of globalThis.registries) await registry.close();
    await collectAll(() => handles() === before);
    return { perRegistry: (open - before) / 10, left: handles() - before };
  },
};

const more = await scenarios[scenario]();
await collectAll();
process.stdout.write(`${JSON.stringify({ made, collected, ...more })}\n`, () => process.exit(0));
