// The published packages: the main package and one for each platform, as npm would pack them.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../support/runtimes.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const readText = (...path: string[]) => readFileSync(join(root, ...path), "utf8");
const main = JSON.parse(readText("package.json"));
const builds = readdirSync(join(root, "npm")).sort();

interface Packed {
  name: string;
  files: { path: string; mode: number }[];
}

/** The files that `npm pack` would put into the archives of some folders. */
function packed(...folders: string[]): Packed[] {
  const args = ["pack", "--dry-run", "--json", "--ignore-scripts", "--offline", ...folders];
  const output = execFileSync("npm", args, {
    cwd: workspace.root,
    encoding: "utf8",
    env: { ...process.env, NO_UPDATE_NOTIFIER: "1", npm_config_cache: workspace.path("cache") },
    shell: process.platform === "win32",
    stdio: ["ignore", "pipe", "ignore"],
  });
  // npm 12 returns an object by name.
  return Object.values(JSON.parse(output));
}

const namesOf = ({ files }: Packed) => files.map(({ path }) => path).sort();

describe("the packages of the platforms", () => {
  test("are the targets of the addon, and known to its loader", async () => {
    const { platforms } = await import(join(root, "scripts", "platform-packages.mjs"));
    const { BUILDS } = await import(join(root, "lib", "native", "platform.js"));
    const named = platforms.map(({ build }: { build: string }) => build);
    expect(named).toHaveLength(main.napi.targets.length);
    expect([...named].sort()).toEqual(builds);
    expect([...BUILDS].sort()).toEqual(builds);
    const loader = readText("native", "binding.js");
    for (const build of builds) {
      expect(loader).toContain(`require('./toolwright.${build}.node')`);
      expect(loader).toContain(`require('toolwright-${build}')`);
    }
  });

  test.each(builds)("%s has the main package's metadata and its own system", (build) => {
    const {
      name,
      main: addon,
      files,
      os,
      cpu,
      libc,
      ...shared
    } = JSON.parse(readText("npm", build, "package.json"));
    const [system, processor, abi] = build.split("-");
    expect({ name, os, cpu, libc }).toEqual({
      name: `toolwright-${build}`,
      os: [system],
      cpu: [processor],
      libc: system === "linux" ? [abi === "gnu" ? "glibc" : "musl"] : undefined,
    });
    expect(addon).toBe(`toolwright.${build}.node`);
    const supervisor = system === "linux" ? ["toolwright-supervisor"] : [];
    expect(files).toEqual([addon, ...supervisor, "LICENSE", "NOTICE.md"]);
    const wanted = Object.keys(shared).map((field) => [field, main[field]]);
    expect(shared).toEqual(Object.fromEntries(wanted));
    expect(Object.keys(shared)).toEqual(
      expect.arrayContaining(["version", "license", "engines", "repository", "publishConfig"]),
    );
  });

  test("contain the addon, the supervisor and their licences", async () => {
    const { addLicences } = await import(join(root, "scripts", "platform-packages.mjs"));
    cpSync(join(root, "npm"), workspace.path("npm"), { recursive: true });
    addLicences(workspace.path("npm"));
    for (const build of builds) {
      workspace.write(`npm/${build}/toolwright.${build}.node`, "the addon");
      if (build.startsWith("linux")) {
        chmodSync(workspace.write(`npm/${build}/toolwright-supervisor`, "the supervisor"), 0o755);
      }
      for (const file of ["LICENSE", "NOTICE.md"]) {
        expect(readFileSync(workspace.path(`npm/${build}/${file}`), "utf8")).toBe(readText(file));
      }
    }
    const packages = packed(...builds.map((build) => `./npm/${build}`));
    expect(Object.fromEntries(packages.map((it) => [it.name, namesOf(it)]))).toEqual(
      Object.fromEntries(
        builds.map((build) => [
          `toolwright-${build}`,
          [
            "LICENSE",
            "NOTICE.md",
            "README.md",
            "package.json",
            ...(build.startsWith("linux") ? ["toolwright-supervisor"] : []),
            `toolwright.${build}.node`,
          ],
        ]),
      ),
    );
    const supervisors = packages
      .flatMap(({ files }) => files)
      .filter(({ path }) => path === "toolwright-supervisor");
    expect(supervisors.map(({ mode }) => mode & 0o111)).toEqual(supervisors.map(() => 0o111));
  });
});

describe("the main package", () => {
  test("contains the facade and its licences, and no binary", () => {
    const [it] = packed(root);
    if (it === undefined) throw new Error("npm packed nothing");
    const names = namesOf(it);
    expect(names).toEqual(expect.arrayContaining(["LICENSE", "NOTICE.md", "README.md"]));
    const folders = new Set(names.map((name) => name.split("/", 1)[0]));
    expect([...folders].filter((name) => !/^(?:index\.|[A-Z])/.test(name ?? "")).sort()).toEqual([
      "bin",
      "lib",
      "native",
      "package.json",
      "schema",
    ]);
    expect(names.filter((name) => name.startsWith("native/"))).toEqual([
      "native/binding.d.ts",
      "native/binding.js",
    ]);
  });

  test("has the same version as the addon", () => {
    expect(/^version = "(.+)"$/m.exec(readText("Cargo.toml"))?.[1]).toBe(main.version);
  });

  test("has no dependencies and no install scripts", () => {
    expect(main).not.toHaveProperty("dependencies");
    // Written when the package is published, with exact versions.
    expect(main).not.toHaveProperty("optionalDependencies");
    for (const script of ["preinstall", "install", "postinstall", "prepare"]) {
      expect(main.scripts).not.toHaveProperty(script);
    }
  });
});
