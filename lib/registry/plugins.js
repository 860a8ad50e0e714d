"use strict";

/** @import { PluginConfigValidation, PluginToolValidation } from "../types/plugins" */

const native = require("../native/addon.js");
const { guarded } = require("../boundary/guards.js");
const { wordsOf } = require("../boundary/errors.js");
const { encodeInput } = require("../boundary/json.js");

/**
 * Checks the content of a plugin file, in the same way as loading it does.
 *
 * @param {unknown} data
 * @returns {PluginConfigValidation}
 */
function validatePluginConfigFile(data) {
  return checked(data, native.validatePluginFile);
}

/**
 * Checks the definition of one plugin tool.
 *
 * @param {unknown} data
 * @returns {PluginToolValidation}
 */
function validatePluginToolDefinition(data) {
  return checked(data, native.validatePluginTool);
}

/**
 * @param {unknown} data
 * @param {(json: string) => string} validate
 * @returns {PluginConfigValidation}
 */
function checked(data, validate) {
  let json;
  try {
    json = encodeInput(data ?? null);
  } catch (error) {
    // A value that cannot be written as JSON cannot be in a file either.
    return { valid: false, errors: [wordsOf(error)] };
  }
  return JSON.parse(validate(json));
}

module.exports = {
  validatePluginConfigFile: guarded(validatePluginConfigFile, "validatePluginConfigFile"),
  validatePluginToolDefinition: guarded(
    validatePluginToolDefinition,
    "validatePluginToolDefinition",
  ),
};
