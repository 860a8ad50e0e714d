// Registries in the directory of a test, closed after the test.
import { afterEach } from "vitest";
import { createToolRegistry as createAskingRegistry } from "../../index.mjs";
import type { ToolRegistry, ToolRegistryOptions } from "../../index.js";
import { createToolRegistry } from "./unasked.js";
import type { Workspace } from "./workspace.js";

export const EVERY_SET: ToolRegistryOptions["toolsets"] = ["claude", "classic", "diagnostic"];

/**
 * Makes registries without confirmations, for tests of what tools do. Options are any object, because some
 * tests pass invalid ones.
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

/** Handlers with which `Agent` starts no real agent, because it would use a real model. Invalid ones stay. */
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

/** Makes registries with only the test's policy, for tests of permissions. */
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
