// Installs the npm dependencies and builds the addon, each only if something changed. It imports only node:
// modules and other scripts, because it runs before node_modules exists.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { root, runNpm, runTool, seconds } from "./command.mjs";

// A separate target directory. Plain `cargo` commands name no target, as napi does, and would not share it.
const targetDir = join(root, "target", "addon");
const stampPath = join(targetDir, "toolwright-stamp.json");

/** Where napi writes its output: the addon, `binding.js` and `binding.d.ts`. */
export const buildDir = join(targetDir, "out");

/** The program that the addon starts for commands. napi builds it too, but leaves it in cargo's directory. */
const SUPERVISOR = process.platform === "linux" ? "toolwright-supervisor" : undefined;

/**
 * Installs and builds what is missing. The profile "dist" builds what is published, which takes long, and
 * "release" nearly the same in less time. "any" accepts an up-to-date addon of every profile, and otherwise
 * builds a debug one. With `rustTests` it builds a debug addon and the Rust tests in one go.
 */
export async function setup({ profile = "release", rustTests = false } = {}) {
  if (!dependenciesMatchLock()) await step("installing npm dependencies", installDependencies);
  const sources = hashOfSources();
  if (rustTests || !addonIsCurrent(sources, profile)) {
    const built = profile === "any" || rustTests ? "debug" : profile;
    const what = rustTests ? "the addon and the Rust tests" : "the addon";
    await step(`building ${what} (${built})`, () => buildAddon(sources, built, rustTests));
  }
}

/** The arguments with which cargo uses what `setup` has built. */
export function cargoTarget() {
  const { stdout } = spawnSync("rustc", ["-vV"], { encoding: "utf8" });
  const host = /^host: (.+)$/m.exec(stdout)?.[1];
  if (host === undefined)
    throw new Error(`\`rustc -vV\` names no host; its output is \`${stdout}\``);
  return ["--target", host, "--target-dir", targetDir];
}

async function step(title, action) {
  const started = Date.now();
  console.log(`setup: ${title}`);
  await action();
  console.log(`setup: ${title}: done in ${seconds(Date.now() - started)}`);
}

/** Compares the lock file with node_modules/.package-lock.json, which npm writes at the end of an install. */
function dependenciesMatchLock() {
  const installedPath = join(root, "node_modules", ".package-lock.json");
  if (!existsSync(installedPath)) return false;
  const wanted = readPackages(join(root, "package-lock.json"));
  const installed = readPackages(installedPath);
  return (
    Object.keys(installed).every((path) => path in wanted) &&
    Object.entries(wanted).every(([path, { integrity, optional }]) => {
      if (path === "") return true;
      // Optional packages of other platforms are only in the lock file.
      if (!(path in installed)) return optional === true;
      return installed[path].integrity === integrity;
    })
  );
}

function readPackages(path) {
  return JSON.parse(readFileSync(path, "utf8")).packages;
}

async function installDependencies() {
  // Not `npm ci`, which refuses a lock file that was written with a mirror that lacks the optional packages
  // of some platforms. `--no-save` installs the same locked versions and leaves the lock file unchanged.
  // No package needs its install scripts (Bun's only moves a file), so none may run.
  await runNpm(["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"]);
}

function hashOfSources() {
  const hash = createHash("sha256");
  const { name, version, napi } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  // The generated loader contains the package's name and version.
  hash.update(JSON.stringify({ name, version, napi }));
  const files = [
    "Cargo.toml",
    "Cargo.lock",
    "build.rs",
    "rust-toolchain.toml",
    ".cargo/config.toml",
  ];
  for (const path of [
    ...files.map((file) => join(root, file)).filter(existsSync),
    ...["src", "crates"].flatMap((folder) => filesUnder(join(root, folder))),
  ]) {
    hash.update(`\0${relative(root, path)}\0`).update(readFileSync(path));
  }
  return hash.digest("hex");
}

function filesUnder(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

function addonIsCurrent(sources, profile) {
  if (!existsSync(stampPath)) return false;
  const stamp = JSON.parse(readFileSync(stampPath, "utf8"));
  return (
    stamp.sources === sources &&
    (profile === "any" || stamp.profile === profile) &&
    existsSync(join(root, "native", stamp.addon)) &&
    (SUPERVISOR === undefined || existsSync(join(root, "native", SUPERVISOR))) &&
    existsSync(join(buildDir, stamp.addon))
  );
}

async function buildAddon(sources, profile, rustTests) {
  requireCargo();
  const args = ["build", "--platform", "--target-dir", targetDir, "--output-dir", buildDir];
  args.push("--js", "binding.js", "--dts", "binding.d.ts", "--no-const-enum");
  if (profile !== "debug") args.push("--profile", profile);
  // With one command, cargo compiles each crate once for the addon and the tests.
  if (rustTests) args.push("--", "--workspace", "--all-targets");
  await runTool("@napi-rs/cli", args, { command: "napi" });

  const addon = readdirSync(buildDir).find((name) => name.endsWith(".node"));
  if (!addon)
    throw new Error(`napi wrote no .node file to \`${buildDir}\`; its output above says why`);
  publish(join(buildDir, addon), addon);
  if (SUPERVISOR) publish(builtSupervisor(profile), SUPERVISOR);
  writeFileSync(stampPath, JSON.stringify({ sources, profile, addon }));
}

/** The newest supervisor that cargo built. Its directory depends on whether napi named a target. */
function builtSupervisor(profile) {
  const places = ["", ...readdirSync(targetDir)].map((folder) =>
    join(targetDir, folder, profile, SUPERVISOR),
  );
  const built = places.filter(existsSync).map((path) => ({ path, at: statSync(path).mtimeMs }));
  const [newest] = built.sort((one, other) => other.at - one.at);
  if (!newest) throw new Error(`cargo built no \`${SUPERVISOR}\` below \`${targetDir}\``);
  return newest.path;
}

/** Renames the file into place, because overwriting a library crashes processes that have it loaded. */
function publish(built, name) {
  const native = join(root, "native");
  mkdirSync(native, { recursive: true });
  const temporary = join(native, `${name}.${process.pid}.tmp.node`);
  copyFileSync(built, temporary);
  renameSync(temporary, join(native, name));
}

function requireCargo() {
  if (!spawnSync("cargo", ["--version"]).error) return;
  const wanted = /^rust-version = "(.+)"/m.exec(
    readFileSync(join(root, "Cargo.toml"), "utf8"),
  )?.[1];
  throw new Error(
    `\`cargo\` is not on PATH, and the addon is built from Rust source; ` +
      `install Rust ${wanted ?? ""} or newer from https://rustup.rs and a C compiler, then run this again`,
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const profiles = { "--debug": "any", "--dist": "dist" };
  await setup({ profile: profiles[process.argv[2]] ?? "release" }).catch((error) => {
    console.error(`setup failed: ${error.message}`);
    process.exitCode = 1;
  });
}
