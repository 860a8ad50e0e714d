// The texts about tools that models read: right names, no noise, limited length.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createToolRegistry, tool } from "../../index.mjs";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
type ToolSet = "claude" | "classic" | "diagnostic";

function registryOf(...toolsets: ToolSet[]) {
  return createToolRegistry({ projectPath: workspace.root, toolsets, userPolicyFile: false });
}

/** The definitions of a set as they are sent to a provider. */
function definitions(set: ToolSet) {
  return registryOf(set).definitions("anthropic");
}

function description(set: ToolSet, name: string): string {
  return definitions(set).find((it) => it.name === name)?.description ?? "";
}

const SETS = ["claude", "classic", "diagnostic"] as const;

/** The tools whose texts were measured together before others were added. */
const MEASURED =
  /^(Bash|Edit|Glob|Grep|NotebookEdit|Read|Task(Output|Stop)|Write|diagnostic_(echo|panic|sleep)|(read|write|edit)_file|read_many_files|glob|grep|ls|shell|task_(output|stop))$/;

function isNewer(name: string): boolean {
  return !MEASURED.test(name);
}

describe("definitions", () => {
  // Providers show a model the schema as JSON, where a backslash is two and a quote is escaped.
  test.each(SETS)("of %s need no escapes except for line ends", (set) => {
    for (const definition of definitions(set)) {
      const text = JSON.stringify(definition).replaceAll("\\n", " ");
      expect(`${definition.name} ${/.{0,30}\\.{0,30}/.exec(text)?.[0]}`).toBe(
        `${definition.name} undefined`,
      );
    }
  });

  test.each(SETS)("of %s break lines only between the points of a description", (set) => {
    for (const { input_schema } of definitions(set)) {
      expect(JSON.stringify(input_schema)).not.toContain("\\n");
    }
  });

  test.each(["anthropic", "openai", "openai-responses", "gemini", "mcp"] as const)(
    "for %s have no bounds that only reflect the type of a number",
    (format) => {
      const registry = registryOf(...SETS);
      registry.register(
        tool("mine", "Counts.", { count: z.number().int() }, () => Promise.resolve("")),
      );
      const inputSchema = {
        type: "object" as const,
        properties: {
          a: {
            type: "integer",
            minimum: Number.MIN_SAFE_INTEGER,
            maximum: Number.MAX_SAFE_INTEGER,
          },
          b: { anyOf: [{ type: "integer", maximum: Number.MAX_SAFE_INTEGER, minimum: 3 }] },
          c: { type: "array", items: { type: "integer", exclusiveMaximum: 2 ** 53 } },
        },
      };
      registry.register(tool({ name: "other", inputSchema, handler: () => "" }));
      const shown = JSON.stringify(registry.definitions(format));
      expect(shown).not.toMatch(/90071992547409\d\d/);
      expect(shown).toContain('"minimum":3');
    },
  );

  test("enforce those bounds all the same", async () => {
    const registry = registryOf("claude");
    const file_path = workspace.write("a.txt", "one\n");
    for (const limit of [2 ** 53, 1e300, -1]) {
      const { error } = await registry.call("Read", { file_path, limit });
      expect(error?.type).toBe("ValidationError");
    }
  });

  // Of the tools for files and commands, measured before their texts were rewritten; `bench/README.md` says
  // how to measure tokens.
  test.each([
    ["claude", 12_169],
    ["classic", 7_697],
    ["diagnostic", 1_269],
  ] as const)("of %s have at most %i characters", (set, most) => {
    const measured = definitions(set).filter(({ name }) => !isNewer(name));
    expect(JSON.stringify(measured).length).toBeLessThanOrEqual(most);
  });

  test.each(SETS)("of newer tools of %s have at most 2,000 characters each", (set) => {
    for (const definition of definitions(set).filter(({ name }) => isNewer(name))) {
      const { length } = JSON.stringify(definition);
      expect(`${definition.name}: ${Math.max(length, 2_000)}`).toBe(`${definition.name}: 2000`);
    }
  });
});

describe("descriptions name tools as their set calls them", () => {
  test.each([
    ["claude", "Bash", ["Grep", "Glob", "Read", "Edit", "Write", "TaskOutput", "TaskStop"]],
    [
      "classic",
      "shell",
      ["grep", "glob", "read_file", "edit_file", "write_file", "task_output", "task_stop"],
    ],
  ] as const)("%s: %s", (set, name, named) => {
    const text = description(set, name);
    for (const other of named) expect(text).toMatch(new RegExp(`(Use|and|with|;) ${other}\\b`));
    expect(text).toMatch(/Use \w+, not `grep`/);
  });

  test("contain no name of another set and no unfilled placeholder", () => {
    const foreign = {
      claude: /read_file|edit_file|write_file|task_output|task_stop|\bshell tool\b/,
      classic: /\b(Grep|Glob|TaskOutput|TaskStop|NotebookEdit|Bash)\b/,
      diagnostic: /\b(Grep|Bash|read_file)\b/,
    };
    for (const set of SETS) {
      const text = JSON.stringify(definitions(set));
      expect(`${set}: ${foreign[set].exec(text)?.[0]}`).toBe(`${set}: undefined`);
      expect(text).not.toContain("{tool:");
    }
  });

  test.each([
    ["claude", "Bash", "run_in_background"],
    ["classic", "shell", "background"],
  ] as const)("%s: %s says how commands are written", (set, name, background) => {
    const text = description(set, name);
    expect(text).toContain("Quote paths with spaces");
    expect(text).toMatch(/`&&`.*`;`/);
    expect(text).toContain("several calls in one turn");
    expect(text).toContain(`\`${background}\``);
    expect(text).toMatch(/no editors, pagers or prompts/);
  });
});

test("tools have the display names of their original design", () => {
  const registry = registryOf("claude", "classic");
  const names = registry.listTools().map((it) => [it.name, it.title]);
  expect(Object.fromEntries(names)).toEqual({
    Agent: "Start Agent",
    AskUserQuestion: "Ask the User",
    Bash: "Execute Shell Command",
    Config: "Read or Change Settings",
    Edit: "Edit File",
    ExitPlanMode: "Exit Plan Mode",
    Glob: "Find Files by Pattern",
    Grep: "Search File Contents",
    ListMcpResources: "List MCP Resources",
    NotebookEdit: "Edit Notebook",
    Read: "Read File",
    ReadMcpResource: "Read MCP Resource",
    TaskOutput: "Read Task Output",
    TaskStop: "Stop Task",
    TodoWrite: "Update Todos",
    WebFetch: "Fetch Web Page",
    WebSearch: "Search the Web",
    Write: "Write File",
    edit_file: "Edit File",
    glob: "Find Files by Pattern",
    grep: "Search File Contents",
    ls: "List Directory",
    memory: "Persistent Memory",
    read_file: "Read File",
    read_many_files: "Read Multiple Files",
    shell: "Execute Shell Command",
    task_output: "Read Task Output",
    task_stop: "Stop Task",
    web_fetch: "Fetch Web Content",
    web_search: "Search the Web",
    write_file: "Write File",
    write_todos: "Manage Todos",
  });
});
