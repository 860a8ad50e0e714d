import { describe, expect, test } from "vitest";
import { createSdkMcpServer, tool } from "../support/unasked";
import { connectClient } from "../support/mcp-clients";
import { useRegistries } from "../support/registries";
import { useWorkspace } from "../support/workspace";

const workspace = useWorkspace();
const newRegistry = useRegistries(workspace);

const FORMATS = ["mcp", "anthropic", "openai", "openai-responses", "gemini"] as const;

/** How often a text occurs in the output as a JSON value. */
function mentions(told: unknown, text: string): number {
  return JSON.stringify(told).split(JSON.stringify(text).slice(1, -1)).length - 1;
}

describe("the path of the workspace", () => {
  test("occurs once in every format, and in every listing", () => {
    for (const toolsets of [["claude"], ["classic"], ["claude", "classic", "diagnostic"]]) {
      const registry = newRegistry({ toolsets });
      const told = [
        ...FORMATS.map((format) => registry.definitions(format)),
        registry.getFunctionSchemas(),
        registry.listTools(),
        registry.list().map((it) => ("description" in it ? it.description : undefined)),
        registry.toMcpServerConfig().tools.map(({ description }) => description),
      ];
      expect(told.map((it) => mentions(it, workspace.root))).toEqual(told.map(() => 1));
    }
  });

  test("is in the instructions for MCP clients, after those of the host", async () => {
    const sentence = `The workspace is \`${workspace.root}\`; absolute paths begin with it.`;
    for (const [instructions, told] of [
      [undefined, sentence],
      ["", sentence],
      ["Be kind.", `Be kind.\n\n${sentence}`],
    ] as const) {
      const registry = newRegistry({ instructions });
      const { client } = await connectClient(registry.toMcpServerConfig().instance);
      expect(client.getInstructions()).toBe(told);
      const { tools } = await client.listTools();
      expect(mentions(tools, workspace.root)).toBe(1);
    }
  });

  test("is present whichever tools are disabled, also in objects that were obtained before", () => {
    const registry = newRegistry();
    const told = () => [
      mentions(registry.definitions("anthropic"), workspace.root),
      mentions(
        registry.list().filter(({ name }) => !registry.isDisabled(name)),
        // Not in `schema` too.
        workspace.root,
      ),
    ];
    const before = told();
    const names = registry.names().filter((name) => !/^(Task|Bash|shell)/.test(name));
    for (const name of names) {
      expect([name, told()]).toEqual([name, before]);
      registry.disable(name);
    }
    // Bash is left, which runs there.
    expect(told()).toEqual(before);
    registry.disable("Bash", "shell");
    expect(told()).toEqual([0, 0]);
    registry.enable("Write");
    expect(told()).toEqual(before);
  });

  test("comes with all directories, limited to a number that a model can use", () => {
    const directories = Array.from({ length: 12 }, (_, index) => `more-${index}`);
    for (const name of directories) workspace.write(`${name}/file`, "");
    const paths = directories.map((name) => workspace.path(name));
    const sentence = (additionalDirectories: string[]) => {
      const registry = newRegistry({ projectPath: paths[0], additionalDirectories });
      const told = registry.listTools().map(({ description }) => description);
      return told
        .find((it) => it.includes("The workspace is"))
        ?.split("\n")
        .at(-1);
    };
    expect(sentence([paths[1]!, paths[2]!])).toBe(
      `The workspace is \`${paths[0]}\`, with \`${paths[1]}\`, \`${paths[2]}\`; absolute paths begin with one of these.`,
    );
    expect(sentence(paths.slice(1))).toMatch(/`[^`]*more-8` and 3 more; absolute paths/);
    expect(sentence(paths.slice(1))).toBe(sentence(paths.slice(1)));
  });

  test("is left out for tools that do not use it", async () => {
    const server = createSdkMcpServer({
      name: "x",
      tools: [tool({ name: "x", handler: () => "x" })],
    });
    const { client } = await connectClient(server.instance);
    expect(client.getInstructions()).toBeUndefined();
    expect(mentions(newRegistry({ toolsets: ["diagnostic"] }).listTools(), workspace.root)).toBe(0);
  });
});
