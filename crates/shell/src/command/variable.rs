//! Which variables a command line may set without changing what its commands do.
//!
//! Many programs run or load what a variable names, so a variable is only harmless if it is listed here.
//! Any other variable needs a rule that spells it out.

use crate::Word;

/// Variables that change what a program prints, how much it logs or where it listens, and never what it
/// runs, loads, connects to or writes.
const HARMLESS: [&str; 58] = [
    "ANSI_COLORS_DISABLED",
    "CARGO_INCREMENTAL",
    "CARGO_TERM_COLOR",
    "CARGO_TERM_PROGRESS_WHEN",
    "CARGO_TERM_QUIET",
    "CARGO_TERM_VERBOSE",
    "CGO_ENABLED",
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLORTERM",
    "COLUMNS",
    "COVERAGE",
    "DEBUG",
    "DEBUG_COLORS",
    "DO_NOT_TRACK",
    "FLASK_DEBUG",
    "FORCE_COLOR",
    "GO111MODULE",
    "GOARCH",
    "GOMAXPROCS",
    "GOOS",
    "HEADLESS",
    "HOMEBREW_NO_AUTO_UPDATE",
    "JEST_WORKERS",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_NUMERIC",
    "LC_TIME",
    "LINES",
    "LOGLEVEL",
    "LOG_LEVEL",
    "NEXT_TELEMETRY_DISABLED",
    "NODE_DEBUG",
    "NODE_DISABLE_COLORS",
    "NODE_NO_WARNINGS",
    "NO_COLOR",
    "PORT",
    "PROPTEST_CASES",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONHASHSEED",
    "PYTHONIOENCODING",
    "PYTHONUNBUFFERED",
    "PYTHONUTF8",
    "QUICKCHECK_TESTS",
    "RUST_BACKTRACE",
    "RUST_LIB_BACKTRACE",
    "RUST_LOG",
    "RUST_TEST_THREADS",
    "SOURCE_DATE_EPOCH",
    "TF_LOG",
    "TZ",
    "VERBOSE",
    "VITEST_MAX_WORKERS",
];

/// Variables whose values become part of file names. They are harmless if the value is one plain word.
const HARMLESS_WORDS: [&str; 8] =
    ["APP_ENV", "BABEL_ENV", "FLASK_ENV", "MIX_ENV", "NODE_ENV", "RACK_ENV", "RAILS_ENV", "TERM"];

/// Variables that decide which programs or which code is run. Names that end in `_` are prefixes. This list only
/// improves the reasons for people: every variable that is not harmless asks.
const DECIDE_WHAT_RUNS: [&str; 67] = [
    "AR",
    "AS",
    "BASHOPTS",
    "BASH_",
    "BROWSER",
    "BUN_",
    "CARGO",
    "CARGO_",
    "CC",
    "CDPATH",
    "CFLAGS",
    "CLASSPATH",
    "CMAKE_",
    "COMSPEC",
    "CXX",
    "DENO_",
    "DOCKER_",
    "DYLD_",
    "EDITOR",
    "ELECTRON_RUN_AS_NODE",
    "ENV",
    "EXINIT",
    "FCEDIT",
    "FPATH",
    "GCONV_PATH",
    "GEM_",
    "GIT_",
    "GLIBC_TUNABLES",
    "GOFLAGS",
    "GREP_OPTIONS",
    "HOME",
    "IFS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "KUBECONFIG",
    "LD",
    "LDFLAGS",
    "LD_",
    "LESS",
    "LESSCLOSE",
    "LESSOPEN",
    "LUA_",
    "MAKE",
    "MAKEFILES",
    "MAKEFLAGS",
    "MANPAGER",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NPM_CONFIG_",
    "PAGER",
    "PATH",
    "PERL5DB",
    "PERL5LIB",
    "PERL5OPT",
    "PHPRC",
    "PIP_",
    "PROMPT_COMMAND",
    "PS4",
    "PYTHON",
    "RIPGREP_CONFIG_PATH",
    "RUBY",
    "RUST",
    "SHELL",
    "SHELLOPTS",
    "SSH_",
    "VISUAL",
    "XDG_",
];

/// True for a variable that may be set to this value without a permission.
pub(crate) fn is_harmless(name: &str, value: &Word) -> bool {
    let is_word = |it: &str| {
        it.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_' || it == b'-')
            && it.len() <= 64
    };
    HARMLESS.contains(&name)
        || (HARMLESS_WORDS.contains(&name) && value.literal().is_some_and(is_word))
}

/// True for a variable that is known to decide which programs or which code is run.
pub(crate) fn decides_what_runs(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    DECIDE_WHAT_RUNS.iter().any(|it| {
        let is_start = it.ends_with('_') || matches!(*it, "PYTHON" | "RUBY" | "RUST");
        upper == *it || (is_start && upper.starts_with(it))
    })
}

/// What a variable that is not harmless may do, for the reason.
pub(crate) fn danger(name: &str) -> &'static str {
    let upper = name.to_ascii_uppercase();
    if decides_what_runs(name) {
        "decides which programs or which code is run"
    } else if upper.contains("PROXY") || upper.ends_with("_URL") || upper.ends_with("_HOST") {
        "may decide what is connected to"
    } else {
        "may change what other commands do"
    }
}

/// True for a variable that only the line itself uses. Few programs read variables with lower-case names. The
/// exceptions are proxies, and npm's settings, which `npm run` exports.
pub(crate) fn is_local(name: &str) -> bool {
    name.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'_')
        && name.starts_with(|it: char| it.is_ascii_lowercase())
        && !name.contains("proxy")
        && !name.starts_with("npm_")
        && name != "histchars"
        && name != "auto_resume"
}
