// Registries as a host makes them that leaves the asking to toolwright, for tests of who may do what.
import { createToolRegistry } from "../../index.mjs";
import type { ToolRegistry, ToolRegistryOptions } from "../../index.js";
import type { Workspace } from "./workspace";

/** Makes registries with every tool, whose policy is what the test says and nothing else. */
export function registriesIn(workspace: Workspace) {
  return (options: ToolRegistryOptions = {}): ToolRegistry =>
    createToolRegistry({
      projectPath: workspace.root,
      toolsets: ["claude", "classic", "diagnostic"],
      userPolicyFile: false,
      ...options,
    });
}
