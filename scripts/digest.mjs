// What failed, from the output of a failed step: a log that was cut still has to tell the cause.

/** Lines by which vitest, cargo, clippy, tsc and the like name what failed. */
const TELLING =
  /^\s*(?:FAIL |×|error(?:\[|:)|test .* FAILED$|thread .* panicked|\w*Error\b|.*\berror TS\d+)|Unhandled|latest test that/;
const LINES = 12;
const LINE_LENGTH = 180;
const END_LENGTH = 900;

/** The telling lines, each once, and the end of the output: about 2,000 characters at most. */
export function digest(output) {
  const telling = new Set(
    output
      .split("\n")
      .filter((line) => TELLING.test(line))
      .map((line) => line.trim().slice(0, LINE_LENGTH)),
  );
  const shown = [...telling].slice(0, LINES);
  const more = telling.size - shown.length;
  return [
    ...shown,
    ...(more > 0 ? [`… and ${more} more such lines`] : []),
    "…",
    output.trimEnd().slice(-END_LENGTH),
  ].join("\n");
}
