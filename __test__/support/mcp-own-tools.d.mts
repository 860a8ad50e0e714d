import type { ToolRegistry } from "../../index.js";

export function registerOwnTools(registry: ToolRegistry): void;
