"use strict";

/**
 * @import { PermissionMode, PolicyAction, PolicyConfig, PolicyLint, PolicyVerdict } from "../types/policy"
 * @import { PolicyEngine as DeclaredPolicyEngine } from "../types/policy"
 */

const native = require("../native/addon.js");
const {
  checkedToolName,
  guardClass,
  misuseOf,
  optionalText,
  optionsOf,
} = require("../boundary/guards.js");
const { ToolError, asToolError, firstLineOf, shown, unwrap } = require("../boundary/errors.js");
const { encodeInput } = require("../boundary/json.js");

/** @type {(value: unknown) => boolean} */
let isEngine;

/**
 * Judges calls by rules, without a registry. An engine is immutable; another policy needs another one.
 *
 * @implements {DeclaredPolicyEngine}
 */
class PolicyEngine {
  #native;

  static {
    isEngine = (value) => typeof value === "object" && value !== null && #native in value;
  }

  /**
   * @param {PolicyConfig} config
   * @param {{ projectPath?: string | undefined, permissionMode?: PermissionMode | undefined }} [options]
   */
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

  /**
   * @param {string} toolName
   * @param {Record<string, unknown>} params
   * @returns {PolicyAction}
   */
  evaluate(toolName, params = {}) {
    return this.explain(toolName, params).action;
  }

  /**
   * @param {string} toolName
   * @param {Record<string, unknown>} params
   * @returns {PolicyVerdict}
   */
  explain(toolName, params = {}) {
    return unwrap(this.#native.evaluate(checkedToolName(toolName), encodeInput(params)));
  }

  /**
   * @param {string} toolName
   * @returns {"low" | "medium" | "high"}
   */
  getRiskLevel(toolName) {
    const level = this.#native.riskLevel(checkedToolName(toolName));
    return /** @type {"low" | "medium" | "high"} */ (level);
  }

  /** @returns {PolicyLint[]} */
  lint() {
    return JSON.parse(this.#native.lint());
  }

  /**
   * The JSON Schema of the policy file.
   *
   * @returns {import("../types/schemas").JsonSchema}
   */
  static get schema() {
    return JSON.parse(native.policySchema());
  }
}

guardClass(PolicyEngine, isEngine);

/**
 * Encodes a policy as JSON. Functions and symbols, which JSON drops, become text that the addon refuses.
 *
 * @param {PolicyConfig | null | undefined} policy
 */
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

exports.PolicyEngine = PolicyEngine;
exports.encodePolicy = encodePolicy;
