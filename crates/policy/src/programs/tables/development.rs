//! Compilers, builders and test runners. Most of them run the project's code.

use super::super::{
    Operands, PLAIN, Program, Style,
    Takes::{
        Flag, Names, Pattern, PatternsIn, Puts, Reads, Rewrites, Text, Unclear, UnclearValue, Within,
        Writes,
    },
};

/// The project's code gets all of its arguments.
const RUNS: Program =
    Program { operands: Operands::ProjectArguments(0), style: Style::Project, ..PLAIN };

/// The same, after a subcommand.
const WITH_SUBCOMMAND: Program = Program { operands: Operands::ProjectArguments(1), ..RUNS };

/// Changes the files that it is given, and those below directories.
const FORMATS: Program = Program { operands: Operands::FormattedFiles, ..RUNS };

const MAKE: Program = Program {
    names: &[
        "make", "gmake", "ninja", "just", "task", "rake", "mage", "cmake", "ctest", "meson",
        "bazel",
    ],
    options: &[
        (Within, &["-C", "--directory"]),
        (Reads, &["-f", "--file", "--makefile", "-I", "--include-dir"]),
        (Puts, &["--install"]),
        (Text, &["-j", "--jobs", "-l", "-o", "-W", "-G", "--target", "--config", "-R", "-E"]),
        (UnclearValue, &["--eval"]),
    ],
    ..RUNS
};

const CARGO: Program = Program {
    names: &["cargo"],
    options: &[(Within, &["-C"]), (Text, &["--color", "-Z"]), (Reads, &["--config"])],
    operands: Operands::ProjectArguments(1),
    subcommands: &[
        Program {
            names: &[
                "build", "b", "check", "c", "test", "t", "run", "r", "bench", "clippy", "doc",
                "fix", "nextest", "rustc", "install", "publish", "package", "metadata", "tree",
                "update", "fetch", "add", "remove", "rm", "new", "init", "search", "vendor",
                "clean", "audit", "deny", "outdated", "expand", "machete", "llvm-cov", "insta",
                "fuzz", "miri", "xtask", "generate-lockfile", "locate-project", "pkgid",
                "uninstall", "upgrade", "watch", "sweep", "hack", "semver-checks", "version",
                "help",
            ],
            options: &[
                (Reads, &["--manifest-path", "--path", "--lockfile-path"]),
                (Puts, &["--target-dir", "--out-dir", "--artifact-dir"]),
                (Text, &[
                    "-p", "--package", "--bin", "--example", "--test", "--bench", "--features",
                    "-F", "--target", "--profile", "-j", "--jobs", "--message-format", "--exclude",
                    "--color", "-Z",
                ]),
            ],
            ..RUNS
        },
        Program {
            names: &["fmt"],
            options: &[(Flag, &["--check", "--all"]), (Text, &["-p"])],
            ..FORMATS
        },
    ],
    ..RUNS
};

const RUSTC: Program = Program {
    names: &[
        "rustc", "gcc", "cc", "clang", "g++", "c++", "clang++", "ld", "javac", "swiftc", "rustdoc",
        "zig", "nvcc",
    ],
    options: &[
        (Flag, &[
            "-c", "-g", "-O", "-S", "-E", "-v", "-w", "-shared", "-static", "-pthread", "--test",
        ]),
        (Text, &[
            "--edition", "--crate-type", "--crate-name", "-C", "--codegen", "--cfg", "--target",
            "-std",
        ]),
        (Writes, &["-o"]),
        (Puts, &["--out-dir", "-d"]),
        (Reads, &["-I", "-L", "-include", "-isystem"]),
    ],
    ..RUNS
};

const GO: Program = Program {
    names: &["go"],
    options: &[(Within, &["-C"])],
    operands: Operands::ProjectArguments(1),
    subcommands: &[
        Program { names: &["fmt", "fix"], ..FORMATS },
        Program {
            names: &[
                "build", "test", "run", "vet", "mod", "get", "install", "list", "generate", "env",
                "version", "work", "tool", "doc", "clean",
            ],
            options: &[
                (Text, &[
                    "-run", "-bench", "-count", "-timeout", "-tags", "-ldflags", "-gcflags", "-p",
                    "-parallel", "-cover", "-covermode", "-coverpkg", "-benchtime", "-json",
                    "-skip", "-mod",
                ]),
                (Writes, &["-o", "-coverprofile", "-cpuprofile", "-memprofile", "-trace"]),
                (UnclearValue, &["-exec", "-toolexec", "-vettool", "-overlay"]),
            ],
            ..RUNS
        },
    ],
    ..RUNS
};

