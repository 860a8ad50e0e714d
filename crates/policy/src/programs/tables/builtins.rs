//! Builtins, wrappers, and programs that take no files.

use super::super::{
    Operands, PLAIN, Program, Style,
    Takes::{Flag, MaybeText, Reads, Text},
    Use,
};

/// Their operands are text or numbers.
const TEXTS: Program = Program {
    names: &[
        ":", "echo", "exit", "false", "kill", "popd", "printf", "pushd", "pwd", "sleep", "true",
        "whoami", "cd", "break", "continue", "return", "wait", "jobs", "fg", "bg", "disown",
        "umask", "ulimit", "times", "shift", "set", "unset", "export", "declare", "typeset",
        "local", "readonly", "read", "getopts", "let", "alias", "unalias", "hash", "shopt", "dirs",
        "history", "basename", "dirname", "uname", "arch", "nproc", "id", "groups", "tty",
        "logname", "printenv",
    ],
    style: Style::Project,
    ..PLAIN
};

/// Programs that show or change system settings. Some read a file that an option names.
const SYSTEM: Program = Program {
    names: &[
        "hostname", "users", "who", "w", "uptime", "stty", "clear", "reset", "tput", "cal", "ps",
        "pgrep", "pkill", "killall", "free", "vmstat", "iostat", "top", "htop", "lscpu", "lsblk",
        "locale", "getconf", "getent", "sw_vers", "sysctl", "uuidgen", "pidof", "systemctl",
        "journalctl", "service", "man", "tldr", "info", "launchctl", "brew", "apt", "apt-get",
        "apk", "dnf", "yum", "pacman",
    ],
    operands: Operands::ProjectArguments(0),
    style: Style::Project,
    ..PLAIN
};

const TEST: Program = Program {
    names: &["test", "[", "[["],
    operands: Operands::TestExpression,
    style: Style::Project,
    ..PLAIN
};

const DATE: Program = Program {
    names: &["date", "gdate"],
    options: &[
        (Flag, &[
            "-u", "--utc", "--universal", "-R", "--rfc-email", "--debug", "--resolution", "--help",
            "--version", "-j", "-n",
        ]),
        (MaybeText, &["-I", "--iso-8601"]),
        (Text, &["-d", "--date", "-s", "--set", "--rfc-3339", "-v"]),
        // A file with dates. Lines that are not dates are shown.
        (Reads, &["-f", "--file", "-r", "--reference"]),
    ],
    ..PLAIN
};

const DF: Program = Program {
    names: &["df", "sync", "mountpoint", "findmnt"],
    options: &[
        (Flag, &[
            "-a", "--all", "-h", "--human-readable", "-H", "-i", "--inodes", "-k", "-l", "--local",
            "-m", "-P", "-T", "--total", "-d", "-f", "-q",
        ]),
        (MaybeText, &["--output"]),
        (Text, &["-B", "--block-size", "-t", "--type", "-x", "--exclude-type"]),
    ],
    operands: Operands::Files(Use::Reads),
    ..PLAIN
};

/// Programs that run the command that their arguments name.
pub(super) const WRAPPER: Program =
    Program { operands: Operands::Wrapped, style: Style::Project, ..PLAIN };

pub(super) const PROGRAMS: &[Program] = &[TEXTS, SYSTEM, TEST, DATE, DF];
