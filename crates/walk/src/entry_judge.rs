//! Decides which entries of a directory a walk takes, whether the directory was listed or its entries are
//! known from an index.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use toolwright_files::{EntryKind, Visibility, VisibilitySubject};

use super::{
    selection::{Candidate, Selection, SelectionVerdict},
    walker::WalkedFiles,
};

/// Judges the entries of one directory after another.
pub struct EntryJudge<'a> {
    selection: &'a Selection,
    visibility: &'a Visibility,
    taken: WalkedFiles,
    /// The directory whose entries are judged, or during a judgement the entry.
    path: PathBuf,
    /// How many bytes of the path are those of the walk's start.
    start_bytes: usize,
    depth: usize,
    needs_path: bool,
    /// Whether something was ignored or hidden.
    pub(crate) left_out_any: bool,
}

impl<'a> EntryJudge<'a> {
    /// A judge of the entries below a directory whose path has `start_bytes` bytes.
    pub fn new(
        selection: &'a Selection,
        visibility: &'a Visibility,
        taken: WalkedFiles,
        start_bytes: usize,
    ) -> Self {
        let path = PathBuf::new();
        let needs_path =
            selection.needs_path() || selection.needs_path_below() || !visibility.is_everything();
        Self {
            selection,
            visibility,
            taken,
            path,
            start_bytes,
            depth: 0,
            needs_path,
            left_out_any: false,
        }
    }

    /// Goes to a directory that is `depth` levels below the start.
    pub fn go_to(&mut self, folder: &Path, depth: usize) {
        self.path.clear();
        self.path.push(folder);
        self.depth = depth;
    }

    /// Whether a name is that of no file that was asked for. To be asked before `takes`.
    pub fn rejects_name(&self, name: &OsStr) -> bool {
        self.selection.rejects_name(name)
    }

    /// Whether the walk visits or enters an entry of this directory.
    ///
    /// `left_out` says whether the directory is ignored or hidden, or below such a one, and afterwards
    /// whether the entry is. `is_ignored` gets the path of the entry, and is only asked if the directory is
    /// not left out: everything below an ignored directory is ignored, whatever its rules are. Without
    /// `needs_path` and without ignore rules, the path is that of the directory.
    pub fn takes(
        &mut self,
        name: &OsStr,
        kind: EntryKind,
        left_out: &mut bool,
        ignored: IgnoredBy<impl FnOnce(&Path) -> bool>,
    ) -> bool {
        let by_path = self.needs_path || matches!(ignored, IgnoredBy::Rules(_));
        let folder_bytes = self.path.as_os_str().len();
        if by_path {
            self.path.push(name);
        }
        let candidate = Candidate {
            path: &self.path,
            below: below_start(&self.path, self.start_bytes),
            name,
            kind,
            depth: self.depth,
        };
        let above_left_out = *left_out;
        let verdict = self.selection.verdict(candidate, || match ignored {
            _ if above_left_out => false,
            IgnoredBy::Known(is_ignored) => is_ignored,
            IgnoredBy::Rules(rules) => rules(&self.path),
        });
        let is_file = kind == EntryKind::File;
        *left_out |= verdict == SelectionVerdict::LeftOut;
        self.left_out_any |= verdict == SelectionVerdict::LeftOut;
        let wanted = match self.taken {
            WalkedFiles::Selected => verdict == SelectionVerdict::Taken,
            WalkedFiles::LeftOut => {
                verdict != SelectionVerdict::Unwanted && (*left_out || !is_file)
            }
        };
        let subject = if is_file { VisibilitySubject::File } else { VisibilitySubject::Folder };
        let wanted = wanted && self.visibility.shows(&self.path, subject);
        if by_path {
            self.path = shortened(std::mem::take(&mut self.path), folder_bytes);
        }
        wanted
    }
}

/// A path cut to the directory that it began with. `PathBuf::pop` would look for the separator.
#[cfg(unix)]
fn shortened(path: PathBuf, bytes: usize) -> PathBuf {
    use std::{ffi::OsString, os::unix::ffi::OsStringExt as _};
    let mut text = path.into_os_string().into_vec();
    text.truncate(bytes);
    OsString::from_vec(text).into()
}

#[cfg(not(unix))]
fn shortened(mut path: PathBuf, _: usize) -> PathBuf {
    path.pop();
    path
}

/// What says whether an entry is ignored.
pub enum IgnoredBy<F> {
    /// It is known.
    Known(bool),
    /// Rules, which are asked with the path of the entry.
    Rules(F),
}

impl IgnoredBy<fn(&Path) -> bool> {
    /// It is known whether the entry is ignored.
    pub fn known(is_ignored: bool) -> Self {
        Self::Known(is_ignored)
    }
}

/// The part of a path after the start of a walk.
#[cfg(unix)]
fn below_start(path: &Path, start_bytes: usize) -> &Path {
    use std::os::unix::ffi::OsStrExt as _;
    let below = path.as_os_str().as_bytes().get(start_bytes..).unwrap_or_default();
    Path::new(OsStr::from_bytes(below.strip_prefix(b"/").unwrap_or(below)))
}

/// The same where a path is no sequence of bytes: a name is cut off for each level.
#[cfg(not(unix))]
fn below_start(path: &Path, start_bytes: usize) -> &Path {
    let start = path.ancestors().find(|it| it.as_os_str().len() <= start_bytes);
    start.and_then(|it| path.strip_prefix(it).ok()).unwrap_or(path)
}
