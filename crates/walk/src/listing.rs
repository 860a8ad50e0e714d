//! Lists a directory as a tree, sorted by name, to a limited depth.

use std::{
    ffi::{OsStr, OsString},
    io,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::Arc,
};

use toolwright_files::{
    EntryBuffer, EntryKind, Folder, Visibility, VisibilitySubject, WorkspacePath,
};

use super::{
    name_list::NameList,
    rules::{RuleFiles, Rules, UnappliedRules},
    selection::{Candidate, HiddenFiles, Selection, SelectionVerdict},
    walker::{Cancelled, ENTRIES_BETWEEN_CHECKS, MAX_NAMES_BYTES},
};

/// How many examples of each kind of problem a listing names.
const MAX_EXAMPLES: usize = 5;

/// Which directory to list, and how much of it.
#[derive(Debug)]
pub struct ListingRequest<'a> {
    /// The directory to list.
    pub start: &'a WorkspacePath,
    /// Whether names that begin with a dot are listed.
    pub hidden: HiddenFiles,
    /// How many levels of subdirectories are listed.
    pub max_depth: usize,
    /// How many entries are listed. Further ones are only counted.
    pub max_entries: usize,
    /// The user's global excludes, and the directory they are relative to.
    pub global_excludes: Option<(&'a Path, &'a Path)>,
    /// Which files may be seen at all.
    pub visibility: &'a Visibility,
}

/// One entry of a listing.
#[derive(Debug, PartialEq, Eq)]
pub struct Listed {
    /// The name of the entry in its directory.
    pub name: OsString,
    /// The kind of the entry.
    pub kind: EntryKind,
    /// How many levels below the start its directory is.
    pub depth: usize,
}

/// A listing, in the order in which a tree is printed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The entries, up to the limit.
    pub entries: Vec<Listed>,
    /// The number of all entries, including those beyond the limit.
    pub total: usize,
    /// The number of entries that are left out because they are ignored or hidden.
    pub left_out: usize,
    /// The first few directories that could not be read, and why.
    pub unreadable: Vec<(PathBuf, String)>,
    /// The first few ignore files that could not be applied.
    pub unapplied: Vec<UnappliedRules>,
}

/// Lists a directory and the levels below it.
pub fn list_folder(
    request: &ListingRequest<'_>,
    cancelled: &dyn Fn() -> bool,
) -> io::Result<Result<Listing, Cancelled>> {
    let start = Folder::start(request.start)?;
    let mut unapplied = Vec::new();
    let rules = Rules::above(&start.path(), request.global_excludes, &mut unapplied);
    let mut lister = Lister {
        request,
        judge: ListingJudge::new(request),
        buffer: EntryBuffer::default(),
        listing: Listing { unapplied, ..Listing::default() },
        held: 0,
        cancelled,
    };
    // A stack instead of recursion, because directories may be nested to any depth.
    let mut stack = vec![lister.level(start, rules.as_ref())?];
    while let Some(level) = stack.last_mut() {
        if cancelled() {
            return Ok(Err(Cancelled));
        }
        let Some((name, entry)) = level.names.get(level.next) else {
            lister.held -= level.names.bytes();
            stack.pop();
            continue;
        };
        level.next += 1;
        if lister.listing.add(request, name, entry.kind, level.folder.depth()) {
            let below = level.folder.enter(name);
            match below.and_then(|it| lister.level(it, level.rules.as_ref())) {
                Ok(below) => stack.push(below),
                Err(cause) => {
                    let path = level.folder.path().join(name);
                    lister.listing.cannot_read(path, &cause);
                }
            }
        }
    }
    Ok(Ok(lister.listing))
}

struct Lister<'a> {
    request: &'a ListingRequest<'a>,
    judge: ListingJudge<'a>,
    buffer: EntryBuffer,
    listing: Listing,
    /// The memory that the names take, in bytes.
    held: usize,
    cancelled: &'a dyn Fn() -> bool,
}

/// A directory, and how many of its entries have been listed.
struct Level {
    folder: Arc<Folder>,
    rules: Option<Arc<Rules>>,
    names: NameList,
    next: usize,
}

/// Decides which entries a listing shows.
pub struct ListingJudge<'a> {
    request: &'a ListingRequest<'a>,
    selection: Selection,
    /// The directory whose entries are judged, or during a judgement the entry.
    path: PathBuf,
    depth: usize,
}

