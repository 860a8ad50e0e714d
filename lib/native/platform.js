"use strict";

// Which build of the addon this system needs, and where its file may be.

const { readFileSync } = require("node:fs");
const { dirname, isAbsolute } = require("node:path");

/** The names of all builds, as in the names of their packages. A test compares them with package.json. */
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

/** The name of the build for this system, whether or not it exists. */
function buildName() {
  const name = `${process.platform}-${process.arch}`;
  if (process.platform === "linux") return `${name}-${isMusl() ? "musl" : "gnu"}`;
  return process.platform === "win32" ? `${name}-msvc` : name;
}

/** Decides as napi's loader does, so that both look for the same build. */
function isMusl() {
  try {
    return readFileSync("/usr/bin/ldd", "utf8").includes("musl");
  } catch {
    if (glibcVersion() !== undefined) return false;
    return (processReport()?.sharedObjects ?? []).some((it) => /libc\.musl-|ld-musl-/.test(it));
  }
}

/**
 * The version of glibc in this process, if it uses glibc.
 *
 * @returns {string | undefined}
 */
function glibcVersion() {
  return process.platform === "linux" ? processReport()?.header?.glibcVersionRuntime : undefined;
}

/**
 * The runtime's report about its process, without the network part, which may take seconds.
 *
 * @returns {{ header?: { glibcVersionRuntime?: string }, sharedObjects?: string[] } | undefined}
 */
function processReport() {
  // `@types/node` does not have this property yet.
  if (process.report) Object.assign(process.report, { excludeNetwork: true });
  /** @type {unknown} */
  const report = process.report?.getReport?.();
  return /** @type {ReturnType<typeof processReport>} */ (report);
}

/** @param {string} build */
function addonFile(build) {
  return `toolwright.${build}.node`;
}

/**
 * True if this file is part of a bundle, so that the package's other files are not beside it. Bundlers
 * provide a `module` without an absolute path. `__dirname` is no proof: it may still be the directory on
 * the machine where the bundler ran.
 */
function isBundled() {
  return !isAbsolute(/** @type {NodeJS.Module} */ (module).filename ?? "");
}

/** Directories where a bundle or a single-file program may have the addon. */
function programFolders() {
  const folders = [process.argv[1], process.execPath].flatMap((it) => (it ? [dirname(it)] : []));
  return [...new Set(folders)].filter((it) => !INSIDE_BUN.test(it));
}

/** The virtual directory in which a program compiled by Bun sees its own files. */
const INSIDE_BUN = /^(?:\/\$bunfs|B:\\~BUN)/;

/**
 * The directory of an installed package, by Node's own resolution.
 *
 * @param {string} name
 */
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
