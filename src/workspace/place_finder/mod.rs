//! Finds files by what a caller says of their paths, in whole trees: ignored and hidden files included, links
//! not followed.
//!
//! The caller asks again and again about the same trees, so listings are kept. A directory that has not changed
//! since costs one look at its metadata.

mod hard_links;
mod listing;

use std::{
    collections::HashMap,
    ffi::OsStr,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use rustix::io::Errno;
use tokio_util::sync::CancellationToken;

pub(crate) use hard_links::LinkedFile;
pub(crate) use listing::PlaceEntry;
use listing::{KnownDirectory, MarkedName};

/// How many entries of directories are kept. If there are more, all are forgotten.
const MAX_KEPT: usize = 400_000;

/// Trees that the kernel makes up. What is in them is no file.
const MADE_UP: [&str; 3] = ["/proc", "/sys", "/dev"];

/// What a caller says of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlaceMark {
    /// It must not be read. Nobody is asked about what is below.
    pub(crate) is_hidden: bool,
    /// It must not be changed.
    pub(crate) is_locked: bool,
}

impl PlaceMark {
    const fn is_none(self) -> bool {
        !self.is_hidden && !self.is_locked
    }
}

/// A place that a caller marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundPlace {
    /// Its path.
    pub(crate) path: PathBuf,
    /// What it is.
    pub(crate) kind: PlaceEntry,
    /// What the caller said of it.
    pub(crate) mark: PlaceMark,
}

/// What is looked for, and where.
pub(crate) struct PlaceSearch<'a> {
    /// The directories that are walked.
    pub(crate) starts: &'a [PathBuf],
    /// What a path is marked with. Answers are kept for as long as [`Self::policy`] is the same.
    pub(crate) mark_of: &'a (dyn Fn(&Path) -> PlaceMark + 'a),
    /// Tells answers apart: another number, another [`Self::mark_of`].
    pub(crate) policy: u64,
    /// True for a hidden directory in which something is to be found that is not hidden.
    pub(crate) enters: &'a (dyn Fn(&Path) -> bool + 'a),
    /// How many entries are looked at.
    pub(crate) max_entries: usize,
    /// How many places are found.
    pub(crate) max_places: usize,
    /// Ends the search.
    pub(crate) cancel: &'a CancellationToken,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct FoundPlaces {
    /// The places, a directory before what is in it.
    pub(crate) places: Vec<FoundPlace>,
    /// How many entries were looked at.
    pub(crate) entries: usize,
    /// Why there may be more.
    pub(crate) not_all: Option<NotAllFound>,
}

/// Why there may be more places than were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotAllFound {
    /// There are more entries than are looked at.
    TooManyEntries,
    /// There are more places than are kept.
    TooManyPlaces,
    /// There is a directory whose path is too long.
    TooDeep,
    /// The search was ended.
    Cancelled,
}

/// Finds places, and keeps what it listed.
#[derive(Debug, Default)]
pub(crate) struct PlaceFinder {
    known: Mutex<KeptListings>,
}

#[derive(Debug, Default)]
struct KeptListings {
    directories: HashMap<PathBuf, Arc<KnownDirectory>>,
    entries: usize,
}

/// A directory that is still to be walked.
struct OpenDirectory {
    path: PathBuf,
    /// True when it lies in a place that is locked already.
    is_locked: bool,
}

/// What becomes of a directory that is marked.
enum Entered {
    Not,
    /// It is entered, and locked or not.
    Locked(bool),
}

impl PlaceFinder {
    /// Walks over trees.
    pub(crate) fn find(&self, search: &PlaceSearch<'_>) -> FoundPlaces {
        let mut found = FoundPlaces::default();
        let starts = search.starts.iter().rev();
        let mut open: Vec<OpenDirectory> =
            starts.map(|it| OpenDirectory { path: it.clone(), is_locked: false }).collect();
        while let Some(OpenDirectory { path, is_locked }) = open.pop() {
            if search.cancel.is_cancelled() {
                found.not_all = Some(NotAllFound::Cancelled);
                break;
            }
            let Some(directory) = self.listing(&path) else {
                if is_too_deep(&path) {
                    found.not_all = Some(NotAllFound::TooDeep);
                }
                if let Some(place) = closed_directory(&path) {
                    found.places.push(place);
                }
                continue;
            };
            found.entries += directory.entries();
            if found.entries > search.max_entries {
                found.not_all = Some(NotAllFound::TooManyEntries);
                break;
            }
            let marked = directory.marked(search.policy, |name| (search.mark_of)(&path.join(name)));
            let mut entered: HashMap<&OsStr, Entered> = HashMap::new();
            for MarkedName { name, kind, mark } in marked.iter() {
                let place = path.join(name);
                let mut mark = *mark;
                if *kind == PlaceEntry::Directory {
                    let enters = !mark.is_hidden || (search.enters)(&place);
                    mark.is_hidden &= !enters;
                    let entry = if enters { Entered::Locked(mark.is_locked) } else { Entered::Not };
                    entered.insert(name, entry);
                }
                if mark.is_hidden || (mark.is_locked && !is_locked) {
                    found.places.push(FoundPlace { path: place, kind: *kind, mark });
                }
            }
            for name in directory.subdirectories() {
                let is_locked = match entered.get(name) {
                    Some(Entered::Not) => continue,
                    Some(Entered::Locked(locked)) => is_locked || *locked,
                    None => is_locked,
                };
                open.push(OpenDirectory { path: path.join(name), is_locked });
            }
            if found.places.len() > search.max_places {
                found.places.truncate(search.max_places);
                found.not_all = Some(NotAllFound::TooManyPlaces);
                break;
            }
        }
        found
    }

    /// What is in a directory; `None` if it cannot be listed.
    fn listing(&self, path: &Path) -> Option<Arc<KnownDirectory>> {
        if MADE_UP.iter().any(|it| path == Path::new(it)) {
            return None;
        }
        let metadata = path.symlink_metadata().ok().filter(std::fs::Metadata::is_dir)?;
        let known = self.lock().directories.get(path).cloned();
        if let Some(known) = known.filter(|it| it.is_still(&metadata)) {
            return Some(known);
        }
        let listed = Arc::new(KnownDirectory::list(path)?);
        let mut kept = self.lock();
        if kept.entries > MAX_KEPT {
            *kept = KeptListings::default();
        }
        kept.entries += listed.entries();
        if let Some(before) = kept.directories.insert(path.to_owned(), Arc::clone(&listed)) {
            kept.entries = kept.entries.saturating_sub(before.entries());
        }
        Some(listed)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, KeptListings> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// True for a directory that cannot be named in a system call. A command gets there step by step.
fn is_too_deep(path: &Path) -> bool {
    let error = path.symlink_metadata().err();
    error.is_some_and(|it| it.raw_os_error() == Some(Errno::NAMETOOLONG.raw_os_error()))
}

/// A directory that this user cannot list but can enter, or could open to itself because it owns it: a command that
/// knows a name in it gets there, so it is hidden as it is. Any other stays closed without that.
fn closed_directory(path: &Path) -> Option<FoundPlace> {
    let metadata = path.symlink_metadata().ok().filter(std::fs::Metadata::is_dir)?;
    let is_own = metadata.uid() == rustix::process::geteuid().as_raw();
    let may_enter = || rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok();
    let is_made_up = MADE_UP.iter().any(|it| path.as_os_str() == OsStr::new(it));
    (!is_made_up && (is_own || may_enter())).then(|| FoundPlace {
        path: path.to_owned(),
        kind: PlaceEntry::Directory,
        mark: PlaceMark { is_hidden: true, is_locked: false },
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests;
