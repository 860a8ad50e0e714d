// Bundled apps outside the project that they were built in find the addon and the supervisor.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { build as bundle } from "esbuild";
import type { BuildOptions } from "esbuild";
import { describe, expect, test } from "vitest";
import {
  addonPath,
  build,
  installToolwright,
  place,
  supervisorPath,
  version,
} from "../support/installed-package.js";
import { ToolError, createToolRegistry } from "../../index.mjs";
import { runScript, runtimes } from "../support/runtimes.js";
import type { Ended } from "../support/runtimes.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const bun = runtimes.find(({ name }) => name === "Bun")?.path ?? "";
const onLinux = process.platform === "linux";
const addon = basename(addonPath);
const supervisor = basename(supervisorPath);

/** An app that runs one command and prints its result. */
function app(options = ""): string {
  return `
import { createToolRegistry } from "toolwright";
const registry = createToolRegistry({
  permissionMode: "bypassPermissions", userPolicyFile: false, ${options}
});
registry.call("Bash", { command: "echo it works" }).then(async (result) => {
  console.log(JSON.stringify(result));
  await registry.close();
});`;
}

/** A project with toolwright installed and an app in it; returns the app's path. */
function project(options = ""): string {
  installToolwright(workspace.path("project"));
  return workspace.write("project/app.mjs", app(options));
}

/** Moves the build elsewhere and removes everything else. */
function deploy(): void {
  renameSync(workspace.path("project/dist"), workspace.path("deployed"));
  rmSync(workspace.path("project"), { recursive: true });
  mkdirSync(workspace.path("elsewhere"));
}

interface Facts {
  contained: boolean;
  notContained?: string;
}

/** The result of the app's command. */
function answer({ stdout, stderr }: Ended): { text: string; facts: Facts } {
  if (!stdout.startsWith("{")) throw new Error(`${stdout}${stderr}`);
  const { content, _meta } = JSON.parse(stdout);
  return { text: content[0].text, facts: _meta["toolwright/command"] };
}

function runIn(program: string, args: string[] = []): Promise<Ended> {
  // Bun unpacks the addon of a compiled program into the temporary directory and does not remove it.
  const temporary = { TMPDIR: workspace.root, BUN_TMPDIR: workspace.root };
  return runScript(program, args, workspace.path("elsewhere"), 25_000, { env: temporary });
}

const WORKS = { text: "it works\n[exit code 0]", facts: { contained: onLinux } };
const BANNER =
  'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';
const FORMATS = [
  { format: "cjs", file: "app.cjs", banner: "" },
  { format: "esm", file: "app.mjs", banner: BANNER },
] as const;

/** Bundles the app as docs/bundling.md says. */
async function esbuild(
  entry: string,
  { format, file, banner }: (typeof FORMATS)[number],
  options: BuildOptions = { external: ["toolwright-*"] },
): Promise<string> {
  const result = await bundle({
    entryPoints: [entry],
    bundle: true,
    platform: "node",
    format,
    banner: { js: banner },
    outdir: workspace.path("project/dist"),
    outExtension: { ".js": file.slice("app".length) },
    logLevel: "silent",
    ...options,
  });
  expect(result.warnings).toEqual([]);
  return workspace.path(`deployed/${file}`);
}

describe.each(FORMATS)("an app bundled by esbuild as $format", (format) => {
  test("works with the platform's files beside it", async () => {
    const script = await esbuild(project(), format);
    deploy();
    place(addonPath, workspace.path(`deployed/${addon}`));
    if (onLinux) place(supervisorPath, workspace.path(`deployed/${supervisor}`));
    for (const { path } of runtimes) {
      expect(answer(await runIn(path, [script]))).toMatchObject(WORKS);
    }
  });

  test("works with an addon that esbuild has copied", async () => {
    const script = await esbuild(project(), format, { loader: { ".node": "copy" } });
    deploy();
    if (onLinux) place(supervisorPath, workspace.path(`deployed/${supervisor}`));
    for (const { path } of runtimes) {
      expect(answer(await runIn(path, [script]))).toMatchObject(WORKS);
    }
  });

  test("works inside a project that has toolwright installed", async () => {
    const script = await esbuild(project(), format, { external: ["toolwright"] });
    renameSync(workspace.path("project/dist"), workspace.path("deployed"));
    renameSync(workspace.path("project/node_modules"), workspace.path("deployed/node_modules"));
    mkdirSync(workspace.path("elsewhere"));
    for (const { path } of runtimes) {
      expect(answer(await runIn(path, [script]))).toMatchObject(WORKS);
    }
  });

  test("says what is missing without the platform's files", async () => {
    const script = await esbuild(project(), format);
    deploy();
    for (const { path } of runtimes) {
      const { stdout, stderr } = await runIn(path, [script]);
      expect(stdout).toBe("");
      expect(stderr).toContain(
        `the bundle has no \`${addon}\`, and neither has \`${workspace.path("deployed")}\``,
      );
      expect(stderr).toContain(`put the files of the package \`toolwright-${build}\` there`);
    }
  });
});

