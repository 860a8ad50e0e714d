// What keeps a process alive that serves a registry, and what ends with its workers.
import { describe, expect, test } from "vitest";
import { root, runScript, runtimes } from "../support/runtimes.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();

describe.each(runtimes)("on $name", ({ path }) => {
  const host = (body: string) =>
    workspace.write(
      "host.cjs",
      `const { createToolRegistry } = require(${JSON.stringify(`${root}/index.js`)});
const create = () => createToolRegistry({ permissionMode: "bypassPermissions", userPolicyFile: false });
const health = "http://127.0.0.1/health";
(async () => { ${body} })();
`,
    );

  test.each([
    ["a request that was answered", "await create().fetch(new Request(health));"],
    [
      "an answer that is not read to its end",
      `const stream = await create().fetch(new Request("http://127.0.0.1/api/tools/Bash/call", {
         method: "POST",
         headers: { "content-type": "application/json", accept: "text/event-stream" },
         body: JSON.stringify({ input: { command: "sleep 1000" } }),
       }));
       await stream.body.getReader().read();`,
    ],
    ["a server with `unref`", "(await create().serve()).unref();"],
    ["a server that was closed", "await (await create().serve()).close();"],
    [
      "a registry that was closed with its server open",
      "const registry = create(); await registry.serve(); await registry.close();",
    ],
  ])("%s does not keep the process alive", async (_what, body) => {
    const ended = await runScript(path, [host(`${body} console.log("done");`)], root, 60_000);
    expect(ended).toEqual({ code: 0, signal: null, stdout: "done\n", stderr: "" });
  });

  test.each([
    [
      "a request that waits",
      `create().fetch(new Request(health)).then(({ status }) => told(status));`,
    ],
    [
      "an answer that is being read",
      `const { body } = await create().fetch(new Request("http://127.0.0.1/api/tools/Bash/call", {
         method: "POST",
         headers: { "content-type": "application/json", accept: "text/event-stream" },
         body: JSON.stringify({ input: { command: "sleep 0.3" } }),
       }));
       for await (const _ of body);
       told("200");`,
    ],
    [
      "a server, also one with `unref` and `ref`",
      `const server = (await create().serve()).unref().ref();
       // A timer that does not keep the process alive, so that only the server does.
       setTimeout(async () => {
         if (globalThis.gc) gc();
         const { status } = await fetch(server.origin + "/health");
         await server.close();
         told(status);
       }, 300).unref();`,
    ],
  ])("%s keeps the process alive", async (_what, body) => {
    const script = host(`const told = (it) => console.log("answered " + it); ${body}`);
    const flags = path.endsWith("bun") ? [] : ["--expose-gc"];
    const ended = await runScript(path, [...flags, script], root, 60_000);
    expect(ended).toEqual({ code: 0, signal: null, stdout: "answered 200\n", stderr: "" });
  });

  test("a worker that ends closes its server, and another worker's server stays", async () => {
    workspace.write(
      "worker.cjs",
      `const { parentPort } = require("node:worker_threads");
const { createToolRegistry } = require(${JSON.stringify(`${root}/index.js`)});
createToolRegistry({ userPolicyFile: false }).serve().then(({ origin }) => parentPort.postMessage(origin));
`,
    );
    const script = host(`
      const { once } = require("node:events");
      const { Worker } = require("node:worker_threads");
      const own = await create().serve();
      const workers = [1, 2].map(() => new Worker(${JSON.stringify(workspace.path("worker.cjs"))}));
      const origins = (await Promise.all(workers.map((it) => once(it, "message")))).flat();
      const state = async (origin) =>
        fetch(origin + "/health", { headers: { connection: "close" } }).then((it) => it.status, () => "refused");
      const states = async () => Promise.all([own.origin, ...origins].map(state));
      console.log(JSON.stringify(await states()));
      await workers[0].terminate();
      const deadline = Date.now() + 20_000;
      while ((await state(origins[0])) !== "refused" && Date.now() < deadline);
      console.log(JSON.stringify(await states()));
      process.exit(0);`);
    const ended = await runScript(path, [script], root, 60_000);
    expect(ended).toEqual({
      code: 0,
      signal: null,
      stdout: '[200,200,200]\n[200,"refused",200]\n',
      stderr: "",
    });
  });
});
