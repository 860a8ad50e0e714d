// The documentation that an editor shows for the API, read from the published declarations as text.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const files = [
  "index.d.ts",
  ...["lib/types", "lib/generated", "lib/stores"].flatMap(declarationsIn),
];

function declarationsIn(folder: string): string[] {
  return readdirSync(join(root, folder))
    .filter((name) => name.endsWith(".d.ts"))
    .map((name) => join(folder, name));
}

const EXPORTED = /^export (?:declare )?(?:class|const|function|interface|type) (\w+)/;
const MEMBER = /^ {2}(?:static |readonly )*(\w+|\[[\w.]+\])\??[(<:]/;

/** The exported names and the members of exported classes that have no comment above them. */
function undocumented(source: string): string[] {
  const found: string[] = [];
  let owner: string | undefined;
  let previous: string | undefined;
  let above = "";
  for (const line of source.split("\n")) {
    const exported = EXPORTED.exec(line)?.[1];
    const member = owner === undefined ? undefined : MEMBER.exec(line)?.[1];
    const name = exported ?? (member && `${owner}.${member}`);
    // One comment is enough for all signatures of a method.
    if (name !== undefined && name !== previous && !above.endsWith("*/")) found.push(name);
    if (name !== undefined) previous = name;
    if (line.startsWith("export declare class")) owner = exported;
    if (line === "}") owner = undefined;
    above = line.trimEnd();
  }
  return found;
}

describe("the declarations", () => {
  test.each(files)("document everything that %s exports", (file) => {
    expect(undocumented(readFileSync(join(root, file), "utf8"))).toEqual([]);
  });

  test("without a comment are found", () => {
    const source = [
      "export interface Bare {",
      "}",
      "/** What it is. */",
      "export declare class Documented {",
      "  constructor();",
      "  /** What it does. */",
      "  method(): void;",
      "  method(text: string): void;",
      "  readonly bare?: string;",
      "}",
      "export type { Other } from './other';",
    ].join("\n");
    expect(undocumented(source)).toEqual(["Bare", "Documented.constructor", "Documented.bare"]);
  });
});
