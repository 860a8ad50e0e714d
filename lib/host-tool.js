"use strict";

// What a host registers, brought into the one shape the addon takes: a spec and a handler.

const { ToolError, shown } = require("./errors.js");
const { OwnInvocations } = require("./own-invocation.js");
const { tool } = require("./tool.js");

/**
 * The spec and the function of a registered object, whichever of the known shapes it has, and the
 * invocations of one that makes some.
 *
 * @param bus what a declarative tool's invocations may ask over
 */
function readHostTool(object, bus) {
  if (object === null || typeof object !== "object") {
    throw new ToolError("InvalidTool", `register() takes a tool, got ${shown(object)}`);
  }
  if (!isDeclarative(object)) {
    const { handler, ...spec } = tool(object);
    return { spec, handler };
  }
  const invocations = new OwnInvocations(object, bus);
  const { handler, ...spec } = tool(fromDeclarative(object, invocations));
  return { spec: { ...spec, declarative: true }, handler, invocations };
}

/** A tool with `createInvocation` instead of a handler. */
function isDeclarative(object) {
  return typeof object.createInvocation === "function" && typeof object.handler !== "function";
}

function fromDeclarative(object, invocations) {
  return {
    name: object.name,
    title: object.displayName,
    description: object.schema?.description ?? object.description,
    inputSchema: object.schema?.parameters ?? object.inputSchema,
    annotations: object.annotations,
    sideEffect: object.sideEffect,
    timeoutMs: object.timeoutMs,
    alwaysLoad: object.alwaysLoad,
    handler: (args, context) => invocations.take(args, context),
  };
}

module.exports = { isDeclarative, readHostTool };
