import { afterEach } from "vitest";
import { createToolRegistry, type ToolRegistry } from "./unasked.js";

/** Makes registries of all tools in a directory, and closes them after each test. */
export function useRegistries(workspace: { root: string }) {
  const registries: ToolRegistry[] = [];
  afterEach(async () => {
    await Promise.all(registries.splice(0).map((registry) => registry.close()));
  });
  return (options: object = {}): ToolRegistry => {
    const registry = createToolRegistry({
      projectPath: workspace.root,
      toolsets: ["claude", "classic"],
      ...options,
    });
    registries.push(registry);
    return registry;
  };
}
