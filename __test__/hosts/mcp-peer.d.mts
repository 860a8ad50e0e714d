import type { ToolRegistry } from "../../index.js";

export function registerPeerTools(registry: ToolRegistry): void;
