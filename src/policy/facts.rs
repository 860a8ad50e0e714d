//! Everything about one call that rules may ask for, worked out once.

use std::path::{Path, PathBuf};

use crate::tool::{Access, Risk};

use super::{
    command::{Analysis, Direction, Segment, Word, analyse},
    host_pattern::host_of,
    path_pattern::{PathIndex, PatternId},
    places::{Places, normal},
    question::Question,
    risk,
};

/// One call, looked at.
pub(super) struct Facts<'a> {
    pub(super) question: &'a Question<'a>,
    pub(super) risk: Risk,
    pub(super) paths: Vec<PathFact>,
    /// The host of each URL, where it is plain.
    pub(super) hosts: Vec<Option<String>>,
    pub(super) commands: Vec<CommandFact<'a>>,
}

/// A path that is touched, and the patterns that match it.
pub(super) struct PathFact {
    pub(super) path: PathBuf,
    pub(super) direction: Direction,
    pub(super) patterns: Vec<PatternId>,
    pub(super) is_protected: bool,
}

/// A command line that is run.
pub(super) struct CommandFact<'a> {
    pub(super) line: &'a str,
    pub(super) analysis: Analysis,
    pub(super) redirected: Vec<RedirectedFact>,
}

/// A file that a command line redirects to or from.
pub(super) struct RedirectedFact {
    /// As it is written.
    pub(super) shown: String,
    pub(super) direction: Direction,
    /// The place, where it is known.
    pub(super) path: Option<PathFact>,
    /// True for `/dev/null` and the like.
    pub(super) is_harmless: bool,
}

impl<'a> Facts<'a> {
    /// Looks at a call.
    pub(super) fn of(question: &'a Question<'a>, places: &Places, index: &PathIndex) -> Self {
        let mut facts = Self {
            question,
            risk: risk::of_call(question.origin, question.side_effect, question.annotations),
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
                    facts.commands.push(CommandFact::of(line, question, places, index));
                }
            }
        }
        facts
    }
}

impl PathFact {
    fn of(path: PathBuf, direction: Direction, places: &Places, index: &PathIndex) -> Self {
        let patterns = index.matches(&path);
        let is_protected = places.is_protected(&path);
        Self { path, direction, patterns, is_protected }
    }
}

impl<'a> CommandFact<'a> {
    fn of(line: &'a str, question: &Question, places: &Places, index: &PathIndex) -> Self {
        let analysis = analyse(line, places.home_text());
        let redirected = analysis
            .redirections
            .iter()
            .map(|it| {
                let literal = it.target.literal();
                let place = literal.and_then(|text| place_of(text, analysis.moves, question));
                RedirectedFact {
                    shown: match &it.target {
                        Word::Literal(text) | Word::Unknown { text, .. } => text.clone(),
                    },
                    direction: it.direction,
                    path: place.map(|path| PathFact::of(path, it.direction, places, index)),
                    is_harmless: matches!(
                        literal,
                        Some("/dev/null" | "/dev/stdout" | "/dev/stderr")
                    ),
                }
            })
            .collect();
        Self { line, analysis, redirected }
    }

    /// The arguments of a segment that may be paths; `None` for those that cannot be known.
    pub(super) fn arguments_as_paths(
        &self,
        segment: &Segment,
        question: &Question,
        places: &Places,
        index: &PathIndex,
    ) -> Vec<Option<PathFact>> {
        let mut found = Vec::new();
        for word in segment.words.iter().skip(1) {
            let Some(text) = word.literal() else {
                found.push(None);
                continue;
            };
            // `--file=secret` and `if=secret` name a path as well.
            let value = text.split_once('=').map(|(_, value)| value);
            for candidate in [Some(text), value].into_iter().flatten().filter(|it| !it.is_empty()) {
                let place = place_of(candidate, self.analysis.moves, question);
                found.push(place.map(|it| PathFact::of(it, Direction::Writes, places, index)));
            }
        }
        found
    }
}

/// Where a path of a command line leads. After a `cd`, only absolute paths are certain.
fn place_of(text: &str, moves: bool, question: &Question) -> Option<PathBuf> {
    let path = Path::new(text);
    if moves && path.is_relative() {
        return None;
    }
    let absolute = normal(&question.directory.join(path));
    Some(question.follow_links.map_or_else(|| absolute.clone(), |follow| follow(&absolute)))
}
