// Runs vitest and says which test files took the longest, for the summary of `npm test`.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { root, runTool, seconds } from "./command.mjs";

const SHOWN = 10;

/** Runs vitest with these arguments; `note` is given the slowest files, also where a test failed. */
export async function runVitest(args, note, options) {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-vitest-"));
  const report = join(folder, "report.json");
  // Who names reporters loses those that vitest would choose.
  const reporters = ["default", "json", ...(process.env.GITHUB_ACTIONS ? ["github-actions"] : [])];
  try {
    await runTool(
      "vitest",
      [
        "run",
        ...reporters.map((name) => `--reporter=${name}`),
        `--outputFile.json=${report}`,
        ...args,
      ],
      options,
    );
  } finally {
    if (existsSync(report)) note(slowestFiles(JSON.parse(readFileSync(report, "utf8"))));
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One line for each of the slowest files of a report of vitest, the slowest first. */
export function slowestFiles({ testResults }) {
  return testResults
    .map(({ name, startTime, endTime }) => ({ name, took: endTime - startTime }))
    .sort((one, other) => other.took - one.took)
    .slice(0, SHOWN)
    .map(({ name, took }) => `${seconds(took).padStart(8)}  ${relative(root, name)}`);
}
