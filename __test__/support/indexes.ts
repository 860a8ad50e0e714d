import type { IndexStatus, ToolRegistry } from "../../index.js";

/** Waits until the index of every root is complete, or cannot be built. */
export async function warm(registry: ToolRegistry): Promise<IndexStatus[]> {
  const isSettled = ({ state, whyCold }: IndexStatus) =>
    state === "warm" || state === "off" || (state === "cold" && whyCold !== undefined);
  for (;;) {
    const statuses = registry.indexStatus();
    if (statuses.every(isSettled)) return statuses;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
