// The crates that toolwright depends on: whether they are permitted and used, and their licences.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { cargoTool } from "./cargo-tools.mjs";
import { root, run } from "./command.mjs";
import { platforms } from "./platform-packages.mjs";

/** The packages whose binaries are published. The supervisor may be part of the first one. */
const PUBLISHED = ["toolwright", "toolwright-supervisor"];
/** Precedes the generated part of NOTICE.md, which is the rest of the file. */
const MARK = "<!-- Generated from here on by `npm run build`. -->";

/** Checks licences, sources and banned crates (deny.toml), and that every dependency is used. */
export async function checkCrates(_options, note) {
  const leftOut = [];
  const check = async (about, name, ...args) => {
    const { tool, reason } = await obtained(name);
    if (tool !== undefined) await run(tool, args);
    else leftOut.push(`${about}: ${reason}`);
  };
  const checks = ["licenses", "bans", "sources"];
  await check("licences and sources of crates", "cargo-deny", "--locked", "check", ...checks);
  await check("unused dependencies", "cargo-shear", "--locked", "--deny-warnings");
  note({ leftOut });
}

/** The path of the tool, or why there is none. */
async function obtained(name) {
  try {
    return { tool: await cargoTool(name), reason: `install \`${name}\` with cargo` };
  } catch (error) {
    return { reason: error.message };
  }
}

/** NOTICE.md with an up-to-date list of crates. What precedes the mark is written by hand. */
export function notice() {
  const text = readFileSync(join(root, "NOTICE.md"), "utf8");
  const [byHand] = text.split(MARK, 1);
  const rows = linkedCrates().map(
    ({ name, versions, licence }) => `| ${name} | ${versions.join(", ")} | ${licence} |`,
  );
  return [
    `${byHand.trimEnd()}\n`,
    `${MARK}\n`,
    "## Rust crates\n",
    "The published binaries contain these crates. The source of each is at `https://crates.io/crates/<crate>`.\n",
    "| crate | version | licence |",
    "| --- | --- | --- |",
    `${rows.join("\n")}\n`,
  ].join("\n");
}

/** The crates in the binaries of any platform, sorted by name. */
function linkedCrates() {
  const members = JSON.parse(cargo("metadata", "--no-deps", "--format-version", "1")).packages;
  const roots = PUBLISHED.filter((name) => members.some((it) => it.name === name));
  const versions = new Map();
  for (const { target } of platforms) {
    for (const { name, version, licence } of dependencies(roots, target)) {
      const crate = `${name}\t${licence}`;
      versions.set(crate, (versions.get(crate) ?? new Set()).add(version));
    }
  }
  return [...versions.keys()].sort().map((crate) => {
    const [name, licence] = crate.split("\t");
    return { name, licence, versions: [...versions.get(crate)].sort() };
  });
}

/** The crates that are linked for a target: neither build scripts nor procedural macros nor our own crates. */
function dependencies(roots, target) {
  const packages = roots.flatMap((name) => ["--package", name]);
  const edges = ["--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}|{l}|"];
  const lines = cargo("tree", ...packages, "--target", target, ...edges).split("\n");
  return lines.flatMap((line) => {
    const [crate, licence] = line.split("|");
    // `name v1.2.3`, followed by a path if the crate is ours.
    const [name, version, path] = crate.split(" ");
    return version === undefined || path ? [] : [{ name, version: version.slice(1), licence }];
  });
}

function cargo(command, ...args) {
  const options = { cwd: root, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 };
  return execFileSync("cargo", [command, "--locked", ...args], options);
}
