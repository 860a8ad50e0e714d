import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./runtimes.js";

/** One code block of README. */
export interface Sample {
  /** The heading it stands under, and its number there, from 1. */
  place: string;
  language: string;
  code: string;
}

/** README's code blocks, also those in lists. */
export function readmeSamples(): Sample[] {
  const samples: Sample[] = [];
  let heading = "";
  let block: { indent: string; language: string; lines: string[] } | undefined;
  for (const line of readFileSync(join(root, "README.md"), "utf8").split("\n")) {
    const fence = /^(\s*)```(\w*)$/.exec(line);
    if (fence && block === undefined) {
      block = { indent: fence[1] ?? "", language: fence[2] ?? "", lines: [] };
    } else if (fence && block !== undefined) {
      const number = samples.filter(({ place }) => place.startsWith(`${heading} `)).length + 1;
      const { indent, language, lines } = block;
      const code = lines.map((it) => it.slice(indent.length)).join("\n");
      samples.push({ place: `${heading} ${number}`, language, code });
      block = undefined;
    } else if (block !== undefined) block.lines.push(line);
    else if (/^#+ /.test(line)) heading = line.replace(/^#+ /, "");
  }
  return samples;
}

/** The sample at a place, such as `Use 1`. */
export function readmeSample(place: string): string {
  const found = readmeSamples().find((it) => it.place === place);
  if (found === undefined) throw new Error(`README has no sample at \`${place}\``);
  return found.code;
}
