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
    /// Names of protected places in scripts of the line.
    names: Vec<String>,
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

    /// Opens what the line may change inside places that are read-only. Programs replace a file by another
    /// one of its name, so the directory around it is opened, and everything else in it is closed.
    pub(super) fn open_within(
        &self,
        read_only: &mut BTreeSet<PathBuf>,
        opened: &mut BTreeSet<PathBuf>,
    ) {
        for place in &self.changeable {
            let Some(closed) = place.ancestors().skip(1).find(|it| read_only.contains(*it)) else {
                continue;
            };
            let closed = closed.to_owned();
            if place.is_dir() {
                opened.insert(place.clone());
                continue;
            }
            let Some(around) = place.ancestors().skip(1).find(|it| it.is_dir()) else { continue };
            let siblings = std::fs::read_dir(around).into_iter().flatten().flatten();
            let siblings: Vec<PathBuf> = siblings
                .map(|it| it.path())
                .filter(|it| !place.starts_with(it))
                .filter(|it| it.symlink_metadata().is_ok_and(|it| !it.is_symlink()))
                .take(MAX_SIBLINGS)
                .collect();
            if around == closed {
                read_only.remove(&closed);
            } else {
                opened.insert(around.to_owned());
            }
            read_only.extend(siblings);
        }
        // A place may be opened by one name and closed as the neighbour of another.
        read_only.retain(|it| !self.changeable.contains(it));
    }
}
