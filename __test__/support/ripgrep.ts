import { execFileSync } from "node:child_process";
import { rgPath } from "@vscode/ripgrep";

/** One row of ripgrep's answer. */
export interface RipgrepRow {
  file: string;
  line: number;
  text: string;
  context: boolean;
}

/** Runs ripgrep in a directory; finding nothing is no failure. */
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

/** The rows of `rg --null --with-filename -n`. What ripgrep says about binary files is no row. */
export function rowsOf(output: Buffer): RipgrepRow[] {
  return fields(output).flatMap(([file, rest]) => {
    const row = /^(\d+)([:-])(.*)$/s.exec(rest);
    if (!row) return [];
    const [, line, mark, text] = row as unknown as [string, string, string, string];
    return [{ file, line: Number(line), text: text.replace(/\r$/, ""), context: mark === "-" }];
  });
}

/** The files that ripgrep stopped searching because they are binary from some byte on. */
export function stoppedOf(output: Buffer): { file: string; binaryFrom: number }[] {
  const warning =
    /^(?:\.\/)?(.*): WARNING: stopped searching binary file after match \(found "\\0" byte around offset (\d+)\)$/gm;
  return [...output.toString("utf8").matchAll(warning)].map(([, file = "", offset]) => ({
    file,
    binaryFrom: Number(offset),
  }));
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
