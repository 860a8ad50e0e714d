"use strict";

// What a host registers, brought into the one shape the addon takes: a spec and a handler.

const { ToolError, shown } = require("./errors.js");
const { tool } = require("./tool.js");

/** The spec and the function of a registered object, whichever of the known shapes it has. */
function readHostTool(object) {
  if (object === null || typeof object !== "object") {
    throw new ToolError("InvalidTool", `register() takes a tool, got ${shown(object)}`);
  }
  const made = isDeclarative(object) ? tool(fromDeclarative(object)) : tool(object);
  const { handler, ...spec } = made;
  return { spec, handler };
}

/** A tool with `createInvocation` instead of a handler. */
function isDeclarative(object) {
  return typeof object.createInvocation === "function" && typeof object.handler !== "function";
}

function fromDeclarative(object) {
  return {
    name: object.name,
    title: object.displayName,
    description: object.schema?.description ?? object.description,
    inputSchema: object.schema?.parameters ?? object.inputSchema,
    annotations: object.annotations,
    sideEffect: object.sideEffect,
    timeoutMs: object.timeoutMs,
    alwaysLoad: object.alwaysLoad,
    handler: async (args, { signal, updateOutput }) => {
      const invocation = await object.createInvocation(args);
      return invocation.execute(signal, updateOutput);
    },
  };
}

module.exports = { isDeclarative, readHostTool };
