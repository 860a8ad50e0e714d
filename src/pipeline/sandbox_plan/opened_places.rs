//! What a line opens by naming it. A line that may run was judged with every place that it names, so what a rule
//! asks about, and what is protected, is open to a line that names it. What a rule denies stays closed.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use crate::policy::{Action, FileLimits, NamedPlaces};

/// How many entries of a directory are kept read-only one by one, where a single file in it is open.
const MAX_SIBLINGS: usize = 512;

/// The places that a line opens.
#[derive(Debug, Default)]
pub(super) struct OpenedPlaces {
    /// Those that it may read though a rule asks about them.
    readable: Vec<PathBuf>,
    /// Those that it may change though a rule asks about them, or though they are protected.
    changeable: Vec<PathBuf>,
    /// Those of them in whose place it puts another file.
    replaceable: Vec<PathBuf>,
    /// Names of protected places in scripts of the line.
    names: Vec<String>,
}

/// What has to be done so that a line can change what it names.
#[derive(Debug, Default)]
pub(super) struct Openings {
    /// Places that are open though they lie in one that is closed.
    pub(super) opened: BTreeSet<PathBuf>,
    /// Files that do not exist. The line may make them and nothing else beside them.
    pub(super) to_be_made: Vec<PathBuf>,
}

impl OpenedPlaces {
    /// Those of a line. `is_protected` says which places nobody changes without being asked.
    pub(super) fn of(
        named: &NamedPlaces,
        limits: &FileLimits,
        is_protected: &dyn Fn(&Path) -> bool,
    ) -> Self {
        let is_denied = |limit: Option<Action>| limit == Some(Action::Deny);
        let all = named.read.iter().chain(&named.changed);
        let readable = all.filter(|it| {
            limits.of_file(it).reading.is_some() && !is_denied(limits.of_named_file(it).reading)
        });
        let changeable = named.changed.iter().filter(|it| {
            (limits.of_file(it).editing.is_some() || is_protected(it))
                && !is_denied(limits.of_named_file(it).editing)
        });
        Self {
            readable: readable.cloned().collect(),
            changeable: changeable.cloned().collect(),
            replaceable: named.replaced.clone(),
            names: named.protected_names.clone(),
        }
    }

    /// True when the line may read a place that is limited.
    pub(super) fn may_read(&self, place: &Path, limits: &FileLimits) -> bool {
        self.readable.iter().any(|it| place.starts_with(it))
            && limits.of_named_file(place).reading != Some(Action::Deny)
    }

    /// True when the line may read something in a directory that is limited.
    pub(super) fn may_read_in(&self, directory: &Path) -> bool {
        self.readable.iter().any(|it| it.starts_with(directory))
    }

    /// True when the line may change a place that is limited or protected.
    pub(super) fn may_change(&self, place: &Path, limits: &FileLimits) -> bool {
        let is_named = self.changeable.iter().any(|it| place.starts_with(it));
        let is_mentioned = || {
            let mut parts = place.iter().filter_map(|it| it.to_str());
            parts.any(|part| self.names.iter().any(|it| it == part))
        };
        (is_named || is_mentioned()) && limits.of_named_file(place).editing != Some(Action::Deny)
    }

    /// Opens what the line may change inside places that are read-only.
    pub(super) fn open_within(&self, read_only: &mut BTreeSet<PathBuf>) -> Openings {
        let mut openings = Openings::default();
        for place in &self.changeable {
            let Some(closed) = place.ancestors().skip(1).find(|it| read_only.contains(*it)) else {
                continue;
            };
            let closed = closed.to_owned();
            let around = place.ancestors().skip(1).find(|it| it.is_dir());
            let is_right_there = around == place.parent();
            if place.is_dir() {
                openings.opened.insert(place.clone());
            } else if self.replaceable.contains(place) || !is_right_there {
                openings
                    .opened
                    .extend(around.and_then(|it| open_around(place, it, &closed, read_only)));
            } else {
                if place.symlink_metadata().is_err() {
                    openings.to_be_made.push(place.clone());
                }
                openings.opened.insert(place.clone());
            }
        }
        // A place may be opened by one name and closed as the neighbour of another.
        read_only.retain(|it| !self.changeable.contains(it));
        openings
    }
}

/// Opens the directory around a place, because a program that replaces a file makes another one beside it. What
/// else is there stays closed. Returns the directory if it lies in the place that is closed.
fn open_around(
    place: &Path,
    around: &Path,
    closed: &Path,
    read_only: &mut BTreeSet<PathBuf>,
) -> Option<PathBuf> {
    let siblings = std::fs::read_dir(around).into_iter().flatten().flatten();
    let siblings = siblings
        .map(|it| it.path())
        .filter(|it| !place.starts_with(it))
        .filter(|it| it.symlink_metadata().is_ok_and(|it| !it.is_symlink()))
        .take(MAX_SIBLINGS);
    read_only.extend(siblings);
    if around == closed {
        read_only.remove(closed);
        return None;
    }
    Some(around.to_owned())
}
