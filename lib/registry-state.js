"use strict";

const { guarded } = require("./boundary.js");
const { ToolError, shown, unwrap, wordsOf } = require("./errors.js");
const { WorkUnderWay } = require("./lifetime.js");
const { StateEvents } = require("./state-events.js");

/** What lasts in a registry, as the host reads and changes it: todos, settings, grants. */
class RegistryState {
  #native;
  #running;

  /** @param registry kept from garbage collection while something is read or changed */
  constructor(registry, native) {
    this.#native = native;
    this.#running = new WorkUnderWay(registry);
    this.events = new StateEvents(native);
    this.config = Object.freeze({
      get: guarded(async (setting) => this.#getSetting(setting), "config.get"),
      set: guarded(async (setting, value) => this.#setSetting(setting, value), "config.set"),
      list: guarded(async () => this.#listSettings(), "config.list"),
    });
  }

  async todos(sessionId) {
    const { todos } = await this.#ask(() => this.#native.todos(sessionId));
    return todos;
  }

  async grants() {
    const { grants } = await this.#ask(() => this.#native.grants());
    return grants;
  }

  async forgetGrant(rule) {
    checkText(rule, "a rule");
    const { forgotten } = await this.#ask(() => this.#native.forgetGrant(rule));
    return forgotten;
  }

  /** Lets kept grants apply. If the store fails, people are asked again, which is no reason to fail. */
  async loadGrants() {
    try {
      await this.grants();
    } catch (error) {
      if (error.type === "RegistryClosed") return;
      process.emitWarning(
        `what was always allowed before could not be read, so it is asked again: ${wordsOf(error)}`,
        "ToolwrightWarning",
      );
    }
  }

  close() {
    this.events.close();
  }

  async #getSetting(setting) {
    checkText(setting, "the name of a setting");
    const { value } = await this.#ask(() => this.#native.setting(setting));
    return value;
  }

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
    const { settings } = await this.#ask(() => this.#native.settings());
    return settings;
  }

  #ask(question) {
    return this.#running.during(async () => unwrap(await question()));
  }
}

function checkText(text, what) {
  if (typeof text === "string" && text !== "") return;
  throw new ToolError("InvalidOptions", `${what} must be a string, got ${shown(text)}`);
}

module.exports = { RegistryState };
