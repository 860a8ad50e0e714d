// Several calls and several processes change one file: no change is lost, and the file is never incomplete.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { linkSync, readFileSync, readdirSync, symlinkSync, watch } from "node:fs";
import { createInterface } from "node:readline";
import { describe, expect, test } from "vitest";
import { failure } from "../support/results.js";
import { type Ended, root, runScript, runtimes } from "../support/runtimes.js";
import { useRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();

const registryHere = useRegistries(workspace);

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

describe("two processes that edit one file", () => {
  const EDITS = 500;
  /** Reads, then increments its own counter; prints every answer that is no success. */
  const counting = `
    const { createToolRegistry } = require("./index.js");
    const [workspace, own] = process.argv.slice(-2);
    const file = workspace + "/shared.txt";
    const registry = createToolRegistry({ permissionMode: "bypassPermissions", userPolicyFile: false, projectPath: workspace });
    (async () => {
      const other = [];
      for (let n = 0; n < ${EDITS}; n += 1) {
        const read = await registry.call("Read", { file_path: file });
        const edit = await registry.call("Edit", {
          file_path: file, old_string: own + "=" + n + ";", new_string: own + "=" + (n + 1) + ";",
        });
        for (const { error } of [read, edit]) if (error) other.push(error);
      }
      console.log(JSON.stringify(other));
    })();
  `;
  /** Appends a line after a mark that both use. */
  const appending = `
    const { createToolRegistry } = require("./index.js");
    const [workspace, own] = process.argv.slice(-2);
    const registry = createToolRegistry({ permissionMode: "bypassPermissions", userPolicyFile: false, projectPath: workspace, toolsets: ["classic"] });
    (async () => {
      const other = [];
      await registry.call("read_file", { path: "shared.txt" });
      for (let n = 0; n < ${EDITS}; n += 1) {
        const { error } = await registry.call("edit_file", {
          path: "shared.txt", edits: [{ target: "<end>", replacement: own + " " + n + "\\n<end>" }],
        });
        if (error) other.push(error);
      }
      console.log(JSON.stringify(other));
    })();
  `;
  const quiet = { code: 0, signal: null, stdout: "[]\n", stderr: "" };

  /** Runs a script twice at the same time, with two names. */
  function inTwo(runtime: string, script: string): Promise<Ended[]> {
    const args = (own: string) => ["-e", script, "--", workspace.root, own];
    return Promise.all(["left", "right"].map((own) => runScript(runtime, args(own))));
  }

  test.each(runtimes)("lose no count of 500 each on $name", async ({ path }) => {
    const file = workspace.write("shared.txt", "left=0;\nbetween\nright=0;\n");
    expect(await inTwo(path, counting)).toEqual([quiet, quiet]);
    expect(readFileSync(file, "utf8")).toBe(`left=${EDITS};\nbetween\nright=${EDITS};\n`);
    expect(readdirSync(workspace.root)).toEqual(["shared.txt"]);
  });

  test.each(runtimes)(
    "lose no line of 500 each on $name, although both edit one place",
    async (it) => {
      const file = workspace.write("shared.txt", "<begin>\n<end>\n");
      expect(await inTwo(it.path, appending)).toEqual([quiet, quiet]);
      const lines = readFileSync(file, "utf8").split("\n");
      const of = (own: string) => lines.filter((line) => line.startsWith(`${own} `));
      expect(of("left")).toEqual(numbers(EDITS).map((n) => `left ${n}`));
      expect(of("right")).toEqual(numbers(EDITS).map((n) => `right ${n}`));
      expect(lines.length).toBe(2 * EDITS + 3);
    },
  );
});

describe("64 calls at once", () => {
  const WIDTH = 64;

  test("on separate counters lose none", async () => {
    const file = workspace.write(
      "a.txt",
      numbers(WIDTH)
        .map((n) => `<${n}>\n`)
        .join(""),
    );
    const registry = registryHere();
    await registry.call("Read", { file_path: file });
    const results = await Promise.all(
      numbers(WIDTH).map((n) =>
        registry.call("Edit", { file_path: file, old_string: `<${n}>`, new_string: `<${n} done>` }),
      ),
    );
    expect(results.flatMap(({ error }) => error ?? [])).toEqual([]);
    expect(readFileSync(file, "utf8")).toBe(
      numbers(WIDTH)
        .map((n) => `<${n} done>\n`)
        .join(""),
    );
  });

  test("at one place take effect in the order of the calls, for every tool", async () => {
    const file = workspace.write("a.txt", "<end>\n");
    const registry = registryHere();
    await registry.call("Read", { file_path: file });
    const append = (n: number) => {
      const [target, replacement] = ["<end>", `${n}\n<end>`];
      return n % 2 === 0
        ? registry.call("Edit", { file_path: file, old_string: target, new_string: replacement })
        : registry.call("edit_file", { path: "a.txt", edits: [{ target, replacement }] });
    };
    const results = await Promise.all(numbers(WIDTH).map(append));
    expect(results.flatMap(({ error }) => error ?? [])).toEqual([]);
    expect(readFileSync(file, "utf8")).toBe(`${numbers(WIDTH).join("\n")}\n<end>\n`);
  });

  test("of which each depends on the one before it all succeed", async () => {
    const file = workspace.write("a.txt", "count 0\n");
    const registry = registryHere();
    await registry.call("Read", { file_path: file });
    const results = await Promise.all(
      numbers(WIDTH).map((n) =>
        registry.call("Edit", {
          file_path: file,
          old_string: `count ${n}\n`,
          new_string: `count ${n + 1}\n`,
        }),
      ),
    );
    expect(results.flatMap(({ error }) => error ?? [])).toEqual([]);
    expect(readFileSync(file, "utf8")).toBe(`count ${WIDTH}\n`);
  });

  test("that write the whole file leave the content of the last one", async () => {
    const file = workspace.write("a.txt", "old");
    const registry = registryHere();
    await registry.call("Read", { file_path: file });
    const results = await Promise.all(
      numbers(WIDTH).map((n) => registry.call("Write", { file_path: file, content: `${n}` })),
    );
    expect(results.flatMap(({ error }) => error ?? [])).toEqual([]);
    expect(readFileSync(file, "utf8")).toBe(`${WIDTH - 1}`);
  });

  test("through two registries, one of them by a link, lose none", async () => {
    const file = workspace.write("a.txt", "<end>\n");
    symlinkSync(file, workspace.path("link.txt"));
    const paths = [file, workspace.path("link.txt")] as const;
    const registries = [registryHere(), registryHere()] as const;
    for (const registry of registries) await registry.call("Read", { file_path: file });
    const results = await Promise.all(
      numbers(WIDTH).map((n) =>
        (n % 2 === 0 ? registries[0] : registries[1]).call("Edit", {
          file_path: n % 2 === 0 ? paths[0] : paths[1],
          old_string: "<end>",
          new_string: `${n}\n<end>`,
        }),
      ),
    );
    expect(results.flatMap(({ error }) => error ?? [])).toEqual([]);
    const lines = readFileSync(file, "utf8").split("\n");
    const own = lines.filter((line) => /^\d/.test(line)).map(Number);
    expect(own.toSorted((one, other) => one - other)).toEqual(numbers(WIDTH));
  });

  test("through two names of one file lose none", async () => {
    const file = workspace.write("a.txt", "<end>\n");
    linkSync(file, workspace.path("b.txt"));
    const registry = registryHere();
    for (const path of ["a.txt", "b.txt"]) await registry.call("read_file", { path });
    const edits = (n: number) => [{ target: "<end>", replacement: `${n}\n<end>` }];
    const results = await Promise.all(
      numbers(WIDTH).map((n) =>
        registry.call("edit_file", { path: n % 2 === 0 ? "a.txt" : "b.txt", edits: edits(n) }),
      ),
    );
    expect(results.flatMap(({ error }) => error ?? [])).toEqual([]);
    const lines = readFileSync(workspace.path("b.txt"), "utf8").split("\n");
    const own = lines.filter((line) => /^\d/.test(line)).map(Number);
    expect(own.toSorted((one, other) => one - other)).toEqual(numbers(WIDTH));
  });

  test("that create one file: one succeeds, and the others fail because it exists", async () => {
    const registry = registryHere();
    const results = await Promise.all(
      numbers(WIDTH).map((n) => registry.call("write_file", { path: "new.txt", content: `${n}` })),
    );
    const made = results.flatMap(({ error }, n) => (error === undefined ? [`${n}`] : []));
    expect(made).toEqual([readFileSync(workspace.path("new.txt"), "utf8")]);
    const refused = failure(
      "FileExistsError",
      `\`${workspace.path("new.txt")}\` already exists; set overwrite to replace it`,
    );
    expect(results.filter(({ isError }) => isError)).toEqual(
      Array.from({ length: WIDTH - 1 }, () => refused),
    );
  });
});

describe("a process that is killed while it writes", () => {
  const KILLS = 100;
  const SIZE = 1_000_000;
  /** Writes the file with one letter throughout, repeatedly, by Write and by Edit. */
  const writing = `
    const { createToolRegistry } = require("./index.js");
    const [workspace] = process.argv.slice(-1);
    const file_path = workspace + "/victim.txt";
    const registry = createToolRegistry({ permissionMode: "bypassPermissions", userPolicyFile: false, projectPath: workspace });
    (async () => {
      await registry.call("Read", { file_path });
      console.log("writing");
      for (let n = 0; ; n += 1) {
        const letter = "abcdefgh"[n % 8];
        const { error } = await registry.call("Write", { file_path, content: letter.repeat(${SIZE}) });
        if (error) return console.log(JSON.stringify(error));
      }
    })();
  `;
  const temporaries = () => readdirSync(workspace.root).filter((name) => name !== "victim.txt");

  /** Starts a writer and kills it: at a random moment, or when its temporary file appears. */
  async function killWhileWriting(runtime: string, run: number): Promise<void> {
    const child = spawn(runtime, ["-e", writing, "--", workspace.root], {
      cwd: root,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const gone = once(child, "exit");
    const said: string[] = [];
    const lines = createInterface({ input: child.stdout });
    lines.on("line", (line) => said.push(line));
    await once(lines, "line");
    const watcher = watch(workspace.root);
    // Not for synchronisation: the moment of the kill has to be random.
    const chance = new Promise((resolve) => setTimeout(resolve, run % 80));
    await (run % 2 === 0 ? chance : once(watcher, "change"));
    child.kill("SIGKILL");
    watcher.close();
    expect(await gone).toEqual([null, "SIGKILL"]);
    expect(said).toEqual(["writing"]);
  }

  test.each(runtimes)(
    `many times on $name leaves a whole file each time, and no trace after the next write`,
    { timeout: 120_000 },
    async ({ name, path }) => {
      const file = workspace.write("victim.txt", "0".repeat(SIZE));
      const registry = registryHere();
      let strays = 0;
      // Both runtimes load the same addon, so a few times are enough for the second.
      for (const run of numbers(name === "Node" ? KILLS : KILLS / 5)) {
        await killWhileWriting(path, run);
        const content = readFileSync(file, "latin1");
        expect({ length: content.length, whole: content === content[0]?.repeat(SIZE) }).toEqual({
          length: SIZE,
          whole: true,
        });
        strays += temporaries().length;
        if (run % 5 !== 4) continue;
        await registry.call("Read", { file_path: file });
        const written = await registry.call("Write", {
          file_path: file,
          // Different content each time, because content that is already there is not written.
          content: String.fromCharCode(65 + (run - 4) / 5).repeat(SIZE),
        });
        expect(written.error).toBeUndefined();
        expect(temporaries()).toEqual([]);
      }
      // Otherwise no writer was killed while it wrote, and nothing was tested.
      expect(strays).toBeGreaterThan(0);
    },
  );
});
