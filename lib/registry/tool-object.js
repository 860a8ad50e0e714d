"use strict";

/**
 * @import { CallOptions } from "../types/options"
 * @import { RegisteredTool, RegisteredToolInfo } from "../types/tools"
 * @import { RegistryCalls } from "./calls.js"
 * @import { MessageBus } from "./message-bus.js"
 * @typedef {object} Binding what the calls of a tool object belong to
 * @property {RegistryCalls} calls
 * @property {MessageBus} bus the registry's own bus
 * @property {number} [registration]
 * @property {string} [session] all calls belong to it, also if the caller names another one
 */

const native = require("../native/addon.js");
const { guarded, optionsOf } = require("../boundary/guards.js");
const { isBus } = require("./message-bus.js");

const { AnswerView } = native;

/**
 * A registered tool as an object for hosts. Its handler calls the tool through the registry.
 *
 * @param {RegisteredToolInfo} info
 * @param {Binding} binding
 * @returns {RegisteredTool}
 */
function toolObject(info, { calls, bus, registration, session }) {
  const { name, title, description, inputSchema, annotations, source } = info;
  /** @param {unknown} it */
  const otherBus = (it) => (isBus(it) && it !== bus ? it : undefined);
  return {
    name,
    displayName: title,
    description,
    inputSchema,
    annotations,
    source,
    schema: { name, description, parameters: inputSchema },
    handler: guarded(
      async (
        /** @type {unknown} */ args,
        /** @type {Pick<CallOptions, "toolUseId" | "sessionId" | "signal"> | undefined} */ context,
      ) => {
        const { toolUseId, sessionId, signal } = optionsOf(context, `${name}.handler`);
        const given = { toolUseId, sessionId: session ?? sessionId, signal, registration };
        return calls.call(name, args, AnswerView.Handler, given);
      },
      `${name}.handler`,
    ),
    // A bus that is none, or the registry's own, counts as not given.
    createInvocation: guarded(
      (/** @type {unknown} */ params, /** @type {unknown} */ messageBus) =>
        calls.invocation(name, params, { registration, sessionId: session }, otherBus(messageBus)),
      `${name}.createInvocation`,
    ),
  };
}

exports.toolObject = toolObject;
