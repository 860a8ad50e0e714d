"use strict";

const { existsSync } = require("node:fs");
const { join } = require("node:path");
const { version } = require("../package.json");
const { loadFailure, versionFailure } = require("./native-failure.js");
const { addonFile, buildName, programFolders } = require("./native-platform.js");

/** The addon, or an error that says what stands in the way and what to do about it. */
function load() {
  const addon = fromLoader();
  const addonVersion = addon.addonVersion?.();
  if (addonVersion !== version) throw versionFailure(version, addonVersion);
  return addon;
}

/**
 * napi's loader knows the installed package and the directory of a bundle. Its requires are written out
 * one by one, which is how bundlers come to know of the addon.
 */
function fromLoader() {
  try {
    return require("../native/binding.js");
  } catch (error) {
    const addon = process.env.NAPI_RS_NATIVE_LIBRARY_PATH ? undefined : besideProgram();
    if (addon === undefined) throw loadFailure(error);
    return addon;
  }
}

/** The addon beside the program: one in a single file cannot require what is not in it. */
function besideProgram() {
  const file = addonFile(buildName());
  for (const path of programFolders().map((folder) => join(folder, file))) {
    if (!existsSync(path)) continue;
    const module = { exports: {} };
    try {
      process.dlopen(module, path);
      return module.exports;
    } catch {
      // `loadFailure` looks at the same places, and says why.
    }
  }
  return undefined;
}

module.exports = load();
