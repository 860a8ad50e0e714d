import { expect } from "vitest";
import { rejection } from "./promises.js";
import { ToolError } from "./unasked.js";

/** The error of a synchronous misuse. */
export function thrownBy(misuse: () => unknown): { type: string; message: string } {
  try {
    misuse();
  } catch (error) {
    return factsOf(error);
  }
  throw new Error("nothing was thrown");
}

/** The rejection of an asynchronous misuse. */
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
