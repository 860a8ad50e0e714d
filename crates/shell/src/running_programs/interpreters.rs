//! Programs that run scripts.

/// A program that runs a script: a file among its arguments, the text of an option, or its input.
pub struct InterpreterProgram {
    /// Its names. A version may follow, as in `python3.12`.
    pub names: &'static [&'static str],
    /// Options whose value is code. A single letter also counts inside a cluster, as in `-lc`.
    pub code: &'static [&'static str],
    /// Options that take a value.
    pub valued: &'static [&'static str],
    /// True if the first argument is code, unless an option supplies the code.
    pub begins_with_code: bool,
}

impl InterpreterProgram {
    /// True for the shells of the table.
    pub fn is_shell(&self) -> bool {
        self.code.contains(&"--command")
    }
}

/// Subcommands after which the script comes, as in `bun run`.
pub const BEFORE_SCRIPT: [&str; 4] = ["run", "x", "exec", "dlx"];

const INTERPRETERS: [InterpreterProgram; 10] = [
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

/// The interpreter of this name, if it is one.
pub fn interpreter(name: &str) -> Option<&'static InterpreterProgram> {
    // `python3.12` is a python.
    let plain = name.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.');
    INTERPRETERS.iter().find(|it| it.names.contains(&name) || it.names.contains(&plain))
}

/// Shells whose options are not analysed.
const OTHER_SHELLS: [&str; 5] = ["elvish", "nu", "pwsh", "rbash", "xonsh"];

/// True for shells, which read commands from their input.
pub fn is_shell(name: &str) -> bool {
    OTHER_SHELLS.contains(&name) || interpreter(name).is_some_and(InterpreterProgram::is_shell)
}
