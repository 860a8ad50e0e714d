// The errors if the addon does not load: fake installations, each with one defect.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  addonPath,
  build,
  installMain,
  installPlatform,
  installToolwright,
  place,
  version,
} from "../support/installed-package.js";
import { runScript, runtimes } from "../support/runtimes.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const file = basename(addonPath);
const other = build === "darwin-arm64" ? "darwin-x64" : "darwin-arm64";

interface Failure {
  message: string;
  causes: string[];
}

/** The error of each entry point on each runtime; the test fails unless all are the same. */
async function failureOf({
  preload = "",
  env = {},
  user,
}: { preload?: string; env?: Record<string, string>; user?: number } = {}): Promise<Failure> {
  const told = `
const told = (error) => {
  const causes = [];
  for (let it = error.cause; it instanceof Error; it = it.cause) causes.push(it.message);
  console.log(JSON.stringify({ message: error.message, causes }));
};`;
  workspace.write("preload.cjs", preload);
  workspace.write(
    "cjs.cjs",
    `${told} try { require("toolwright"); } catch (error) { told(error); }`,
  );
  workspace.write("esm.mjs", `${told} await import("toolwright").catch(told);`);
  const options = user === undefined ? { env } : { env, uid: user, gid: user };
  const failures = await Promise.all(
    runtimes.flatMap(({ path }) =>
      ["cjs.cjs", "esm.mjs"].map(async (script) => {
        const args = ["--require", workspace.path("preload.cjs"), workspace.path(script)];
        // Its stderr may contain more: Node 20 prints an error that a CommonJS module threw during an import,
        // even if it was caught.
        const { stdout } = await runScript(path, args, workspace.root, 25_000, options);
        return JSON.parse(stdout) as Failure;
      }),
    ),
  );
  const [first, ...rest] = failures.map(({ message }) => message.replace(/\([^()]*\):/, "(…):"));
  expect(new Set(rest)).toEqual(new Set([first]));
  return { message: first ?? "", causes: failures[0]?.causes ?? [] };
}

/** A message on this system, without versions. */
function onThisSystem(words: string): string {
  return `toolwright's native addon does not load on ${build} (…): ${words}`;
}

/** A library that the system cannot load, made by the compiler that builds the addon. */
function library(destination: string, needed: { soname: string; symbolVersion: string }): void {
  workspace.write("needed.c", "int toolwright_probe(void) { return 1; }");
  workspace.write(
    "addon.c",
    "int toolwright_probe(void); int use(void) { return toolwright_probe(); }",
  );
  workspace.write("needed.map", `${needed.symbolVersion} { global: toolwright_probe; };`);
  const compile = (...args: string[]) =>
    execFileSync("cc", ["-shared", "-fPIC", "-nostdlib", ...args], { cwd: workspace.root });
  compile(
    "needed.c",
    `-Wl,-soname,${needed.soname}`,
    "-Wl,--version-script=needed.map",
    "-o",
    "libneeded.so",
  );
  compile("addon.c", "libneeded.so", "-o", destination);
}

