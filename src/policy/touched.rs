//! The files that a command line names, as far as its text tells.
//!
//! What a relative path means depends on the directory, and a line may change that. A `cd` may fail or
//! happen in a subshell, so a path may mean several places: a limit counts for each of them, a permission
//! only for all.

use std::{
    cell::OnceCell,
    path::{Path, PathBuf},
};

use super::{
    command::{Analysis, Destination, Direction, Role, Segment, Word, analyse_for},
    facts::PathFact,
    path_pattern::PathIndex,
    places::{Places, is_protected_name, normal},
    programs::{self, Use},
    question::Question,
};

/// More directories than this are not followed.
const MAX_DIRECTORIES: usize = 8;

/// A command line that is run.
pub(super) struct CommandFact<'a> {
    pub(super) line: &'a str,
    pub(super) analysis: Analysis,
    pub(super) redirected: Vec<RedirectedFact>,
    /// What each segment is given; worked out where somebody asks.
    arguments: OnceCell<Vec<Vec<Target>>>,
}

/// A file that a command line redirects to or from.
pub(super) struct RedirectedFact {
    /// As it is written.
    pub(super) shown: String,
    pub(super) direction: Direction,
    pub(super) target: Target,
    /// True for `/dev/null` and the like.
    pub(super) is_harmless: bool,
}

/// How much of a path is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It means one of the places that are given for it.
    Place,
    /// The path is written out, but it may also lead elsewhere.
    Path,
    Nothing,
}

/// A path of a command line.
pub(super) struct Target {
    /// The places it may mean.
    pub(super) places: Vec<PathFact>,
    pub(super) known: Known,
    /// True when files are put there and none is read.
    pub(super) is_destination: bool,
    /// True for a word that is not known and names a protected place all the same: `.git/*`.
    pub(super) mentions_protected: bool,
}

impl Target {
    fn unknown(text: &str) -> Self {
        let mentions_protected = text.split('/').any(is_protected_name);
        Self {
            places: Vec::new(),
            known: Known::Nothing,
            is_destination: false,
            mentions_protected,
        }
    }

    /// The places, where all of them are known.
    pub(super) fn known(&self) -> Option<&[PathFact]> {
        self.is_known().then_some(&*self.places)
    }

    pub(super) fn is_known(&self) -> bool {
        self.known == Known::Place
    }
}

/// The directories that a part of a line may run in.
#[derive(Clone)]
struct Directories<'l> {
    known: Vec<PathBuf>,
    /// False when it may run elsewhere.
    is_complete: bool,
    /// Names of directories that the line makes.
    made: Vec<&'l str>,
}

impl Directories<'_> {
    /// True for a directory that the line makes, which is no link then.
    fn makes(&self, directory: &Path) -> bool {
        let makes = |from: &PathBuf, name: &str| {
            // With those on the way to it.
            directory != from
                && directory.starts_with(from)
                && normal(&from.join(name)).starts_with(directory)
        };
        self.made.iter().any(|name| self.known.iter().any(|from| makes(from, name)))
    }
}

/// What there is to look at a line with.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'a> {
    pub(super) question: &'a Question<'a>,
    pub(super) places: &'a Places,
    pub(super) index: &'a PathIndex,
}

impl<'a> CommandFact<'a> {
    pub(super) fn of(line: &'a str, around: Surroundings) -> Self {
        let analysis = analyse_for(around.places.shell, line, around.places.home_text());
        let redirected = analysis.redirections.iter().map(|it| {
            let directories = around.directories(&analysis, it.after);
            let harmless = ["/dev/null", "/dev/stdout", "/dev/stderr"];
            RedirectedFact {
                shown: it.target.text().to_owned(),
                direction: it.direction,
                target: around.target(&it.target, &directories, it.direction),
                is_harmless: it.target.literal().is_some_and(|it| harmless.contains(&it)),
            }
        });
        let redirected = redirected.collect();
        Self { line, analysis, redirected, arguments: OnceCell::new() }
    }

    /// The segments, each with those of its arguments that may be paths.
    pub(super) fn segments(
        &self,
        around: Surroundings,
    ) -> impl Iterator<Item = (&Segment, &[Target])> {
        let arguments = self.arguments.get_or_init(|| {
            let segments = self.analysis.segments.iter().enumerate();
            segments.map(|(at, it)| around.arguments(&self.analysis, at, it)).collect()
        });
        self.analysis.segments.iter().zip(arguments.iter().map(Vec::as_slice))
    }
}

