// The overhead of one call: its cost without the work of the tool.
import { createRequire } from "node:module";
import { z } from "zod";
import { createToolRegistry, tool } from "../index.mjs";
import { Suite, concurrent, sequential, synchronous } from "./harness.mjs";
import { PlainRegistry, ZodRegistry, textResult } from "./plain-registry.mjs";

const { yardstick } = createRequire(import.meta.url)("../native/binding.js");

/** How many times longer than a bare async call of the addon a call through the whole path may take. */
const NATIVE_CALL_BUDGET = 3;
const WIDTH = 100;

export const dispatch = new Suite("dispatch");

const registry = createToolRegistry({
  permissionMode: "bypassPermissions",
  toolsets: ["diagnostic"],
});
const jsonSchema = {
  type: "object",
  properties: { text: { type: "string" } },
  additionalProperties: false,
};
const hostHandler = async ({ text = "" }) => textResult(text);
registry.register(
  tool({
    name: "host_echo",
    description: "Gives its text back.",
    inputSchema: jsonSchema,
    annotations: { readOnlyHint: true },
    handler: hostHandler,
  }),
);
registry.withAllowed("host_echo");

const plain = new PlainRegistry();
plain.register("echo", hostHandler);
const checked = new ZodRegistry();
checked.register("echo", z.strictObject({ text: z.string().optional() }), hostHandler);

const nativeCall = () => registry.call("diagnostic_echo", {});
const nativeInvocation = () => registry.createInvocation("diagnostic_echo", {}).execute();
const hostCall = () => registry.call("host_echo", { text: "hello" });
const { signal } = new AbortController();

dispatch.task({
  title: "async no-op of a native tool, one after the other",
  baseline: "bare napi async no-op",
  budgets: [{ contender: "toolwright: call", atMost: NATIVE_CALL_BUDGET }],
  contenders: {
    "bare napi async no-op": sequential(yardstick),
    "toolwright: call": sequential(nativeCall),
    "toolwright: call with a signal": sequential(() =>
      registry.call("diagnostic_echo", {}, { signal }),
    ),
    "toolwright: createInvocation + execute": sequential(nativeInvocation),
    "plain JS registry": sequential(() => plain.call("echo", {})),
    "plain JS registry with zod": sequential(() => checked.call("echo", {})),
  },
});

dispatch.task({
  title: `async no-op of a native tool, ${WIDTH} at once`,
  baseline: "bare napi async no-op",
  budgets: [{ contender: "toolwright: call", atMost: NATIVE_CALL_BUDGET }],
  width: WIDTH,
  contenders: {
    "bare napi async no-op": concurrent(WIDTH, yardstick),
    "toolwright: call": concurrent(WIDTH, nativeCall),
    "toolwright: createInvocation + execute": concurrent(WIDTH, nativeInvocation),
    "plain JS registry": concurrent(WIDTH, () => plain.call("echo", {})),
    "plain JS registry with zod": concurrent(WIDTH, () => checked.call("echo", {})),
  },
});

dispatch.task({
  title: "call of a host's JavaScript tool, one after the other",
  baseline: "plain JS registry with zod",
  contenders: {
    "plain JS registry with zod": sequential(() => checked.call("echo", { text: "hello" })),
    "plain JS registry": sequential(() => plain.call("echo", { text: "hello" })),
    "bare napi async no-op": sequential(yardstick),
    "toolwright: call": sequential(hostCall),
  },
});

dispatch.task({
  title: `call of a host's JavaScript tool, ${WIDTH} at once`,
  baseline: "plain JS registry with zod",
  width: WIDTH,
  contenders: {
    "plain JS registry with zod": concurrent(WIDTH, () => checked.call("echo", { text: "hello" })),
    "plain JS registry": concurrent(WIDTH, () => plain.call("echo", { text: "hello" })),
    "bare napi async no-op": concurrent(WIDTH, yardstick),
    "toolwright: call": concurrent(WIDTH, hostCall),
  },
});

dispatch.task({
  title: "look-ups, which are not async",
  baseline: "Map.has",
  contenders: {
    "Map.has": synchronous(() => plain.has("echo")),
    "toolwright: getToolCount": synchronous(() => registry.getToolCount()),
    "toolwright: hasTool": synchronous(() => registry.hasTool("diagnostic_echo")),
    "toolwright: isAllowed": synchronous(() => registry.isAllowed("diagnostic_echo")),
    "toolwright: get": synchronous(() => registry.get("diagnostic_echo")),
    "toolwright: getToolInfo": synchronous(() => registry.getToolInfo("diagnostic_echo")),
    "toolwright: createInvocation": synchronous(() =>
      registry.createInvocation("diagnostic_echo", {}),
    ),
  },
});
