"use strict";

const { existsSync } = require("node:fs");
const { join } = require("node:path");
const { version } = require("../../package.json");
const { loadFailure, versionFailure } = require("./load-failure.js");
const { addonFile, buildName, programFolders } = require("./platform.js");

/**
 * Loads the addon, or throws an error that says why it does not load and what to do about it.
 *
 * @returns {typeof import("../../native/binding")}
 */
function load() {
  const addon = fromLoader();
  const addonVersion = addon.addonVersion?.();
  if (addonVersion !== version) throw versionFailure(version, addonVersion);
  return addon;
}

/**
 * Loads through napi's loader, which tries the installed package and the directory of a bundle. It spells
 * out one `require` for each platform, which is how bundlers find the addon.
 *
 * @returns {typeof import("../../native/binding")}
 */
function fromLoader() {
  try {
    return require("../../native/binding.js");
  } catch (error) {
    const addon = process.env.NAPI_RS_NATIVE_LIBRARY_PATH ? undefined : besideProgram();
    if (addon === undefined) throw loadFailure(error);
    return addon;
  }
}

/**
 * Loads the addon beside the program: a single-file program cannot `require` files outside of itself.
 *
 * @returns {typeof import("../../native/binding") | undefined}
 */
function besideProgram() {
  const file = addonFile(buildName());
  for (const path of programFolders().map((folder) => join(folder, file))) {
    if (!existsSync(path)) continue;
    /** @type {{ exports: unknown }} */
    const module = { exports: {} };
    try {
      process.dlopen(module, path);
      return /** @type {typeof import("../../native/binding")} */ (module.exports);
    } catch {
      // `loadFailure` tries the same places and reports why they fail.
    }
  }
  return undefined;
}

module.exports = load();
