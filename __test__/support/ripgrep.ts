import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { rgPath } from "@vscode/ripgrep";

/** One row of ripgrep's output. */
export interface RipgrepRow {
  file: string;
  line: number;
  text: string;
  context: boolean;
}

/** Runs ripgrep in a directory; no match is no failure. */
export function ripgrep(cwd: string, args: string[]): Buffer {
  try {
    return execFileSync(rgPath, ["--no-config", "--no-messages", "--color=never", ...args], {
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
      maxBuffer: 256 * 1024 * 1024,
    });
  } catch (error) {
    const { status, stdout, stderr } = error as { status: number; stdout: Buffer; stderr: Buffer };
    if (status === 1 || (status === 2 && stderr.length === 0)) return stdout;
    throw new Error(`rg ${args.join(" ")}: ${stderr.toString()}`, { cause: error });
  }
}

function fields(output: Buffer): [file: string, rest: string][] {
  return output
    .toString("utf8")
    .split("\n")
    .flatMap((line) => {
      const end = line.indexOf("\0");
      return end < 0 ? [] : [[line.slice(0, end).replace(/^\.\//, ""), line.slice(end + 1)]];
    });
}

/** The rows of `rg --null --with-filename -n`, without messages about binary files. */
export function rowsOf(output: Buffer): RipgrepRow[] {
  return fields(output).flatMap(([file, rest]) => {
    const row = /^(\d+)([:-])(.*)$/s.exec(rest);
    if (!row) return [];
    const [, line, mark, text] = row as unknown as [string, string, string, string];
    return [{ file, line: Number(line), text: text.replace(/\r$/, ""), context: mark === "-" }];
  });
}

/** A file that was searched only up to its first binary byte. */
export interface PartlySearched {
  file: string;
  binaryFrom: number;
}

/**
 * The files that ripgrep stopped searching after it had shown some of their rows, from the output that
 * `rowsOf` reads. ripgrep reports it only if one of the rows is a match. If a match over several lines
 * contains the binary byte, ripgrep shows the context before it and silently drops the match.
 */
export function partlySearchedOf(output: Buffer, root: string): PartlySearched[] {
  const warning =
    /^(?:\.\/)?(.*): WARNING: stopped searching binary file after match \(found "\\0" byte around offset (\d+)\)$/gm;
  const warned = new Map(
    [...output.toString("utf8").matchAll(warning)].map(([, file = "", offset]) => [
      file,
      Number(offset),
    ]),
  );
  const rows = rowsOf(output);
  const matching = new Set(rows.flatMap(({ file, context }) => (context ? [] : [file])));
  return [...new Set(rows.map(({ file }) => file))].flatMap((file) => {
    if (warned.has(file)) return [{ file, binaryFrom: warned.get(file) as number }];
    if (matching.has(file)) return [];
    // With `-o`, matches of only line ends have no row, so their file also has only context.
    const binaryFrom = readFileSync(join(root, file)).indexOf(0);
    return binaryFrom < 0 ? [] : [{ file, binaryFrom }];
  });
}

/** The counts of `rg -c --null --with-filename`. */
export function countsOf(output: Buffer): { file: string; count: number }[] {
  return fields(output).map(([file, count]) => ({ file, count: Number(count) }));
}

/** The files of `rg -l --null` and `rg --files --null`. */
export function filesOf(output: Buffer): string[] {
  return output
    .toString("utf8")
    .split("\0")
    .filter((it) => it !== "")
    .map((it) => it.replace(/^\.\//, ""));
}
