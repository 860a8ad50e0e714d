//! Programs of JavaScript projects. Most of them run the project's code.

use super::super::{
    Operands, PLAIN, Program, Style,
    Takes::{Flag, Names, Puts, Reads, Rewrites, Text, UnclearValue, Within, Writes},
};

/// The project's code gets all of its arguments.
const RUNS: Program =
    Program { operands: Operands::ProjectArguments(0), style: Style::Project, ..PLAIN };

/// A subcommand and the name of a script, a package or the like.
const NAMED: Program = Program { operands: Operands::ProjectArguments(1), ..RUNS };

const NPM: Program = Program {
    names: &["npm", "yarn", "pnpm"],
    options: &[
        (Within, &["--prefix", "-C", "--cwd", "--dir"]),
        (Text, &[
            "-w", "--workspace", "--filter", "-F", "--loglevel", "--registry", "--tag", "--omit",
            "--include",
        ]),
    ],
    operands: Operands::ProjectArguments(1),
    subcommands: &[
        Program { names: &["run", "run-script", "workspace"], ..NAMED },
        Program {
            names: &[
                "test", "t", "start", "stop", "build", "lint", "dev", "typecheck", "format",
                "check",
            ],
            ..RUNS
        },
        Program {
            names: &[
                "install", "i", "ci", "add", "remove", "uninstall", "update", "up", "outdated",
                "ls", "list", "view", "info", "why", "explain", "audit", "dedupe", "prune", "root",
                "bin", "version", "init", "create", "pack", "publish", "link", "config", "cache",
                "help", "whoami", "login", "fund", "doctor", "rebuild", "upgrade", "import",
                "store",
            ],
            ..RUNS
        },
        Program {
            names: &["exec", "x", "dlx"],
            options: &[(UnclearValue, &["-c", "--call"])],
            ..NAMED
        },
    ],
    ..RUNS
};

const NPX: Program = Program {
    names: &["npx", "bunx", "pnpx"],
    options: &[
        (Text, &["-p", "--package"]),
        (Flag, &["-y", "--yes", "--no-install", "--no", "-q"]),
        (UnclearValue, &["-c", "--call"]),
    ],
    operands: Operands::ProjectArguments(1),
    ..RUNS
};

const NODE: Program = Program {
    names: &["node", "nodejs", "tsx", "ts-node", "babel-node"],
    options: &[
        (Flag, &["--watch", "--inspect", "--enable-source-maps"]),
        (Names, &["--test", "-v", "--version", "--help", "-h"]),
        (Text, &["-C", "--conditions", "--max-old-space-size"]),
        (Reads, &["--env-file", "--env-file-if-exists"]),
        (UnclearValue, &["-e", "--eval", "-p", "--print", "-pe", "-i", "--interactive"]),
    ],
    operands: Operands::CodeFile,
    ..RUNS
};

const BUN: Program = Program {
    names: &["bun"],
    options: &[(UnclearValue, &["-e", "--eval", "-p", "--print"]), (Within, &["--cwd"])],
    operands: Operands::ProjectArguments(1),
    subcommands: &[
        Program { names: &["run"], ..NAMED },
        Program { names: &["x"], ..NAMED },
        Program {
            names: &[
                "test", "install", "i", "add", "remove", "update", "build", "init", "create", "pm",
                "link", "upgrade",
            ],
            ..RUNS
        },
    ],
    ..RUNS
};

const DENO: Program = Program {
    names: &["deno"],
    operands: Operands::ProjectArguments(1),
    subcommands: &[
        Program { names: &["eval", "repl"], operands: Operands::Unclear, ..RUNS },
        Program { names: &["fmt"], options: &[(Flag, &["--check"])], ..FORMATS },
        Program {
            names: &[
                "run", "test", "check", "lint", "task", "bench", "cache", "info", "compile",
                "install", "doc",
            ],
            ..RUNS
        },
    ],
    ..RUNS
};

/// Changes the files that it is given, and those below directories.
const FORMATS: Program = Program { operands: Operands::FormattedFiles, ..RUNS };

const COMPILERS: Program = Program {
    names: &[
        "tsc", "vue-tsc", "vite", "webpack", "rollup", "esbuild", "turbo", "nx", "lerna", "next",
        "nuxt", "astro", "svelte-check", "tsup", "swc", "babel", "parcel", "knip", "madge",
        "storybook", "tailwindcss", "sass", "postcss", "typedoc", "publint", "attw", "changeset",
        "syncpack",
    ],
    options: &[
        (Reads, &["-p", "--project", "--tsconfig", "-c", "--config"]),
        (Puts, &["--outDir", "--declarationDir", "--outdir", "--out-dir"]),
        (Writes, &["--outFile", "--outfile", "-o", "--output", "--tsBuildInfoFile"]),
        (Text, &["-t", "--target", "-m", "--module", "--jsx", "--lib", "--filter", "--mode"]),
    ],
    ..RUNS
};

const LINTERS: Program = Program {
    names: &[
        "eslint", "oxlint", "stylelint", "prettier", "oxfmt", "biome", "dprint", "standard", "xo",
        "markdownlint",
    ],
    options: &[
        (Rewrites, &[
            "--fix", "--write", "-w", "--fix-dangerously", "--fix-suggestions", "--apply",
        ]),
        (Reads, &[
            "-c", "--config", "--ignore-path", "--resolve-plugins-relative-to", "--cache-location",
        ]),
        (Writes, &["-o", "--output-file"]),
        (Text, &[
            "--ext", "-f", "--format", "--rule", "--parser", "--max-warnings", "--env", "--global",
            "--plugin",
        ]),
    ],
    ..RUNS
};

const TESTS: Program = Program {
    names: &[
        "vitest", "jest", "mocha", "ava", "tap", "playwright", "cypress", "c8", "nyc", "karma",
    ],
    options: &[
        (Text, &[
            "-t", "--testNamePattern", "-g", "--grep", "--reporter", "--project", "--shard",
            "--maxWorkers", "--pool",
        ]),
        (Reads, &["-c", "--config", "--setupFiles"]),
        (Writes, &["--outputFile"]),
        (Within, &["--dir", "--rootDir"]),
    ],
    ..RUNS
};

pub(super) const PROGRAMS: &[Program] = &[NPM, NPX, NODE, BUN, DENO, COMPILERS, LINTERS, TESTS];
