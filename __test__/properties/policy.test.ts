import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  MessageBus,
  OutputFormatter,
  PolicyEngine,
  ToolError,
  createToolRegistry,
} from "../../index.mjs";
import type {
  ConfirmationRequest,
  PolicyAction,
  PolicyRule,
  ToolCallConfirmationDetails,
} from "../../index.js";
import { useWorkspace } from "../support/workspace";

const details = (description = "Write a.txt"): ToolCallConfirmationDetails => ({
  toolName: "Write",
  description,
  risk: "medium",
  locations: ["a.txt"],
});

const workspace = useWorkspace();

const action = fc.constantFrom<PolicyAction>("allow", "ask", "deny");
const strictness = ["allow", "ask", "deny"];
const toolName = fc.stringMatching(/^[a-z]{1,3}$/);
const rule: fc.Arbitrary<PolicyRule> = fc.record({
  tool: fc.oneof(toolName, fc.constant("*")),
  action,
});

/** The precedence of rules: those for the tool before those for all tools, and among them the strictest. */
function expected(rules: PolicyRule[], defaultAction: PolicyAction, tool: string): PolicyAction {
  const own = rules.filter((it) => it.tool === tool);
  const general = rules.filter((it) => it.tool === "*");
  const deciding = own.length > 0 ? own : general;
  const actions = deciding.map((it) => strictness.indexOf(it.action));
  return actions.length > 0 ? (strictness[Math.max(...actions)] as PolicyAction) : defaultAction;
}

describe("the policy engine", () => {
  // Feature: stage-03-tools-policy, Property 33: Policy Decision Evaluation
  // Feature: stage-03-tools-policy, Property 34: Policy Rule Precedence
  test("Properties 33 and 34: rules for the tool decide, then rules for all tools, then the default", () => {
    fc.assert(
      fc.property(
        fc.array(rule, { maxLength: 8 }),
        action,
        toolName,
        (rules, defaultAction, tool) => {
          const engine = new PolicyEngine({ defaultAction, rules });
          expect(engine.evaluate(tool, {})).toBe(expected(rules, defaultAction, tool));
        },
      ),
      { numRuns: 500 },
    );
  });

  test("the order of rules does not matter, and a deny rule never widens", () => {
    fc.assert(
      fc.property(
        fc.array(rule, { maxLength: 8 }),
        action,
        toolName,
        fc.oneof(toolName, fc.constant("*")),
        (rules, defaultAction, tool, denied) => {
          const before = new PolicyEngine({ defaultAction, rules }).evaluate(tool);
          const turned = { defaultAction, rules: rules.toReversed() };
          expect(new PolicyEngine(turned).evaluate(tool)).toBe(before);
          const more = [...rules, { tool: denied, action: "deny" as const }];
          const after = new PolicyEngine({ defaultAction, rules: more }).evaluate(tool);
          expect(strictness.indexOf(after)).toBeGreaterThanOrEqual(strictness.indexOf(before));
        },
      ),
      { numRuns: 500 },
    );
  });

  // Feature: stage-03-tools-policy, Property 35: Policy Condition Evaluation
  test("Property 35: a rule applies if all of its conditions hold", () => {
    const text = fc.stringMatching(/^[ab]{0,4}$/);
    const operator = fc.constantFrom<"equals" | "contains" | "startsWith" | "matches">(
      "equals",
      "contains",
      "startsWith",
      "matches",
    );
    const condition = fc.record({ param: fc.constantFrom("x", "y", "z"), operator, value: text });
    fc.assert(
      fc.property(
        fc.array(condition, { minLength: 1, maxLength: 3 }),
        fc.record({ x: text, y: text }),
        (conditions, params: Record<string, string>) => {
          const engine = new PolicyEngine({
            defaultAction: "allow",
            rules: [{ tool: "t", action: "deny", conditions }],
          });
          const holds = conditions.every(({ param, operator: how, value }) => {
            const given = params[param];
            if (given === undefined) return false;
            if (how === "equals") return given === value;
            if (how === "contains" || how === "matches") return given.includes(value);
            return given.startsWith(value);
          });
          expect(engine.evaluate("t", params)).toBe(holds ? "deny" : "allow");
        },
      ),
      { numRuns: 500 },
    );
  });

  // Feature: stage-03-tools-policy, Property 36: Policy Risk Classification
  test("Property 36: every tool has one of three risks", () => {
    const known = { read_file: "low", ls: "low", glob: "low", write_file: "medium", shell: "high" };
    const engine = new PolicyEngine({ defaultAction: "ask", rules: [] });
    for (const [tool, risk] of Object.entries(known)) expect(engine.getRiskLevel(tool)).toBe(risk);
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.constantFrom("Read", "Write", "Bash", "Agent", "mcp__a__b")),
        (tool) => {
          expect(["low", "medium", "high"]).toContain(engine.getRiskLevel(tool));
        },
      ),
      { numRuns: 200 },
    );
    const said = {
      defaultAction: "ask" as const,
      rules: [{ tool: "read_file", action: "ask" as const, risk: "high" as const }],
    };
    expect(new PolicyEngine(said).getRiskLevel("read_file")).toBe("high");
  });

  // Feature: stage-03-tools-policy, Property 37: Confirmation Details Completeness
  test("Property 37: a person sees the tool, what it does, its risk and its paths", async () => {
    const registry = createToolRegistry({
      projectPath: workspace.root,
      toolsets: ["classic"],
      userPolicyFile: false,
    });
    const asked: ConfirmationRequest[] = [];
    registry.messageBus.on("request", (request) => {
      asked.push(request);
      registry.messageBus.respondToConfirmation({ id: request.id, approved: false });
    });
    await fc.assert(
      fc.asyncProperty(fc.stringMatching(/^[a-z]{1,8}$/), fc.string(), async (path, content) => {
        asked.length = 0;
        const result = await registry.call("write_file", { path, content });
        expect(result.error?.type).toBe("PolicyDenied");
        expect(asked).toHaveLength(1);
        expect(asked[0]?.details).toMatchObject({
          toolName: "write_file",
          description: expect.stringContaining(workspace.path(path)),
          risk: "medium",
          locations: [workspace.path(path)],
        });
        const invocation = registry.createInvocation("write_file", { path, content });
        expect(await invocation.shouldConfirmExecute(new AbortController().signal)).toMatchObject({
          toolName: "write_file",
          risk: "medium",
          locations: [workspace.path(path)],
        });
      }),
      { numRuns: 100 },
    );
  });
});

