// The size of a call's input: the limit is documented, and checked before anything is copied.

import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createToolRegistry } from "../support/unasked";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const LIMIT = 64 * 1024 * 1024;
const MESSAGE = `the input has more than \`${LIMIT}\` bytes of JSON`;
const long = "x".repeat(LIMIT + 1);

describe("an input of more than 64 MiB", () => {
  const registryHere = () =>
    createToolRegistry({ projectPath: workspace.root, toolsets: ["claude", "classic"] });

  test.each<[string, (path: string) => [string, unknown]]>([
    ["as a parameter", (path) => ["Write", { file_path: path, content: long }]],
    [
      "deep in one",
      (path) => ["edit_file", { path, edits: [{ target: "a", replacement: { a: [long] } }] }],
    ],
    [
      "in many small ones",
      (path) => [
        "edit_file",
        { path, edits: Array.from({ length: 70 }, () => long.slice(0, 2 ** 20)) },
      ],
    ],
    [
      "by its escapes",
      (path) => ["Write", { file_path: path, content: "\u0001".repeat(LIMIT / 5) }],
    ],
    ["by its bytes", (path) => ["Write", { file_path: path, content: "日".repeat(LIMIT / 2) }]],
  ])("is refused with the limit, %s", async (_case, make) => {
    const path = workspace.path("new.txt");
    const [name, input] = make(path);
    const called = registryHere()
      .call(name, input as Record<string, unknown>)
      .then(
        ({ error }) => error,
        (error: unknown) => error,
      );
    expect(await called).toMatchObject({ type: "ValidationError" });
    expect(((await called) as Error).message).toContain(MESSAGE);
    expect(existsSync(path)).toBe(false);
  });

  test("runs no code of the caller to find out", async () => {
    let asked = 0;
    const input = {
      get file_path() {
        asked += 1;
        return workspace.path("a.txt");
      },
    };
    workspace.write("a.txt", "one\n");
    const result = await registryHere().call("Read", input);
    expect(result.isError).toBeUndefined();
    expect(asked).toBe(1);
  });
});
