//! The files that a command line touches, derived from its text.
//!
//! Relative paths start at the current directory, which a line may change. A `cd` may fail or run in a subshell,
//! so a path may mean several places. A limit on any of them counts; a permission has to cover all of them.

mod directories;
mod lookups;
mod touched_path;

use directories::Directories;
use lookups::Lookups;
use toolwright_shell::{
    Analysis, Direction, Redirection, Role, Segment, analyse_for, may_run_side_by_side,
};
use touched_path::PathKnowledge;

use super::{
    path_pattern::PathIndex,
    places::PolicyPlaces,
    programs::{Handling, Use, handling_of, is_substitution},
    question::Question,
};

pub(super) use touched_path::TouchedPath;

/// A command line and the files that it touches.
pub(super) struct CommandFact<'a> {
    pub(super) line: &'a str,
    pub(super) analysis: Analysis,
    pub(super) redirected: Vec<RedirectedFact>,
    /// The paths that each segment uses.
    arguments: Vec<Vec<TouchedPath>>,
    /// True when it names more paths than were looked up.
    pub(super) names_too_many_paths: bool,
}

/// A file that a command line redirects to or from.
pub(super) struct RedirectedFact {
    /// The file as written.
    pub(super) shown: String,
    pub(super) direction: Direction,
    pub(super) target: TouchedPath,
    /// True for `/dev/null` and the like.
    pub(super) is_harmless: bool,
}

/// The call, and what is needed to find the files of its lines.
#[derive(Clone, Copy)]
pub(super) struct CallSurroundings<'a> {
    pub(super) question: &'a Question<'a>,
    pub(super) places: &'a PolicyPlaces,
    pub(super) index: &'a PathIndex,
}

impl<'a> CommandFact<'a> {
    pub(super) fn of(line: &'a str, around: CallSurroundings) -> Self {
        let analysis = analyse_for(around.places.shell, line, around.places.home_text());
        let lookups = Lookups::new(around.question);
        let directories = Directories::of(around, &lookups);
        let mut walk = CommandWalk { directories };
        let handlings: Vec<Handling> =
            analysis.segments.iter().map(CommandWalk::handling).collect();
        // The first command may run after the last, or at the same time.
        let again = analysis.loops || may_run_side_by_side(line);
        for (place, handling) in handlings.iter().enumerate().filter(|_| again) {
            let targets = walk.targets(handling);
            if analysis.loops {
                walk.leave(&analysis, place, handling, &targets);
            } else {
                walk.link(handling, &targets);
            }
        }
        let mut arguments = Vec::new();
        let mut redirections = analysis.redirections.iter().peekable();
        let mut redirected = Vec::new();
        for (place, handling) in handlings.iter().enumerate() {
            while let Some(it) = redirections.next_if(|it| it.after <= place) {
                redirected.push(walk.redirected(it));
            }
            let targets = walk.targets(handling);
            walk.leave(&analysis, place, handling, &targets);
            arguments.push(targets);
        }
        redirected.extend(redirections.map(|it| walk.redirected(it)));
        let names_too_many_paths = lookups.ran_out();
        Self { line, analysis, redirected, arguments, names_too_many_paths }
    }

    /// The segments, each with the paths it uses.
    pub(super) fn segments(&self) -> impl Iterator<Item = (&Segment, &[TouchedPath])> {
        self.analysis.segments.iter().zip(self.arguments.iter().map(Vec::as_slice))
    }
}

/// Visits the commands of a line in the order in which they are written.
struct CommandWalk<'w> {
    directories: Directories<'w>,
}

impl CommandWalk<'_> {
    fn handling(segment: &Segment) -> Handling {
        if segment.role == Role::Wrapper {
            return Handling::default();
        }
        handling_of(&segment.words, segment.hides_command)
    }

    /// The paths that a command uses.
    fn targets(&self, handling: &Handling) -> Vec<TouchedPath> {
        let uses = handling.uses.iter();
        let named = uses.map(|it| {
            let target = self.directories.target(&it.word, it.used, it.from_top);
            TouchedPath { below: it.below, ..target }
        });
        named.chain(handling.beyond.map(TouchedPath::anything)).collect()
    }

    fn redirected(&self, redirection: &Redirection) -> RedirectedFact {
        let Redirection { target, direction, .. } = redirection;
        let harmless = ["/dev/null", "/dev/stdout", "/dev/stderr"];
        let used = match direction {
            Direction::Reads => Use::Reads,
            Direction::Writes => Use::Writes,
        };
        let mut found = self.directories.target(target, used, false);
        // `<(…)` and `>(…)` are the output or input of another command, which is judged separately.
        found.may_be_protected &= !is_substitution(target);
        RedirectedFact {
            shown: target.text().to_owned(),
            direction: *direction,
            target: found,
            is_harmless: target.literal().is_some_and(|it| harmless.contains(&it)),
        }
    }

    /// Records what a command changes for the commands after it.
    fn leave(
        &mut self,
        analysis: &Analysis,
        place: usize,
        handling: &Handling,
        targets: &[TouchedPath],
    ) {
        self.link(handling, targets);
        if analysis.moves.is_empty() {
            return;
        }
        if let Some(segment) = analysis.segments.get(place) {
            self.directories.make(&segment.words);
        }
        let after = analysis.moves.partition_point(|it| it.segment < place);
        let moves = analysis.moves.get(after..).unwrap_or_default();
        for change in moves.iter().take_while(|it| it.segment == place) {
            self.directories.follow(&change.to);
        }
    }

    /// Records that linked, moved or unpacked paths may lead elsewhere from now on.
    fn link(&mut self, handling: &Handling, targets: &[TouchedPath]) {
        for target in targets.iter().filter(|it| handling.links && it.used.is_destination()) {
            self.directories.change(target);
        }
    }
}
