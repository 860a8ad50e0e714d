import { execFile, execFileSync } from "node:child_process";
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { warm } from "../support/indexes.js";
import { root, runtimes } from "../support/runtimes.js";
import { createToolRegistry } from "../support/unasked";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();

function mayMount(): boolean {
  try {
    execFileSync("unshare", ["-Urm", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

describe.runIf(process.platform === "linux")("an index", () => {
  test("is built automatically after a slow search", async () => {
    const registry = createToolRegistry({ projectPath: workspace.root });
    await registry.initialize();
    const file = workspace.write("a.txt", "");
    // As much text as this machine needs for a slow search.
    for (let count = 0; registry.indexStatus()[0]!.state === "cold"; count += 1) {
      expect(count).toBeLessThan(64);
      appendFileSync(file, "some text without a digit at the end\n".repeat(220_000));
      const answer = await registry.call("Grep", { pattern: "\\w+\\s\\w+\\d" });
      expect(answer.structuredContent).toMatchObject({ totalFiles: 0 });
    }
    expect((await warm(registry))[0]).toMatchObject({ state: "warm", files: 1 });
    await registry.close();
  });

  test("of 100,000 files in a directory follows 10,000 changes at once", async () => {
    // In memory, because creating and removing so many files takes long on a disk.
    const folder = mkdtempSync("/dev/shm/toolwright-");
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const run = (line: string) =>
      execFileSync("bash", ["-c", line], { cwd: folder, stdio: "ignore" });
    run("mkdir many; cd many; seq 100000 | xargs touch");
    const registry = createToolRegistry({ projectPath: folder, index: "on" });
    await registry.initialize();
    // It answers as soon as it has the names; reading the files takes longer.
    while (registry.indexStatus()[0]!.files === 0)
      await new Promise((resolve) => setTimeout(resolve, 2));
    expect(registry.indexStatus()[0]!.files).toBe(100_000);
    const matching = async () => {
      const { structuredContent } = await registry.call("Grep", { pattern: "needle" });
      return (structuredContent as { totalFiles: number }).totalFiles;
    };
    expect(await matching()).toBe(0);
    run("cd many; for it in {1..10000}; do echo needle > $it; done");
    expect(await matching()).toBe(10_000);
    run("cd many; rm 1; echo hay > 2; mv 3 third; echo needle > 10001");
    expect(await matching()).toBe(9_999);
    const globbed = await registry.call("Glob", { pattern: "**/*" });
    expect(globbed.structuredContent).toMatchObject({ total: 99_999 });
    expect(registry.indexStatus()[0]!.memoryBytes).toBeLessThan(128 * 1024 * 1024);
    await registry.close();
  });

  test.runIf(mayMount())("contains mounts below its root", async () => {
    workspace.plant({
      "root/a/b/own.txt": "needle\n",
      "root/c.txt": "needle\n",
      "outside/mounted.txt": "needle\n",
    });
    const code = `
      const { execFileSync } = require("node:child_process");
      const { writeFileSync } = require("node:fs");
      const { createToolRegistry } = require("./index.js");
      const top = ${JSON.stringify(workspace.root)};
      const registry = createToolRegistry({ projectPath: top + "/root", index: "on", permissionMode: "bypassPermissions", userPolicyFile: false });
      (async () => {
        await registry.initialize();
        while (registry.indexStatus()[0].state !== "warm") await new Promise((resolve) => setTimeout(resolve, 2));
        const answers = [];
        const ask = async () => {
          const { structuredContent } = await registry.call("Grep", { pattern: "needle" });
          const { state, coldSubtrees } = registry.indexStatus()[0];
          answers.push({ files: structuredContent.files.toSorted(), notIndexed: structuredContent.notIndexed, state, coldSubtrees });
        };
        await ask();
        execFileSync("mount", ["--bind", top + "/outside", top + "/root/a/b"]);
        await ask();
        writeFileSync(top + "/outside/later.txt", "needle\\n");
        await ask();
        execFileSync("umount", [top + "/root/a/b"]);
        await ask();
        execFileSync("mount", ["--bind", top + "/outside/later.txt", top + "/root/c.txt"]);
        writeFileSync(top + "/outside/later.txt", "hay\\n");
        await ask();
        console.log(JSON.stringify(answers));
        await registry.close();
      })();
    `;
    const args = ["-Urm", runtimes[0]?.path as string, "-e", code];
    const { stdout } = await promisify(execFile)("unshare", args, { cwd: root });
    const [before, mounted, later, after, onFile] = JSON.parse(stdout);
    expect(before.files).toEqual(["a/b/own.txt", "c.txt"]);
    expect(mounted.files).toEqual(["a/b/mounted.txt", "c.txt"]);
    expect(mounted.coldSubtrees).toEqual([
      { path: workspace.path("root/a/b"), why: expect.stringContaining("mounted") },
    ]);
    expect(later.files).toEqual(["a/b/later.txt", "a/b/mounted.txt", "c.txt"]);
    expect(after.files).toEqual(before.files);
    expect(after.coldSubtrees).toEqual(before.coldSubtrees);
    expect(onFile).toMatchObject({ files: ["a/b/own.txt"], state: "cold" });
    // The file is not named, because policy may hide it.
    expect(onFile.notIndexed).toBe("something is mounted on a file below the root");
  });
});
