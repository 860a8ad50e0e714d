// A person sees something of every result, whatever the tool returns for display.
import { describe, expect, test } from "vitest";
import type { CallResult, HandlerAnswer } from "../../index.js";
import { tool } from "../../index.mjs";
import { useRegistries } from "../support/registries.js";
import { texts } from "../support/results.js";
import { workingCalls } from "../support/working-calls.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryOf = useRegistries(workspace);
const toolsets = ["claude", "classic", "diagnostic"];

function registryHere() {
  workspace.write("a.txt", "one\ntwo\n");
  workspace.write("empty.txt", "");
  workspace.write("a.ipynb", '{"cells":[],"metadata":{},"nbformat":4,"nbformat_minor":5}');
  return registryOf({ toolsets });
}

/** What a host shows after `call`: the display, or else the content. */
function shown(result: CallResult): string {
  const pictures = result.content.filter((it) => it.type !== "text").map((it) => it.type);
  return result.display ?? [...texts(result), ...pictures].join("\n");
}

/** Everything that a person may see of a call, by `call` and by an invocation. None of it may be blank. */
async function everythingShown(name: string, input: Record<string, unknown>): Promise<string[]> {
  const registry = registryHere();
  const called = await registry.call(name, input);
  const { returnDisplay } = await registry.createInvocation(name, input).execute();
  return [called.display ?? "the content", shown(called), returnDisplay].map((it) => it.trim());
}

describe("every built-in tool shows something", () => {
  test("there is a call of each", () => {
    const named = Object.keys(workingCalls("/")).toSorted();
    expect(named).toEqual(registryHere().names().toSorted());
  });

  test.each(Object.keys(workingCalls("/")))("%s, as it is called", async (name) => {
    const input = workingCalls(workspace.root)[name] ?? {};
    expect(await everythingShown(name, input)).not.toContain("");
  });

  test.each(Object.keys(workingCalls("/")))("%s, called wrongly", async (name) => {
    expect(await everythingShown(name, { nonsense: true })).not.toContain("");
  });

  test.each<[string, Record<string, unknown>]>([
    ["shell", { command: "exit 1" }],
    ["shell", { command: "true" }],
    ["shell", { command: "printf '\\n \\n'" }],
    ["shell", { command: "kill -9 $$" }],
    ["shell", { command: "sleep 9", timeout: 1 }],
    ["shell", { command: "true", background: true }],
    ["Bash", { command: "exit 1" }],
    ["Bash", { command: "true" }],
    ["read_file", { path: "empty.txt" }],
    ["read_many_files", { paths: ["empty.txt"] }],
    ["Read", { file_path: "ROOT/empty.txt" }],
    ["Grep", { pattern: "absent" }],
    ["Glob", { pattern: "*.none" }],
    ["ls", { path: "." }],
    ["diagnostic_echo", { text: "" }],
  ])("%s %j", async (name, input) => {
    const filled = JSON.stringify(input).replace("ROOT", workspace.root);
    const shownOfIt = await everythingShown(name, JSON.parse(filled) as typeof input);
    expect(shownOfIt).not.toContain("");
  });

  test("a command without output shows how it ended", async () => {
    const registry = registryHere();
    const display = async (command: string) => (await registry.call("shell", { command })).display;
    expect(await display("exit 1")).toBe("no output; exit code 1");
    expect(await display("true")).toBe("no output; exit code 0");
    expect(await display("echo x")).toBe("x\n");
  });
});

test.each<[string, () => HandlerAnswer]>([
  ["no text", () => ""],
  ["blanks", () => " \n"],
  ["no content", () => ({ content: [] })],
  ["an empty block", () => ({ content: [{ type: "text", text: "" }] })],
  ["an empty display", () => ({ llmContent: "", returnDisplay: "" })],
  ["an empty display of a text", () => ({ llmContent: "x", returnDisplay: "" })],
  ["a failure without text", () => ({ content: [], isError: true })],
  [
    "an empty error",
    () => {
      throw new Error("");
    },
  ],
])("a host's tool that answers with %s shows something", async (_, handler) => {
  const registry = registryHere();
  registry.register(tool({ name: "mine", handler }));
  const called = await registry.call("mine", {});
  expect(called.display?.trim()).not.toBe("");
  expect(shown(called).trim()).not.toBe("");
  const { returnDisplay } = await registry.createInvocation("mine", {}).execute();
  expect(returnDisplay.trim()).not.toBe("");
});
