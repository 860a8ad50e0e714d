"use strict";

/**
 * @import { NativeRegistry } from "../../native/binding"
 * @import { DeclarativeTool } from "../types/invocations"
 * @import { AnyTool, HostTool, McpToolConfig } from "../types/tools"
 * @import { HostFunction, HostFunctions } from "../host/functions.js"
 * @import { OwnInvocations } from "../host/own-invocation.js"
 * @import { ToolSpec } from "../host/read-tool.js"
 * @import { MessageBus } from "./message-bus.js"
 * @import { ToolObjects } from "./tool-objects.js"
 * @typedef {{ native: NativeRegistry, functions: HostFunctions, objects: ToolObjects, bus: MessageBus }} Parts
 */

const { checkedToolName } = require("../boundary/guards.js");
const { unwrap } = require("../boundary/errors.js");
const { readHostTool, readMcpTool } = require("../host/read-tool.js");
const { encodeSpec } = require("./encoding.js");

/** Adds tools to a registry and removes them, enables and disables them. */
class RegisteredTools {
  #native;
  #functions;
  #objects;
  #bus;

  /** @param {Parts} parts */
  constructor({ native, functions, objects, bus }) {
    this.#native = native;
    this.#functions = functions;
    this.#objects = objects;
    this.#bus = bus;
  }

  /**
   * @template TInput
   * @param {HostTool<TInput> | DeclarativeTool<TInput>} object
   */
  add(object) {
    const { spec, handler, invocations } = readHostTool(object, this.#bus);
    this.#add(spec, handler, { object, invocations });
  }

  /**
   * @template TInput
   * @param {McpToolConfig<TInput>} tool
   */
  addMcp(tool) {
    const { spec, handler } = readMcpTool(tool, this.#bus);
    return this.#add(spec, handler);
  }

  /** @param {string} name */
  remove(name) {
    const removed = this.#native.unregister(checkedToolName(name)) ?? undefined;
    if (removed === undefined) return false;
    this.#objects.remove([removed]);
    return true;
  }

  /** @param {string} prefix */
  removeMcp(prefix) {
    const removed = this.#native.unregisterMcpTools(checkedToolName(prefix));
    this.#objects.remove(removed);
    return removed.length;
  }

  /** @param {string[]} names */
  disable(names) {
    unwrap(this.#native.disable(names.flat().map(checkedToolName)));
    this.#objects.forgetOutdated();
  }

  /** @param {string[]} names */
  enable(names) {
    unwrap(this.#native.enable(names.flat().map(checkedToolName)));
    this.#objects.forgetOutdated();
  }

  /**
   * @param {ToolSpec} spec
   * @param {HostFunction} handler
   * @param {{ object?: AnyTool, invocations?: OwnInvocations | undefined }} [own] what a host's own tool has besides
   */
  #add(spec, handler, { object, invocations } = {}) {
    const specJson = encodeSpec(spec);
    const number = this.#functions.addHandler(handler, invocations);
    /** @type {{ id: number, name: string }} */
    const { id, name } = unwrap(this.#native.register(specJson, number));
    this.#objects.replace(name, id, object);
    return name;
  }
}

exports.RegisteredTools = RegisteredTools;
