//! The programs and options that run or interpret what they are given, as tables.
//!
//! The lists are strict on purpose: whoever needs more writes a script file and has the template run that.

/// Programs that interpret any argument, or run what their arguments name.
pub(super) const RUN_THEIR_ARGUMENTS: [&str; 30] = [
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

/// Programs that run what they read, which in a pipe may be a value, and commands of the shell that can refer to
/// every value of the script, by `$1` and so on.
pub(super) const RUN_ANY_VALUE: [&str; 21] = [
    ".", "alias", "at", "batch", "coproc", "doas", "ed", "eval", "ex", "gdb", "mysql", "parallel",
    "psql", "shift", "source", "sqlite3", "ssh", "su", "sudo", "trap", "xargs",
];

/// Programs that run another one, which is among their arguments.
pub(super) struct WrapperProgram {
    pub(super) names: &'static [&'static str],
    pub(super) flags: &'static [&'static str],
    pub(super) valued: &'static [&'static str],
    /// How many words come between the options and the program.
    pub(super) operands: usize,
}

pub(super) const WRAPPERS: [WrapperProgram; 6] = [
    WrapperProgram {
        names: &["env"],
        flags: &["-i", "--ignore-environment", "-"],
        valued: &["-u", "--unset", "-C", "--chdir"],
        operands: 0,
    },
    WrapperProgram {
        names: &["timeout"],
        flags: &["--preserve-status", "--foreground", "-v", "--verbose"],
        valued: &["-k", "--kill-after", "-s", "--signal"],
        operands: 1,
    },
    WrapperProgram { names: &["nice"], flags: &[], valued: &["-n", "--adjustment"], operands: 0 },
    WrapperProgram {
        names: &["nohup", "builtin", "exec", "time"],
        flags: &["-p"],
        valued: &[],
        operands: 0,
    },
    WrapperProgram { names: &["command"], flags: &["-p", "-v", "-V"], valued: &[], operands: 0 },
    WrapperProgram {
        names: &["stdbuf", "setsid"],
        flags: &["-f", "--fork", "-w", "--wait"],
        valued: &["-i", "-o", "-e", "--input", "--output", "--error"],
        operands: 0,
    },
];

/// Programs that run a script: a file among their arguments, the text of an option, or their input.
pub(super) struct InterpreterProgram {
    pub(super) names: &'static [&'static str],
    /// Options whose value is code. A single letter also counts inside a cluster, as in `-lc`.
    pub(super) code: &'static [&'static str],
    /// Options that take a value.
    pub(super) valued: &'static [&'static str],
    /// True when the first argument is code itself, unless an option brings some.
    pub(super) begins_with_code: bool,
}

pub(super) const INTERPRETERS: [InterpreterProgram; 10] = [
    InterpreterProgram {
        names: &["sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "fish", "yash", "csh", "tcsh"],
        code: &["c", "--command"],
        valued: &["-o", "-O", "--rcfile", "--init-file"],
        begins_with_code: false,
    },
    InterpreterProgram {
        names: &["python", "pypy"],
        code: &["c"],
        valued: &["-W", "-X"],
        begins_with_code: false,
    },
    InterpreterProgram {
        names: &["node", "nodejs", "bun", "deno"],
        code: &["e", "p", "--eval", "--print", "eval", "repl"],
        valued: &["-r", "--require", "--import", "--loader"],
        begins_with_code: false,
    },
    InterpreterProgram {
        names: &["perl"],
        code: &["e", "E"],
        valued: &["-I", "-M", "-m"],
        begins_with_code: false,
    },
    InterpreterProgram {
        names: &["ruby", "lua", "luajit", "Rscript", "julia", "elixir", "tclsh"],
        code: &["e", "E", "--eval"],
        valued: &["-I", "-r", "-l"],
        begins_with_code: false,
    },
    InterpreterProgram {
        names: &["php"],
        code: &["r", "R", "B", "E", "--run"],
        valued: &["-d", "-c", "-z"],
        begins_with_code: false,
    },
    InterpreterProgram {
        names: &["awk", "gawk", "mawk", "nawk", "original-awk"],
        code: &["e", "--source"],
        valued: &["-F", "-v", "-f", "--field-separator", "--assign", "--file"],
        begins_with_code: true,
    },
    InterpreterProgram {
        names: &["sed", "gsed"],
        code: &["e", "--expression"],
        valued: &["-f", "--file", "-l"],
        begins_with_code: true,
    },
    InterpreterProgram {
        names: &["npx", "bunx", "pnpx", "uvx", "pipx"],
        code: &["c", "--call"],
        valued: &["-p", "--package", "--from"],
        begins_with_code: false,
    },
    InterpreterProgram {
        names: &["pwsh", "powershell"],
        code: &["c", "-Command", "-c"],
        valued: &[],
        begins_with_code: false,
    },
];

/// What names the input of a program.
pub(super) const STANDARD_INPUT: [&str; 4] = ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// Options of any program whose value is run, or says what is run.
pub(super) const RUNNING_OPTIONS: [&str; 34] = [
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

/// Words of single programs that name what is run in the next word.
pub(super) const RUNNING_WORDS: [(&[&str], &[&str]); 7] = [
    (&["git"], &["-x", "foreach", "run"]),
    (&["tar", "gtar", "bsdtar"], &["-I", "-F"]),
    (&["rsync"], &["-e"]),
    (&["nc", "ncat", "netcat", "socat"], &["-e", "-c"]),
    (&["npm", "pnpm", "yarn", "bundle"], &["exec", "x", "dlx"]),
    (&["uv", "poetry", "pipenv"], &["run", "exec", "tool"]),
    (&["man"], &["-P", "-H"]),
];

/// Programs whose arguments can be options even behind `--`.
pub(super) const WITHOUT_END_OF_OPTIONS: [&str; 7] =
    ["find", "test", "[", "expr", "dd", "echo", "printf"];
