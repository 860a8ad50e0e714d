"use strict";

const { ToolError, shown } = require("./errors.js");

/** Seconds that a hook may take; the same as in the Claude Agent SDK. */
const DEFAULT_TIMEOUT = 60;

/**
 * Turns the option `hooks` into the list of specs that the addon takes, where functions are numbers. For
 * each event the option has a list of `{ matcher?, timeout?, hooks: [function | { type: "command",
 * command }] }`. A function or a command may also be in that list directly, without a group.
 */
function readHooks(hooks, functions) {
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

function groupOf(entry, place) {
  if (Array.isArray(entry?.hooks)) {
    const { matcher, timeout, onFailure, hooks, ...rest } = entry;
    const [unknown] = Object.keys(rest);
    if (unknown !== undefined) {
      throw wrong(
        `\`${place}\` has an unknown field \`${unknown}\`; known: matcher, timeout, onFailure, hooks`,
      );
    }
    return { matcher, timeout, onFailure, hooks };
  }
  // A command without a group may have its own matcher.
  return { matcher: entry?.type === "command" ? entry.matcher : undefined, hooks: [entry] };
}

/**
 * Refuses `onFailure: "continue"` for PreToolUse, which the Claude Agent SDK allows. Here a hook that
 * fails before a call always blocks it, because nobody knows whether it would have objected. After a call
 * there is nothing to block, so both values are accepted.
 */
function checkOnFailure(onFailure, event, place) {
  if (onFailure === undefined || onFailure === null || onFailure === "block") return;
  if (onFailure !== "continue") {
    throw wrong(`\`${place}.onFailure\` must be "block" or "continue", got ${shown(onFailure)}`);
  }
  if (event === "PreToolUse") {
    throw wrong(
      `\`${place}.onFailure\` is "continue", but a PreToolUse hook that fails always blocks its call; ` +
        `leave it out, and catch errors inside the hook if the call may go on`,
    );
  }
}

function specOf(event, hook, { matcher, timeout, place }, functions) {
  if (matcher !== undefined && matcher !== null && typeof matcher !== "string") {
    throw wrong(`\`${place}.matcher\` must be a string, got ${shown(matcher)}`);
  }
  const spec = { event, matcher: matcher ?? "" };
  if (typeof hook === "function") {
    spec.callback = functions.addHook(hook);
    spec.timeoutMs = milliseconds(timeout, place);
    return spec;
  }
  if (hook?.type === "command" && typeof hook.command === "string") {
    return {
      ...spec,
      command: hook.command,
      timeoutMs: milliseconds(hook.timeout ?? timeout, place),
    };
  }
  throw wrong(
    `\`${place}\` must be a function or { type: "command", command }, got ${shown(hook)}`,
  );
}

function milliseconds(seconds = DEFAULT_TIMEOUT, place) {
  const ms = typeof seconds === "number" ? Math.ceil(seconds * 1000) : Number.NaN;
  if (!(ms >= 1 && ms < 2 ** 31)) {
    throw wrong(`\`${place}.timeout\` must be a number of seconds, got ${shown(seconds)}`);
  }
  return ms;
}

function wrong(message) {
  return new ToolError("InvalidOptions", message);
}

module.exports = { readHooks };
