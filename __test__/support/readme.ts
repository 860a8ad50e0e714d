// The documents of the repository: their code blocks, headings and links.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "./runtimes.js";

/** One code block of a document. */
export interface Sample {
  /** The path of the document in the repository. */
  document: string;
  /** The heading above it, and its number there, from 1. */
  place: string;
  language: string;
  code: string;
}

/** A link of a document, and the line it is in. */
export interface Link {
  document: string;
  line: number;
  target: string;
}

/** Folders whose Markdown is not written for readers of the repository. */
const LEFT_OUT = /^(?:\.|node_modules$|target$|npm$|description$|fixtures$)/;

/** Every Markdown document of the repository, by its path there. */
export function allDocuments(folder = ""): string[] {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  return entries.flatMap((entry) => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return LEFT_OUT.test(entry.name) ? [] : allDocuments(path);
    return entry.isFile() && entry.name.endsWith(".md") ? [path] : [];
  });
}

/** The documents for users, whose samples are checked. */
export function userDocuments(): string[] {
  return ["README.md", ...allDocuments("docs")];
}

export function documentText(document: string): string {
  return readFileSync(join(root, document), "utf8");
}

/** The code blocks of a document, also those in lists. */
export function samplesOf(document: string): Sample[] {
  const samples: Sample[] = [];
  let heading = "";
  let block: { indent: string; language: string; lines: string[] } | undefined;
  for (const line of documentText(document).split("\n")) {
    const fence = /^(\s*)```(\w*)$/.exec(line);
    if (fence && block === undefined) {
      block = { indent: fence[1] ?? "", language: fence[2] ?? "", lines: [] };
    } else if (fence && block !== undefined) {
      const number = samples.filter(({ place }) => place.startsWith(`${heading} `)).length + 1;
      const { indent, language, lines } = block;
      const code = lines.map((it) => it.slice(indent.length)).join("\n");
      samples.push({ document, place: `${heading} ${number}`, language, code });
      block = undefined;
    } else if (block !== undefined) block.lines.push(line);
    else if (/^#+ /.test(line)) heading = line.replace(/^#+ /, "");
  }
  return samples;
}

/** The code blocks of all documents for users in one language. */
export function userSamples(language: string): Sample[] {
  return userDocuments()
    .flatMap(samplesOf)
    .filter((it) => it.language === language);
}

/** The sample at a heading and number, such as `An agent in 30 lines 1` of README.md. */
export function sampleAt(document: string, place: string): string {
  const found = samplesOf(document).find((it) => it.place === place);
  if (found === undefined) throw new Error(`${document} has no sample at \`${place}\``);
  return found.code;
}

/** The lines of a document that are in no code block, with their numbers; code in a line is blanked. */
export function proseOf(document: string): { line: number; text: string }[] {
  let isCode = false;
  const lines = documentText(document).split("\n");
  return lines.flatMap((text, index) => {
    const isFence = /^\s*```/.test(text);
    if (isFence) isCode = !isCode;
    return isFence || isCode ? [] : [{ line: index + 1, text }];
  });
}

/** The links and images of a document. */
export function linksOf(document: string): Link[] {
  return proseOf(document).flatMap(({ line, text }) => {
    const prose = text.replace(/`[^`]*`/g, "");
    const targets = [...prose.matchAll(/\]\(([^()\s]+)\)|\bsrc="([^"]+)"/g)];
    return targets.map(([, link, image]) => ({ document, line, target: link ?? image ?? "" }));
  });
}

/** The anchors of a document's headings, as GitHub makes them. */
export function anchorsOf(document: string): Set<string> {
  const anchors = new Set<string>();
  for (const { text } of proseOf(document)) {
    const title = /^#+ (.*)$/.exec(text)?.[1];
    if (title === undefined) continue;
    const words = title.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const anchor = words.replace(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(" ", "-");
    let free = anchor;
    for (let number = 1; anchors.has(free); number += 1) free = `${anchor}-${number}`;
    anchors.add(free);
  }
  return anchors;
}
