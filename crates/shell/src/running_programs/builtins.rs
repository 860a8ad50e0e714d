//! Builtins of shells that no program can replace.

/// Builtins that interpret any argument, or set the variables that their arguments name.
pub(super) const EVALUATING: [&str; 19] = [
    "[[",
    "bind",
    "compgen",
    "complete",
    "declare",
    "enable",
    "export",
    "getopts",
    "hash",
    "let",
    "local",
    "mapfile",
    "read",
    "readarray",
    "readonly",
    "set",
    "typeset",
    "unset",
    "wait",
];

/// Builtins that run a text, or that can refer to every value of the script as `$1` and so on.
pub(super) const EVALUATE_ANY_VALUE: [&str; 7] =
    [".", "alias", "coproc", "eval", "shift", "source", "trap"];

/// Other builtins.
const OTHERS: [&str; 28] = [
    ":", "bg", "break", "builtin", "caller", "cd", "command", "compopt", "continue", "dirs",
    "disown", "exec", "exit", "fc", "fg", "history", "jobs", "logout", "popd", "pushd", "return",
    "shopt", "suspend", "times", "type", "ulimit", "umask", "unalias",
];

/// True for builtins that only a shell can run.
pub fn is_builtin(name: &str) -> bool {
    EVALUATING.contains(&name) || EVALUATE_ANY_VALUE.contains(&name) || OTHERS.contains(&name)
}
