// A host that passes requests to `fetch` and drops the answers. It prints, as JSON, what is still alive. Run with
// the name of a scenario; with Node's --expose-gc, or on Bun.
import { readFileSync, readdirSync } from "node:fs";
import { createToolRegistry } from "../../index.mjs";

const [scenario, projectPath, mark] = process.argv.slice(2);
const options = { projectPath, userPolicyFile: false, permissionMode: "bypassPermissions" };
const COUNT = 20;

/** The number of collections before an object counts as leaked; far more than is ever needed. */
const ROUNDS = 400;

async function collectUntil(isDone) {
  for (let round = 0; round < ROUNDS && !isDone(); round += 1) {
    if (globalThis.Bun) Bun.gc(true);
    else globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The number of running commands with the mark. */
function running() {
  return readdirSync("/proc").filter((pid) => {
    try {
      const line = /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/cmdline`, "latin1") : "";
      return line.startsWith("sleep\0") && line.includes(mark);
    } catch {
      return false;
    }
  }).length;
}

/** A call whose answer is read up to its first piece. */
async function begun(registry, signal) {
  const response = await registry.fetch(
    new Request("http://127.0.0.1/api/tools/Bash/call", {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/event-stream" },
      body: JSON.stringify({ input: { command: `sleep ${mark}` } }),
      signal,
    }),
  );
  await response.body.getReader().read();
}

const scenarios = {
  /** The registry and the signal stay; the answers are dropped. */
  async answers() {
    const registry = createToolRegistry(options);
    const { signal } = new AbortController();
    const calls = Array.from({ length: COUNT }, () => begun(registry, signal));
    await Promise.all(calls);
    while (running() < COUNT) await new Promise((resolve) => setTimeout(resolve, 5));
    calls.length = 0;
    await collectUntil(() => running() === 0);
    const left = running();
    await registry.close();
    return { left, isAborted: signal.aborted };
  },

  /** Registries whose requests were answered, and one whose server is open. */
  async registries() {
    let collected = 0;
    const finalization = new FinalizationRegistry(() => (collected += 1));
    const made = async () => {
      const registry = createToolRegistry(options);
      finalization.register(registry, "");
      const response = await registry.fetch(new Request("http://127.0.0.1/api/tools"));
      await response.text();
      const stream = await registry.fetch(new Request("http://127.0.0.1/api/events"));
      await stream.body.getReader().read();
      await (await registry.serve()).close();
    };
    const served = async () => {
      const registry = createToolRegistry(options);
      finalization.register(registry, "");
      return (await registry.serve()).unref().origin;
    };
    const origin = await served();
    for (let count = 0; count < COUNT; count += 1) await made();
    await collectUntil(() => collected >= COUNT);
    const { status } = await fetch(`${origin}/health`);
    return { collected, status };
  },
};

console.log(JSON.stringify(await scenarios[scenario]()));
process.exit(0);
