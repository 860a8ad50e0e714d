// AskUserQuestion: the questions, the host's handler, and the result for the model.
import { describe, expect, test } from "vitest";
import type { HandlerContext, UserAnswers, UserQuestion } from "../../index.js";
import { deferred } from "../support/promises.js";
import { useAskingRegistries, useRegistries } from "../support/registries.js";
import { texts } from "../support/results.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace);
const askingRegistry = useAskingRegistries(workspace);

const DATABASE = {
  question: "Which database?",
  header: "Database",
  options: [
    { label: "PostgreSQL", description: "A server" },
    { label: "SQLite", description: "A file" },
  ],
  multiSelect: false,
};
const PARTS = {
  question: "Which parts?",
  header: "Parts",
  options: [
    { label: "API", description: "The server" },
    { label: "CLI", description: "The commands" },
    { label: "Docs", description: "The texts" },
  ],
  multiSelect: true,
};

/** A handler that records its questions. */
function answering(answers: UserAnswers["answers"]) {
  const asked: UserQuestion[][] = [];
  const askUser = (questions: readonly UserQuestion[]) => {
    asked.push([...questions]);
    return { answers };
  };
  return { asked, askUser };
}

/** A handler that never answers. It reports when it was called and how its signal ended. */
function silent() {
  const called = deferred<HandlerContext>();
  const aborted = deferred<unknown>();
  const askUser = (_questions: readonly UserQuestion[], context: HandlerContext) => {
    context.signal.addEventListener("abort", () => aborted.resolve(context.signal.reason));
    called.resolve(context);
    return new Promise<never>(() => {});
  };
  return { askUser, called: called.promise, aborted: aborted.promise };
}

describe("answers", () => {
  test("come from the host, and the model reads questions and answers", async () => {
    const { asked, askUser } = answering({
      "Which parts?": ["API", "something else"],
      "Which database?": "SQLite",
    });
    const registry = registryHere({ handlers: { askUser } });
    const result = await registry.call("AskUserQuestion", { questions: [DATABASE, PARTS] });
    expect(result).toEqual({
      content: [
        {
          type: "text",
          text: "Which database? → SQLite\nWhich parts? → API, something else",
        },
      ],
      structuredContent: {
        answers: { "Which database?": "SQLite", "Which parts?": ["API", "something else"] },
      },
    });
    expect(asked).toEqual([[DATABASE, PARTS]]);
  });

  test("that are already in the input are not asked for", async () => {
    const { asked, askUser } = answering({ "Which parts?": "CLI" });
    const registry = registryHere({ handlers: { askUser } });
    const questions = [DATABASE, PARTS];
    const some = { questions, answers: { "Which database?": "DuckDB" } };
    expect(texts(await registry.call("AskUserQuestion", some))).toEqual([
      "Which database? → DuckDB\nWhich parts? → CLI",
    ]);
    expect(asked).toEqual([[PARTS]]);
    // This needs no handler.
    const all = { questions: [DATABASE], answers: { "Which database?": "SQLite" } };
    expect(texts(await registryHere().call("AskUserQuestion", all))).toEqual([
      "Which database? → SQLite",
    ]);
  });

  test("that a host adds when it rewrites the input are used", async () => {
    const registry = registryHere({
      hooks: {
        PreToolUse: [
          {
            hooks: [
              () => ({
                hookSpecificOutput: {
                  hookEventName: "PreToolUse",
                  updatedInput: {
                    questions: [DATABASE],
                    answers: { "Which database?": "SQLite" },
                  },
                },
              }),
            ],
          },
        ],
      },
    });
    expect(texts(await registry.call("AskUserQuestion", { questions: [DATABASE] }))).toEqual([
      "Which database? → SQLite",
    ]);
  });

  test("in a wrong form are an error that names the question", async () => {
    for (const [answer, problem] of [
      [undefined, "must answer with `{ answers }`, got null"],
      [{ answers: {} }, "did not answer `Which database?`"],
      [{ answers: { "Which one?": "x" } }, "answered `Which one?`, which was not asked"],
    ] as const) {
      const registry = registryHere({ handlers: { askUser: () => answer } });
      const { error } = await registry.call("AskUserQuestion", { questions: [DATABASE] });
      expect(error).toEqual({ type: "ToolFailed", message: `\`handlers.askUser\` ${problem}` });
    }
  });

  test("that the user refuses to give fail with the host's error", async () => {
    const askUser = () => Promise.reject(new Error("the user closed the dialog"));
    const registry = registryHere({ handlers: { askUser } });
    const { error } = await registry.call("AskUserQuestion", { questions: [DATABASE] });
    expect(error).toEqual({ type: "ToolFailed", message: "the user closed the dialog" });
  });
});

