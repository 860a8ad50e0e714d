"use strict";

/**
 * @import { HookFunction, Hooks } from "../types/hooks"
 * @import { HostFunctions } from "./functions.js"
 * @typedef {object} HookSpec a hook as the addon takes it
 * @property {string} event
 * @property {string} matcher
 * @property {number} timeoutMs
 * @property {number} [callback] the number of a function
 * @property {string} [command]
 * @typedef {object} Group the fields of a group, none of them checked
 * @property {unknown} [matcher]
 * @property {unknown} [timeout]
 * @property {unknown} [onFailure]
 * @property {unknown[]} hooks
 */

const { ToolError, shown } = require("../boundary/errors.js");

/** Seconds that a hook may take; the same as in the Claude Agent SDK. */
const DEFAULT_TIMEOUT = 60;

/**
 * Turns the option `hooks` into the list of specs that the addon takes, where functions are numbers. For
 * each event the option has a list of `{ matcher?, timeout?, hooks: [function | { type: "command",
 * command }] }`. A function or a command may also be in that list directly, without a group.
 *
 * @param {Hooks | null | undefined} hooks
 * @param {HostFunctions} functions
 */
function readHooks(hooks, functions) {
  /** @type {HookSpec[]} */
  const specs = [];
  if (hooks === undefined || hooks === null) return specs;
  if (typeof hooks !== "object") throw wrong(`\`hooks\` must be an object, got ${shown(hooks)}`);
  for (const [event, entries] of Object.entries(hooks)) {
    if (entries === undefined) continue;
    if (!Array.isArray(entries)) {
      throw wrong(`\`hooks.${event}\` must be an array, got ${shown(entries)}`);
    }
    for (const [index, entry] of entries.entries()) {
      const place = `hooks.${event}[${index}]`;
      const { matcher, timeout, hooks: group, onFailure } = groupOf(entry, place);
      checkOnFailure(onFailure, event, place);
      for (const hook of group) {
        specs.push(specOf(event, hook, { matcher, timeout, place }, functions));
      }
    }
  }
  return specs;
}

/**
 * @param {unknown} entry
 * @param {string} place
 * @returns {Group}
 */
function groupOf(entry, place) {
  /** @type {Partial<Group> & { type?: unknown }} */
  const given = typeof entry === "object" && entry !== null ? entry : {};
  if (Array.isArray(given.hooks)) {
    const { matcher, timeout, onFailure, hooks, ...rest } = given;
    const [unknown] = Object.keys(rest);
    if (unknown !== undefined) {
      throw wrong(
        `\`${place}\` has an unknown field \`${unknown}\`; known: matcher, timeout, onFailure, hooks`,
      );
    }
    return { matcher, timeout, onFailure, hooks };
  }
  // A command without a group may have its own matcher.
  return { matcher: given.type === "command" ? given.matcher : undefined, hooks: [entry] };
}

/**
 * Refuses `onFailure: "continue"` for PreToolUse, which the Claude Agent SDK allows. Here a hook that
 * fails before a call always blocks it, because it may have been about to object. After a call there is
 * nothing to block, so both values are accepted.
 *
 * @param {unknown} onFailure
 * @param {string} event
 * @param {string} place
 */
function checkOnFailure(onFailure, event, place) {
  if (onFailure === undefined || onFailure === null || onFailure === "block") return;
  if (onFailure !== "continue") {
    throw wrong(`\`${place}.onFailure\` must be "block" or "continue", got ${shown(onFailure)}`);
  }
  if (event === "PreToolUse") {
    throw wrong(
      `\`${place}.onFailure\` is "continue", but a PreToolUse hook that fails always blocks its call; ` +
        `leave it out, and catch errors inside the hook if the call may continue`,
    );
  }
}

/**
 * @param {string} event
 * @param {unknown} hook
 * @param {{ matcher: unknown, timeout: unknown, place: string }} group
 * @param {HostFunctions} functions
 * @returns {HookSpec}
 */
function specOf(event, hook, { matcher, timeout, place }, functions) {
  if (matcher !== undefined && matcher !== null && typeof matcher !== "string") {
    throw wrong(`\`${place}.matcher\` must be a string, got ${shown(matcher)}`);
  }
  const spec = { event, matcher: matcher ?? "" };
  if (typeof hook === "function") {
    const callback = functions.addHook(/** @type {HookFunction<unknown>} */ (hook));
    return { ...spec, callback, timeoutMs: milliseconds(timeout, place) };
  }
  /** @type {{ type?: unknown, command?: unknown, timeout?: unknown }} */
  const given = Object(hook);
  if (given.type === "command" && typeof given.command === "string") {
    const timeoutMs = milliseconds(given.timeout ?? timeout, place);
    return { ...spec, command: given.command, timeoutMs };
  }
  throw wrong(
    `\`${place}\` must be a function or { type: "command", command }, got ${shown(hook)}`,
  );
}

/**
 * @param {unknown} seconds
 * @param {string} place
 */
function milliseconds(seconds = DEFAULT_TIMEOUT, place) {
  const ms = typeof seconds === "number" ? Math.ceil(seconds * 1000) : Number.NaN;
  if (!(ms >= 1 && ms < 2 ** 31)) {
    throw wrong(`\`${place}.timeout\` must be a number of seconds, got ${shown(seconds)}`);
  }
  return ms;
}

/** @param {string} message */
function wrong(message) {
  return new ToolError("InvalidOptions", message);
}

module.exports = { readHooks };
