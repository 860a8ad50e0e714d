// Plugin files in the directory of a test, and a program that records how it is called.
import { chmodSync } from "node:fs";
import type { CallResult, PluginToolDefinition } from "../../index.js";
import type { Workspace } from "./workspace.js";

/** A plugin file as text. */
export function pluginFile(name: string, ...tools: object[]): string {
  return JSON.stringify({ name, version: "1.0.0", tools });
}

/** A definition with string parameters, some of them required. */
export function definition(
  name: string,
  handler: PluginToolDefinition["handler"],
  parameters: readonly string[] = [],
  required: readonly string[] = [],
): PluginToolDefinition {
  const properties = Object.fromEntries(parameters.map((key) => [key, { type: "string" }]));
  return {
    name,
    description: `The tool ${name}`,
    inputSchema: { type: "object", properties, required: [...required] },
    handler,
  };
}

/** A tool that runs a command. */
export function shellTool(name: string, command: string, ...parameters: string[]) {
  return definition(name, { type: "shell", command }, parameters);
}

/** Plants a program that prints its arguments in base64, each followed by NUL; returns its path. */
export function plantRecorder(workspace: Workspace): string {
  const script = `#!/bin/sh\nif [ $# -gt 0 ]; then printf '%s\\0' "$@" | base64; fi\n`;
  const path = workspace.write("bin/record", script);
  chmodSync(path, 0o755);
  return path;
}

/** The arguments of the recorder's call. */
export function recorded(result: CallResult): string[] {
  const text = textOf(result);
  if (result.isError) throw new Error(text);
  return Buffer.from(text, "base64").toString("utf8").split("\0").slice(0, -1);
}

export function textOf(result: CallResult): string {
  return result.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
