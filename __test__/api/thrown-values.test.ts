import { describe, expect, test } from "vitest";
import { root, runScript, runtimes } from "../support/runtimes.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();

const WORDS = "words";

/** The outcome of a function that throws, for every place that calls it and every value. */
const EXPECTED: Record<string, unknown> = {
  "a handler": ["ToolFailed", WORDS],
  "an async handler": ["ToolFailed", WORDS],
  "a declarative tool": ["it {}", [], "ToolFailed"],
  "a declarative tool's createInvocation": "ToolFailed",
  "a declarative tool's shouldConfirmExecute": ["PolicyDenied", WORDS],
  "its details": ["PolicyDenied", WORDS],
  "an onConfirm after a yes": ["ToolFailed", WORDS],
  "an onConfirm after a no": ["PolicyDenied", WORDS],
  "an MCP client": "ToolFailed",
  "a schema's validate": "ToolFailed",
  "a schema's JSON Schema": "InvalidTool",
  "a PreToolUse hook": ["HookBlocked", WORDS],
  "an async PreToolUse hook": ["HookBlocked", WORDS],
  "a PostToolUse hook": ["fine", WORDS],
  "a request listener": "PolicyDenied",
  "an async request listener": "PolicyDenied",
  "a thenable of a request listener": "PolicyDenied",
  "a settled listener": true,
  "an async settled listener": true,
  "an onProgress callback": "fine",
  "an async onProgress callback": "fine",
  "an updateOutput callback": "fine",
  "a task listener": "ended",
  "a transport": "RegistryClosed",
  "a transport's start": "InvalidOptions",
  "a signal's reason": "Cancelled",
  "a toJSON of the input": "ValidationError",
  "a getter of the input": "ValidationError",
  "a getter of the options": "InvalidOptions",
  "an answer of a handler": ["ToolFailed", WORDS],
  "an answer of a hook": ["HookBlocked", WORDS],
};

describe.each(runtimes)("a host on $name", ({ path }) => {
  test("survives every value that its own functions throw", async () => {
    const script = `${root}/__test__/hosts/throwing.mjs`;
    const { code, signal, stdout, stderr } = await runScript(
      path,
      [script, workspace.root],
      root,
      120_000,
    );
    expect([code, signal, stderr.includes("ToolwrightWarning")]).toEqual([0, null, true]);
    const told = JSON.parse(stdout) as Record<string, Record<string, unknown>>;
    const expected = Object.fromEntries(
      Object.entries(told).map(([place, outcomes]) => [
        place,
        Object.fromEntries(Object.keys(outcomes).map((what) => [what, EXPECTED[place]])),
      ]),
    );
    expect(told).toEqual(expected);
    expect(Object.keys(told)).toEqual(Object.keys(EXPECTED));
  }, 150_000);
});
