// Properties of plugins: a value is never more than one argument, and a reload is atomic.
import { renameSync, rmSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { plantRecorder, pluginFile, recorded, shellTool, textOf } from "../support/plugins.js";
import { useRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace, { toolsets: [] });

/** Texts that are likely to have a meaning for a shell. */
const hostile = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 60 }),
  fc.string({ unit: fc.constantFrom(..."'\"\\$`;|&<>(){}[]*?~#!= \n\t-ax"), maxLength: 30 }),
  fc
    .array(
      fc.constantFrom("$(id)", "`id`", "'", '"', "; id", "{{a}}", "{{b}}", "-o", "\n", "$1", "--"),
      {
        maxLength: 5,
      },
    )
    .map((parts) => parts.join("")),
);

test("values are literal arguments or refused, in any position", async () => {
  const record = plantRecorder(workspace);
  const templates: [string, (a: string, b: string) => string[]][] = [
    [`${record} {{a}} '{{b}}'`, (a, b) => [a, b]],
    [`${record} x{{a}}y --b={{b}} | cat`, (a, b) => [`x${a}y`, `--b=${b}`]],
    [`cd . && ${record} "{{a}}{{b}}" || exit 1`, (a, b) => [a + b]],
  ];
  workspace.write(
    "tools/p.json",
    pluginFile("p", ...templates.map(([command], at) => shellTool(`t${at}`, command, "a", "b"))),
  );
  const registry = registryHere({ pluginDir: workspace.path("tools") });
  expect((await registry.initialize()).errors).toEqual([]);
  await fc.assert(
    fc.asyncProperty(hostile, hostile, fc.nat(templates.length - 1), async (a, b, at) => {
      const [, wanted] = templates[at] ?? [];
      const result = await registry.call(`t${at}`, { a, b });
      const expected = wanted?.(a, b) ?? [];
      const isOption = expected.some((it) => it.startsWith("-") && !it.startsWith("--b="));
      const isRefused = isOption || a.includes("\0") || b.includes("\0");
      expect(result.isError ? "refused" : recorded(result)).toEqual(
        isRefused ? "refused" : expected,
      );
    }),
    { numRuns: 150 },
  );
}, 300_000);

test("200 reloads under load show the old set or the new one, never a mix", async () => {
  const files = ["a", "b", "c", "d"];
  /** Writes one generation: every tool of every file returns its number. */
  const write = (generation: number) => {
    const next = workspace.path("next");
    for (const file of files) {
      const description = `generation ${generation}`;
      const tool = (name: string) =>
        Object.assign(shellTool(`${file}-${name}`, `echo ${generation}`), { description });
      const tools = ["x", "y"].map(tool);
      workspace.write(`next/${file}.json`, pluginFile(file, ...tools));
    }
    rmSync(workspace.path("old"), { recursive: true, force: true });
    if (generation > 0) renameSync(workspace.path("tools"), workspace.path("old"));
    renameSync(next, workspace.path("tools"));
  };
  write(0);
  const registry = registryHere({ pluginDir: workspace.path("tools") });
  await registry.initialize();
  const progress = { isOver: false };
  const seen = new Set<string>();
  const look = () => {
    const tools = registry.listTools();
    // One tool of each registry also returns the workspace's path.
    const generations = new Set(tools.map(({ description }) => description.split("\n")[0] ?? ""));
    expect([tools.length, generations.size]).toEqual([files.length * 2, 1]);
    for (const generation of generations) seen.add(generation);
  };
  const calls = (async () => {
    let made = 0;
    while (!progress.isOver) {
      const results = await Promise.all(files.map((file) => registry.call(`${file}-x`, {})));
      for (const result of results) {
        // A tool that is replaced between the arrival of a call and its start does not run.
        expect(textOf(result)).toMatch(result.isError ? /make the call again/ : /^\d+$/);
      }
      made += results.filter(({ isError }) => !isError).length;
    }
    return made;
  })();
  const listings = (async () => {
    while (!progress.isOver) {
      look();
      await new Promise(setImmediate);
    }
  })();
  try {
    for (let generation = 1; generation <= 200; generation += 1) {
      write(generation);
      const { success, toolCount } = await registry.reloadPlugins();
      expect([success, toolCount]).toEqual([true, files.length * 2]);
      look();
      expect(registry.getToolInfo("d-y")?.description).toContain(`generation ${generation}`);
    }
  } finally {
    progress.isOver = true;
  }
  await listings;
  expect(await calls).toBeGreaterThan(0);
  expect(seen.size).toBeGreaterThan(200);
}, 300_000);