describe("questions", () => {
  const optionNamed = (label: string) => ({ label, description: "a" });
  const option = optionNamed("A");
  const questionNamed = (question: string) => ({ ...DATABASE, question });
  const cases: [string, object, string][] = [
    ["none", { questions: [] }, "parameter `questions`: "],
    [
      "five",
      { questions: ["1?", "2?", "3?", "4?", "5?"].map(questionNamed) },
      "parameter `questions`: ",
    ],
    [
      "one option",
      { questions: [DATABASE, { ...PARTS, options: [option] }] },
      "parameter `questions[1].options`: ",
    ],
    [
      "five options",
      {
        questions: [{ ...PARTS, options: ["1", "2", "3", "4", "5"].map(optionNamed) }],
      },
      "parameter `questions[0].options`: ",
    ],
    [
      "a long header",
      { questions: [{ ...DATABASE, header: "thirteen char" }] },
      "parameter `questions[0].header`: ",
    ],
    [
      "the same text twice",
      { questions: [DATABASE, DATABASE] },
      "parameter `questions[1].question`: `Which database?` is asked twice; each question needs a different text",
    ],
    [
      "the same label twice",
      { questions: [{ ...DATABASE, options: [option, option] }] },
      "parameter `questions[0].options[1].label`: `A` is offered twice; each option needs its own label",
    ],
    [
      "a blank text",
      { questions: [{ ...DATABASE, question: " " }] },
      "parameter `questions[0].question`: must not be blank",
    ],
    [
      "an answer to another question",
      { questions: [DATABASE], answers: { "Which?": "x" } },
      "parameter `answers`: `Which?` is none of the questions; use their exact texts",
    ],
    [
      "a missing description",
      { questions: [{ ...DATABASE, options: [option, { label: "B" }] }] },
      "missing required parameter `questions[0].options[1].description`",
    ],
    [
      "an unknown field",
      { questions: [{ ...DATABASE, multi: true }] },
      "unknown parameter `multi` in `questions[0]`",
    ],
  ];
  test.each(cases)("with %s are refused and not asked", async (_what, input, begin) => {
    const { asked, askUser } = answering({});
    const registry = registryHere({ handlers: { askUser } });
    const { error } = await registry.call("AskUserQuestion", input as never);
    expect(error?.type).toBe("ValidationError");
    expect(error?.message.slice(0, begin.length)).toBe(begin);
    expect(asked).toEqual([]);
  });

  test("are asked in every mode, without confirmation", async () => {
    for (const permissionMode of ["default", "plan", "dontAsk"] as const) {
      const { askUser } = answering({ "Which database?": "SQLite" });
      const registry = askingRegistry({ permissionMode, handlers: { askUser } });
      const result = await registry.call("AskUserQuestion", { questions: [DATABASE] });
      expect(texts(result)).toEqual(["Which database? → SQLite"]);
    }
  });

  test("that a rule denies are not asked", async () => {
    const { asked, askUser } = answering({});
    const registry = askingRegistry({
      policy: { deny: ["AskUserQuestion"] },
      handlers: { askUser },
    });
    const { error } = await registry.call("AskUserQuestion", { questions: [DATABASE] });
    expect(error?.type).toBe("PolicyDenied");
    expect(asked).toEqual([]);
  });

  test("fail without a handler, and the host learns which option is missing", async () => {
    const result = await registryHere().call("AskUserQuestion", { questions: [DATABASE] });
    const message =
      "no user can be asked here; decide by yourself, or put the question into your answer";
    const howToAllow = "a host gives the function `handlers.askUser` in its options";
    expect(result).toEqual({
      content: [{ type: "text", text: message }],
      isError: true,
      display: `${message}\n${howToAllow}`,
      error: { type: "HandlerMissing", message, details: { reason: message, howToAllow } },
    });
  });
});

