//! What a command line runs, as far as its text says.
//!
//! `shell` reads a line twice, by a broad grammar and by a strict lexer. Only where both agree is there no
//! doubt about what a line runs. Here commands are found in other commands (`timeout 5 rm x`, `sh -c '…'`),
//! and what makes a line more than its commands is noted as a [`Doubt`]. Every text gets an answer; text
//! that is not understood is said not to be.

mod analyst;
mod builtin;
mod runner;
mod subcommand;
mod variable;
mod wrapper;

use std::sync::Arc;

use analyst::Analyst;
pub(crate) use runner::is_runner;
pub(super) use subcommand::has_subcommands;

use crate::shell::{Direction, ReadingWork, ShellDialect, Word, is_variable_name};

/// The commands, redirections and doubts of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Analysis {
    /// Every simple command, also nested ones.
    pub(crate) segments: Vec<Segment>,
    /// Every file that a redirection names.
    pub(crate) redirections: Vec<Redirection>,
    /// Why the line may do more than its segments say; empty if it cannot.
    pub(crate) doubts: Vec<Doubt>,
    /// Why a part of the line was not read, if one was not. There may be any command in it.
    pub(crate) unread: Option<&'static str>,
    /// Every change of the current directory.
    pub(crate) moves: Vec<Move>,
    /// True when the line has a loop. In a loop, the first command may run after the last.
    pub(crate) loops: bool,
}

/// Why a line may do more than its segments say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Doubt {
    /// What is doubtful, as the end of a sentence about the line.
    pub(crate) why: String,
    /// The segment that causes the doubt, if a rule that spells it out removes the doubt.
    pub(crate) segment: Option<usize>,
}

/// A variable that is set for one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    /// The name of the variable.
    pub(crate) name: String,
    /// The value that it is set to.
    pub(crate) value: Word,
}

impl Setting {
    /// True when it does not change what commands run, load or write.
    pub(super) fn is_harmless(&self) -> bool {
        variable::is_harmless(&self.name, &self.value)
    }
}

/// A change of the current directory. It may fail or happen in a subshell, so relative paths may still
/// start from the directory before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Move {
    /// The index of the command among the segments.
    pub(crate) segment: usize,
    /// The new directory.
    pub(crate) to: Destination,
}

/// The target of a change of the current directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// This directory, seen from the one before.
    Directory(String),
    /// The home directory.
    Home,
    /// A directory that is not known.
    Unknown,
}

/// One simple command of a line, or one that another command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// The command as it is written, or as a wrapper would run it.
    pub(crate) text: String,
    /// The program and its arguments.
    pub(crate) words: Vec<Word>,
    /// The variables that are set for it, by itself or by what it is nested in.
    pub(crate) environment: Arc<[Setting]>,
    /// Whether it needs a permission.
    pub(crate) role: Role,
    /// The wrapper that runs it.
    pub(crate) within: Option<Within>,
    /// True when the program runs something that its words do not show.
    pub(crate) hides_command: bool,
}

/// Whether a segment needs a permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It needs a permission.
    Command,
    /// It only runs another segment, which needs the permission itself: `timeout 5 …`.
    Wrapper,
    /// It does nothing: `true`, `:`.
    Neutral,
}

/// The place of a wrapped command in its wrapper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Within {
    /// The index of the wrapper among the segments.
    pub(crate) segment: usize,
    /// The index of the program among the wrapper's words.
    pub(crate) word: usize,
}

/// A file that the shell itself opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Redirection {
    /// The word that names the file.
    pub(crate) target: Word,
    /// Whether it is read or written.
    pub(crate) direction: Direction,
    /// How many segments stand before it.
    pub(crate) after: usize,
}

/// Analyses a command line of bash. `home` is the value of `~`.
pub fn analyse(line: &str, home: Option<&str>) -> Analysis {
    analyse_for(ShellDialect::Bash, line, home)
}

/// Analyses a command line of a shell.
pub(crate) fn analyse_for(shell: ShellDialect, line: &str, home: Option<&str>) -> Analysis {
    analyse_counting(shell, line, home).0
}

/// The same, and the work that it took.
pub fn analyse_counting(
    shell: ShellDialect,
    line: &str,
    home: Option<&str>,
) -> (Analysis, ReadingWork) {
    Analyst::analyse(shell, line, home)
}

/// The name and the value of a `NAME=value` word.
pub(super) fn setting_of(word: &str) -> Option<(&str, &str)> {
    word.split_once('=').filter(|it| is_variable_name(it.0))
}

/// True for commands that a rule such as `program:*` does not allow: they run something that their words do
/// not show, or they are builtins that run code.
pub(super) fn is_never_allowed(words: &[&str]) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    let program = program.rsplit('/').next().unwrap_or(program);
    if runner::is_runner(program) || (program == "time" && rest.is_empty()) {
        return true;
    }
    let literal = |it: &&str| Word::Literal((*it).to_owned());
    if subcommand::has_subcommands(program) {
        let words: Vec<Word> = words.iter().map(literal).collect();
        return !rest.is_empty() && subcommand::may_run_another(program, &words);
    }
    // `set -e` is fine.
    program != "set" && builtin::hazard(&[program, "X"].map(|it| literal(&it))).is_some()
}

/// The line without the blanks that a shell ignores before and after it. Other white space stays: a
/// no-break space at the end is a part of the last word.
pub(super) fn trimmed(line: &str) -> &str {
    let trimmed = line.trim_matches([' ', '\t', '\n']);
    // `x\ ` is not `x\`.
    if trimmed.ends_with('\\') { line } else { trimmed }
}
