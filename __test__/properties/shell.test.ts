import { realpathSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { alive, limitToBegin, marker } from "../support/processes.js";
import { useRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useRegistries(workspace);

/** A text as one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Any text that fits a command line and is visible; invisible characters are escaped for people. */
const words = fc
  .string({ unit: "grapheme", maxLength: 60 })
  .map((text) =>
    text.replaceAll(/(?![ \n])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu, ""),
  );

/** The display of an output: the output itself, unless it is blank. */
function displayed(output: string, code: number): string {
  if (!/^\p{White_Space}*$/u.test(output)) return output;
  return `${output === "" ? "no" : "blank"} output; exit code ${code}`;
}

describe("seed properties of shell", () => {
  // Feature: stage-03-tools-policy, Property 25: Shell Command Execution
  test("Property 25: every command returns its output and its exit code", async () => {
    const registry = registryHere();
    await fc.assert(
      fc.asyncProperty(words, words, fc.integer({ min: 0, max: 255 }), async (out, err, code) => {
        const command = `printf %s ${quoted(out)}; printf %s ${quoted(err)} >&2; exit ${code}`;
        const invocation = registry.createInvocation("shell", { command });
        const { llmContent, returnDisplay, error } = await invocation.execute();
        expect(llmContent).toBe(`Exit code: ${code}\n\nOutput:\n${out}${err}`);
        expect(returnDisplay).toBe(displayed(`${out}${err}`, code));
        expect(invocation.toolLocations()).toEqual([workspace.root]);
        expect(error).toEqual(
          code === 0
            ? undefined
            : { type: "ShellExecutionError", message: `Command exited with code ${code}` },
        );
        const called = await registry.call("Bash", { command });
        expect(called._meta?.["toolwright/command"]).toMatchObject({
          exitCode: code,
          outputBytes: Buffer.byteLength(out + err),
          contained: process.platform === "linux",
        });
      }),
      { numRuns: 60 },
    );
  });

  // Feature: stage-03-tools-policy, Property 26: Shell Output Streaming
  test("Property 26: progress contains all output of a command, in order", async () => {
    const registry = registryHere();
    const pieces = fc.array(words, { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(pieces, async (texts) => {
        const heard: string[] = [];
        const command = texts
          .map((text) => `printf '%s\\n' ${quoted(text)}`)
          .join("; sleep 0.01; ");
        const { returnDisplay } = await registry
          .createInvocation("shell", { command })
          .execute(undefined, (text) => heard.push(text));
        expect(heard.join("")).toBe(texts.map((text) => `${text}\n`).join(""));
        expect(returnDisplay).toBe(displayed(heard.join(""), 0));
      }),
      { numRuns: 30 },
    );
  });

  // Feature: stage-03-tools-policy, Property 26: Shell Output Streaming
  test("Property 26: output arrives before the command ends", async () => {
    const registry = registryHere();
    workspace.write("go", "");
    let heard = "";
    // The command continues only after its first output has arrived.
    const { error } = await registry
      .createInvocation("shell", { command: "echo first; while [ -e go ]; do sleep 0.01; done" })
      .execute(undefined, (text) => {
        heard += text;
        workspace.delete("go");
      });
    expect([heard, error]).toEqual(["first\n", undefined]);
  });

  // Feature: stage-03-tools-policy, Property 27: Shell Timeout Enforcement
  test("Property 27: a command is ended with all its children at its time limit", async () => {
    const registry = registryHere({ shell: { graceMs: 200 } });
    const least = await limitToBegin(registry, 800);
    const ways = fc.constantFrom(
      "sleep M",
      "sleep M & wait",
      "setsid sleep M & wait",
      "trap '' TERM; sleep M; sleep M",
      "bash -c 'exec sleep M'",
    );
    await fc.assert(
      fc.asyncProperty(
        ways,
        fc.integer({ min: least, max: least + 400 }),
        words,
        async (way, timeout, said) => {
          const mark = marker();
          const command = `printf '%s\\n' ${quoted(said)}; ${way.replaceAll("M", mark)}`;
          const { llmContent, error } = await registry
            .createInvocation("shell", { command, timeout })
            .execute();
          expect(error).toEqual({
            type: "ShellTimeoutError",
            message: `Command timed out after ${timeout}ms`,
          });
          expect(llmContent).toContain(`Output:\n${said}\n`);
          expect(alive(mark)).toEqual([]);
        },
      ),
      { numRuns: 6 },
    );
  });

  // Feature: stage-03-tools-policy, Property 28: Shell Working Directory
  test("Property 28: a command runs in the given directory", async () => {
    const registry = registryHere();
    const name = fc.stringMatching(/^[a-z $'"é-]{1,12}$/).filter((it) => it.trim() === it);
    await fc.assert(
      fc.asyncProperty(fc.array(name, { minLength: 1, maxLength: 3 }), async (names) => {
        const cwd = names.map((it) => `d${it}`).join("/");
        workspace.write(`${cwd}/file`, "");
        for (const given of [cwd, workspace.path(cwd)]) {
          const { returnDisplay } = await registry
            .createInvocation("shell", { command: "pwd -P", cwd: given })
            .execute();
          expect(returnDisplay).toBe(`${realpathSync(workspace.path(cwd))}\n`);
        }
      }),
      { numRuns: 30 },
    );
  });

  test("no variable that looks like a secret reaches a command unless it is allowed or set", async () => {
    const name = fc.stringMatching(/^[A-Z]{1,8}_(?:TOKEN|SECRET|API_KEY|PASSWORD|CREDENTIALS)$/);
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(name, { minLength: 3, maxLength: 5 }), async (names) => {
        const [allowed = "", set = "", ...others] = names.map((it) => `TWTEST_${it}`);
        for (const it of [allowed, set, ...others]) process.env[it] = `value of ${it}`;
        try {
          const registry = registryHere({ env: { [set]: "set" }, shell: { allowEnv: [allowed] } });
          const { returnDisplay } = await registry
            .createInvocation("shell", { command: "env | grep ^TWTEST_ | sort" })
            .execute();
          const expected = [`${allowed}=value of ${allowed}`, `${set}=set`].sort();
          expect(returnDisplay.trim().split("\n").sort()).toEqual(expected);
        } finally {
          for (const it of names) delete process.env[`TWTEST_${it}`];
        }
      }),
      { numRuns: 15 },
    );
  });
});
