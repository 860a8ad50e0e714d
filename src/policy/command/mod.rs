//! What a command line runs, as far as its text tells.
//!
//! Pure and total: every text gets an answer, and the answer to what is not understood is that it is
//! not understood. Two readings are made, a broad one by grammar and a strict one by hand; only where
//! they agree is a line free of doubt.

mod analyst;
mod builtin;
mod runner;
mod subcommand;
mod variable;
mod wrapper;

use std::sync::Arc;

use analyst::Analyst;
pub(super) use subcommand::has_subcommands;

use crate::shell::{Direction, ReadingWork, ShellDialect, Word, is_variable_name};

/// What a line runs and touches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Analysis {
    /// Every simple command, wherever it stands.
    pub segments: Vec<Segment>,
    /// Every file that a redirection names.
    pub redirections: Vec<Redirection>,
    /// Why the line may do more than its segments say; empty when it cannot.
    pub doubts: Vec<Doubt>,
    /// Why a part of the line was not looked into, if one was not: there may be any command in it.
    pub unread: Option<&'static str>,
    /// Every change of the directory.
    pub moves: Vec<Move>,
    /// True with a loop, in which what stands first may run after what stands last.
    pub loops: bool,
}

/// Why a line may do more than its segments say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// What the line does.
    pub why: String,
    /// The segment that is to blame, where a rule that spells it out ends the doubt.
    pub segment: Option<usize>,
}

/// A variable that is set for one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The variable.
    pub name: String,
    /// What it is set to.
    pub value: Word,
}

impl Setting {
    /// True when it changes nothing that matters.
    pub(super) fn is_harmless(&self) -> bool {
        variable::is_harmless(&self.name, &self.value)
    }
}

/// A change of the directory that relative paths start from. It may fail or happen in a subshell, so that
/// the directory before it may count as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The place of the command among the segments.
    pub segment: usize,
    /// Where it leads.
    pub to: Destination,
}

/// Where a change of the directory leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// To this directory, from the one before.
    Directory(String),
    /// Home.
    Home,
    /// Somewhere.
    Unknown,
}

/// One simple command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The command as it is written, or as a wrapper would run it.
    pub text: String,
    /// The program and its arguments.
    pub words: Vec<Word>,
    /// The variables that are set for it, by itself or by what it stands in.
    pub environment: Arc<[Setting]>,
    /// What it takes to allow it.
    pub role: Role,
    /// The wrapper that runs it.
    pub within: Option<Within>,
    /// True when the program runs something that its words do not tell.
    pub hides_command: bool,
}

/// What a segment is to the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It needs a permission.
    Command,
    /// It only runs another segment, which needs the permission: `timeout 5 …`.
    Wrapper,
    /// It does nothing: `true`, `:`.
    Neutral,
}

/// Where a wrapped command stands in its wrapper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Within {
    /// The wrapper's place among the segments.
    pub segment: usize,
    /// The place of the program among the wrapper's words.
    pub word: usize,
}

/// A file that is opened by the shell itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirection {
    /// The file.
    pub target: Word,
    /// What is done with it.
    pub direction: Direction,
    /// How many segments stand before it.
    pub after: usize,
}

/// Takes a command line of bash apart. `home` is what `~` stands for.
pub fn analyse(line: &str, home: Option<&str>) -> Analysis {
    analyse_for(ShellDialect::Bash, line, home)
}

/// Takes a command line apart as a shell would.
pub fn analyse_for(shell: ShellDialect, line: &str, home: Option<&str>) -> Analysis {
    analyse_counting(shell, line, home).0
}

/// The same, with the work that it took.
pub fn analyse_counting(
    shell: ShellDialect,
    line: &str,
    home: Option<&str>,
) -> (Analysis, ReadingWork) {
    Analyst::analyse(shell, line, home)
}

/// The name and the value of a word that sets a variable.
pub(super) fn setting_of(word: &str) -> Option<(&str, &str)> {
    word.split_once('=').filter(|it| is_variable_name(it.0))
}

/// True for programs that no rule about the start of their command allows: what they run is not looked
/// into, or they are builtins that run code.
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

/// The line without what the shell leaves away before and after it. Nothing else is left away: a
/// no-break space at the end is a part of the last word.
pub(super) fn trimmed(line: &str) -> &str {
    let trimmed = line.trim_matches([' ', '\t', '\n']);
    // `x\ ` is not `x\`.
    if trimmed.ends_with('\\') { line } else { trimmed }
}
