"use strict";

const native = require("./native.js");
const { checkedToolName, guardClass, misuseOf, optionalText, optionsOf } = require("./boundary.js");
const { ToolError, asToolError, firstLineOf, shown, unwrap } = require("./errors.js");
const { encodeInput } = require("./json.js");

let isEngine;

/** Judges calls by rules, without a registry. An engine is immutable; another policy needs another one. */
class PolicyEngine {
  #native;

  static {
    isEngine = (value) => typeof value === "object" && value !== null && #native in value;
  }

  constructor(config, options) {
    try {
      if (config === null || typeof config !== "object") {
        throw new ToolError("InvalidOptions", `a policy must be an object, got ${shown(config)}`);
      }
      const { projectPath, permissionMode } = optionsOf(options, "new PolicyEngine");
      this.#native = new native.NativePolicyEngine(
        encodePolicy(config),
        optionalText(projectPath, "projectPath") ?? process.cwd(),
        optionalText(permissionMode, "permissionMode"),
      );
    } catch (error) {
      throw misuseOf(asToolError(error), "new PolicyEngine");
    }
  }

  evaluate(toolName, params = {}) {
    return this.explain(toolName, params).action;
  }

  explain(toolName, params = {}) {
    return unwrap(this.#native.evaluate(checkedToolName(toolName), encodeInput(params)));
  }

  getRiskLevel(toolName) {
    return this.#native.riskLevel(checkedToolName(toolName));
  }

  lint() {
    return JSON.parse(this.#native.lint());
  }

  /** The JSON Schema of the policy file. */
  static get schema() {
    return JSON.parse(native.policySchema());
  }
}

guardClass(PolicyEngine, isEngine);

/** Encodes a policy as JSON. Functions and symbols, which JSON drops, become text that the addon refuses. */
function encodePolicy(policy) {
  try {
    return JSON.stringify(policy ?? null, (_key, value) =>
      typeof value === "function" || typeof value === "symbol" ? shown(value) : value,
    );
  } catch (error) {
    throw new ToolError(
      "InvalidOptions",
      `the policy cannot be written as JSON: ${firstLineOf(error)}`,
    );
  }
}

module.exports = { PolicyEngine, encodePolicy };
