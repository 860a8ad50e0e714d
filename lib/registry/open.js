"use strict";

// Opens the addon's registry with the options of a host.

/**
 * @import { ToolRegistry } from "../types/registry"
 * @import { ToolRegistryOptions } from "../types/options"
 * @import { HostFunctions } from "../host/functions.js"
 */

const native = require("../native/addon.js");
const { version } = require("../../package.json");
const { ToolError, shown } = require("../boundary/errors.js");
const { readHandlers } = require("../host/handlers.js");
const { readHooks } = require("../host/hooks.js");
const { readStore } = require("../stores/option.js");
const { encodeOptions } = require("./encoding.js");
const { MessageBus, isBus, joinBus, leaveBus } = require("./message-bus.js");

/** Registries of the same workspace share an index. */
const indexPool = new native.NativeIndexPool();

/**
 * Opens a registry, and joins it to its message bus.
 *
 * @param {ToolRegistryOptions} options
 * @param {HostFunctions} functions
 * @param {ToolRegistry} registry
 */
function openRegistry(options, functions, registry) {
  const { messageBus: bus, settings } = readOptions(options, functions, registry);
  const settingsJson = encodeOptions(settings);
  const nativeBus = joinBus(bus);
  try {
    const listener = functions.listener();
    const opened = new native.NativeRegistry(settingsJson, listener, nativeBus, indexPool);
    functions.answerTo(opened);
    return { native: opened, bus, settings };
  } catch (error) {
    leaveBus(bus);
    throw error;
  }
}

/**
 * Checks the options, and completes them for the addon, which knows functions by their number.
 *
 * @param {ToolRegistryOptions} options
 * @param {HostFunctions} functions
 * @param {ToolRegistry} registry
 */
function readOptions(options, functions, registry) {
  if (options === null || typeof options !== "object") {
    throw new ToolError("InvalidOptions", `options must be an object, got ${shown(options)}`);
  }
  const { handlers, hooks, messageBus = new MessageBus(), store, ...plain } = options;
  if (!isBus(messageBus)) {
    throw new ToolError(
      "InvalidOptions",
      `\`messageBus\` must be a MessageBus, got ${shown(messageBus)}`,
    );
  }
  const settings = {
    ...plain,
    // For the addon, an empty path means that no file is read.
    ...(plain.userPolicyFile === false ? { userPolicyFile: "" } : {}),
    ...(plain.pluginDir === false ? { pluginDir: "" } : {}),
    handlers: readHandlers(handlers, functions, registry),
    hooks: readHooks(hooks, functions),
    storeKind: undefined,
    ...readStore(store, functions),
    toolsets: plain.toolsets ?? [],
    projectPath: plain.projectPath ?? process.cwd(),
    serverName: plain.serverName ?? "toolwright",
    version: plain.version ?? version,
    processEnv: { ...process.env },
  };
  return { messageBus, settings };
}

exports.openRegistry = openRegistry;
