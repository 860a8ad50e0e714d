//! What is in a directory, as a person would list it: by name, a few levels deep.

use std::{
    ffi::OsString,
    io,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    entry::{EntryBuffer, EntryKind},
    folder::Folder,
    rule_set::global_excludes,
    rules::{RuleFiles, Rules},
    selection::{Candidate, HiddenFiles, Selection, Verdict},
    visibility::{Subject, Visibility},
    walker::Cancelled,
};
use crate::workspace::WorkspacePath;

/// A listing to make.
#[derive(Debug)]
pub struct ListingRequest<'a> {
    /// The directory.
    pub start: &'a WorkspacePath,
    /// Whether names with a dot are listed.
    pub hidden: HiddenFiles,
    /// How many levels of directories are entered.
    pub max_depth: usize,
    /// How many entries are kept; the rest is counted.
    pub max_entries: usize,
    /// The user's global excludes, and the directory they are relative to.
    pub global_excludes: Option<(&'a Path, &'a Path)>,
    /// What may be seen at all.
    pub visibility: &'a Visibility,
}

/// One entry of a listing.
#[derive(Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: OsString,
    /// What it is.
    pub kind: EntryKind,
    /// How many directories below the start its own directory is.
    pub depth: usize,
}

/// A listing, in the order a tree is drawn.
#[derive(Debug, Default)]
pub struct Listing {
    /// The entries.
    pub entries: Vec<Listed>,
    /// How many there are in all.
    pub total: usize,
    /// How many are left out because they are ignored or hidden.
    pub left_out: usize,
    /// Directories that could not be read, and why.
    pub unreadable: Vec<(PathBuf, String)>,
}

/// Lists a directory.
pub fn list_folder(
    request: &ListingRequest<'_>,
    cancelled: &dyn Fn() -> bool,
) -> io::Result<Result<Listing, Cancelled>> {
    let start = Folder::start(request.start)?.rest();
    let global = request.global_excludes.and_then(|(file, below)| global_excludes(file, below));
    let rules = Rules::above(start.path(), global);
    let mut lister = Lister {
        request,
        selection: Selection::new(request.hidden),
        buffer: EntryBuffer::default(),
        listing: Listing::default(),
    };
    // A stack and no recursion: nesting is as deep as whoever made the tree liked.
    let mut stack = vec![lister.level(&start, rules.as_ref())?.into_iter()];
    while let Some(level) = stack.last_mut() {
        if cancelled() {
            return Ok(Err(Cancelled));
        }
        let Some(Line { folder, name, kind, rules }) = level.next() else {
            stack.pop();
            continue;
        };
        let depth = folder.depth();
        let enters = kind == EntryKind::Folder && depth < request.max_depth && name != ".git";
        let below = enters.then(|| {
            let entered = folder.enter(&name)?.rest();
            Ok::<_, io::Error>(lister.level(&entered, rules.as_ref())?.into_iter())
        });
        let path = below.as_ref().is_some_and(Result::is_err).then(|| folder.path().join(&name));
        lister.listing.total += 1;
        if lister.listing.entries.len() < request.max_entries {
            lister.listing.entries.push(Listed { name, kind, depth });
        }
        match below {
            Some(Ok(level)) => stack.push(level),
            Some(Err(cause)) => {
                lister.listing.unreadable.push((path.unwrap_or_default(), cause.to_string()));
            }
            None => {}
        }
    }
    Ok(Ok(lister.listing))
}

struct Lister<'a> {
    request: &'a ListingRequest<'a>,
    selection: Selection,
    buffer: EntryBuffer,
    listing: Listing,
}

struct Line {
    folder: Arc<Folder>,
    name: OsString,
    kind: EntryKind,
    rules: Option<Arc<Rules>>,
}

impl Lister<'_> {
    /// The entries of one directory that are to be seen, by name.
    fn level(&mut self, folder: &Arc<Folder>, above: Option<&Arc<Rules>>) -> io::Result<Vec<Line>> {
        let mut names: Vec<(OsString, EntryKind)> = Vec::new();
        let mut rule_files = RuleFiles::default();
        folder.entries(&mut self.buffer, &mut |name, kind| {
            rule_files.note(name.as_encoded_bytes(), kind);
            names.push((name.to_owned(), kind));
            ControlFlow::Continue(())
        })?;
        let rules = Rules::within(above, folder, rule_files, self.selection.naming(folder));
        names.sort_unstable_by(|(one, _), (other, _)| {
            one.as_encoded_bytes().cmp(other.as_encoded_bytes())
        });
        let mut lines = Vec::with_capacity(names.len());
        for (name, kind) in names {
            let path = folder.path().join(&name);
            let candidate =
                Candidate { path: &path, below: &path, name: &name, kind, depth: folder.depth() };
            let verdict = match self.selection.verdict(candidate, rules.as_deref()) {
                // A listing with hidden names shows `.git`, though nobody looks into it.
                Verdict::Unwanted if self.request.hidden == HiddenFiles::Seen => Verdict::Taken,
                verdict => verdict,
            };
            let subject = if kind == EntryKind::Folder { Subject::Folder } else { Subject::File };
            if !self.request.visibility.shows(&path, subject) {
                continue;
            }
            match verdict {
                Verdict::Taken => lines.push(Line {
                    folder: Arc::clone(folder),
                    name,
                    kind,
                    rules: rules.clone(),
                }),
                Verdict::LeftOut | Verdict::Unwanted => self.listing.left_out += 1,
            }
        }
        Ok(lines)
    }
}
