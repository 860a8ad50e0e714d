// Runs vitest. Says which test files took the longest and which failed only while others ran beside them, for
// the summary of `npm test`.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { root, runTool, seconds } from "./command.mjs";

const SHOWN = 10;
/** More failed files than this are no accident of a loaded machine. */
const MAX_REPEATED = 3;

/**
 * Runs vitest with these arguments. A few files that failed run once more, alone: what passes then is told as
 * unsteady and does not fail the run. `note` is given the slowest files and the unsteady tests.
 */
export async function runVitest(args, note, options) {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-vitest-"));
  const report = join(folder, "report.json");
  // Who names reporters loses those that vitest would choose.
  const reporters = ["default", "json", ...(process.env.GITHUB_ACTIONS ? ["github-actions"] : [])];
  const vitest = (...more) =>
    runTool(
      "vitest",
      [
        "run",
        ...reporters.map((name) => `--reporter=${name}`),
        `--outputFile.json=${report}`,
        ...args,
        ...more,
      ],
      options,
    );
  try {
    await vitest();
  } catch (error) {
    const failed = existsSync(report) ? failures(JSON.parse(readFileSync(report, "utf8"))) : [];
    const files = [...new Set(failed.map(({ file }) => file))];
    // An error outside of any test has no file.
    const isRepeated = files.length > 0 && files.length <= MAX_REPEATED;
    if (!isRepeated || error.output?.includes("Unhandled Error")) throw error;
    console.log(`\n=== once more, alone: ${files.join(", ")}`);
    await vitest(...files);
    return note({ unsteady: failed.map(({ file, test }) => `${file}: ${test}`) });
  } finally {
    if (existsSync(report))
      note({ slowest: slowestFiles(JSON.parse(readFileSync(report, "utf8"))) });
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What failed according to a report of vitest. A file that could not be loaded counts as one test. */
export function failures({ testResults }) {
  return testResults
    .filter(({ status }) => status === "failed")
    .flatMap(({ name, assertionResults = [] }) => {
      const tests = assertionResults.filter(({ status }) => status === "failed");
      const names = tests.map(({ fullName }) => fullName);
      return (names.length > 0 ? names : ["the file itself"]).map((test) => ({
        file: relative(root, name),
        test,
      }));
    });
}

/** One line for each of the slowest files of a report of vitest, the slowest first. */
export function slowestFiles({ testResults }) {
  return testResults
    .map(({ name, startTime, endTime }) => ({ name, took: endTime - startTime }))
    .sort((one, other) => other.took - one.took)
    .slice(0, SHOWN)
    .map(({ name, took }) => `${seconds(took).padStart(8)}  ${relative(root, name)}`);
}
