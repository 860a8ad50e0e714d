"use strict";

const native = require("./native.js");
const { guardStatics } = require("./boundary.js");
const { ToolError, shown } = require("./errors.js");

/** Shortens and cleans output for a model or a person. */
class OutputFormatter {
  static truncate(output, options) {
    const text = checkedText(output);
    if (typeof (options ?? {}) !== "object") {
      throw new ToolError(
        "InvalidOptions",
        `the limits must be an object, as { maxChars, maxLines }, got ${shown(options)}`,
      );
    }
    const { maxChars, maxLines } = options ?? {};
    const limits = [limit("maxChars", maxChars), limit("maxLines", maxLines)];
    return JSON.parse(native.truncateOutput(text, ...limits));
  }

  static formatForLLM(output) {
    return native.formatForModel(checkedText(output));
  }

  static formatForDisplay(output) {
    return native.formatForDisplay(checkedText(output));
  }
}

guardStatics(OutputFormatter);

function checkedText(output) {
  if (typeof output !== "string") {
    throw new ToolError("InvalidOptions", `the output must be a string, got ${shown(output)}`);
  }
  return output;
}

/** A limit for the addon, where 0 means no limit. */
function limit(name, value) {
  if (value === undefined || value === null || value === Infinity) return 0;
  if (!Number.isInteger(value) || value < 0 || value > 2 ** 32 - 1) {
    throw new ToolError(
      "InvalidOptions",
      `\`${name}\` must be a whole number, 0 for no limit, got ${shown(value)}`,
    );
  }
  return value;
}

module.exports = { OutputFormatter };
