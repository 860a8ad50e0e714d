//! Everything about a call that rules can refer to, computed once.

use std::path::PathBuf;

use toolwright_base::{Access, Risk};
use toolwright_shell::Direction;

use super::{
    host_pattern::host_of,
    path_pattern::{PathIndex, PatternId},
    places::PolicyPlaces,
    question::Question,
    risk,
    touched_files::{CallSurroundings, CommandFact},
};

/// The facts about one call.
pub(super) struct Facts<'a> {
    pub(super) question: &'a Question<'a>,
    pub(super) risk: Risk,
    pub(super) paths: Vec<PathFact>,
    /// The host of each URL; `None` if it is not certain.
    pub(super) hosts: Vec<Option<String>>,
    pub(super) commands: Vec<CommandFact<'a>>,
    pub(super) around: CallSurroundings<'a>,
}

/// A touched path, and the patterns that match it.
pub(super) struct PathFact {
    pub(super) path: PathBuf,
    pub(super) direction: Direction,
    pub(super) patterns: Vec<PatternId>,
    pub(super) is_protected: bool,
}

impl<'a> Facts<'a> {
    /// Collects the facts about a call.
    pub(super) fn of(
        question: &'a Question<'a>,
        places: &'a PolicyPlaces,
        index: &'a PathIndex,
    ) -> Self {
        let around = CallSurroundings { question, places, index };
        let mut facts = Self {
            around,
            question,
            risk: risk::believed_side_effect(question).risk(),
            paths: Vec::new(),
            hosts: Vec::new(),
            commands: Vec::new(),
        };
        for access in question.accesses {
            match access {
                Access::Read(path) => {
                    facts.paths.push(PathFact::of(path.clone(), Direction::Reads, places, index));
                }
                Access::Write(path) => {
                    facts.paths.push(PathFact::of(path.clone(), Direction::Writes, places, index));
                }
                Access::Connect(url) => facts.hosts.push(host_of(url)),
                Access::Run(line) => {
                    facts.commands.push(CommandFact::of(line, around));
                }
            }
        }
        facts
    }
}

impl PathFact {
    pub(super) fn of(
        path: PathBuf,
        direction: Direction,
        places: &PolicyPlaces,
        index: &PathIndex,
    ) -> Self {
        let patterns = index.matches(&path);
        let is_protected = places.is_protected(&path);
        Self { path, direction, patterns, is_protected }
    }
}
