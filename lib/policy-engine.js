"use strict";

const native = require("./native.js");
const { guardClass, misuseOf, optionalText, optionsOf } = require("./boundary.js");
const { ToolError, asToolError, firstLineOf, shown, unwrap } = require("./errors.js");
const { encodeInput } = require("./json.js");

let isEngine;

/** Judges calls by rules. Never changes: another policy is another engine. */
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

guardClass(PolicyEngine, isEngine);

/** A policy as JSON. What JSON would leave out is written in words, so that it is refused. */
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

function checkedName(name) {
  if (typeof name !== "string") {
    throw new ToolError("InvalidOptions", `a tool's name must be a string, got ${shown(name)}`);
  }
  return name;
}

module.exports = { PolicyEngine, encodePolicy };
