"use strict";

// Which build of the addon this system needs, and where it may be.

const { existsSync, readFileSync } = require("node:fs");
const { dirname, join } = require("node:path");

/** The systems that there are builds for, as their packages call them; a test compares with package.json. */
const BUILDS = [
  "linux-x64-gnu",
  "linux-arm64-gnu",
  "linux-x64-musl",
  "linux-arm64-musl",
  "darwin-x64",
  "darwin-arm64",
  "win32-x64-msvc",
  "win32-arm64-msvc",
];

/** What the build for this system is called, whether there is one or not. */
function buildName() {
  const name = `${process.platform}-${process.arch}`;
  if (process.platform === "linux") return `${name}-${isMusl() ? "musl" : "gnu"}`;
  return process.platform === "win32" ? `${name}-msvc` : name;
}

/** Decided as napi's loader decides it, so that what is asked for is what it looked for. */
function isMusl() {
  try {
    return readFileSync("/usr/bin/ldd", "utf8").includes("musl");
  } catch {
    if (glibcVersion() !== undefined) return false;
    return (processReport()?.sharedObjects ?? []).some((it) => /libc\.musl-|ld-musl-/.test(it));
  }
}

/** The version of glibc in this process, where it has one. */
function glibcVersion() {
  return process.platform === "linux" ? processReport()?.header?.glibcVersionRuntime : undefined;
}

/** What the runtime knows of its process; names of network interfaces may take seconds to look up. */
function processReport() {
  if (process.report) process.report.excludeNetwork = true;
  return process.report?.getReport?.();
}

function addonFile(build) {
  return `toolwright.${build}.node`;
}

/** The directory of this file, or of the bundle that it became a part of; ES modules have none. */
const folder = typeof __dirname === "string" ? __dirname : undefined;

/** True in a bundle: the files of this package are not around this one. */
function isBundled() {
  return folder === undefined || !existsSync(join(folder, "native-platform.js"));
}

/** Directories that a bundle or a program in one file may have the addon in. */
function programFolders() {
  const script = process.argv[1];
  const folders = [isBundled() ? folder : undefined, script && dirname(script)];
  return [...new Set([...folders, dirname(process.execPath)])].filter(Boolean);
}

/** The directory of an installed package, found as Node finds it. */
function packageFolder(name) {
  try {
    return dirname(require.resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
}

module.exports = {
  BUILDS,
  addonFile,
  buildName,
  folder,
  glibcVersion,
  isBundled,
  packageFolder,
  programFolders,
};
