// toolwright without confirmations: for tests of what tools do, not of permissions. No policy file of the user
// who runs the tests is read.
import { ToolRegistry as Registry } from "../../index.mjs";
import type { ToolRegistryOptions } from "../../index.js";

export * from "../../index.mjs";

const UNASKED = { permissionMode: "bypassPermissions", userPolicyFile: false } as const;

/** Adds `UNASKED` to the options. Invalid options stay unchanged, so that the registry refuses them. */
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
