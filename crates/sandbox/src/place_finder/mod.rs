//! Finds the files whose paths a caller marks, in whole trees. Ignored and hidden files are
//! included, and symbolic links are not followed.
//!
//! The caller searches the same trees repeatedly, so listings are kept. A directory that has not
//! changed since costs one `stat`.

mod hard_links;
mod listing;

use std::{
    collections::HashMap,
    ffi::OsStr,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use listing::{KnownDirectory, MarkedName};
use parking_lot::Mutex;
use rustix::io::Errno;
use tokio_util::sync::CancellationToken;

pub(crate) use hard_links::LinkedFile;
pub(crate) use listing::PlaceEntry;

/// The most directory entries that are kept. If there are more, all are discarded.
const MAX_KEPT: usize = 400_000;

/// Virtual file systems of the kernel, which have no real files.
const MADE_UP: [&str; 3] = ["/proc", "/sys", "/dev"];

/// How a caller marks a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlaceMark {
    /// It must not be read. Paths below it are not searched.
    pub(crate) is_hidden: bool,
    /// It must not be changed.
    pub(crate) is_locked: bool,
}

impl PlaceMark {
    const fn is_none(self) -> bool {
        !self.is_hidden && !self.is_locked
    }
}

/// A path that the caller marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundPlace {
    /// Its path.
    pub(crate) path: PathBuf,
    /// The kind of the entry.
    pub(crate) kind: PlaceEntry,
    /// Its mark.
    pub(crate) mark: PlaceMark,
}

/// What to search for, and where.
pub(crate) struct PlaceSearch<'a> {
    /// The directories that are walked.
    pub(crate) starts: &'a [PathBuf],
    /// Returns the mark of a path. The results are kept while [`Self::policy`] is the same.
    pub(crate) mark_of: &'a (dyn Fn(&Path) -> PlaceMark + 'a),
    /// Identifies [`Self::mark_of`]: another function must come with another number.
    pub(crate) policy: u64,
    /// Returns whether a hidden directory has entries that are not hidden, so that it is searched.
    pub(crate) enters: &'a (dyn Fn(&Path) -> bool + 'a),
    /// The most entries to check.
    pub(crate) max_entries: usize,
    /// The most paths to return.
    pub(crate) max_places: usize,
    /// Ends the search.
    pub(crate) cancel: &'a CancellationToken,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct FoundPlaces {
    /// The paths. A directory comes before its entries.
    pub(crate) places: Vec<FoundPlace>,
    /// How many entries were checked.
    pub(crate) entries: usize,
    /// Why the list may be incomplete.
    pub(crate) not_all: Option<NotAllFound>,
}

/// Why a search may have missed paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotAllFound {
    /// The limit on entries was reached.
    TooManyEntries,
    /// The limit on returned paths was reached.
    TooManyPlaces,
    /// The path of a directory is too long for a system call.
    TooDeep,
    /// The search was cancelled.
    Cancelled,
}

/// Finds marked paths, and keeps the listings for the next search.
#[derive(Debug, Default)]
pub(crate) struct PlaceFinder {
    known: Mutex<KeptListings>,
}

#[derive(Debug, Default)]
struct KeptListings {
    directories: HashMap<PathBuf, Arc<KnownDirectory>>,
    entries: usize,
}

/// A directory that has not been listed yet.
struct OpenDirectory {
    path: PathBuf,
    /// Whether a directory above it is locked already.
    is_locked: bool,
}

/// Whether a marked directory is entered.
enum Entered {
    Not,
    /// It is entered. The flag says whether it is locked.
    Locked(bool),
}

impl PlaceFinder {
    /// Searches the trees for marked paths.
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

    /// The listing of a directory. `None` if it cannot be listed.
    fn listing(&self, path: &Path) -> Option<Arc<KnownDirectory>> {
        if MADE_UP.iter().any(|it| path == Path::new(it)) {
            return None;
        }
        let metadata = path.symlink_metadata().ok().filter(std::fs::Metadata::is_dir)?;
        let known = self.known.lock().directories.get(path).cloned();
        if let Some(known) = known.filter(|it| it.is_still(&metadata)) {
            return Some(known);
        }
        let listed = Arc::new(KnownDirectory::list(path)?);
        let mut kept = self.known.lock();
        if kept.entries > MAX_KEPT {
            *kept = KeptListings::default();
        }
        kept.entries += listed.entries();
        if let Some(before) = kept.directories.insert(path.to_owned(), Arc::clone(&listed)) {
            kept.entries = kept.entries.saturating_sub(before.entries());
        }
        Some(listed)
    }
}

/// Whether the path is too long for a system call. A command can still reach it with several
/// `chdir`s.
fn is_too_deep(path: &Path) -> bool {
    let error = path.symlink_metadata().err();
    error.is_some_and(|it| it.raw_os_error() == Some(Errno::NAMETOOLONG.raw_os_error()))
}

/// Hides a directory that cannot be listed but that a command could still use. This is so if the user
/// may enter it (a command may know a name in it), or owns it (a command can make it readable). The
/// system closes any other directory to the command.
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
