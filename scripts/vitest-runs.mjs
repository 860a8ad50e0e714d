// Runs vitest and reads its report: which tests failed, and which files took the longest.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { root, runTool, seconds } from "./command.mjs";

const SHOWN = 10;

/** Runs vitest with these arguments, and fails if a test fails. `note` is given the slowest files. */
export async function runVitest(args, note, options) {
  const { report, error } = await vitestReport(args, options);
  if (report) note({ slowest: slowestFiles(report) });
  if (error) throw error;
}

/** Runs vitest. Returns its report, unless it could not write one, and the error if the run failed. */
export async function vitestReport(args, options) {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-vitest-"));
  const path = join(folder, "report.json");
  // Naming a reporter replaces vitest's default ones, so they are named as well.
  const reporters = ["default", "json", ...(process.env.GITHUB_ACTIONS ? ["github-actions"] : [])];
  const named = reporters.map((name) => `--reporter=${name}`);
  try {
    const error = await runTool(
      "vitest",
      ["run", ...named, `--outputFile.json=${path}`, ...args],
      options,
    ).catch((cause) => cause);
    return { error, report: existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The failed tests of a report, each with its first error. A file that could not be loaded counts as one. */
export function failures({ testResults }) {
  return testResults
    .filter(({ status }) => status === "failed")
    .flatMap(({ name, message, assertionResults = [] }) => {
      const file = relative(root, name);
      const tests = assertionResults.filter(({ status }) => status === "failed");
      if (tests.length === 0) return [{ file, test: "the file itself", error: message }];
      return tests.map(({ fullName, failureMessages }) => ({
        file,
        test: fullName,
        error: failureMessages[0] ?? "",
      }));
    });
}

/** One line for each of the slowest files of a report, the slowest first. */
function slowestFiles({ testResults }) {
  return testResults
    .map(({ name, startTime, endTime }) => ({ name, took: endTime - startTime }))
    .sort((one, other) => other.took - one.took)
    .slice(0, SHOWN)
    .map(({ name, took }) => `${seconds(took).padStart(8)}  ${relative(root, name)}`);
}