describe("an unanswered question", () => {
  test("ends after the limit for questions", async () => {
    const { askUser, aborted } = silent();
    const registry = registryHere({ handlers: { askUser }, limits: { questionTimeoutMs: 50 } });
    const { error } = await registry.call("AskUserQuestion", { questions: [DATABASE] });
    expect(error).toEqual({
      type: "TimeoutError",
      message:
        "the user did not answer within 50 ms; continue without an answer, or ask again later",
    });
    await aborted;
  });

  test("is not ended by the limit for calls", async () => {
    const asked = deferred<UserAnswers>();
    const registry = registryHere({
      handlers: { askUser: () => asked.promise },
      toolsets: ["claude", "diagnostic"],
      limits: { callTimeoutMs: 50 },
    });
    const call = registry.call("AskUserQuestion", { questions: [DATABASE] });
    // This call starts after the question and reaches the limit for calls.
    const other = await registry.call("diagnostic_sleep", { ms: 60_000 });
    expect(other.error?.type).toBe("TimeoutError");
    asked.resolve({ answers: { "Which database?": "SQLite" } });
    expect(texts(await call)).toEqual(["Which database? → SQLite"]);
  });

  test("ends when the call is aborted", async () => {
    const { askUser, called, aborted } = silent();
    const registry = registryHere({ handlers: { askUser } });
    const controller = new AbortController();
    const call = registry.call(
      "AskUserQuestion",
      { questions: [DATABASE] },
      { signal: controller.signal },
    );
    await called;
    controller.abort();
    await expect(call).rejects.toMatchObject({ type: "Cancelled", name: "AbortError" });
    await aborted;
  });

  test("ends when the registry is closed", async () => {
    const { askUser, called, aborted } = silent();
    const registry = registryHere({ handlers: { askUser } });
    const call = registry.call("AskUserQuestion", { questions: [DATABASE] });
    await called;
    await registry.close();
    expect((await call).error?.type).toBe("RegistryClosed");
    await aborted;
  });
});

test("an invalid limit for questions is refused", () => {
  for (const questionTimeoutMs of [0, -1, 1.5, 2 ** 31]) {
    expect(() => registryHere({ limits: { questionTimeoutMs } })).toThrow(/questionTimeoutMs/);
  }
});

test("questions are asked from every entry point", async () => {
  const { asked, askUser } = answering({ "Which database?": "SQLite" });
  const registry = registryHere({ handlers: { askUser } });
  const input = { questions: [DATABASE] };
  const wanted = "Which database? → SQLite";

  const turn = await registry.executeTools([
    { type: "tool_use", id: "1", name: "AskUserQuestion", input },
  ]);
  expect(turn).toMatchObject([{ tool_use_id: "1", content: [{ type: "text", text: wanted }] }]);

  const invocation = registry.createInvocation("AskUserQuestion", input);
  expect(invocation.getDescription()).toBe("Ask the user: Which database?");
  expect(await invocation.shouldConfirmExecute()).toBe(false);
  expect((await invocation.execute()).llmContent).toBe(wanted);

  const ask = registry.toMcpServerConfig().tools.find(({ name }) => name === "AskUserQuestion");
  expect(await ask?.handler(input, {})).toEqual({ content: [{ type: "text", text: wanted }] });
  expect(asked.length).toBe(3);
});
