// Reads interfaces and their doc comments from our declaration files. It knows the syntax that these files use and
// throws on any other: TypeScript 7 has no API for programs.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "./command.mjs";

/** A doc comment, another comment, a string, a name or number, `=>`, or one character. */
const TOKEN = /\/\*\*[^]*?\*\/|\/\*[^]*?\*\/|\/\/.*|"(?:[^"\\]|\\.)*"|[\w$]+|=>|\S/g;
const OPENING = "{([<";
const CLOSING = "})]>";

/** The declaration files, except those that are generated from the tools' schemas. */
function declarationFiles() {
  const inLib = readdirSync(join(root, "lib"), { recursive: true })
    .map((name) => join("lib", `${name}`))
    .filter((name) => name.endsWith(".d.ts") && !name.includes("generated"));
  return ["index.d.ts", ...inLib.sort()];
}

/** Every exported interface of the package, by name: `{ doc, extends, members }`. */
export function interfaces() {
  const found = new Map();
  const files = declarationFiles().map((file) => [file, readFileSync(join(root, file), "utf8")]);
  const words = new Map(files.flatMap(([, text]) => literalUnions(text)));
  for (const [file, source] of files) {
    const text = withWords(source, words);
    for (const match of text.matchAll(/^export interface (\w+)/gm)) {
      found.set(match[1], readInterface(text, match.index, match[1], file));
    }
  }
  return found;
}

/** Types that are a choice of texts, such as `"auto" | "off"`. */
function literalUnions(text) {
  const declaration = /^export type (\w+) =\s*\|?\s*("[^"]*"(?:\s*\|\s*"[^"]*")*);/gm;
  return [...text.matchAll(declaration)].map(([, name, type]) => [name, type]);
}

/** The text with such types written out where a member has one. */
function withWords(text, words) {
  const named = /(\w+\??: (?:readonly )?)(\w+)(\[\])?(?= \||;)/g;
  return text.replace(named, (all, before, name, list = "") => {
    const type = words.get(name);
    if (type === undefined) return all;
    return list === "" ? `${before}${type}` : `${before}(${type})${list}`;
  });
}

function readInterface(text, at, name, file) {
  const doc = /\/\*\*(?:(?!\*\/)[^])*\*\/\s*$/.exec(text.slice(0, at))?.[0];
  const tokens = tokensFrom(text, at);
  const body = bodyStart(tokens, `${file}, \`${name}\``);
  // After the type parameters, which may have an `extends` too.
  const head = text.slice(at, tokens[body].at).replace(/^(export interface \w+)<[^>]*>/, "$1");
  const { members } = readMembers(text, tokens, body + 1, `${file}, \`${name}\``);
  return { doc: docText(doc), extends: /\bextends\s+([^]+)$/.exec(head)?.[1].trim(), members };
}

/** Where the body of an interface begins: the first `{` that is in no angle brackets. */
function bodyStart(tokens, where) {
  let depth = 0;
  for (const [index, { text }] of tokens.entries()) {
    if (text === "{" && depth === 0) return index;
    if (text === "<") depth += 1;
    if (text === ">") depth -= 1;
  }
  throw new Error(`${where}: the interface has no body`);
}

/** The members up to the closing brace, each as `{ name, doc, type, isRequired, members? }`. Methods are left out. */
function readMembers(text, tokens, start, where) {
  const members = [];
  let doc;
  let index = start;
  while (tokens[index]?.text !== "}") {
    const token = tokens[index];
    if (token === undefined) throw new Error(`${where}: an object type does not end`);
    if (token.text.startsWith("/")) {
      if (token.text.startsWith("/**")) doc = token.text;
      index += 1;
      continue;
    }
    const end = memberEnd(tokens, index, where);
    const colon = colonOf(tokens, index, end);
    if (colon !== undefined) {
      const names = tokens.slice(index, colon).map((it) => it.text);
      const name = names.filter((it) => it !== "readonly" && it !== "?");
      if (name.length !== 1) throw new Error(`${where}: cannot read \`${names.join(" ")}\``);
      const value = valueOf(text, tokens, colon + 1, end, where);
      const isRequired = !names.includes("?");
      members.push({ name: name[0], doc: docText(doc), isRequired, ...value });
    }
    doc = undefined;
    index = tokens[end].text === ";" ? end + 1 : end;
  }
  return { members, end: index };
}

/** The `;` or the closing brace that ends a member. */
function memberEnd(tokens, start, where) {
  let depth = 0;
  for (let index = start; index < tokens.length; index += 1) {
    const { text } = tokens[index];
    if ((text === ";" || text === "}") && depth === 0) return index;
    if (OPENING.includes(text)) depth += 1;
    if (CLOSING.includes(text)) depth -= 1;
  }
  throw new Error(`${where}: a member does not end`);
}

/** The `:` between a name and its type; none for a method or an index signature. */
function colonOf(tokens, start, end) {
  for (let index = start; index < end; index += 1) {
    if (tokens[index].text === ":") return index;
    if (OPENING.includes(tokens[index].text)) return undefined;
  }
  return undefined;
}

/** The type as text without `undefined`, and the members if it is an object type. */
function valueOf(text, tokens, start, end, where) {
  const first = tokens[start].text === "|" ? start + 1 : start;
  const source = text.slice(tokens[first].at, tokens[end].at);
  if (tokens[first].text === "{") {
    const { members, end: last } = readMembers(text, tokens, first + 1, where);
    const rest = tokens.slice(last + 1, end).map((it) => it.text);
    if (rest.join(" ").replace("| undefined", "") === "") return { type: "object", members };
  }
  return { type: shortened(source) };
}

function shortened(type) {
  return type
    .replace(/\/\*[^]*?\*\/|\/\/.*/g, " ")
    .replace(/\s+/g, " ")
    .replace(/ ?\| undefined\b/g, "")
    .replace(/\breadonly /g, "")
    .replace(/\bReadonly<(Record<.*>)>/, "$1")
    .trim();
}

/** The words of a doc comment in one line; empty without one. */
function docText(comment = "") {
  return comment
    .trim()
    .replace(/^\/\*\*|\*\/$/g, "")
    .replace(/^\s*\* ?/gm, "")
    .replace(/\s+/g, " ")
    .trim();
}

function tokensFrom(text, at) {
  TOKEN.lastIndex = at;
  const tokens = [];
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    tokens.push({ text: match[0], at: match.index });
  }
  return tokens;
}
