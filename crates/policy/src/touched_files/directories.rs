//! The directories in which the commands of a line may run, and where paths lead from there.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use toolwright_shell::{Destination, Direction, Word};

use super::{
    super::{
        facts::PathFact,
        places::{is_protected_name, normal},
        programs::{Use, name_of},
    },
    CallSurroundings, PathKnowledge, TouchedPath,
    lookups::{Leads, Lookups, is_per_process},
};

/// How many possible working directories are followed.
const MAX_DIRECTORIES: usize = 8;
/// The longest directory that is followed, beyond the one in which the line starts.
const MAX_DIRECTORY_BYTES: usize = 512;
/// How many changed places are tracked. If there are more, every place counts as changed.
const MAX_CHANGED: usize = 64;
/// How many new directories are tracked.
const MAX_MADE: usize = 256;

/// The directories in which the next command may run.
pub(super) struct Directories<'w> {
    around: CallSurroundings<'w>,
    lookups: &'w Lookups<'w>,
    known: Vec<PathBuf>,
    /// False when the command may also run in an unknown directory.
    is_complete: bool,
    /// True when the command may run in more directories than are followed.
    is_cut: bool,
    /// Directories that the line creates, which are therefore not links.
    made: HashSet<PathBuf>,
    /// Places that may lead elsewhere now, with everything below them.
    changed: Vec<PathBuf>,
    is_all_changed: bool,
}

impl<'w> Directories<'w> {
    pub(super) fn of(around: CallSurroundings<'w>, lookups: &'w Lookups<'w>) -> Self {
        Self {
            around,
            lookups,
            known: vec![around.question.directory.to_owned()],
            is_complete: true,
            is_cut: false,
            made: HashSet::new(),
            changed: Vec::new(),
            is_all_changed: false,
        }
    }

    /// Records the directories that `mkdir` creates, with their parents.
    pub(super) fn make(&mut self, words: &[Word]) {
        if name_of(words) != Some("mkdir") {
            return;
        }
        for name in words.iter().skip(1).filter_map(Word::literal) {
            if !self.lookups.take_places(self.known.len()) {
                return;
            }
            for from in &self.known {
                let made = normal(&from.join(name));
                if made.as_os_str().len() > MAX_DIRECTORY_BYTES || self.made.len() > MAX_MADE {
                    return;
                }
                let new = made.ancestors().take_while(|it| it != from && it.starts_with(from));
                self.made.extend(new.map(Path::to_owned));
            }
        }
    }

    /// Records that a path may lead elsewhere from now on.
    pub(super) fn change(&mut self, target: &TouchedPath) {
        self.is_all_changed |=
            !target.is_spelled_out() || self.changed.len() + target.places.len() > MAX_CHANGED;
        if !self.is_all_changed {
            self.changed.extend(target.places.iter().map(|it| it.path.clone()));
        }
    }

    /// Adds the directories that a `cd` leads to, from each of the current ones.
    pub(super) fn follow(&mut self, to: &Destination) {
        match (to, self.around.places.home_text()) {
            (Destination::Directory(to), _) => self.follow_path(Path::new(to)),
            (Destination::Home, Some(home)) => self.follow_path(Path::new(home)),
            (Destination::Home, None) | (Destination::Unknown, _) => self.is_complete = false,
        }
    }

    fn follow_path(&mut self, to: &Path) {
        if !self.lookups.take_places(self.known.len()) {
            self.is_cut = true;
            return;
        }
        for from in self.known.clone() {
            let plain = normal(&from.join(to));
            if plain.as_os_str().len() > MAX_DIRECTORY_BYTES + self.start_bytes() {
                self.is_cut = true;
                return;
            }
            // The shell resolves `..` in the text first. Only if the result does not exist does it ask the file
            // system.
            let place = self.lookups.place_of(&plain);
            let is_plain = self.place_from(&from, to) == place;
            self.is_cut |= place == Leads::Unseen;
            self.is_complete &= is_plain && !self.is_changed(&plain) && !is_per_process(&plain);
            if self.known.contains(&plain) {
                continue;
            }
            if self.known.len() == MAX_DIRECTORIES {
                self.is_cut = true;
                return;
            }
            self.known.push(plain);
        }
    }

    fn start_bytes(&self) -> usize {
        self.known.first().map_or(0, |it| it.as_os_str().len())
    }

    /// The place that a path leads to from a directory. In a directory that the line itself creates, `..` leads
    /// to the parent in which it is created.
    fn place_from(&self, start: &Path, path: &Path) -> Leads {
        match self.lookups.place_of(&start.join(path)) {
            Leads::Somewhere if self.made.contains(start) => match self.lookups.place_of(start) {
                Leads::To(real) => self.lookups.place_of(&normal(&real.join(path))),
                other => other,
            },
            other => other,
        }
    }

    fn is_changed(&self, place: &Path) -> bool {
        self.is_all_changed || self.changed.iter().any(|it| place.starts_with(it))
    }

    /// The path that a word names. With `from_top`, it may also start at the top of the git working tree, so the
    /// place below the project is added.
    pub(super) fn target(&self, word: &Word, used: Use, from_top: bool) -> TouchedPath {
        let Some(text) = word.literal() else {
            return TouchedPath::unknown(word.spelling(), used, self.around);
        };
        let path = Path::new(text);
        let is_absolute = path.is_absolute();
        let all = if is_absolute { 1 } else { self.known.len() };
        let (count, is_cut) =
            if self.lookups.take_places(all) { (all, self.is_cut) } else { (1, true) };
        let known = match (is_absolute, self.is_complete, is_cut) {
            (true, ..) | (_, true, false) => PathKnowledge::Place,
            (_, true, true) => PathKnowledge::Partly,
            (_, false, _) => PathKnowledge::Path,
        };
        let mentions_protected = used == Use::Unknown && is_script_about_protected(text);
        let mut target = TouchedPath { known, mentions_protected, ..TouchedPath::anything(used) };
        let project = &self.around.places.project;
        let top = Some(project).filter(|it| from_top && !self.known.contains(it));
        for start in self.known.iter().take(count).chain(top) {
            let written = normal(&start.join(path));
            let (place, leads_there) = match self.place_from(start, path) {
                Leads::To(place) => (place, true),
                Leads::Unseen => (written.clone(), false),
                Leads::Somewhere => {
                    target.known = PathKnowledge::Path;
                    continue;
                }
            };
            let is_plain = leads_there
                && ![&written, &place]
                    .into_iter()
                    .any(|it| self.is_changed(it) || is_per_process(it));
            if !is_plain && target.known == PathKnowledge::Place {
                target.known = PathKnowledge::Changed;
            }
            let direction = if used.only_reads() { Direction::Reads } else { Direction::Writes };
            let CallSurroundings { places, index, .. } = self.around;
            target.places.push(PathFact::of(place, direction, places, index));
        }
        target
    }
}

/// True for a script, such as the argument of `awk` or `python3 -c`, that names a protected place. What the
/// script does with it is not known.
fn is_script_about_protected(text: &str) -> bool {
    let is_in_name = |it: char| it.is_alphanumeric() || matches!(it, '.' | '_' | '-');
    text.contains(|it: char| !is_in_name(it) && it != '/')
        && text.split(|it: char| !is_in_name(it)).any(is_protected_name)
}
