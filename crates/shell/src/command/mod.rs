//! Finds the commands that a command line runs, from its text.
//!
//! `shell` reads a line twice, with a broad grammar and with a strict lexer. If both agree, there is no doubt
//! about what the line runs. This module finds commands inside other commands (`timeout 5 rm x`, `sh -c '…'`)
//! and records as a [`Doubt`] everything by which the line may do more than its commands say. The analysis never
//! fails: text that is not understood becomes a doubt.

mod analyst;
mod builtin;
mod variable;
mod wrapper;

use std::sync::Arc;

use analyst::Analyst;

use crate::{
    Direction, ReadingWork, ShellDialect, Word, is_variable_name,
    running_programs::{has_subcommands, is_runner, may_run_another},
};
/// The commands, redirections and doubts of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Analysis {
    /// Every simple command, including nested ones.
    pub segments: Vec<Segment>,
    /// Every file that a redirection names.
    pub redirections: Vec<Redirection>,
    /// Why the line may do more than its segments say; empty if it cannot.
    pub doubts: Vec<Doubt>,
    /// Why a part of the line was not read, if so. It may contain any command.
    pub unread: Option<&'static str>,
    /// Every change of the current directory.
    pub moves: Vec<Move>,
    /// True when the line has a loop. In a loop, the first command may run after the last.
    pub loops: bool,
}

/// Why a line may do more than its segments say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// The doubt, as the end of a sentence that starts with "the command line".
    pub why: String,
    /// The segment that causes the doubt, if a rule that names it removes the doubt.
    pub segment: Option<usize>,
}

/// A variable that is set for one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The name of the variable.
    pub name: String,
    /// The value that it is set to.
    pub value: Word,
}

impl Setting {
    /// True when it does not change what commands run, load or write.
    pub fn is_harmless(&self) -> bool {
        variable::is_harmless(&self.name, &self.value)
    }
}

/// A change of the current directory. It may fail or happen in a subshell, so relative paths may still
/// start from the directory before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The index of the command among the segments.
    pub segment: usize,
    /// The new directory.
    pub to: Destination,
}

/// The target of a change of the current directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// This directory, relative to the previous one.
    Directory(String),
    /// The home directory.
    Home,
    /// A directory that is not known.
    Unknown,
}

/// One simple command of a line, or one that another command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The command as it is written, or as a wrapper would run it.
    pub text: String,
    /// The program and its arguments.
    pub words: Vec<Word>,
    /// The variables that are set for it, by itself or by a command around it.
    pub environment: Arc<[Setting]>,
    /// Whether it needs a permission.
    pub role: Role,
    /// The wrapper that runs it.
    pub within: Option<Within>,
    /// True when the program runs something that its words do not show.
    pub hides_command: bool,
}

/// Whether a segment needs a permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It needs a permission.
    Command,
    /// It only runs another segment, which needs the permission: `timeout 5 …`.
    Wrapper,
    /// It does nothing: `true`, `:`.
    Neutral,
}

/// The place of a wrapped command in its wrapper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Within {
    /// The index of the wrapper among the segments.
    pub segment: usize,
    /// The index of the program among the wrapper's words.
    pub word: usize,
}

/// A file that the shell itself opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirection {
    /// The word that names the file.
    pub target: Word,
    /// Whether it is read or written.
    pub direction: Direction,
    /// How many segments come before it.
    pub after: usize,
}

/// Analyses a command line of bash. `home` is the value of `~`.
pub fn analyse(line: &str, home: Option<&str>) -> Analysis {
    analyse_for(ShellDialect::Bash, line, home)
}

/// Analyses a command line of a shell.
pub fn analyse_for(shell: ShellDialect, line: &str, home: Option<&str>) -> Analysis {
    analyse_counting(shell, line, home).0
}

/// Like [`analyse_for`], and returns the work that it took.
pub fn analyse_counting(
    shell: ShellDialect,
    line: &str,
    home: Option<&str>,
) -> (Analysis, ReadingWork) {
    Analyst::analyse(shell, line, home)
}

/// The name and the value of a `NAME=value` word.
pub fn setting_of(word: &str) -> Option<(&str, &str)> {
    word.split_once('=').filter(|it| is_variable_name(it.0))
}

/// True for commands that a rule such as `program:*` does not allow: they run something that their words do
/// not show, or they are builtins that run code.
pub fn is_never_allowed(words: &[&str]) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    let program = program.rsplit('/').next().unwrap_or(program);
    if is_runner(program) || (program == "time" && rest.is_empty()) {
        return true;
    }
    let literal = |it: &&str| Word::Literal((*it).to_owned());
    if has_subcommands(program) {
        let words: Vec<Word> = words.iter().map(literal).collect();
        return !rest.is_empty() && may_run_another(program, &words);
    }
    // `set -e` is fine.
    program != "set" && builtin::hazard(&[program, "X"].map(|it| literal(&it))).is_some()
}

/// The line without the blanks that a shell ignores before and after it. Other white space stays: a
/// no-break space at the end is a part of the last word.
pub fn trimmed(line: &str) -> &str {
    let trimmed = line.trim_matches([' ', '\t', '\n']);
    // `x\ ` is not `x\`.
    if trimmed.ends_with('\\') { line } else { trimmed }
}