const GOFMT: Program = Program {
    names: &["gofmt", "goimports", "gofumpt"],
    options: &[(Flag, &["-l", "-d", "-s", "-e"]), (Rewrites, &["-w"]), (Text, &["-r", "-local"])],
    ..RUNS
};

const PYTHON: Program = Program {
    names: &[
        "python", "python3", "python2", "pypy", "pypy3", "ipython", "python3.10", "python3.11",
        "python3.12", "python3.13",
    ],
    options: &[
        (Flag, &["-u", "-B", "-E", "-I", "-O", "-OO", "-s", "-S", "-v", "-q"]),
        (Names, &["-V", "--version", "-h", "--help"]),
        (Text, &["-W", "-X"]),
        (Pattern, &["-m"]),
        (UnclearValue, &["-c"]),
        (Unclear, &["-i"]),
    ],
    operands: Operands::CodeFile,
    ..RUNS
};

const SCRIPTS: Program = Program {
    names: &[
        "perl", "ruby", "php", "lua", "Rscript", "R", "julia", "java", "scala", "groovy", "elixir",
        "erl", "ghc", "dart", "swift", "osascript", "tclsh", "jshell", "irb",
    ],
    options: &[
        (Flag, &["-w"]),
        (Names, &["-v", "--version", "-version", "-h", "--help"]),
        (PatternsIn, &["-jar"]),
        (Reads, &["-cp", "-classpath", "--class-path"]),
        (UnclearValue, &[
            "-e", "-E", "-B", "-R", "-eval", "-r", "-n", "-p", "-i", "-l", "-a", "-ne", "-pe",
            "-pi", "-lne", "-ane", "-lane", "--eval", "-s", "-x",
        ]),
    ],
    operands: Operands::CodeFile,
    ..RUNS
};

const PIP: Program = Program {
    names: &[
        "pip", "pip3", "uv", "poetry", "pipenv", "conda", "pdm", "hatch", "rye", "pipx", "gem",
        "bundle", "composer", "mix", "mvn", "gradle", "./gradlew", "gradlew", "mvnw", "dotnet",
        "sbt", "cabal", "stack", "rustup", "nvm", "fnm", "asdf", "mise", "pyenv", "rbenv", "volta",
        "corepack",
    ],
    options: &[
        (Reads, &["-r", "--requirement", "-c", "--constraint", "-f"]),
        (Puts, &["-t", "--target", "--prefix", "--root"]),
        (Text, &["-i", "--index-url", "--extra-index-url", "--python", "-p", "--group", "--extra"]),
        (Within, &["-C", "--directory", "--project"]),
    ],
    ..WITH_SUBCOMMAND
};

const PYTEST: Program = Program {
    names: &[
        "pytest", "py.test", "tox", "nox", "coverage", "unittest", "rspec", "phpunit", "pyright",
        "pylint", "flake8", "mypy", "bandit", "pyflakes", "golangci-lint", "staticcheck",
        "shellcheck", "hadolint", "yamllint", "actionlint", "typos", "codespell", "tokei", "cloc",
        "scc",
    ],
    options: &[
        (Text, &[
            "-k", "-m", "-n", "--maxfail", "--tb", "-W", "--durations", "--python-version", "-e",
            "-s",
        ]),
        (Reads, &["-c", "--config-file", "--rootdir", "--rcfile", "--ignore"]),
        (Writes, &["--junitxml", "--junit-xml", "--output-file", "-o"]),
    ],
    ..RUNS
};

const RUFF: Program = Program {
    names: &["ruff"],
    operands: Operands::ProjectArguments(1),
    subcommands: &[
        Program {
            names: &["check"],
            options: &[
                (Rewrites, &["--fix", "--unsafe-fixes", "--add-noqa"]),
                (Text, &[
                    "--select", "--ignore", "--extend-select", "--output-format", "--line-length",
                    "--target-version",
                ]),
                (Reads, &["--config"]),
                (Writes, &["-o", "--output-file"]),
            ],
            ..RUNS
        },
        Program { names: &["format"], options: &[(Flag, &["--check", "--diff"])], ..FORMATS },
    ],
    ..RUNS
};

const BLACK: Program = Program {
    names: &[
        "black", "isort", "autopep8", "yapf", "rustfmt", "rubocop", "swiftformat", "ktlint",
        "gdformat", "stylua", "taplo",
    ],
    options: &[
        (Flag, &["--check", "--diff", "-q", "-v"]),
        (Text, &["-l", "--line-length", "--profile", "--edition", "-t"]),
    ],
    ..FORMATS
};

pub(super) const PROGRAMS: &[Program] =
    &[MAKE, CARGO, RUSTC, GO, GOFMT, PYTHON, SCRIPTS, PIP, PYTEST, RUFF, BLACK];
