import { execFileSync } from "node:child_process";
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

type JsonEvent =
  | { type: "end"; data: { path: { text?: string; bytes?: string }; binary_offset: number | null } }
  | { type: "begin" | "match" | "context" | "summary" };

/**
 * The files that ripgrep stopped searching after it had shown some of their rows. `args` are those of the
 * search that `rows` are from. Only `--json` reports all of them: the plain output has no warning if no
 * row is a match, as for a match over several lines that contains the binary byte.
 */
export function partlySearched(root: string, args: string[], rows: RipgrepRow[]): PartlySearched[] {
  const events = ripgrep(root, ["--json", ...args])
    .toString("utf8")
    .trimEnd()
    .split("\n");
  const shown = new Set(rows.map(({ file }) => file));
  return events.flatMap((line) => {
    const event = JSON.parse(line) as JsonEvent;
    if (event.type !== "end" || event.data.binary_offset === null) return [];
    const { text, bytes = "" } = event.data.path;
    const file = (text ?? Buffer.from(bytes, "base64").toString("utf8")).replace(/^\.\//, "");
    return shown.has(file) ? [{ file, binaryFrom: event.data.binary_offset }] : [];
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
