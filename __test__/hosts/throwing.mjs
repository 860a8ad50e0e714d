// A host whose functions throw every kind of value, wherever the package calls one. It prints, as JSON, the
// outcome of each. If a value ends the process, nothing is printed.
import { MessageBus, createToolRegistry, tool } from "../../index.mjs";

const [projectPath] = process.argv.slice(2);

const thrown = {
  undefined: () => undefined,
  null: () => null,
  "a symbol": () => Symbol("odd"),
  "an object without a prototype": () => Object.create(null),
  "a message that throws": () => ({
    get message() {
      throw new Error("no message");
    },
  }),
  "a message that is a symbol": () => ({ message: Symbol("odd") }),
  "a message without words": () => ({ message: Object.create(null) }),
  "a toString that throws": () => ({
    toString() {
      throw Symbol("again");
    },
  }),
  "a function whose toString throws": () =>
    Object.assign(() => {}, {
      toString() {
        throw new Error("no");
      },
    }),
  "a proxy that throws": () =>
    new Proxy(
      {},
      {
        get() {
          throw new Error("no");
        },
        getPrototypeOf() {
          throw new Error("no");
        },
      },
    ),
  "a revoked proxy": () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  },
  "an error of many megabytes": () => new Error("x".repeat(5_000_000)),
  "half a character": () => new Error("\ud800"),
  "an error without a message": () => new Error(""),
};

const registries = [];

function registryHere(options = {}) {
  const registry = createToolRegistry({
    projectPath,
    userPolicyFile: false,
    permissionMode: "bypassPermissions",
    toolsets: ["claude", "diagnostic"],
    ...options,
  });
  registry.register(tool({ name: "mine", handler: () => "fine" }));
  registries.push(registry);
  return registry;
}

const settle = (promise) =>
  promise.then(
    (result) => result.error?.type ?? result.content?.[0]?.text ?? result,
    (error) => error.type ?? "no ToolError",
  );

const bounded = (text) =>
  text.length <= 20_000 && text.isWellFormed() ? "words" : "too many words";

async function calledWith(handler) {
  const registry = registryHere();
  registry.register(tool({ name: "it", handler }));
  const { error } = await registry.call("it");
  return [error.type, bounded(error.message)];
}

async function hookedWith(event, hook) {
  const registry = registryHere({ hooks: { [event]: [hook] } });
  const { error, content, _meta } = await registry.call("mine");
  return [error?.type ?? content[0].text, bounded(error?.message ?? JSON.stringify(_meta))];
}

async function heardBy(event, listener) {
  const bus = new MessageBus();
  bus.on(
    "request",
    ({ id }) => event === "settled" && bus.respondToConfirmation({ id, approved: true }),
  );
  const heard = new Promise((resolve) => {
    bus.on(event, (news) => {
      resolve();
      return listener(news);
    });
  });
  const asked = settle(bus.requestConfirmation({ toolName: "x" }));
  await heard;
  return asked;
}

/** A declarative tool with such a part; a person answers if policy asks. */
async function declaredWith(parts, approved) {
  const registry = registryHere(approved === undefined ? {} : { permissionMode: "default" });
  const { messageBus } = registry;
  messageBus.on("request", ({ id }) => messageBus.respondToConfirmation({ id, approved }));
  const own = { execute: () => ({ llmContent: "ran", returnDisplay: "" }), ...parts };
  registry.register({ name: "it", schema: {}, createInvocation: () => own });
  const { error, content } = await registry.call("it");
  return [error?.type ?? content[0].text, bounded(error?.message ?? "")];
}

