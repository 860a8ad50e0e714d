"use strict";

const native = require("./native.js");
const { ToolError, asToolError, shown, unwrap } = require("./errors.js");
const { encodeInput } = require("./json.js");

/** Judges calls by rules. Never changes: another policy is another engine. */
class PolicyEngine {
  #native;

  constructor(config, { projectPath = process.cwd(), permissionMode } = {}) {
    if (config === null || typeof config !== "object") {
      throw new ToolError("InvalidOptions", `a policy must be an object, got ${shown(config)}`);
    }
    try {
      this.#native = new native.NativePolicyEngine(
        encodePolicy(config),
        String(projectPath),
        permissionMode,
      );
    } catch (error) {
      throw asToolError(error);
    }
  }

  evaluate(toolName, params = {}) {
    return this.explain(toolName, params).action;
  }

  explain(toolName, params = {}) {
    return unwrap(this.#native.evaluate(checkedName(toolName), encodeInput(params)));
  }

  getRiskLevel(toolName) {
    return this.#native.riskLevel(checkedName(toolName));
  }

  lint() {
    return JSON.parse(this.#native.lint());
  }

  /** The JSON Schema of the policy file. */
  static get schema() {
    return JSON.parse(native.policySchema());
  }
}

/** A policy as JSON. What JSON would leave out is written in words, so that it is refused. */
function encodePolicy(policy) {
  try {
    return JSON.stringify(policy ?? null, (_key, value) =>
      typeof value === "function" || typeof value === "symbol" ? shown(value) : value,
    );
  } catch (error) {
    throw new ToolError("InvalidOptions", `the policy cannot be written as JSON: ${error.message}`);
  }
}

function checkedName(name) {
  if (typeof name !== "string") {
    throw new ToolError("InvalidOptions", `a tool's name must be a string, got ${shown(name)}`);
  }
  return name;
}

module.exports = { PolicyEngine, encodePolicy };