describe("the message bus", () => {
  // Feature: stage-03-tools-policy, Property 38: Message Bus Correlation ID Uniqueness
  test("Property 38: every request has a unique id", async () => {
    const ids = new Set<string>();
    let asked = 0;
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 20 }), async (count) => {
        const bus = new MessageBus();
        bus.on("request", ({ id }) => {
          ids.add(id);
          asked += 1;
          bus.respondToConfirmation({ id, approved: true });
        });
        await Promise.all(Array.from({ length: count }, () => bus.requestConfirmation(details())));
      }),
      { numRuns: 100 },
    );
    expect(ids.size).toBe(asked);
  });

  // Feature: stage-03-tools-policy, Property 39: Message Bus Request-Response Matching
  // Feature: stage-03-tools-policy, Property 41: Message Bus Concurrent Requests
  test("Properties 39 and 41: each of many requests gets its own answer, in any order", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ approved: fc.boolean(), order: fc.integer() }), {
          minLength: 1,
          maxLength: 20,
        }),
        async (wanted) => {
          const bus = new MessageBus();
          const requests: ConfirmationRequest[] = [];
          const all = new Promise<void>((resolve) => {
            bus.on("request", (request) => {
              requests.push(request);
              if (requests.length === wanted.length) resolve();
            });
          });
          const asked = wanted.map((_, index) => bus.requestConfirmation(details(`${index}`)));
          await all;
          const wish = (request: ConfirmationRequest) => {
            const found = wanted[Number(request.details.description)];
            if (found === undefined) throw new Error("an unknown request");
            return found;
          };
          const shuffled = requests.toSorted((a, b) => wish(a).order - wish(b).order);
          for (const request of shuffled) {
            const { id } = request;
            const { approved } = wish(request);
            expect(bus.respondToConfirmation({ id, approved })).toBe(true);
          }
          expect(await Promise.all(asked)).toEqual(wanted.map(({ approved }) => approved));
        },
      ),
      { numRuns: 100 },
    );
  });

  // Feature: stage-03-tools-policy, Property 40: Message Bus Timeout Handling
  test("Property 40: a request without an answer is refused after its timeout", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 15 }), async (timeout) => {
        const bus = new MessageBus();
        let late = "";
        bus.on("request", ({ id }) => (late = id));
        const error = await bus
          .requestConfirmation(details(), undefined, timeout)
          .catch((it) => it);
        expect(error).toBeInstanceOf(ToolError);
        expect(error.type).toBe("ConfirmationTimeout");
        expect(bus.respondToConfirmation({ id: late, approved: true })).toBe(false);
      }),
      { numRuns: 100 },
    );
  });

  // Feature: stage-03-tools-policy, Property 42: Message Bus Cancellation
  test("Property 42: an abort cancels the request", async () => {
    await fc.assert(
      fc.asyncProperty(fc.boolean(), async (early) => {
        const bus = new MessageBus();
        const controller = new AbortController();
        bus.on("request", () => controller.abort(new Error("enough")));
        if (early) controller.abort(new Error("enough"));
        const error = await bus.requestConfirmation(details(), controller.signal).catch((it) => it);
        expect(error).toMatchObject({ type: "Cancelled", name: "AbortError" });
        expect(error.cause).toEqual(new Error("enough"));
      }),
      { numRuns: 100 },
    );
  });
});

