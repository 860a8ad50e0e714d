//! Programs and options that run or interpret their arguments or their input.
//!
//! The lists are strict on purpose. A template of a plugin that needs more can run a script file.

/// Programs that interpret any argument, or run what an argument names.
pub const RUN_THEIR_ARGUMENTS: [&str; 30] = [
    "[[",
    "bind",
    "compgen",
    "complete",
    "dc",
    "declare",
    "emacs",
    "enable",
    "export",
    "getopts",
    "gmake",
    "gnuplot",
    "hash",
    "let",
    "local",
    "m4",
    "make",
    "mapfile",
    "nvim",
    "osascript",
    "read",
    "readarray",
    "readonly",
    "set",
    "typeset",
    "unset",
    "vi",
    "view",
    "vim",
    "wait",
];

/// Programs that run their input, which in a pipe may be a value, and shell commands that can refer to every
/// value of the script as `$1` and so on.
pub const RUN_ANY_VALUE: [&str; 14] = [
    ".", "alias", "coproc", "ed", "eval", "ex", "mysql", "psql", "shift", "source", "sqlite3",
    "sudo", "trap", "xargs",
];

/// The names of a program's standard input.
pub const STANDARD_INPUT: [&str; 4] = ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// Options of any program whose value is run or selects what is run.
pub const RUNNING_OPTIONS: [&str; 34] = [
    "-exec",
    "-execdir",
    "-ok",
    "-okdir",
    "--exec",
    "--exec-batch",
    "--to-command",
    "--checkpoint-action",
    "--use-compress-program",
    "--rsh",
    "--rsync-path",
    "--upload-pack",
    "--receive-pack",
    "--pre",
    "--exec-path",
    "--config-env",
    "--editor",
    "--command",
    "--eval",
    "--shell",
    "--commit-filter",
    "--compress-program",
    "--env-filter",
    "--extcmd",
    "--index-filter",
    "--info-script",
    "--msg-filter",
    "--new-volume-script",
    "--open-files-in-pager",
    "--pager",
    "--rmt-command",
    "--rsh-command",
    "--sendmail-cmd",
    "--tree-filter",
];

/// Words after which a certain program runs the next word.
pub const RUNNING_WORDS: [(&[&str], &[&str]); 7] = [
    (&["git"], &["-x", "foreach", "run"]),
    (&["tar", "gtar", "bsdtar"], &["-I", "-F"]),
    (&["rsync"], &["-e"]),
    (&["nc", "ncat", "netcat", "socat"], &["-e", "-c"]),
    (&["npm", "pnpm", "yarn", "bundle"], &["exec", "x", "dlx"]),
    (&["uv", "poetry", "pipenv"], &["run", "exec", "tool"]),
    (&["man"], &["-P", "-H"]),
];

/// Programs whose arguments can be options even after `--`.
pub const WITHOUT_END_OF_OPTIONS: [&str; 7] = ["find", "test", "[", "expr", "dd", "echo", "printf"];
