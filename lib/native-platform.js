"use strict";

// Which build of the addon this system needs, and where it may be.

const { readFileSync } = require("node:fs");
const { dirname, isAbsolute } = require("node:path");

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

/**
 * True where this file has become a part of a bundle, so that nothing of this package is around it. Bundlers
 * make `module` up, without a whole path; `__dirname` may still be that of the machine where they ran.
 */
function isBundled() {
  return !isAbsolute(module.filename ?? "");
}

/** Directories that a bundle, or a program in one file, may have the addon in. */
function programFolders() {
  const folders = [process.argv[1], process.execPath].filter(Boolean).map((it) => dirname(it));
  return [...new Set(folders)].filter((it) => !INSIDE_BUN.test(it));
}

/** What a program made by Bun sees as the directory of its own files. */
const INSIDE_BUN = /^(?:\/\$bunfs|B:\\~BUN)/;

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
  glibcVersion,
  isBundled,
  packageFolder,
  programFolders,
};
