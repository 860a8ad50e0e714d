"use strict";

const native = require("../native/addon.js");
const { guardStatics } = require("../boundary/guards.js");
const { ToolError, shown } = require("../boundary/errors.js");

/** Shortens and cleans output for a model or a person. */
class OutputFormatter {
  /**
   * @param {string} output
   * @param {{ maxChars?: number | undefined, maxLines?: number | undefined }} [options]
   * @returns {{ content: string, truncated: boolean, omitted?: string }}
   */
  static truncate(output, options) {
    const text = checkedText(output);
    if (typeof (options ?? {}) !== "object") {
      throw new ToolError(
        "InvalidOptions",
        `the limits must be an object, as { maxChars, maxLines }, got ${shown(options)}`,
      );
    }
    const { maxChars, maxLines } = options ?? {};
    return JSON.parse(
      native.truncateOutput(text, limit("maxChars", maxChars), limit("maxLines", maxLines)),
    );
  }

  /** @param {string} output */
  static formatForLLM(output) {
    return native.formatForModel(checkedText(output));
  }

  /** @param {string} output */
  static formatForDisplay(output) {
    return native.formatForDisplay(checkedText(output));
  }
}

guardStatics(OutputFormatter);

/** @param {string} output */
function checkedText(output) {
  if (typeof output !== "string") {
    throw new ToolError("InvalidOptions", `the output must be a string, got ${shown(output)}`);
  }
  return output;
}

/**
 * A limit for the addon, where 0 means no limit.
 *
 * @param {string} name
 * @param {number | null | undefined} value
 */
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

exports.OutputFormatter = OutputFormatter;
