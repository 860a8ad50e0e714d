//! Programs and options that run or interpret their arguments or their input.
//!
//! The lists are strict on purpose. A template of a plugin that needs more can run a script file.

use super::{builtins, interpreters::interpreter};

/// Programs that interpret any argument, or run what an argument names.
const EVALUATORS: [&str; 11] =
    ["dc", "emacs", "gmake", "gnuplot", "m4", "make", "nvim", "osascript", "vi", "view", "vim"];

/// Programs that also run their input, which in a pipe may be a value.
const INPUT_EVALUATORS: [&str; 7] = ["ed", "ex", "mysql", "psql", "sqlite3", "sudo", "xargs"];

/// True for programs and builtins that interpret any argument, or run what an argument names.
pub fn evaluates_arguments(name: &str) -> bool {
    EVALUATORS.contains(&name) || builtins::EVALUATING.contains(&name)
}

/// True for programs and builtins that can run a value even if none of their arguments contains it.
pub fn evaluates_any_value(name: &str) -> bool {
    INPUT_EVALUATORS.contains(&name) || builtins::EVALUATE_ANY_VALUE.contains(&name)
}

/// True for programs, builtins excepted, that run code from their arguments.
pub fn runs_code(name: &str) -> bool {
    interpreter(name).is_some() || EVALUATORS.contains(&name) || INPUT_EVALUATORS.contains(&name)
}

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
const RUNNING_WORDS: [(&[&str], &[&str]); 7] = [
    (&["git"], &["-x", "foreach", "run"]),
    (&["tar", "gtar", "bsdtar"], &["-I", "-F"]),
    (&["rsync"], &["-e"]),
    (&["nc", "ncat", "netcat", "socat"], &["-e", "-c"]),
    (&["npm", "pnpm", "yarn", "bundle"], &["exec", "x", "dlx"]),
    (&["uv", "poetry", "pipenv"], &["run", "exec", "tool"]),
    (&["man"], &["-P", "-H"]),
];

/// The words after which this program runs the next word.
pub fn running_words(program: &str) -> impl Iterator<Item = &'static str> {
    let of_program = RUNNING_WORDS.iter().filter(move |it| it.0.contains(&program));
    of_program.flat_map(|it| it.1.iter().copied())
}

/// Options of `find` with a command, which ends with `;` or `{} +`.
const COMMANDS_OF_FIND: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];

/// True when a command that the program runs on the files it finds follows this option.
pub fn begins_command(program: &str, option: &str) -> bool {
    match program {
        "find" => COMMANDS_OF_FIND.contains(&option),
        "fd" | "fdfind" => {
            let is_cluster = option.starts_with('-') && !option.starts_with("--");
            option.starts_with("--exec") || (is_cluster && option.contains(['x', 'X']))
        }
        _ => false,
    }
}

/// Programs whose arguments can be options even after `--`.
pub const WITHOUT_END_OF_OPTIONS: [&str; 7] = ["find", "test", "[", "expr", "dd", "echo", "printf"];