describe("an addon that does not load", () => {
  test("is an optional dependency that was left out", async () => {
    installMain(workspace.root);
    const failure = await failureOf();
    expect(failure.message).toBe(
      onThisSystem(
        `the package \`toolwright-${build}\` is not installed. It is an optional dependency: install again ` +
          "without `--omit=optional` or `--no-optional`. If a lock file was written on another system, npm " +
          "may leave it out: remove node_modules and package-lock.json first",
      ),
    );
    // What napi's loader says about every path that it tried.
    expect(failure.causes.join("\n")).toContain(`toolwright-${build}`);
  });

  test("is in a node_modules that comes from another system", async () => {
    installMain(workspace.root);
    installPlatform(workspace.root, other);
    const { message } = await failureOf();
    expect(message).toBe(
      onThisSystem(
        `the package \`toolwright-${build}\` is not installed, but that of ${other} is: node_modules comes from ` +
          "another system; remove node_modules and install again on this one",
      ),
    );
  });

  test("is missing in its package", async () => {
    installMain(workspace.root);
    const folder = installPlatform(workspace.root);
    const { message } = await failureOf();
    expect(message).toBe(
      onThisSystem(
        `the package \`toolwright-${build}\` has no \`${file}\` in \`${folder}\`; remove node_modules and install again`,
      ),
    );
  });

  test("is not built yet in a clone", async () => {
    installMain(workspace.root);
    workspace.write("node_modules/toolwright/Cargo.toml", "");
    const { message } = await failureOf();
    expect(message).toBe(onThisSystem("it is not built yet in this clone; run `npm run build`"));
  });

  test("is damaged", async () => {
    installMain(workspace.root);
    const path = join(installPlatform(workspace.root), file);
    writeFileSync(path, "<html>404</html>".repeat(100));
    const { message, causes } = await failureOf();
    expect(message).toContain(onThisSystem(`\`${path}\` does not load: `));
    expect(message).toContain("the file is damaged, or made for another system or processor");
    // The system's message is in the message and in the cause.
    expect(message).toContain(causes[0]);
  });

  test("is a directory", async () => {
    installMain(workspace.root);
    const path = join(installPlatform(workspace.root), file);
    mkdirSync(path);
    const { message } = await failureOf();
    expect(message).toBe(
      onThisSystem(`\`${path}\` is not a file; remove node_modules and install again`),
    );
  });

  test.runIf(process.platform !== "win32")("cannot be read", async () => {
    installMain(workspace.root);
    const path = join(installPlatform(workspace.root), file);
    writeFileSync(path, readFileSync(addonPath).subarray(0, 100));
    chmodSync(path, 0);
    chmodSync(workspace.root, 0o755);
    // Root reads everything.
    const { message, causes } = await failureOf(process.getuid?.() === 0 ? { user: 65_534 } : {});
    expect(message).toBe(
      onThisSystem(`\`${path}\` cannot be read (EACCES); give this user the right to read it`),
    );
    expect(causes[0]).toContain("EACCES");
  });

  test.runIf(process.platform === "linux").each([
    [
      "needs a newer glibc",
      { soname: "libc.so.6", symbolVersion: "GLIBC_9.99" },
      /version `GLIBC_9\.99' not found .*; the build needs glibc 9\.99 or newer and this system has [\d.]+; use a newer/,
    ],
    [
      "is for musl on a system with glibc",
      { soname: "libc.musl-x86_64.so.1", symbolVersion: "ANY" },
      /libc\.musl-x86_64\.so\.1: cannot open .*; the build is for musl, and this system has another C library; remove node_modules/,
    ],
    [
      "is for glibc on a system without it",
      { soname: "ld-linux-x86-64.so.9", symbolVersion: "ANY" },
      /ld-linux-x86-64\.so\.9: cannot open .*; the build is for glibc, and this system has another C library; remove node_modules/,
    ],
  ])("%s", async (_what, needed, words) => {
    installMain(workspace.root);
    const path = join(installPlatform(workspace.root), file);
    library(path, needed);
    const { message } = await failureOf();
    expect(message).toContain(onThisSystem(`\`${path}\` does not load: `));
    expect(message).toMatch(words);
  });

  test.runIf(process.platform === "linux")("is for another processor", async () => {
    installMain(workspace.root);
    const path = join(installPlatform(workspace.root), file);
    const bytes = readFileSync(addonPath);
    // e_machine of the ELF header: a processor that is neither x64 nor arm64.
    bytes.writeUInt16LE(0xf3, 18);
    writeFileSync(path, bytes);
    const { message } = await failureOf();
    expect(message).toContain(onThisSystem(`\`${path}\` does not load: `));
    expect(message).toContain("another system or processor");
  });

  test("has another version than the package", async () => {
    installToolwright(workspace.root);
    installMain(workspace.root, { version: "99.0.0" });
    const path = join(workspace.root, "node_modules", `toolwright-${build}`, file);
    const { message } = await failureOf();
    expect(message).toBe(
      `toolwright 99.0.0 needs an addon of the same version, but \`${path}\` is of version ${version}; ` +
        "remove node_modules and install again; in a clone, run `npm run build`",
    );
  });

  test("is for a system without a build", async () => {
    installMain(workspace.root);
    const { message } = await failureOf({
      preload: `Object.defineProperty(process, "platform", { value: "sunos" });
        Object.defineProperty(process, "arch", { value: "sparc" });`,
    });
    expect(message).toBe(
      "toolwright's native addon does not load on sunos-sparc (…): there is no build for sunos-sparc; " +
        "there are builds for linux-x64-gnu, linux-arm64-gnu, linux-x64-musl, linux-arm64-musl, " +
        "darwin-x64, darwin-arm64, win32-x64-msvc, win32-arm64-msvc; run it on one of these, or build it from source",
    );
  });

  test("is for a newer Node.js", async () => {
    installMain(workspace.root);
    const { message } = await failureOf({
      preload: `const { bun, ...versions } = process.versions;
        Object.defineProperty(process, "versions", { value: { ...versions, node: "18.20.8" } });`,
    });
    expect(message).toBe(
      onThisSystem("it needs Node.js 20 or newer; update Node.js, then install again"),
    );
  });

  test("is named by a variable with a wrong path", async () => {
    installToolwright(workspace.root);
    const path = workspace.path("elsewhere.node");
    const { message } = await failureOf({ env: { NAPI_RS_NATIVE_LIBRARY_PATH: path } });
    expect(message).toBe(
      onThisSystem(
        `there is no file \`${path}\` (named by the variable NAPI_RS_NATIVE_LIBRARY_PATH; unset it, or correct it)`,
      ),
    );
  });
});

test("an installation by npm loads, also through links as pnpm makes them", async () => {
  installToolwright(workspace.path("store"));
  mkdirSync(workspace.path("node_modules"));
  symlinkSync(
    workspace.path("store/node_modules/toolwright"),
    workspace.path("node_modules/toolwright"),
    "dir",
  );
  const code = `console.log(typeof require("toolwright").createToolRegistry)`;
  workspace.write("cjs.cjs", code);
  for (const { path } of runtimes) {
    const ended = await runScript(path, [workspace.path("cjs.cjs")], workspace.root);
    expect(ended).toMatchObject({ stdout: "function\n", stderr: "" });
  }
});

test("an addon beside the program is used if there is no package", async () => {
  installMain(workspace.root);
  place(addonPath, workspace.path(file));
  workspace.write("cjs.cjs", `console.log(typeof require("toolwright").createToolRegistry)`);
  for (const { path } of runtimes) {
    const ended = await runScript(path, [workspace.path("cjs.cjs")], workspace.root);
    expect(ended).toMatchObject({ stdout: "function\n", stderr: "" });
  }
  rmSync(workspace.path(file));
});