impl Surroundings<'_> {
    /// The arguments of a segment that may be paths.
    fn arguments(self, analysis: &Analysis, at: usize, segment: &Segment) -> Vec<Target> {
        let words = &segment.words;
        if segment.role == Role::Wrapper || Use::of(words) == Use::None {
            return Vec::new();
        }
        let directories = self.directories(analysis, at);
        let mut found = Vec::new();
        let destination = programs::destination(words);
        let mut add = |word: &Word, place: usize| {
            let target = self.target(word, &directories, Direction::Writes);
            found.push(Target { is_destination: destination == Some(place), ..target });
        };
        let reads_commands = matches!(programs::name_of(words), Some("sh" | "bash" | "dash"));
        if segment.hides_command && reads_commands {
            add(&Word::unknown("…", "comes from its input"), 0);
        }
        for (place, word) in words.iter().enumerate().skip(1) {
            let Some(text) = word.literal() else {
                add(word, place);
                continue;
            };
            // A script that is not looked into may name anything.
            if segment.hides_command
                && text.contains([' ', '\t', '\n', ';', '|', '&', '<', '>', '$'])
            {
                add(&Word::unknown(text, "is a script"), place);
            }
            // `--file=secret`, `if=secret` and `@secret` name a path as well.
            let value = text.split_once('=').map(|(_, value)| value);
            let file = value.unwrap_or(text).strip_prefix('@');
            for path in [Some(text), value, file].into_iter().flatten().filter(|it| !it.is_empty())
            {
                add(&Word::Literal(path.to_owned()), place);
            }
        }
        if programs::searches_here(words) {
            add(&Word::Literal(".".to_owned()), 0);
        }
        found
    }

    /// Where a part of the line runs that has so many segments before it.
    fn directories(self, analysis: &Analysis, at: usize) -> Directories<'_> {
        let start = vec![self.question.directory.to_owned()];
        let mut directories = Directories { known: start, is_complete: true, made: Vec::new() };
        // Otherwise nobody asks what is made.
        if !analysis.moves.is_empty() {
            let before =
                analysis.segments.iter().take(if analysis.loops { usize::MAX } else { at });
            let makers = before.filter(|it| programs::name_of(&it.words) == Some("mkdir"));
            let names = makers.flat_map(|it| it.words.iter().skip(1)).filter_map(Word::literal);
            directories.made.extend(names);
        }
        for change in analysis.moves.iter().filter(|it| analysis.loops || it.segment < at) {
            match (&change.to, self.places.home_text()) {
                (Destination::Directory(to), _) => self.follow(Path::new(to), &mut directories),
                (Destination::Home, Some(home)) => self.follow(Path::new(home), &mut directories),
                (Destination::Home, None) | (Destination::Unknown, _) => {
                    directories.is_complete = false;
                }
            }
        }
        directories
    }

    /// Adds the directories that a `cd` leads to, from each there may have been.
    fn follow(self, to: &Path, directories: &mut Directories<'_>) {
        for from in directories.known.clone() {
            let plain = normal(&from.join(to));
            // The shell takes `..` away by the text, and only if that leads nowhere as the system does.
            let is_plain =
                self.place_from(&from, to, directories) == self.question.place_of(&plain);
            directories.is_complete &= is_plain;
            if directories.known.contains(&plain) {
                continue;
            }
            if directories.known.len() == MAX_DIRECTORIES {
                directories.is_complete = false;
                return;
            }
            directories.known.push(plain);
        }
    }

    /// Where a path leads from a directory. One that is yet to be made has no parent to go to, but will
    /// have the one it is made in.
    fn place_from(
        self,
        start: &Path,
        path: &Path,
        directories: &Directories<'_>,
    ) -> Option<PathBuf> {
        self.question.place_of(&start.join(path)).or_else(|| {
            let real = self.question.place_of(start).filter(|_| directories.makes(start))?;
            self.question.place_of(&normal(&real.join(path)))
        })
    }

    fn target(self, word: &Word, directories: &Directories<'_>, direction: Direction) -> Target {
        let Some(text) = word.literal() else { return Target::unknown(word.text()) };
        let path = Path::new(text);
        let is_absolute = path.is_absolute();
        let starts = directories.known.iter().take(if is_absolute { 1 } else { usize::MAX });
        let mut target = Target {
            places: Vec::new(),
            known: if is_absolute || directories.is_complete { Known::Place } else { Known::Path },
            is_destination: false,
            mentions_protected: false,
        };
        for start in starts {
            match self.place_from(start, path, directories) {
                Some(place) => {
                    target.places.push(PathFact::of(place, direction, self.places, self.index));
                }
                None => target.known = Known::Path,
            }
        }
        target
    }
}