/** Each returns what must not depend on the thrown value. */
const places = {
  "a handler": (fail) => calledWith(() => fail()),
  "an async handler": (fail) => calledWith(async () => fail()),
  "a declarative tool": async (fail) => {
    const registry = registryHere();
    const schema = { parameters: { type: "object" } };
    const own = { getDescription: fail, toolLocations: fail, execute: fail };
    registry.register({ name: "it", schema, createInvocation: () => own });
    const invocation = registry.createInvocation("it", {});
    const { error } = await invocation.execute();
    return [invocation.getDescription(), invocation.toolLocations(), error.type];
  },
  "a declarative tool's createInvocation": async (fail) => {
    const registry = registryHere();
    registry.register({ name: "it", schema: {}, createInvocation: fail });
    return settle(registry.call("it"));
  },
  "a declarative tool's shouldConfirmExecute": (fail) =>
    declaredWith({ shouldConfirmExecute: fail }),
  "its details": (fail) =>
    declaredWith({
      shouldConfirmExecute: () =>
        Object.defineProperty({}, "description", { get: fail, enumerable: true }),
    }),
  "an onConfirm after a yes": (fail) =>
    declaredWith({ shouldConfirmExecute: () => ({ onConfirm: fail }) }, true),
  "an onConfirm after a no": (fail) =>
    declaredWith({ shouldConfirmExecute: () => ({ onConfirm: async () => fail() }) }, false),
  "an MCP client": async (fail) => {
    const registry = registryHere();
    registry.registerMcpTool({ serverName: "s", toolName: "t", client: { callTool: fail } });
    return settle(registry.call("mcp__s__t"));
  },
  "a schema's validate": async (fail) => {
    const registry = registryHere();
    const validate = (value) => (value === undefined ? { issues: [{ message: "no" }] } : fail());
    const field = {
      "~standard": { version: 1, vendor: "x", validate, jsonSchema: { input: () => ({}) } },
    };
    registry.register(tool({ name: "it", inputSchema: { field }, handler: () => "x" }));
    return settle(registry.call("it", { field: 1 }));
  },
  "a schema's JSON Schema": async (fail) => {
    const field = {
      "~standard": {
        version: 1,
        vendor: "x",
        validate: () => ({ value: 1 }),
        jsonSchema: { input: fail },
      },
    };
    try {
      return tool({ name: "it", inputSchema: { field }, handler: () => "x" });
    } catch (error) {
      return error.type;
    }
  },
  "a PreToolUse hook": (fail) => hookedWith("PreToolUse", () => fail()),
  "an async PreToolUse hook": (fail) => hookedWith("PreToolUse", async () => fail()),
  "a PostToolUse hook": (fail) => hookedWith("PostToolUse", async () => fail()),
  "a request listener": (fail) => heardBy("request", () => fail()),
  "an async request listener": (fail) => heardBy("request", async () => fail()),
  "a thenable of a request listener": (fail) =>
    // oxlint-disable-next-line unicorn/no-thenable -- a listener may return one
    heardBy("request", () => ({ then: fail })),
  "a settled listener": (fail) => heardBy("settled", () => fail()),
  "an async settled listener": (fail) => heardBy("settled", async () => fail()),
  "an onProgress callback": (fail) => settle(registryHere().call("mine", {}, { onProgress: fail })),
  "an async onProgress callback": (fail) =>
    settle(registryHere().call("mine", {}, { onProgress: async () => fail() })),
  "an updateOutput callback": (fail) =>
    registryHere()
      .createInvocation("diagnostic_sleep", { ms: 1 })
      .execute(undefined, fail)
      .then(({ error }) => error?.type ?? "fine"),
  "a task listener": async (fail) => {
    const registry = registryHere();
    registry.on("task", () => fail());
    registry.on("task", async () => fail());
    const ended = new Promise((resolve) => {
      registry.on("task", ({ type }) => type === "ended" && resolve(type));
    });
    await registry.call("Bash", { command: "true", run_in_background: true });
    return ended;
  },
  "a transport": async (fail) => {
    const registry = registryHere();
    const { instance } = registry.toMcpServerConfig();
    let sent;
    const heard = new Promise((resolve) => {
      sent = resolve;
    });
    const transport = { send: () => (sent(), fail()), close: fail };
    await instance.connect(transport);
    transport.onmessage({ jsonrpc: "2.0", id: 1, method: "ping" });
    transport.onmessage(new Proxy({}, { get: fail, ownKeys: fail }));
    await heard;
    await registry.close();
    return settle(instance.connect({ send() {}, start: fail }));
  },
  "a transport's start": (fail) =>
    settle(
      registryHere()
        .toMcpServerConfig()
        .instance.connect({ send() {}, start: fail }),
    ),
  "a signal's reason": async (fail) => {
    const controller = new AbortController();
    let reason;
    try {
      fail();
    } catch (error) {
      reason = error;
    }
    const call = settle(
      registryHere().call("diagnostic_sleep", { ms: 600_000 }, { signal: controller.signal }),
    );
    controller.abort(reason);
    return call;
  },
  "a toJSON of the input": (fail) => settle(registryHere().call("mine", { toJSON: fail })),
  "a getter of the input": (fail) =>
    settle(
      registryHere().call("mine", Object.defineProperty({}, "a", { get: fail, enumerable: true })),
    ),
  "a getter of the options": (fail) =>
    settle(registryHere().call("mine", {}, Object.defineProperty({}, "signal", { get: fail }))),
  "an answer of a handler": (fail) =>
    calledWith(() => Object.defineProperty({}, "content", { get: fail })),
  "an answer of a hook": (fail) =>
    hookedWith("PreToolUse", () =>
      Object.defineProperty({}, "decision", { get: fail, enumerable: true }),
    ),
};

// A listener of tasks keeps no process alive.
const alive = setInterval(() => {}, 1000);
const told = {};
for (const [place, run] of Object.entries(places)) {
  told[place] = {};
  for (const [what, make] of Object.entries(thrown)) {
    const value = make();
    const fail = () => {
      throw value;
    };
    told[place][what] = await run(fail);
  }
}
await Promise.all(registries.map((registry) => registry.close()));
// An uncaught error would have ended the process by now.
await new Promise((resolve) => setTimeout(resolve, 50));
clearInterval(alive);
console.log(JSON.stringify(told));