test("an addon of another version beside a bundle is refused", async () => {
  const script = await esbuild(project(), FORMATS[0], {
    external: ["toolwright-*"],
    plugins: [
      {
        name: "a package of another version",
        setup: ({ onLoad }) =>
          onLoad({ filter: /toolwright.package\.json$/ }, () => ({
            contents: `{ "version": "99.0.0", "engines": { "node": ">=20" } }`,
            loader: "json",
          })),
      },
    ],
  });
  deploy();
  const path = place(addonPath, workspace.path(`deployed/${addon}`));
  const { stderr } = await runIn(process.execPath, [script]);
  expect(stderr).toContain(
    `toolwright 99.0.0 needs an addon of the same version, but \`${path}\` is of version ${version}; ` +
      "copy the file from the package that was bundled",
  );
});

describe("a program in one file, by bun build --compile", () => {
  /** Builds the program and moves it to a separate folder. */
  function compile(entry: string, ...args: string[]): string {
    const file = process.platform === "win32" ? "app.exe" : "app";
    const outfile = workspace.path(`project/dist/${file}`);
    execFileSync(bun, ["build", "--compile", entry, "--outfile", outfile, ...args], {
      cwd: workspace.root,
      stdio: "ignore",
    });
    deploy();
    return workspace.path(`deployed/${file}`);
  }

  test("works, and contains its commands with the supervisor beside it", async () => {
    const program = compile(project());
    if (onLinux) place(supervisorPath, workspace.path(`deployed/${supervisor}`));
    expect(answer(await runIn(program))).toMatchObject(WORKS);
  });

  test.runIf(onLinux)(
    "works without the supervisor, and says why commands are not contained",
    async () => {
      const program = compile(project());
      const { text, facts } = answer(await runIn(program));
      expect(text).toBe(WORKS.text);
      expect(facts).toMatchObject({ contained: false });
      expect(facts.notContained).toBe(
        `there is no file \`${workspace.path(supervisor)}\` or \`${workspace.path(`deployed/${supervisor}`)}\`; ` +
          `put \`${supervisor}\` of the platform's package there, or name it with the option \`shell.supervisorPath\``,
      );
    },
  );

  test.runIf(onLinux)("finds the supervisor at the path of an option", async () => {
    const path = place(supervisorPath, workspace.path("libexec/supervisor"));
    const program = compile(project(`shell: { supervisorPath: ${JSON.stringify(path)} }`));
    expect(answer(await runIn(program))).toMatchObject(WORKS);
  });

  test.runIf(onLinux)("names a supervisor that has lost its executable bit", async () => {
    const program = compile(project());
    const path = workspace.path(`deployed/${supervisor}`);
    // A copy, because all hard links of a file share the bit.
    execFileSync("cp", [supervisorPath, path]);
    chmodSync(path, 0o644);
    const { text, facts } = answer(await runIn(program));
    expect(text).toBe(WORKS.text);
    expect(facts).toMatchObject({
      contained: false,
      notContained: `\`${path}\` is not executable; set its executable bit (\`chmod +x\`)`,
    });
  });

  test("says where to put an addon that the program was compiled without", async () => {
    const entry = project();
    const program = compile(entry, "--external", "toolwright-*");
    // The package is still installed where the program was compiled. The program must not use it.
    installToolwright(workspace.path("project"));
    const { stderr } = await runIn(program);
    expect(stderr).toContain(
      `the bundle has no \`${addon}\`, and neither has \`${workspace.path("deployed")}\`; put the files`,
    );
  });

  test("uses an addon beside it", async () => {
    const program = compile(project(), "--external", "toolwright-*");
    place(addonPath, join(workspace.path("deployed"), addon));
    if (onLinux) place(supervisorPath, workspace.path(`deployed/${supervisor}`));
    expect(answer(await runIn(program))).toMatchObject(WORKS);
  });
});

describe.runIf(onLinux)("a supervisor that the host names", () => {
  test.each([
    ["missing", "there is no file `PATH`; name the program `toolwright-supervisor`"],
    ["folder", "`PATH` is no regular file"],
    ["file", "`PATH` is not executable; set its executable bit (`chmod +x`)"],
  ])("is refused if it is not one: %s", (name, words) => {
    workspace.write("file", "text");
    mkdirSync(workspace.path("folder"));
    const path = workspace.path(name);
    expect(misuse(path)).toContain(`\`shell.supervisorPath\`: ${words.replace("PATH", path)}`);
  });

  test("is refused if its path is relative", () => {
    expect(misuse("bin/supervisor")).toContain("`bin/supervisor` is no absolute path");
  });

  /** The message of the error for the option. */
  function misuse(path: string): string {
    try {
      createToolRegistry({ shell: { supervisorPath: path } });
    } catch (error) {
      if (error instanceof ToolError && error.type === "InvalidOptions") return error.message;
      throw error;
    }
    throw new Error("it was taken");
  }
});
