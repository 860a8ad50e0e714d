"use strict";

/**
 * @typedef {object} InstallationFacts
 * @property {"otherSystem" | { program: string, problem?: string }} supervisor
 * @property {string} shell
 * @property {string} [git]
 * @property {string} [storeFile]
 * @property {string} [pluginDir]
 * @property {string} [userPolicyFile]
 * @property {string} projectPolicyFile
 * @property {{ service?: string, problem?: string }} search
 */

const { unwrap } = require("../boundary/errors.js");

/**
 * The files and programs that a registry in this project would use.
 *
 * @param {string} project
 * @returns {InstallationFacts}
 */
function installationFacts(project) {
  const native = require("../native/addon.js");
  /** @type {InstallationFacts} */
  const facts = unwrap(native.installationFacts(JSON.stringify({ ...process.env }), project));
  // A fact that is missing is `null` in JSON.
  const known = Object.entries(facts).filter(([, value]) => value !== null);
  return /** @type {InstallationFacts} */ (Object.fromEntries(known));
}

module.exports = { installationFacts };
