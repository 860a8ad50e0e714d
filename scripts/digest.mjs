// Extracts the causes from the output of a failed step. They are printed at the end of the log, the part that
// remains if the log is cut.

/** Matches lines in which vitest, node:test, cargo, clippy or tsc name a failure. */
const NAMES_FAILURE =
  /^\s*(?:FAIL |×|✖|not ok|error(?:\[|:)|test .* FAILED$|thread .* panicked|\w*Error\b|.*\berror TS\d+)|Unhandled|latest test that/;
const LINES = 12;
const LINE_LENGTH = 180;
const END_LENGTH = 900;

/** The lines that name a failure, each once: at most a dozen. */
export function failureLines(output) {
  const lines = new Set(
    output
      .split("\n")
      .filter((line) => NAMES_FAILURE.test(line))
      .map((line) => line.trim().slice(0, LINE_LENGTH)),
  );
  const shown = [...lines].slice(0, LINES);
  const more = lines.size - shown.length;
  return [...shown, ...(more > 0 ? [`… and ${more} more such lines`] : [])].join("\n");
}

/** The lines that name a failure, and the end of the output: about 3,000 characters at most. */
export function digest(output) {
  return `${failureLines(output)}\n…\n${output.trimEnd().slice(-END_LENGTH)}`;
}