impl<'a> ListingJudge<'a> {
    /// A judge of the entries that a request asks for.
    pub fn new(request: &'a ListingRequest<'a>) -> Self {
        let selection = Selection::new(request.hidden);
        Self { request, selection, path: PathBuf::new(), depth: 0 }
    }

    /// Goes to a directory that is `depth` levels below the start.
    pub fn go_to(&mut self, folder: &Path, depth: usize) {
        self.path.clear();
        self.path.push(folder);
        self.depth = depth;
    }

    /// Whether an entry of this directory is listed. One that is left out is counted.
    pub fn lists(
        &mut self,
        name: &OsStr,
        kind: EntryKind,
        is_ignored: impl FnOnce(&Path) -> bool,
        listing: &mut Listing,
    ) -> bool {
        self.path.push(name);
        let path = &self.path;
        let candidate = Candidate { path, below: path, name, kind, depth: self.depth };
        let is_taken = match self.selection.verdict(candidate, || is_ignored(path)) {
            SelectionVerdict::Taken => true,
            // A listing with hidden names shows `.git`, but not what is in it.
            SelectionVerdict::Unwanted => self.request.hidden == HiddenFiles::Seen,
            SelectionVerdict::LeftOut => false,
        };
        let subject = if kind == EntryKind::Folder {
            VisibilitySubject::Folder
        } else {
            VisibilitySubject::File
        };
        let may_be_seen = self.request.visibility.shows(path, subject);
        self.path.pop();
        listing.left_out += usize::from(may_be_seen && !is_taken);
        may_be_seen && is_taken
    }
}

impl Listing {
    /// Adds an entry that is listed. Returns whether it is a directory that has to be entered.
    pub fn add(
        &mut self,
        request: &ListingRequest<'_>,
        name: &OsStr,
        kind: EntryKind,
        depth: usize,
    ) -> bool {
        self.total += 1;
        if self.entries.len() < request.max_entries {
            self.entries.push(Listed { name: name.to_owned(), kind, depth });
        }
        kind == EntryKind::Folder && depth < request.max_depth && name != ".git"
    }

    fn cannot_read(&mut self, path: PathBuf, cause: &io::Error) {
        if self.unreadable.len() < MAX_EXAMPLES {
            self.unreadable.push((path, cause.to_string()));
        }
    }
}

impl Lister<'_> {
    /// The entries of one directory that are listed, sorted by name.
    fn level(&mut self, folder: Folder, above: Option<&Arc<Rules>>) -> io::Result<Level> {
        let mut names = NameList::default();
        let mut rule_files = RuleFiles::default();
        let (mut seen, mut too_many) = (0_usize, false);
        let (held, cancelled) = (self.held, self.cancelled);
        folder.entries(&mut self.buffer, &mut |name, kind| {
            rule_files.note(name.as_encoded_bytes(), kind);
            too_many |= !names.push(name, kind, false) || held + names.bytes() > MAX_NAMES_BYTES;
            seen += 1;
            let asks = seen.is_multiple_of(ENTRIES_BETWEEN_CHECKS);
            if too_many || (asks && cancelled()) {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })?;
        let path = folder.path();
        if too_many {
            let seen = names.len();
            let cause = format!("it has too many entries; only the first {seen} were read");
            self.listing.cannot_read(path.to_path_buf(), &io::Error::other(cause));
        }
        let naming = self.judge.selection.naming(&path, folder.depth());
        let mut unapplied = Vec::new();
        let rules = Rules::within(above, &folder, rule_files, naming, &mut unapplied);
        unapplied.retain(|it| self.request.visibility.shows(&it.file, VisibilitySubject::File));
        let room = MAX_EXAMPLES.saturating_sub(self.listing.unapplied.len());
        self.listing.unapplied.extend(unapplied.into_iter().take(room));
        names.sort_by_name();
        let Self { judge, listing, .. } = self;
        judge.go_to(&path, folder.depth());
        names.retain(|name, entry| {
            let kind = entry.kind;
            let is_ignored =
                |path: &Path| rules.as_deref().is_some_and(|it| it.ignores(path, kind));
            judge.lists(name, kind, is_ignored, listing)
        });
        self.held += names.bytes();
        Ok(Level { folder: folder.rest(), rules, names, next: 0 })
    }
}
