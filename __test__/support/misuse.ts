import { expect } from "vitest";
import { rejection } from "./promises.js";
import { ToolError } from "./unasked.js";

/** What a synchronous misuse throws. */
export function thrownBy(misuse: () => unknown): { type: string; message: string } {
  try {
    misuse();
  } catch (error) {
    return factsOf(error);
  }
  throw new Error("nothing was thrown");
}

/** What the promise of a misuse rejects with. */
export async function rejectionOf(
  misuse: Promise<unknown>,
): Promise<{ type: string; message: string }> {
  return factsOf(await rejection(misuse));
}

function factsOf(error: unknown): { type: string; message: string } {
  expect(error).toBeInstanceOf(ToolError);
  const { type, message } = error as ToolError;
  return { type, message };
}
