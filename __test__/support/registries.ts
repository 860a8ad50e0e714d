// Registries in the directory of a test, closed when the test is over.
import { afterEach } from "vitest";
import { createToolRegistry as createAskingRegistry } from "../../index.mjs";
import type { ToolRegistry, ToolRegistryOptions } from "../../index.js";
import { createToolRegistry } from "./unasked.js";
import type { Workspace } from "./workspace.js";

export const EVERY_SET: ToolRegistryOptions["toolsets"] = ["claude", "classic", "diagnostic"];

/**
 * Makes registries whose host asks its user by itself, for tests of what tools do. Options are any
 * object, because some tests give wrong ones.
 */
export function useRegistries(workspace: Workspace, usual: ToolRegistryOptions = {}) {
  return closedAfterwards((options: ToolRegistryOptions) =>
    createToolRegistry({
      projectPath: workspace.root,
      toolsets: ["claude", "classic"],
      ...usual,
      ...options,
      handlers: withoutRealAgents(options.handlers ?? usual.handlers),
    }),
  ) as (options?: object) => ToolRegistry;
}

/** Handlers by which `Agent` starts no real agent, which would talk to a real model. Wrong ones stay. */
function withoutRealAgents(handlers: ToolRegistryOptions["handlers"] = {}) {
  return typeof handlers === "object" ? { spawnAgent: () => "done", ...handlers } : handlers;
}

/** Makes registries as {@link useRegistries} does, over files that are written first. */
export function usePlantedRegistries(workspace: Workspace) {
  const registryHere = useRegistries(workspace);
  return (files: Record<string, string | Uint8Array>, options: object = {}) => {
    workspace.plant(files);
    return registryHere(options);
  };
}

/** Makes registries whose policy is what the test says and nothing else, for tests of who may do what. */
export function useAskingRegistries(workspace: Workspace) {
  return closedAfterwards((options: ToolRegistryOptions) =>
    createAskingRegistry({
      projectPath: workspace.root,
      toolsets: EVERY_SET,
      userPolicyFile: false,
      ...options,
    }),
  );
}

function closedAfterwards<Options extends object>(create: (options: Options) => ToolRegistry) {
  const registries: ToolRegistry[] = [];
  afterEach(async () => {
    await Promise.all(registries.splice(0).map((registry) => registry.close()));
  });
  return (options?: Options): ToolRegistry => {
    const registry = create(options ?? ({} as Options));
    registries.push(registry);
    return registry;
  };
}
