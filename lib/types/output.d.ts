/** Shortens and cleans output for a model or a person. */
export declare class OutputFormatter {
  /** Cuts an output to the given limits. Its last line then says how much was left out. */
  static truncate(
    output: string,
    config?: { maxChars?: number | undefined; maxLines?: number | undefined },
  ): { content: string; truncated: boolean; omitted?: string };
  /** Removes escape sequences, and blanks at the beginning and the end. */
  static formatForLLM(output: string): string;
  /** Escapes characters that could control a terminal, change the reading direction or are invisible. */
  static formatForDisplay(output: string): string;
}
