import { describe, expect, test } from "vitest";
import { createSdkMcpServer, tool } from "./support/unasked";
import { connectClient } from "./support/mcp-clients";
import { useRegistries } from "./support/registries";
import { useWorkspace } from "./support/workspace";

const workspace = useWorkspace();
const newRegistry = useRegistries(workspace);

const FORMATS = ["mcp", "anthropic", "openai", "openai-responses", "gemini"] as const;

/** How often a text stands in what is told, as a value of JSON. */
function mentions(told: unknown, text: string): number {
  return JSON.stringify(told).split(JSON.stringify(text).slice(1, -1)).length - 1;
}

describe("where the workspace is", () => {
  test("is told once in every format, and by every listing", () => {
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

  test("is told to MCP clients in the instructions, behind those of the host", async () => {
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

  test("is told whichever tools are switched off, also by objects that were had before", () => {
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

  test("is told with all its directories, and no more of them than a model can use", () => {
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

  test("is not told of tools that have nothing to do with it", async () => {
    const server = createSdkMcpServer({
      name: "x",
      tools: [tool({ name: "x", handler: () => "x" })],
    });
    const { client } = await connectClient(server.instance);
    expect(client.getInstructions()).toBeUndefined();
    expect(mentions(newRegistry({ toolsets: ["diagnostic"] }).listTools(), workspace.root)).toBe(0);
  });
});
