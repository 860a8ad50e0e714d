// Tools that read and change files need absolute paths. So answers with relative paths say what those are
// relative to, and a refusal suggests the path to use.
import { symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { describe, expect, test } from "vitest";
import { type CallResult } from "../support/unasked";
import { found, texts } from "../support/results.js";
import { usePlantedRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const further = useWorkspace();

const plant = usePlantedRegistries(workspace);

/** How often an answer says what its paths are relative to. */
function statements(result: CallResult, root = workspace.root): number {
  return texts(result).join("\n").split(`paths are relative to \`${root}\``).length - 1;
}

describe("an answer with relative paths says once what they are relative to", () => {
  const FILES = {
    ".gitignore": "*.log\n",
    "a.txt": "needle\n",
    "src/b.txt": "needle\nneedle\n",
    "src/c.log": "hidden needle\n",
  };

  test.each<[string, Record<string, unknown>]>([
    ["Grep", { pattern: "needle" }],
    ["Grep", { pattern: "needle", output_mode: "count" }],
    ["Grep", { pattern: "needle", output_mode: "content" }],
    ["Grep", { pattern: "needle", output_mode: "content", heading: true }],
    ["Grep", { pattern: "needle", head_limit: 1 }],
    ["Grep", { pattern: "hidden" }],
    ["Grep", { pattern: "needle", path: "src" }],
    ["Glob", { pattern: "*.txt" }],
    ["Glob", { pattern: "*.txt", path: "src" }],
    ["Glob", { pattern: "*.log" }],
    ["grep", { pattern: "needle" }],
    ["glob", { pattern: "**/*.txt" }],
    ["glob", { pattern: "**/*.txt", maxResults: 1 }],
    ["ls", { path: "." }],
    ["ls", { path: ".", recursive: true }],
    ["read_many_files", { paths: ["a.txt", "src/b.txt", "nope"] }],
  ])("%s %j", async (name, input) => {
    const result = await plant(FILES).call(name, input);
    expect(statements(result)).toBe(1);
    // Results of reading have no structured data.
    const data = result.structuredContent ?? { root: workspace.root };
    expect(data).toMatchObject({ root: workspace.root });
  });

  test.each<[string, Record<string, unknown>]>([
    ["Grep", { pattern: "absent" }],
    ["Grep", { pattern: "needle", output_mode: "content", path: "src/b.txt" }],
    ["Glob", { pattern: "*.none" }],
    ["glob", { pattern: "*.none" }],
  ])("and one without relative paths does not: %s %j", async (name, input) => {
    expect(texts(await plant(FILES).call(name, input)).join()).not.toContain("relative");
  });

  test("absolute paths that are read need no note, relative ones among them do", async () => {
    const registry = plant(FILES);
    const read = (...paths: string[]) => registry.call("read_many_files", { paths });
    expect(statements(await read(workspace.path("a.txt")))).toBe(0);
    expect(statements(await read(workspace.path("a.txt"), "a.txt"))).toBe(1);
  });

  test("ls lists the contents of the directory that it names", async () => {
    const result = await plant(FILES).call("ls", { path: "src" });
    expect(texts(result)).toEqual([
      "- b.txt",
      `[paths are relative to \`${workspace.path("src")}\`]`,
    ]);
  });
});

describe("in an additional directory", () => {
  const search = async (name: string, input: Record<string, unknown>) => {
    further.write("x/a.txt", "needle\n");
    further.write("x/b.txt", "needle\n");
    const registry = plant({}, { additionalDirectories: [further.root] });
    return registry.call(name, input);
  };

  test("Glob names it once", async () => {
    const result = await search("Glob", { pattern: "*.txt", path: further.root });
    expect(found(result, further.root)[0]?.split("\n").toSorted()).toEqual(["x/a.txt", "x/b.txt"]);
    expect(statements(result, further.root)).toBe(1);
    expect(result.structuredContent).toMatchObject({ root: further.root });
  });

  // Relative paths could be passed to other tools, which resolve them in the workspace.
  test.each([
    ["Grep", { pattern: "needle", path: "DIR", output_mode: "count" }, ":1"],
    ["glob", { pattern: "**/*.txt", directory: "DIR" }, ""],
  ])("%s returns absolute paths", async (name, input, behind) => {
    const there = JSON.parse(JSON.stringify(input).replace("DIR", further.root)) as typeof input;
    const result = await search(name, there);
    const rows = texts(result)[0]?.split("\n").toSorted();
    expect(rows).toEqual(["x/a.txt", "x/b.txt"].map((it) => `${further.path(it)}${behind}`));
    expect(statements(result)).toBe(0);
  });
});

describe("lines of Grep", () => {
  const lines = (count: number) => "needle\n".repeat(count);
  const grep = async (files: Record<string, string>, input: object = {}) => {
    const registry = plant(files);
    const asked = { pattern: "needle", output_mode: "content", ...input } as const;
    return found(await registry.call("Grep", asked), workspace.root)[0]?.split("\n") ?? [];
  };

  test("contain their path in an answer of 20", async () => {
    const rows = await grep({ "src/a.txt": lines(10), "src/b.txt": lines(10) });
    expect(rows).toHaveLength(20);
    expect(rows[0]).toBe("src/a.txt:1:needle");
  });

  test("are grouped below it in a longer one", async () => {
    const rows = await grep({ "src/a.txt": lines(11), "src/b.txt": lines(10) });
    const numbered = (count: number) => Array.from({ length: count }, (_, i) => `${i + 1}:needle`);
    expect(rows).toEqual(["src/a.txt", ...numbered(11), "", "src/b.txt", ...numbered(10)]);
  });

  test("contain it in a long one that would not get shorter", async () => {
    const files = Array.from({ length: 30 }, (_, i) => [`${i}`, "needle\n"]);
    const rows = await grep(Object.fromEntries(files));
    expect(rows).toHaveLength(30);
    expect(rows[0]).toBe("0:1:needle");
  });

  test("are distinguished from context and from each other", async () => {
    const text = "needle\nafter\nother\nneedle\n";
    const rows = await grep({ "a.txt": text, "b.txt": text }, { "-A": 1, heading: true });
    const one = ["1:needle", "2-after", "--", "4:needle"];
    expect(rows).toEqual(["a.txt", ...one, "", "b.txt", ...one]);
  });

  test.each([
    ["as asked", { heading: false }, "src/a.txt:1:needle"],
    ["as asked", { heading: true }, "src/a.txt"],
    // Without a number, a line could not be distinguished from a path.
    ["without numbers", { "-n": false }, "src/a.txt:needle"],
    ["of a single named file", { path: "src/a.txt", heading: true }, "1:needle"],
  ])("%s: %j", async (_, input, first) => {
    expect((await grep({ "src/a.txt": lines(30) }, input))[0]).toBe(first);
  });

  test("are counted without headings if an answer continues", async () => {
    const registry = plant({ "src/a.txt": lines(300), "src/b.txt": lines(100) });
    const page = async (offset: number) => {
      const asked = { pattern: "needle", output_mode: "content", offset } as const;
      return found(await registry.call("Grep", asked), workspace.root);
    };
    const [first, note] = await page(0);
    expect(first?.split("\n")).toHaveLength(1 + 250);
    expect(note).toBe("[lines 1-250 are shown; continue with offset 250]");
    const [second] = await page(250);
    expect(second?.split("\n").slice(0, 2)).toEqual(["src/a.txt", "251:needle"]);
    expect(second?.split("\n")).toHaveLength(1 + 50 + 1 + 1 + 100);
  });

  test("of the classic grep always contain their path", async () => {
    const result = await plant({ "src/a.txt": lines(30) }).call("grep", { pattern: "needle" });
    expect(texts(result)[0]?.split("\n").at(-1)).toBe("src/a.txt:30: needle");
  });
});

describe("a path that is not absolute is refused with the one to use", () => {
  const TOOLS: Record<string, (path: string) => Record<string, unknown>> = {
    Read: (file_path) => ({ file_path }),
    Write: (file_path) => ({ file_path, content: "x" }),
    Edit: (file_path) => ({ file_path, old_string: "a", new_string: "b" }),
    NotebookEdit: (notebook_path) => ({ notebook_path, new_source: "x" }),
  };

  async function refused(path: string, options: object = {}): Promise<string[]> {
    const registry = plant({ "src/a.txt": "a", "only.txt": "a", "secret.txt": "a" }, options);
    const messages = Object.entries(TOOLS).map(async ([name, input]) => {
      const { error } = await registry.call(name, input(path));
      expect({ name, type: error?.type }).toEqual({ name, type: "ValidationError" });
      return error?.message ?? "";
    });
    return [...new Set(await Promise.all(messages))];
  }

  test.each([
    ["src/a.txt", "is relative", "src/a.txt", ", which exists"],
    ["./src/a.txt", "is relative", "src/a.txt", ", which exists"],
    ["src/../only.txt", "is relative", "only.txt", ", which exists"],
    ["src/new.txt", "is relative", "src/new.txt", ", which does not exist"],
    ["file://ROOT/only.txt", "is a URL", "only.txt", ", which exists"],
    ["file://localhostROOT/src/%61.txt", "is a URL", "src/a.txt", ", which exists"],
  ])("%s", async (path, what, meant, state) => {
    const asked = path.replace("ROOT", workspace.root);
    expect(await refused(asked)).toEqual([
      `\`${asked}\` ${what}; give the absolute path: \`${workspace.path(meant)}\`${state}`,
    ]);
  });

  test("~ means the user's home, which is outside", async () => {
    const [message, ...others] = await refused("~/.profile");
    expect(others).toEqual([]);
    expect(message).toContain(`\`${homedir()}/.profile\` is outside`);
    expect(message).not.toContain("exist");
  });

  test("of several directories, those that contain it are named", async () => {
    further.write("src/a.txt", "a");
    further.write("two.txt", "a");
    const options = { additionalDirectories: [further.root] };
    expect(await refused("src/a.txt", options)).toEqual([
      "`src/a.txt` is relative; give the absolute path, one of those that exist: " +
        `\`${workspace.path("src/a.txt")}\`, \`${further.path("src/a.txt")}\``,
    ]);
    expect(await refused("two.txt", options)).toEqual([
      `\`two.txt\` is relative; give the absolute path: \`${further.path("two.txt")}\`, which exists`,
    ]);
  });

  test.each([
    { policy: { deny: ["Read(secret.txt)"] } },
    { policy: { ask: ["Read(secret.txt)"] } },
    { policy: { rules: [{ tool: "*", action: "deny" }] } },
  ])("without revealing hidden files: %j", async (options) => {
    const meant = (name: string) =>
      `\`${name}\` is relative; give the absolute path: \`${workspace.path(name)}\``;
    expect(await refused("secret.txt", options)).toEqual([meant("secret.txt")]);
    symlinkSync("secret.txt", workspace.path("link.txt"));
    expect(await refused("link.txt", options)).toEqual([
      meant("secret.txt").replace("`secret.txt` is", "`link.txt` is"),
    ]);
  });

  test("unless it is outside, whatever exists there", async () => {
    const registry = plant({});
    for (const file_path of ["../x", "../../etc/passwd"]) {
      const { error } = await registry.call("Read", { file_path });
      expect(error).toMatchObject({ type: "PathOutsideWorkspace" });
      expect(error?.message).not.toContain("exist");
    }
  });
});
