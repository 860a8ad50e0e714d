//! Hidden files that git tracks. Their content is also in the repository, where a sandbox cannot hide
//! it: a command that can read the repository can read them.

use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    os::unix::{ffi::OsStrExt as _, fs::MetadataExt as _},
    path::{Path, PathBuf},
};

use parking_lot::Mutex;
use toolwright_base::shown_path;
use toolwright_command_protocol::{HiddenPlace, PlaceKind};
use toolwright_files::visit_tracked;

/// How many files are named in a note.
const MAX_NAMED: usize = 8;

/// The result of the last search. It is reused because the index of a repository seldom changes.
#[derive(Debug, Default)]
pub(super) struct TrackedFiles(Mutex<Option<(u64, Vec<String>)>>);

impl TrackedFiles {
    /// Notes about hidden files that a repository of one of the roots tracks.
    pub(super) fn notes(&self, roots: &[PathBuf], hidden: &[HiddenPlace]) -> Vec<String> {
        if hidden.is_empty() {
            return Vec::new();
        }
        let mut state = DefaultHasher::new();
        let tops = roots.iter().filter_map(|root| {
            let top = root.ancestors().find(|it| it.join(".git").is_dir())?;
            let metadata = top.join(".git/index").metadata().ok()?;
            Some((top, metadata.ino(), metadata.size(), metadata.mtime(), metadata.mtime_nsec()))
        });
        let tops: HashSet<_> = tops.collect();
        let mut sorted: Vec<_> = tops.iter().collect();
        sorted.sort();
        sorted.hash(&mut state);
        for place in hidden {
            place.path.hash(&mut state);
        }
        let state = state.finish();
        let kept = || self.0.lock();
        if let Some((_, notes)) = kept().as_ref().filter(|it| it.0 == state) {
            return notes.clone();
        }
        let notes: Vec<String> = sorted.iter().filter_map(|it| note_about(it.0, hidden)).collect();
        *kept() = Some((state, notes.clone()));
        notes
    }
}

fn note_about(top: &Path, hidden: &[HiddenPlace]) -> Option<String> {
    let below = |it: &HiddenPlace| {
        it.path.strip_prefix(top).ok().map(|it| it.as_os_str().as_bytes().to_vec())
    };
    let files: HashSet<Vec<u8>> =
        hidden.iter().filter(|it| it.kind == PlaceKind::File).filter_map(below).collect();
    let directories: HashSet<Vec<u8>> =
        hidden.iter().filter(|it| it.kind == PlaceKind::Directory).filter_map(below).collect();
    if files.is_empty() && directories.is_empty() {
        return None;
    }
    let (mut found, mut count) = (Vec::new(), 0_usize);
    let is_read = visit_tracked(&top.join(".git/index"), &mut |name| {
        let is_below = || {
            memchr::memchr_iter(b'/', name)
                .any(|at| name.get(..at).is_some_and(|it| directories.contains(it)))
        };
        if files.contains(name) || (!directories.is_empty() && is_below()) {
            count += 1;
            if found.len() < MAX_NAMED {
                found.push(String::from_utf8_lossy(name).into_owned());
            }
        }
    });
    if !is_read {
        return None;
    }
    let names: Vec<String> =
        found.iter().map(|it| format!("`{}`", shown_path(Path::new(it)))).collect();
    let more = if count > found.len() {
        format!(" and {} more", count - found.len())
    } else {
        String::new()
    };
    (count > 0).then(|| {
        format!(
            "git tracks {}{more}, so the content can be read from the repository in `{}`",
            names.join(", "),
            shown_path(&top.join(".git"))
        )
    })
}
