import type { IndexStatus, ToolRegistry } from "../../index.js";

/** Waits until the index of every root knows all files, or none can be built. */
export async function warm(registry: ToolRegistry): Promise<IndexStatus[]> {
  const isSettled = ({ state, whyCold }: IndexStatus) =>
    state === "warm" || state === "off" || (state === "cold" && whyCold !== undefined);
  while (!registry.indexStatus().every(isSettled)) {
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return registry.indexStatus();
}
