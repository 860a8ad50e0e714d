import type { ToolRegistryOptions } from "../../index.js";
import type { Workspace } from "./workspace.js";

/** The stores that everything which lasts is tested on, with the options that choose each. */
export const STORES: [name: string, options: (workspace: Workspace) => ToolRegistryOptions][] = [
  ["memory", () => ({})],
];
