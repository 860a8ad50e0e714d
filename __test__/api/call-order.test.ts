import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { RawClient, callTool, connectClient } from "../support/mcp-clients";
import { texts } from "../support/results";
import { useRegistries } from "../support/registries";
import { useWorkspace } from "../support/workspace";
import type { CallResult, ToolRegistry } from "../../index.js";

const workspace = useWorkspace();
const newRegistry = useRegistries(workspace);

const COUNT = 150;

interface EntryPoint {
  (registry: ToolRegistry): Promise<(name: string, input: object) => Promise<CallResult>>;
}

/** Every way to make a call without waiting for the previous one. */
const ENTRY_POINTS: Record<string, EntryPoint> = {
  call: async (registry) => (name, input) => registry.call(name as "Edit", input as never),
  handler: async (registry) => (name, input) =>
    registry.get(name as "Edit")!.handler(input as never),
  invocation: async (registry) => async (name, input) => {
    const { llmContent, error } = await registry
      .createInvocation(name as "Edit", input as never)
      .execute();
    const content = [{ type: "text" as const, text: llmContent }];
    return error === undefined ? { content } : { content, isError: true, error };
  },
  executeTools: async (registry) => async (name, input) => {
    const block = { type: "tool_use" as const, id: "x", name, input };
    const [result] = await registry.executeTools([block], { format: "mcp" });
    return result!;
  },
  "an MCP client": async (registry) => {
    const { client } = await connectClient(registry.toMcpServerConfig().instance);
    return async (name, input) =>
      (await client.callTool({ name, arguments: input as Record<string, unknown> })) as CallResult;
  },
  "raw messages": async (registry) => {
    const client = await RawClient.initialized(registry.toMcpServerConfig().instance);
    let id = 0;
    return async (name, input) => {
      const { result } = await client.request(callTool((id += 1), name, input));
      return result as unknown as CallResult;
    };
  },
};

describe.each(Object.entries(ENTRY_POINTS))("changes that are not awaited, by %s,", (_, open) => {
  test("are made in the order of the calls", async () => {
    const file = workspace.write("count.txt", "<0>");
    const call = await open(newRegistry({ readBeforeWrite: false }));
    const edits = Array.from({ length: COUNT }, (_unused, index) =>
      call("Edit", {
        file_path: file,
        old_string: `<${index}>`,
        new_string: `${index} <${index + 1}>`,
      }),
    );
    const failed = (await Promise.all(edits)).filter(({ isError }) => isError);
    expect(failed.flatMap((it) => texts(it))).toEqual([]);
    const numbers = Array.from({ length: COUNT }, (_unused, index) => index);
    expect(readFileSync(file, "utf8")).toBe(`${numbers.join(" ")} <${COUNT}>`);
  });

  test("leave the last state, with reads between them", async () => {
    const file = workspace.write("last.txt", "");
    const call = await open(newRegistry({ readBeforeWrite: false }));
    const calls = Array.from({ length: COUNT }, (_unused, index) =>
      index % 3 === 1
        ? call("Grep", { pattern: "last", path: file })
        : call("Write", { file_path: file, content: `last ${index}` }),
    );
    const failed = (await Promise.all(calls)).filter(({ isError }) => isError);
    expect(failed.flatMap((it) => texts(it))).toEqual([]);
    expect(readFileSync(file, "utf8")).toBe(`last ${COUNT - 1}`);
  });
});