describe("the output formatter", () => {
  const output = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 200 }),
    fc.array(fc.string({ maxLength: 20 }), { maxLength: 40 }).map((lines) => lines.join("\n")),
  );

  // Feature: stage-03-tools-policy, Property 43: Output Truncation Behavior
  test("Property 43: output beyond a limit is cut there, and the answer says how much is missing", () => {
    fc.assert(
      fc.property(
        output,
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 1, max: 20 }),
        (text, maxChars, maxLines) => {
          const cut = OutputFormatter.truncate(text, { maxChars, maxLines });
          const over = text.length > maxChars || text.split("\n").length > maxLines;
          expect(cut.truncated).toBe(over);
          const note = over ? `\n\n[Output truncated: ${cut.omitted} omitted]` : "";
          expect(cut.content.endsWith(note)).toBe(true);
          const shown = cut.content.slice(0, cut.content.length - note.length);
          expect(text.startsWith(shown)).toBe(true);
          expect(shown.length).toBeLessThanOrEqual(maxChars);
          const lines = text.split("\n");
          const kept = lines.slice(0, maxLines).join("\n");
          const wanted = [
            [lines.length - maxLines, "line"],
            [kept.length - shown.length, "character"],
          ].flatMap(([count, noun]) =>
            (count as number) > 0 ? [`${count} ${noun}${count === 1 ? "" : "s"}`] : [],
          );
          expect(cut.omitted ?? "").toBe(wanted.join(" and "));
        },
      ),
      { numRuns: 500 },
    );
  });

  test("escape sequences are removed for a model and escaped for a terminal", () => {
    expect(OutputFormatter.formatForLLM("  \u001b[31mred\u001b[0m \n")).toBe("red");
    expect(OutputFormatter.formatForDisplay("\u001b[2Jgone\n")).toBe("\\u{1b}[2Jgone\n");
    expect(OutputFormatter.formatForDisplay("plain\n\ttext")).toBe("plain\n\ttext");
    expect(() => OutputFormatter.truncate("a", { maxChars: -1 })).toThrow("`maxChars` must be");
    // @ts-expect-error limits are an object
    expect(OutputFormatter.truncate("a", null)).toEqual(OutputFormatter.truncate("a"));
    // @ts-expect-error limits are an object
    expect(() => OutputFormatter.truncate("a", 5)).toThrow("the limits must be an object");
    // @ts-expect-error output is text
    expect(() => OutputFormatter.truncate(1)).toThrow("the output must be a string");
  });
});
