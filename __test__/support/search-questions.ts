import type { Random } from "./random.js";
import type { Tree } from "./search-trees.js";

const PATTERNS = [
  "needle",
  "foo",
  "Foo",
  "foo|bar",
  "\\bfoo\\b",
  "^foo",
  "bar$",
  "^$",
  "x*",
  ".",
  "o+",
  "\\w+\\s\\w+",
  "[a-c]\\.b",
  "\\(\\)",
  "naïve",
  "日本",
  "\\d{2}",
  "(?i)FOO",
  "foo.*bar",
  "[^o]o",
  "filler",
  "\\s+$",
  "tail $",
  "nothing matches this",
  "(foo|needle)(?: |_)bar",
  "\\x{65e5}",
  "e\\b.",
];
const SPANNING = [
  "foo[\\s\\S]*?bar",
  "\\n\\n",
  "foo\\n",
  "(?-s)a.b",
  "needle.bar",
  "^bar$\\n^foo",
  "o\\s+f",
];
const GLOBS = [
  "*.ts",
  "*.{ts,js}",
  "!*.md",
  "src/**",
  "**/*.py",
  "/a*",
  "build/**/*.log",
  "lib/*",
  "!build",
  ".hid/**",
  "d*/**",
  "*.log",
  "**/deep/**",
  "été/*",
  "*",
  "**",
  "**/*",
];
const TYPES = ["js", "py", "rust", "md", "ts", "txt", "c"];

/** A call of `Grep`. */
export interface GrepQuestion {
  pattern: string;
  path?: string;
  glob?: string;
  type?: string;
  output_mode: "content" | "files_with_matches" | "count";
  "-A"?: number;
  "-B"?: number;
  "-C"?: number;
  "-i"?: boolean;
  "-o"?: boolean;
  multiline?: boolean;
  head_limit: 0;
}

/** A random search in a tree. */
export function grepQuestion(random: Random, tree: Tree): GrepQuestion {
  const multiline = random.chance(0.2);
  const input: GrepQuestion = {
    pattern: multiline && random.chance(0.7) ? random.pick(SPANNING) : random.pick(PATTERNS),
    output_mode: random.pick(["content", "content", "files_with_matches", "count"]),
    head_limit: 0,
  };
  if (multiline) input.multiline = true;
  if (random.chance(0.2)) input["-i"] = true;
  if (random.chance(0.15)) input["-o"] = true;
  if (random.chance(0.15)) input["-A"] = random.below(3);
  if (random.chance(0.15)) input["-B"] = random.below(3);
  if (random.chance(0.1)) input["-C"] = random.below(3);
  if (random.chance(0.35)) input.glob = random.several(GLOBS, 1, 2).join(random.pick([" ", ","]));
  if (random.chance(0.15)) input.type = random.pick(TYPES);
  const places = [...tree.folders, ...tree.files].filter((it) => !tree.swallowed.has(it));
  if (random.chance(0.25)) input.path = random.pick(places);
  return input;
}

const FILE_PATTERNS = [
  "**/*.ts",
  "*",
  "**/*",
  "**/*.{js,md}",
  "src/**",
  "src/*",
  "build/**/*",
  "lib/**",
  "**/main.*",
  ".hid/**",
  "**/.*",
  "docs/*.md",
  "d*/**/*.log",
  "**/deep/**",
  ".git/**",
  "**/*.none",
];

/** A call of any tool that searches or lists. */
export type Question = [tool: string, input: Record<string, unknown>];

/** A random call of any of the tools in a tree. */
export function someQuestion(random: Random, tree: Tree): Question {
  const path = random.chance(0.25) ? random.pick(tree.folders) : undefined;
  switch (random.below(10)) {
    case 0:
    case 1:
      return ["Glob", { pattern: random.pick(FILE_PATTERNS), path }];
    case 2: {
      const limit = random.chance(0.3) ? 2 : undefined;
      const includeHidden = random.chance(0.5);
      const pattern = random.pick(FILE_PATTERNS);
      return ["glob", { pattern, path, includeHidden, maxResults: limit }];
    }
    case 3:
      return ["grep", { pattern: random.pick(PATTERNS), path }];
    case 4: {
      const [recursive, includeHidden] = [random.chance(0.7), random.chance(0.5)];
      return ["ls", { path: path ?? ".", recursive, includeHidden }];
    }
    case 5: {
      const pattern = random.pick(["needle", "foo", "o+", "nothing matches this"]);
      const [head_limit, offset] = [1 + random.below(20), random.below(10)];
      return [
        "Grep",
        { pattern, output_mode: "content", head_limit, offset, "-C": random.below(2) },
      ];
    }
    default:
      return ["Grep", { ...grepQuestion(random, tree) }];
  }
}
