"use strict";

const native = require("./native.js");
const { guarded } = require("./boundary.js");
const { asToolError } = require("./errors.js");
const { encodeInput } = require("./json.js");

/** Checks the content of a plugin file, in the same way as loading it does. */
function validatePluginConfigFile(data) {
  return checked(data, native.validatePluginFile);
}

/** Checks the definition of one plugin tool. */
function validatePluginToolDefinition(data) {
  return checked(data, native.validatePluginTool);
}

function checked(data, validate) {
  let json;
  try {
    json = encodeInput(data ?? null);
  } catch (error) {
    // Whatever cannot be written as JSON cannot be in a file either.
    return { valid: false, errors: [asToolError(error).message] };
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
