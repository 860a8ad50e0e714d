import type { CallResult, ErrorType } from "../../index.js";

/** The text blocks of a result. */
export function texts(result: CallResult): string[] {
  return result.content.flatMap((block) => (block.type === "text" ? [block.text as string] : []));
}

/**
 * The text blocks of a search, without the last one, which says what the paths are relative to and has to
 * name this directory. `search/paths.test.ts` tests that text.
 */
export function found(result: CallResult, root: string): string[] {
  const words = `paths are relative to \`${root}\`]`;
  return texts(result).flatMap((text) => {
    if (text === `[${words}`) return [];
    return text.endsWith(`; ${words}`) ? [`${text.slice(0, -words.length - 2)}]`] : [text];
  });
}

/** The whole result of a failed call. */
export function failure(type: ErrorType, message: string): CallResult {
  return { content: [{ type: "text", text: message }], isError: true, error: { type, message } };
}

/** The whole result of a refused call that a person or the host could allow. */
export function refusal(
  type: ErrorType,
  message: string,
  howToAllow: string,
  reason = message,
): CallResult {
  return {
    content: [{ type: "text", text: message }],
    isError: true,
    display: `${reason}\n${howToAllow}`,
    error: { type, message, details: { reason, howToAllow } },
  };
}

/** The numbered rows of an answer of `Read`, without notes. */
export function rows(result: CallResult): string[] {
  const [first = ""] = texts(result);
  return /^\d+\t/.test(first) ? first.split("\n") : [];
}
