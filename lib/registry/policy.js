"use strict";

/**
 * @import { NativeRegistry } from "../../native/binding"
 * @import { ExplainedCall, PermissionMode, PolicyConfig, PolicyLint } from "../types/policy"
 */

const { checkedToolName } = require("../boundary/guards.js");
const { ToolError, shown, unwrap } = require("../boundary/errors.js");
const { encodeInput } = require("../boundary/json.js");
const { factsOf } = require("./encoding.js");
const { encodePolicy } = require("./policy-engine.js");

/** The policy of a registry and of its sessions, as the host reads and changes it. */
class RegistryPolicy {
  #native;

  /** @param {NativeRegistry} native */
  constructor(native) {
    this.#native = native;
  }

  /**
   * @param {string} name
   * @param {string | undefined} sessionId
   */
  isAllowed(name, sessionId) {
    factsOf({ sessionId });
    return this.#native.isAllowed(checkedToolName(name), sessionId);
  }

  /**
   * @param {string} name
   * @param {unknown} input
   * @param {string | undefined} sessionId
   * @returns {ExplainedCall}
   */
  explain(name, input, sessionId) {
    factsOf({ sessionId });
    return unwrap(this.#native.explain(checkedToolName(name), encodeInput(input ?? {}), sessionId));
  }

  /** @param {PolicyConfig | null} policy */
  set(policy) {
    unwrap(this.#native.setPolicy(encodePolicy(policy)));
  }

  reload() {
    unwrap(this.#native.reloadPolicy());
  }

  /** @param {string[]} rules */
  allow(rules) {
    unwrap(this.#native.allow(rules.flat().map(checkedToolName)));
  }

  /**
   * @param {PermissionMode | null} mode `null` removes the mode of a session, which then follows the registry again
   * @param {string | undefined} sessionId
   */
  setMode(mode, sessionId) {
    factsOf({ sessionId });
    const isMode = typeof mode === "string";
    if (isMode && sessionId === undefined) unwrap(this.#native.setPermissionMode(mode));
    else if (sessionId !== undefined && (isMode || mode === null)) {
      unwrap(this.#native.setSessionMode(sessionId, mode ?? undefined));
    } else {
      throw new ToolError(
        "InvalidOptions",
        `a permission mode must be a string, got ${shown(mode)}`,
      );
    }
  }

  /**
   * @param {string | undefined} sessionId
   * @returns {PermissionMode}
   */
  mode(sessionId) {
    factsOf({ sessionId });
    return /** @type {PermissionMode} */ (this.#native.permissionMode(sessionId));
  }

  /**
   * @param {string | undefined} sessionId
   * @param {string | readonly string[]} names
   */
  limitTools(sessionId, names) {
    if (typeof sessionId !== "string") {
      throw new ToolError(
        "InvalidOptions",
        `limitTools() takes the \`sessionId\` of a session, got ${shown(sessionId)}`,
      );
    }
    unwrap(this.#native.limitTools(sessionId, [names].flat().map(checkedToolName)));
  }

  /** @returns {PolicyLint[]} */
  lint() {
    return JSON.parse(this.#native.lintPolicy());
  }

  /** Rules that name no tool. */
  unknownTools() {
    /** @type {PolicyLint[]} */
    const unknown = JSON.parse(this.#native.unknownTools());
    return unknown.map(({ rule, message }) => ({
      source: `${rule.place} of the policy (${rule.layer})`,
      toolName: rule.text,
      message,
    }));
  }
}

exports.RegistryPolicy = RegistryPolicy;
