//! The places that a command line opens by naming them. A permitted line was judged with every place it
//! names, so places that a rule asks about and protected places are open to a line that names them.
//! Denied places stay closed.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use toolwright_policy::{Action, FileLimits, NamedPlaces};

/// How many siblings of an opened file are made read-only one by one.
const MAX_SIBLINGS: usize = 512;

/// The places that a command line opens.
#[derive(Debug, Default)]
pub(super) struct OpenedPlaces {
    /// Places it may read although a rule asks about them.
    readable: Vec<PathBuf>,
    /// Places it may change although a rule asks about them or they are protected.
    changeable: Vec<PathBuf>,
    /// Changeable places that the line replaces with another file.
    replaceable: Vec<PathBuf>,
    /// Names of protected places that scripts in the line mention.
    names: Vec<String>,
}

/// The exceptions that let a line change the places it names.
#[derive(Debug, Default)]
pub(super) struct Openings {
    /// Open places inside closed ones.
    pub(super) opened: BTreeSet<PathBuf>,
    /// Files that do not exist yet. The line may create them, but no other files beside them.
    pub(super) to_be_made: Vec<PathBuf>,
}

impl OpenedPlaces {
    /// Collects the places that a line opens. `is_protected` says which places need a confirmation
    /// before they are changed.
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

    /// True when the line may read this limited place.
    pub(super) fn may_read(&self, place: &Path, limits: &FileLimits) -> bool {
        self.readable.iter().any(|it| place.starts_with(it))
            && limits.of_named_file(place).reading != Some(Action::Deny)
    }

    /// True when the line may read some place inside this limited directory.
    pub(super) fn may_read_in(&self, directory: &Path) -> bool {
        self.readable.iter().any(|it| it.starts_with(directory))
    }

    /// True when the line may change this limited or protected place.
    pub(super) fn may_change(&self, place: &Path, limits: &FileLimits) -> bool {
        let is_named = self.changeable.iter().any(|it| place.starts_with(it));
        let is_mentioned = || {
            let mut parts = place.iter().filter_map(|it| it.to_str());
            parts.any(|part| self.names.iter().any(|it| it == part))
        };
        (is_named || is_mentioned()) && limits.of_named_file(place).editing != Some(Action::Deny)
    }

    /// Opens the places that the line may change inside read-only places.
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
        // A place may be opened by one name and closed as a sibling of another.
        read_only.retain(|it| !self.changeable.contains(it));
        openings
    }
}

/// Opens the directory around a place, because a program that replaces a file creates another one
/// beside it. The siblings stay closed. Returns the directory if it lies inside the closed place.
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
