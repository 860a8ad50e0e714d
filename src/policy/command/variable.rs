//! Which variables a command line may set without changing what its commands do.

use super::super::programs::is_listed;

/// Variables that change how a program talks and nothing else.
const HARMLESS: &str = "\
    CARGO_TERM_COLOR CI CLICOLOR CLICOLOR_FORCE COLUMNS FORCE_COLOR LANG LANGUAGE LC_ALL \
    LC_COLLATE LC_CTYPE LC_MESSAGES NODE_ENV NO_COLOR PYTHONUNBUFFERED RUST_BACKTRACE TZ";

/// True for a variable that may be set for a program by anyone.
pub(super) fn is_harmless(name: &str) -> bool {
    is_listed(HARMLESS, name)
}

/// True for a variable of the line's own. Lower-case names mean something to few programs; proxies
/// and npm's settings, which `npm run` exports, are the exceptions.
pub(super) fn is_local(name: &str) -> bool {
    name.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'_')
        && name.starts_with(|it: char| it.is_ascii_lowercase())
        && !name.contains("proxy")
        && !name.starts_with("npm_")
        && name != "histchars"
}
