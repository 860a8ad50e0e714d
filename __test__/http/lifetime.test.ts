// Garbage collection of requests to `fetch`, and of answers that are not read.
import { describe, expect, test } from "vitest";
import { marker } from "../support/processes.js";
import { root, runScript, runtimes } from "../support/runtimes.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();

describe.each(runtimes)("on $name", ({ name, path }) => {
  async function told(scenario: string): Promise<unknown> {
    const flags = name === "Bun" ? [] : ["--expose-gc"];
    const script = `${root}/__test__/hosts/http-lifetime.mjs`;
    const args = [...flags, script, scenario, workspace.root, marker()];
    const ended = await runScript(path, args, root, 90_000);
    expect(ended).toMatchObject({ code: 0, signal: null, stderr: "" });
    return JSON.parse(ended.stdout);
  }

  test("unreachable answers are collected, and their calls end", async () => {
    expect(await told("answers")).toEqual({ left: 0, isAborted: false });
  });

  test("registries that answered requests are collected; one with an open server is not", async () => {
    expect(await told("registries")).toEqual({ collected: 20, status: 200 });
  });
});
