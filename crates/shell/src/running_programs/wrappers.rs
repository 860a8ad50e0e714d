//! Programs whose arguments are another command: `env`, `timeout`, `xargs`…
//!
//! The table is short on purpose. If an option is not listed, the wrapped command is not known.

/// A program that runs another program, which its arguments name.
pub struct WrapperProgram {
    names: &'static [&'static str],
    /// Options without a value.
    pub flags: &'static [&'static str],
    /// Options with a value, either joined to the option or in the next word.
    pub valued: &'static [&'static str],
    /// Options with the directory in which the command runs.
    pub moving: &'static [&'static str],
    /// How many words come between the options and the command.
    pub operands: usize,
}

/// The defaults of the table.
const PLAIN: WrapperProgram =
    WrapperProgram { names: &[], flags: &[], valued: &[], moving: &[], operands: 0 };

const WRAPPERS: [WrapperProgram; 10] = [
    WrapperProgram {
        names: &["env"],
        flags: &["-i", "--ignore-environment", "-", "-0", "--null"],
        valued: &["-u", "--unset"],
        moving: &["-C", "--chdir"],
        ..PLAIN
    },
    WrapperProgram {
        names: &["timeout"],
        flags: &["--preserve-status", "--foreground", "-v", "--verbose"],
        valued: &["-k", "--kill-after", "-s", "--signal"],
        operands: 1,
        ..PLAIN
    },
    WrapperProgram { names: &["nice"], valued: &["-n", "--adjustment"], ..PLAIN },
    WrapperProgram { names: &["nohup", "builtin", "command", "exec"], ..PLAIN },
    // Its arguments are joined to a line.
    WrapperProgram { names: &["eval"], ..PLAIN },
    WrapperProgram { names: &["time"], flags: &["-p"], ..PLAIN },
    WrapperProgram { names: &["setsid"], flags: &["-f", "--fork", "-w", "--wait"], ..PLAIN },
    WrapperProgram {
        names: &["stdbuf"],
        valued: &["-i", "-o", "-e", "--input", "--output", "--error"],
        ..PLAIN
    },
    WrapperProgram {
        names: &["xargs"],
        flags: &["-0", "--null", "-r", "--no-run-if-empty", "-t", "--verbose", "-x", "--exit"],
        valued: &["-I", "-n", "-L", "-P", "-s", "-d", "--max-args", "--max-procs", "--delimiter"],
        ..PLAIN
    },
    WrapperProgram {
        names: &["sudo"],
        flags: &["-n", "--non-interactive", "-E", "-H", "-k", "-S"],
        valued: &["-u", "--user", "-g", "--group"],
        ..PLAIN
    },
];

/// The wrapper of this name, if it is one.
pub fn wrapper(name: &str) -> Option<&'static WrapperProgram> {
    WRAPPERS.iter().find(|it| it.names.contains(&name))
}
