// The same call has the same answer by `call`, over a socket and by `fetch`.
import { beforeEach, describe, expect, test } from "vitest";
import type { ToolRegistry } from "../../index.js";
import { type Ask, handedOver, json, overSocket, streaming } from "../support/http.js";
import { PNG } from "../support/pictures.js";
import { pluginFile, shellTool } from "../support/plugins.js";
import { useRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace, { toolsets: ["claude", "diagnostic"] });

let registry: ToolRegistry;
let transports: Record<"socket" | "fetch", Ask>;

beforeEach(async () => {
  workspace.plant({
    "notes.txt": "alpha\nbeta\ngamma\n",
    "src/a.txt": "needle one\n",
    "src/b.txt": "hay\nneedle two — ünïcödé 😀\n",
    "dot.png": Buffer.from(PNG, "base64"),
    "tools/mine.json": pluginFile("mine", shellTool("plugin_echo", "echo {{text}}", "text")),
  });
  registry = registryHere({
    pluginDir: workspace.path("tools"),
    policy: { rules: [{ tool: "Write", action: "deny", message: "no writing here" }] },
  });
  await registry.initialize();
  registry.register({
    name: "own",
    inputSchema: { text: "string" },
    handler: ({ text }: { text: string }) => ({
      content: [{ type: "text", text: `own: ${text}` }],
      structuredContent: { text },
    }),
  });
  registry.register({
    name: "own_failing",
    handler: () => {
      throw new Error("on purpose");
    },
  });
  transports = { socket: await overSocket(registry), fetch: handedOver(registry) };
});

/** An input in which `@` is replaced by the directory of the test. */
function placed(input: object): object {
  const text = JSON.stringify(input).replaceAll('"@/', `"${workspace.root}/`);
  return JSON.parse(text) as object;
}

/** An answer without the duration of its command. */
function timeless(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer), (key, value) => (key === "durationMs" ? 0 : value));
}

describe.each(["socket", "fetch"] as const)("by %s", (transport) => {
  test.each([
    ["Read", { file_path: "@/notes.txt" }],
    ["Read", { file_path: "@/notes.txt", offset: 2, limit: 1 }],
    ["Read", { file_path: "@/dot.png" }],
    ["Read", { file_path: "@/missing.txt" }],
    ["Read", { path: 3 }],
    ["Grep", { pattern: "needle", output_mode: "content" }],
    ["Grep", { pattern: "needle (" }],
    ["Glob", { pattern: "**/*.txt" }],
    ["Edit", { file_path: "@/notes.txt", old_string: "delta", new_string: "x" }],
    ["Bash", { command: "printf 'a\\tb\\n'; printf 'oops' >&2" }],
    ["Bash", { command: "exit 3" }],
    ["own", { text: 'héllo \u2028 \\ "quoted"' }],
    ["own", { text: 3 }],
    ["own_failing", {}],
    ["plugin_echo", { text: "-n; rm x" }],
    ["Write", { file_path: "@/new.txt", content: "x" }],
  ])("%s %j has the same answer as `call`", async (name, given) => {
    const input = placed(given);
    const expected = await registry.call(name, input as never);
    const response = await transports[transport](`/api/tools/${name}/call`, json({ input }));
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(timeless(await response.json())).toEqual(timeless(expected));
  });

  test("the last event of a stream is the answer of `call`", async () => {
    const input = { file_path: workspace.path("notes.txt") };
    const expected = await registry.call("Read", input);
    const response = await transports[transport]("/api/tools/Read/call", streaming(input));
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const events = (await response.text()).split("\n\n").filter((it) => it !== "");
    const [name, data] = events.at(-1)?.split("\n") ?? [];
    expect(name).toBe("event: result");
    expect(JSON.parse(data?.slice("data: ".length) ?? "")).toEqual(expected);
  });

  test("an unknown tool is not found, with the message of `call`", async () => {
    const { error } = await registry.call("Raed", {});
    const response = await transports[transport]("/api/tools/Raed/call", json({ input: {} }));
    expect([response.status, await response.json()]).toEqual([
      404,
      { error: error?.message, type: "UnknownTool" },
    ]);
  });

  test("the list of tools is that of the registry", async () => {
    const response = await transports[transport]("/api/tools");
    const { tools, counts } = (await response.json()) as { tools: unknown[]; counts: unknown };
    expect(tools).toEqual(registry.listTools());
    const total = registry.getToolCount();
    expect(counts).toMatchObject({ total, builtin: total - 3, plugin: 1, host: 2 });
  });

  test("policy is explained like `explain` does", async () => {
    const input = { file_path: workspace.path("new.txt"), content: "x" };
    const response = await transports[transport]("/api/tools/Write/explain", json({ input }));
    expect(await response.json()).toEqual(registry.explain("Write", input));
  });
});
