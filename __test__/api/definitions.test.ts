// The definitions of tools in the format of each model provider.
import { describe, expect, test } from "vitest";
import { greeter } from "../support/greeter.js";
import { thrownBy } from "../support/misuse.js";
import { EVERY_SET, useRegistries } from "../support/registries.js";
import { texts } from "../support/results.js";
import { type Schema, faultsOf } from "../support/strict-schemas.js";
import {
  ToolRegistry,
  tool,
  type DefinitionFormat,
  type McpDefinition,
  type RegisteredToolInfo,
} from "../support/unasked.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace, { toolsets: EVERY_SET });

describe("definitions", () => {
  function oneTool() {
    const registry = new ToolRegistry();
    registry.register(greeter());
    return registry;
  }
  const { inputSchema: parameters } = greeter();
  const strict = {
    type: "object",
    properties: {
      name: { type: "string", description: "Whom." },
      times: { type: ["integer", "null"], minimum: 1 },
      tone: { type: ["string", "null"], enum: ["warm", "cool", null] },
    },
    required: ["name", "times", "tone"],
    additionalProperties: false,
  };
  const description = "Greets somebody.";

  test("for MCP", () => {
    const expected = [
      {
        name: "greet",
        title: "Greet",
        description,
        inputSchema: parameters,
        annotations: { readOnlyHint: true },
      },
    ];
    expect(oneTool().definitions("mcp")).toEqual(expected);
    expect(oneTool().definitions()).toEqual(expected);
  });

  test("for Anthropic", () => {
    expect(oneTool().definitions("anthropic")).toEqual([
      { name: "greet", description, input_schema: parameters },
    ]);
  });

  test("for OpenAI's chat completions, strict and not", () => {
    const registry = oneTool();
    expect(registry.definitions("openai")).toEqual([
      { type: "function", function: { name: "greet", description, parameters, strict: false } },
    ]);
    expect(registry.definitions("openai", { strict: true })).toEqual([
      {
        type: "function",
        function: { name: "greet", description, parameters: strict, strict: true },
      },
    ]);
  });

  test("for OpenAI's responses, strict and not", () => {
    const registry = oneTool();
    expect(registry.definitions("openai-responses")).toEqual([
      { type: "function", name: "greet", description, parameters, strict: false },
    ]);
    expect(registry.definitions("openai-responses", { strict: true })).toEqual([
      { type: "function", name: "greet", description, parameters: strict, strict: true },
    ]);
  });

  test("for Gemini", () => {
    expect(oneTool().definitions("gemini")).toEqual([
      { functionDeclarations: [{ name: "greet", description, parametersJsonSchema: parameters }] },
    ]);
  });

  test("a name that Gemini rejects gets a prefix, and can be called by it", async () => {
    const registry = new ToolRegistry();
    registry.register(tool({ name: "1st", handler: () => "first" }));
    const [{ functionDeclarations } = { functionDeclarations: [] }] =
      registry.definitions("gemini");
    expect(functionDeclarations.map(({ name }) => name)).toEqual(["_1st"]);
    expect(texts(await registry.call("_1st"))).toEqual(["first"]);
  });

  /** The built-in tools, one of a server, and one of a host with a nested schema and a name that Gemini rejects. */
  function everyTool() {
    const registry = registryHere();
    const item = {
      type: "object",
      properties: {
        key: { type: "string" },
        kind: { type: "string", enum: ["a", "b"], default: "a" },
        either: { anyOf: [{ type: "string" }, { type: "object", properties: {} }] },
      },
      required: ["key"],
    };
    const inputSchema = {
      type: "object",
      properties: { items: { type: "array", items: item }, one: item, listed: item },
      required: ["items", "one"],
    };
    registry.register(tool({ name: "2nested", inputSchema, handler: () => "" }));
    registry.registerMcpTool({ serverName: "s", toolName: "t", inputSchema, handler: () => "" });
    return registry;
  }

  test("for MCP match the registry's own information", () => {
    const registry = everyTool();
    const definitions = registry.definitions("mcp");
    expect(definitions.map(({ name }) => name)).toEqual(registry.names());
    const shown = ({
      name,
      title,
      inputSchema,
      annotations,
    }: RegisteredToolInfo | McpDefinition) => ({
      name,
      title,
      inputSchema,
      annotations,
    });
    expect(definitions.map(shown)).toEqual(registry.listTools().map(shown));
    for (const { name, description } of definitions) {
      const said = registry.getToolInfo(name)?.description ?? "nothing";
      const place = `The workspace is \`${workspace.root}\`; absolute paths begin with it.`;
      expect([said, `${said}\n\n${place}`]).toContain(description);
    }
  });

  type Told = { name: string; description?: string; inputSchema: Schema };
  const SHAPES: Record<Exclude<DefinitionFormat, "mcp">, (tools: Told[]) => unknown> = {
    anthropic: (tools) =>
      tools.map(({ name, description, inputSchema }) => ({
        name,
        description,
        input_schema: inputSchema,
      })),
    openai: (tools) =>
      tools.map(({ name, description, inputSchema }) => ({
        type: "function",
        function: { name, description, parameters: inputSchema, strict: false },
      })),
    "openai-responses": (tools) =>
      tools.map(({ name, description, inputSchema }) => ({
        type: "function",
        name,
        description,
        parameters: inputSchema,
        strict: false,
      })),
    gemini: (tools) => [
      {
        functionDeclarations: tools.map(({ name, description, inputSchema }) => ({
          name: /^[\d-]/.test(name) ? `_${name}` : name,
          description,
          parametersJsonSchema: inputSchema,
        })),
      },
    ],
  };

  test.each(["anthropic", "openai", "openai-responses", "gemini"] as const)(
    "for %s are those for MCP in another form",
    (format) => {
      const registry = everyTool();
      const shaped = SHAPES[format](registry.definitions("mcp") as Told[]);
      expect(registry.definitions(format)).toEqual(shaped);
    },
  );

  test.each(["openai", "openai-responses"] as const)(
    "for %s in strict mode allow no other properties, and are otherwise equal",
    (format) => {
      const registry = everyTool();
      const usual = registry.definitions("mcp") as Told[];
      const strict = registry
        .definitions(format, { strict: true })
        .map((it) => ("function" in it ? it.function : it));
      const rest = ({ name, description }: { name: string; description?: string }) => ({
        name,
        description,
        strict: true,
      });
      expect(strict.map((it) => ({ ...rest(it), strict: it.strict }))).toEqual(usual.map(rest));
      for (const [index, { name, inputSchema }] of usual.entries()) {
        expect(faultsOf(strict[index]?.parameters as Schema, inputSchema, name)).toEqual([]);
      }
    },
  );

  test("nulls of a strict model for omitted values are treated as absent", async () => {
    const registry = oneTool();
    const input = { name: "you", times: null, tone: null };
    expect(texts(await registry.call("greet", input))).toEqual(["hello you"]);
  });

  test("an unknown format is refused with a list of the known ones", () => {
    expect(thrownBy(() => oneTool().definitions("xml" as never))).toEqual({
      type: "InvalidOptions",
      message:
        "no format is named `xml`; there are `mcp`, `anthropic`, `openai`, `openai-responses`, `gemini`",
    });
  });
});
