"use strict";

/**
 * @import { NativeRegistry } from "../../native/binding"
 * @import { ToolRegistry } from "../types/registry"
 * @import { Grant, RegistryConfig, SettingInfo, SettingValue, TodoItem } from "../types/state"
 */

const { guarded } = require("../boundary/guards.js");
const { ToolError, isToolError, shown, unwrap, wordsOf } = require("../boundary/errors.js");
const { WorkUnderWay } = require("../native/lifetime.js");
const { StateEvents } = require("./state-events.js");

/** The lasting state of a registry, as the host reads and changes it: todos, settings, grants. */
class RegistryState {
  #native;
  #running;

  /**
   * @param {ToolRegistry} registry kept from garbage collection while something is read or changed
   * @param {NativeRegistry} native
   */
  constructor(registry, native) {
    this.#native = native;
    this.#running = new WorkUnderWay(registry);
    this.events = new StateEvents(native);
    /** @type {RegistryConfig} */
    this.config = Object.freeze({
      get: guarded(
        async (/** @type {string} */ setting) => this.#getSetting(setting),
        "config.get",
      ),
      set: guarded(
        async (/** @type {string} */ setting, /** @type {SettingValue | null} */ value) =>
          this.#setSetting(setting, value),
        "config.set",
      ),
      list: guarded(async () => this.#listSettings(), "config.list"),
    });
  }

  /** @param {string | undefined} sessionId */
  async todos(sessionId) {
    /** @type {{ todos: TodoItem[] }} */
    const { todos } = await this.#ask(() => this.#native.todos(sessionId));
    return todos;
  }

  async grants() {
    /** @type {{ grants: Grant[] }} */
    const { grants } = await this.#ask(() => this.#native.grants());
    return grants;
  }

  /** @param {string} rule */
  async forgetGrant(rule) {
    checkText(rule, "a rule");
    /** @type {{ forgotten: boolean }} */
    const { forgotten } = await this.#ask(() => this.#native.forgetGrant(rule));
    return forgotten;
  }

  /** Applies the grants in the store. If the store fails, people are asked again, so this does not fail. */
  async loadGrants() {
    try {
      await this.grants();
    } catch (error) {
      if (isToolError(error) && error.type === "RegistryClosed") return;
      process.emitWarning(
        `earlier "always allow" answers could not be read, so the user is asked again: ${wordsOf(error)}`,
        "ToolwrightWarning",
      );
    }
  }

  /** @param {string} setting */
  async #getSetting(setting) {
    checkText(setting, "the name of a setting");
    /** @type {{ value?: SettingValue }} */
    const { value } = await this.#ask(() => this.#native.setting(setting));
    return value;
  }

  /**
   * @param {string} setting
   * @param {SettingValue | null} value
   */
  async #setSetting(setting, value) {
    checkText(setting, "the name of a setting");
    const isValue =
      value === null ||
      typeof value === "string" ||
      typeof value === "boolean" ||
      Number.isFinite(value);
    if (!isValue) {
      throw new ToolError(
        "InvalidOptions",
        `the value of a setting must be a string, a boolean, a number or null, got ${shown(value)}`,
      );
    }
    await this.#ask(() => this.#native.setSetting(setting, JSON.stringify(value)));
  }

  async #listSettings() {
    /** @type {{ settings: SettingInfo[] }} */
    const { settings } = await this.#ask(() => this.#native.settings());
    return settings;
  }

  /**
   * @template T
   * @param {() => Promise<string>} question
   * @returns {Promise<T>}
   */
  #ask(question) {
    return this.#running.during(async () => unwrap(await question()));
  }
}

/**
 * @param {string} text
 * @param {string} what
 */
function checkText(text, what) {
  if (typeof text === "string" && text !== "") return;
  throw new ToolError("InvalidOptions", `${what} must be a string, got ${shown(text)}`);
}

exports.RegistryState = RegistryState;
