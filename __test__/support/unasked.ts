// toolwright as a host uses it that asks its user by itself: for tests of what tools do, not of who may
// use them. No policy file of the person who runs the tests is read.
import { ToolRegistry as Registry } from "../../index.mjs";
import type { ToolRegistryOptions } from "../../index.js";

export * from "../../index.mjs";

const UNASKED = { permissionMode: "bypassPermissions", userPolicyFile: false } as const;

/** Options that are none are left to the registry to refuse. */
function unasked(options: ToolRegistryOptions = {}): ToolRegistryOptions {
  return typeof options === "object" && options !== null ? { ...UNASKED, ...options } : options;
}

export class ToolRegistry extends Registry {
  constructor(options?: ToolRegistryOptions) {
    super(unasked(options));
  }
}

export function createToolRegistry(options?: ToolRegistryOptions): ToolRegistry {
  const toolsets = options?.toolsets ?? ["claude"];
  return new ToolRegistry(
    typeof options === "object" || options === undefined ? { ...options, toolsets } : options,
  );
}
