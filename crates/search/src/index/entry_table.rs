//! The entries of a tree, packed: about fifty bytes for each, because there may be a million.
//!
//! It only stores what callers put in. All names are in one buffer, and the children of a directory
//! are sorted by name.

use std::{
    cmp::Ordering,
    ffi::OsStr,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustc_hash::FxHashMap;
use toolwright_files::EntryKind;
use toolwright_walk::{Rules, UnappliedRules};

use super::{event_queue::WatchNumber, file_stamp::FileStamp};

pub(crate) use super::file_number::{EntryNumber, EntryVersion};

/// With more insertions than this at once, sorting again is faster than inserting.
const FEW: usize = 16;
/// Names of removed entries stay in the buffer until they take this many bytes.
const MAX_DEAD_NAMES: usize = 64 * 1024;

/// What happened to files since the last call. A number may be listed more than once. A number in
/// `removed` is gone, even if it is also in another list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TreeChanges {
    /// Files that are new.
    pub(crate) added: Vec<EntryNumber>,
    /// Files that may have other content now.
    pub(crate) changed: Vec<EntryNumber>,
    /// Files that are gone.
    pub(crate) removed: Vec<EntryNumber>,
}

/// Why the content of a directory is not in the tree, so that it has to be walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WhyClosed {
    /// It is ignored.
    #[error("it is ignored")]
    Ignored,
    /// It is `.git`.
    #[error("it belongs to a repository")]
    Repository,
    /// Another file system is mounted there.
    #[error("another file system is mounted there")]
    Mounted,
    /// The system refused to open it, with this error number.
    #[error("it cannot be read: {}", std::io::Error::from_raw_os_error(*.0))]
    Unreadable(i32),
    /// Its path is too long for a single system call.
    #[error("its path is too long")]
    TooDeep,
    /// It has not been read yet.
    #[error("it has not been read yet")]
    Unseen,
}

#[derive(Clone, Copy, Debug)]
struct PackedEntry {
    name_start: u32,
    parent: u32,
    version: u32,
    nanoseconds: u32,
    inode: u32,
    changed: u32,
    size: u64,
    seconds: i64,
    name_length: u8,
    kind: EntryKind,
    is_ignored: bool,
    state: EntryState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntryState {
    Settled,
    /// The stamp is so recent that the next change may leave it the same.
    Young,
    Removed,
}

/// A directory whose content is in the tree.
#[derive(Debug)]
pub(super) struct OpenFolder {
    /// Sorted by name.
    children: Vec<u32>,
    pub(super) watch: WatchNumber,
    /// The rules that apply to its entries.
    pub(super) rules: Option<Arc<Rules>>,
    pub(super) unapplied: Vec<UnappliedRules>,
}

/// All entries.
#[derive(Debug, Default)]
pub(super) struct EntryTable {
    entries: Vec<PackedEntry>,
    names: Vec<u8>,
    dead_names: usize,
    folders: FxHashMap<u32, OpenFolder>,
    /// Why directories are closed, without the ignored ones.
    closed: FxHashMap<u32, WhyClosed>,
    free: Vec<u32>,
    last_version: u32,
    pub(super) changes: TreeChanges,
}

/// A read-only view of an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryView<'t> {
    /// Its number.
    pub(crate) number: EntryNumber,
    /// Its name in its directory.
    pub(crate) name: &'t OsStr,
    /// Its kind.
    pub(crate) kind: EntryKind,
    /// Whether ignore rules exclude it. A leading dot in its name does not count.
    pub(crate) is_ignored: bool,
}

impl OpenFolder {
    pub(super) fn new(watch: WatchNumber) -> Self {
        Self { children: Vec::new(), watch, rules: None, unapplied: Vec::new() }
    }
}

impl EntryTable {
    /// The root is always the first entry.
    pub(super) const ROOT: EntryNumber = EntryNumber(0);

    /// A table with nothing but the root.
    pub(super) fn new() -> Self {
        let mut table = Self::default();
        let root = table.take_slot(PackedEntry::new(0, OsStr::new(""), 0, EntryKind::Folder));
        table.closed.insert(root.0, WhyClosed::Unseen);
        table
    }

    /// The number of entries. Removed files count until `take_changes` is called.
    pub(super) fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// An estimate of the memory that the entries take, in bytes.
    pub(super) fn memory(&self) -> usize {
        let children: usize = self.folders.values().map(|it| it.children.capacity()).sum();
        self.entries.capacity() * size_of::<PackedEntry>()
            + self.names.capacity()
            + children * size_of::<u32>()
            + self.folders.capacity() * size_of::<(u32, OpenFolder)>()
            + self.closed.capacity() * size_of::<(u32, WhyClosed)>()
            + self.free.capacity() * size_of::<u32>()
    }

    /// Frees spare capacity.
    pub(super) fn shrink(&mut self) {
        self.entries.shrink_to_fit();
        self.names.shrink_to_fit();
    }

    fn entry(&self, number: EntryNumber) -> Option<&PackedEntry> {
        self.entries.get(number.0 as usize).filter(|it| it.state != EntryState::Removed)
    }

    fn entry_mut(&mut self, number: EntryNumber) -> Option<&mut PackedEntry> {
        self.entries.get_mut(number.0 as usize).filter(|it| it.state != EntryState::Removed)
    }

    pub(super) fn kind(&self, number: EntryNumber) -> Option<EntryKind> {
        Some(self.entry(number)?.kind)
    }

    pub(super) fn parent(&self, number: EntryNumber) -> Option<EntryNumber> {
        (number != Self::ROOT).then_some(EntryNumber(self.entry(number)?.parent))
    }

    pub(super) fn version(&self, number: EntryNumber) -> Option<EntryVersion> {
        Some(EntryVersion(self.entry(number)?.version))
    }

    pub(super) fn set_ignored(&mut self, number: EntryNumber, is_ignored: bool) {
        if let Some(entry) = self.entry_mut(number) {
            entry.is_ignored = is_ignored;
        }
    }

    pub(super) fn inode(&self, number: EntryNumber) -> u32 {
        self.entry(number).map_or(0, |it| it.inode)
    }

    pub(super) fn name(&self, number: EntryNumber) -> &OsStr {
        self.entry(number).map_or(OsStr::new(""), |it| self.name_of(it))
    }

    fn name_of(&self, entry: &PackedEntry) -> &OsStr {
        let start = entry.name_start as usize;
        let end = start + usize::from(entry.name_length);
        OsStr::from_bytes(self.names.get(start..end).unwrap_or_default())
    }

    pub(super) fn stamp(&self, number: EntryNumber) -> Option<FileStamp> {
        let entry = self.entry(number)?;
        Some(FileStamp {
            size: entry.size,
            seconds: entry.seconds,
            nanoseconds: entry.nanoseconds,
            inode: entry.inode,
            changed: entry.changed,
            settled: entry.state == EntryState::Settled,
        })
    }

    /// Sets the stamp of a file. Does not mark the file as changed.
    pub(super) fn set_stamp(&mut self, number: EntryNumber, stamp: &FileStamp) {
        if let Some(entry) = self.entry_mut(number) {
            entry.size = stamp.size;
            entry.seconds = stamp.seconds;
            entry.nanoseconds = stamp.nanoseconds;
            entry.inode = stamp.inode;
            entry.changed = stamp.changed;
            entry.state = if stamp.settled { EntryState::Settled } else { EntryState::Young };
        }
    }

    /// Records that the content of a file may have changed.
    pub(super) fn touch(&mut self, number: EntryNumber) {
        let version = self.next_version();
        if let Some(entry) = self.entry_mut(number) {
            entry.version = version;
            if entry.kind == EntryKind::File {
                self.changes.changed.push(number);
            }
        }
    }

    fn next_version(&mut self) -> u32 {
        self.last_version = self.last_version.wrapping_add(1);
        self.last_version
    }

    pub(super) fn view(&self, number: EntryNumber) -> Option<EntryView<'_>> {
        let entry = self.entry(number)?;
        Some(EntryView {
            number,
            name: self.name_of(entry),
            kind: entry.kind,
            is_ignored: entry.is_ignored,
        })
    }

    pub(super) fn folder(&self, number: EntryNumber) -> Option<&OpenFolder> {
        self.folders.get(&number.0)
    }

    pub(super) fn folder_mut(&mut self, number: EntryNumber) -> Option<&mut OpenFolder> {
        self.folders.get_mut(&number.0)
    }

    pub(super) fn folders(&self) -> impl Iterator<Item = EntryNumber> + '_ {
        self.folders.keys().copied().map(EntryNumber)
    }

    /// The entries of an open directory, in the order of their names.
    pub(super) fn children(&self, folder: EntryNumber) -> impl Iterator<Item = EntryNumber> + '_ {
        let children = self.folder(folder).map(|it| it.children.as_slice()).unwrap_or_default();
        children.iter().copied().map(EntryNumber)
    }

    pub(super) fn child(&self, folder: EntryNumber, name: &OsStr) -> Option<EntryNumber> {
        let children = &self.folder(folder)?.children;
        let found = children.binary_search_by(|it| self.name(EntryNumber(*it)).cmp(name)).ok()?;
        children.get(found).copied().map(EntryNumber)
    }

    /// All files whose inode has one of these digests.
    pub(super) fn files_with_inodes(&self, wanted: &dyn Fn(u32) -> bool) -> Vec<EntryNumber> {
        let files = self.entries.iter().zip(0_u32..).filter(|(entry, _)| {
            entry.state != EntryState::Removed
                && entry.kind == EntryKind::File
                && wanted(entry.inode)
        });
        files.map(|(_, number)| EntryNumber(number)).collect()
    }

    /// Directories that are closed but not ignored, and open directories with ignore files that
    /// could not be applied.
    pub(super) fn odd_folders(&self) -> impl Iterator<Item = EntryNumber> + '_ {
        let closed = self.closed.iter().filter(|(_, why)| **why != WhyClosed::Repository);
        let open = self.folders.iter().filter(|(_, it)| !it.unapplied.is_empty());
        closed.map(|it| *it.0).chain(open.map(|it| *it.0)).map(EntryNumber)
    }

    /// Why a directory is closed. `None` if it is open or not a directory.
    pub(super) fn why_closed(&self, number: EntryNumber) -> Option<WhyClosed> {
        let entry = self.entry(number)?;
        if entry.kind != EntryKind::Folder || self.folders.contains_key(&number.0) {
            return None;
        }
        let known = self.closed.get(&number.0).copied();
        Some(known.unwrap_or(if entry.is_ignored { WhyClosed::Ignored } else { WhyClosed::Unseen }))
    }

    /// Marks a directory as closed. The caller must remove its entries first.
    pub(super) fn close(&mut self, number: EntryNumber, why: WhyClosed) -> Option<OpenFolder> {
        match why {
            WhyClosed::Ignored => self.closed.remove(&number.0),
            _ => self.closed.insert(number.0, why),
        };
        self.folders.remove(&number.0)
    }

    /// Marks a directory as open.
    pub(super) fn open(&mut self, number: EntryNumber, folder: OpenFolder) {
        self.closed.remove(&number.0);
        self.folders.insert(number.0, folder);
    }

    /// The path of an entry, relative to the root.
    pub(super) fn path_below(&self, number: EntryNumber) -> PathBuf {
        let mut names = Vec::new();
        let mut length = 0;
        let mut at = number;
        while let Some(parent) = self.parent(at) {
            let name = self.name(at);
            length += name.len() + 1;
            names.push(name);
            at = parent;
        }
        let mut path = PathBuf::with_capacity(length);
        path.extend(names.iter().rev().map(Path::new));
        path
    }

    /// Adds entries to an open directory. None of them may be there already.
    pub(super) fn add<'n>(
        &mut self,
        folder: EntryNumber,
        new: impl Iterator<Item = (&'n OsStr, EntryKind)>,
    ) -> Vec<EntryNumber> {
        let mut numbers = Vec::new();
        for (name, kind) in new {
            // The limit on entries keeps the names below 4 GB.
            let Ok(start) = u32::try_from(self.names.len()) else { break };
            self.names.extend_from_slice(name.as_bytes());
            let mut entry = PackedEntry::new(start, name, folder.0, kind);
            entry.version = self.next_version();
            let number = self.take_slot(entry);
            if kind == EntryKind::File {
                self.changes.added.push(number);
            }
            numbers.push(number);
        }
        let mut children = match self.folder_mut(folder) {
            Some(it) => std::mem::take(&mut it.children),
            None => return Vec::new(),
        };
        let by_name = |one: &u32, other: &u32| -> Ordering {
            self.name(EntryNumber(*one)).cmp(self.name(EntryNumber(*other)))
        };
        if numbers.len() > FEW {
            children.reserve_exact(numbers.len());
            children.extend(numbers.iter().map(|it| it.0));
            // This sort is fast when the input is mostly sorted.
            children.sort_by(by_name);
        } else {
            for number in &numbers {
                let at = children.partition_point(|it| by_name(it, &number.0).is_lt());
                children.insert(at, number.0);
            }
        }
        if let Some(it) = self.folder_mut(folder) {
            it.children = children;
        }
        numbers
    }

    fn take_slot(&mut self, entry: PackedEntry) -> EntryNumber {
        if let Some(number) = self.free.pop()
            && let Some(slot) = self.entries.get_mut(number as usize)
        {
            *slot = entry;
            return EntryNumber(number);
        }
        if self.entries.len() == self.entries.capacity() {
            // Doubling would leave half of the memory unused.
            self.entries.reserve_exact(self.entries.len() / 8 + 1_024);
        }
        let number = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        self.entries.push(entry);
        EntryNumber(number)
    }

    /// Removes entries of one directory. They must not have children.
    pub(super) fn remove(&mut self, folder: EntryNumber, gone: &[EntryNumber]) {
        let mut children =
            self.folder_mut(folder).map(|it| std::mem::take(&mut it.children)).unwrap_or_default();
        if gone.len() <= FEW {
            for number in gone {
                let name = self.name(*number);
                if let Ok(at) =
                    children.binary_search_by(|it| self.name(EntryNumber(*it)).cmp(name))
                {
                    children.remove(at);
                }
            }
        }
        for number in gone {
            self.forget(*number);
        }
        if gone.len() > FEW {
            children.retain(|it| self.entry(EntryNumber(*it)).is_some());
        }
        if let Some(it) = self.folder_mut(folder) {
            it.children = children;
        }
    }

    /// Removes all entries of a directory. None of them may be an open directory.
    pub(super) fn remove_children(&mut self, folder: EntryNumber) {
        let children =
            self.folder_mut(folder).map(|it| std::mem::take(&mut it.children)).unwrap_or_default();
        for number in children {
            self.forget(EntryNumber(number));
        }
    }

    fn forget(&mut self, number: EntryNumber) {
        let Some(entry) = self.entry_mut(number) else { return };
        entry.state = EntryState::Removed;
        let (kind, name_length) = (entry.kind, entry.name_length);
        self.dead_names += usize::from(name_length);
        self.closed.remove(&number.0);
        if kind == EntryKind::File {
            self.changes.removed.push(number);
        } else {
            // Only the numbers of files are used outside of the tree.
            self.free.push(number.0);
        }
    }

    /// The changes since the last call. After this call the numbers of removed files may be reused.
    pub(super) fn take_changes(&mut self) -> TreeChanges {
        let changes = std::mem::take(&mut self.changes);
        self.free.extend(changes.removed.iter().map(|it| it.0));
        if self.dead_names > MAX_DEAD_NAMES && self.dead_names > self.names.len() / 4 {
            self.pack_names();
        }
        changes
    }

    fn pack_names(&mut self) {
        let mut names = Vec::with_capacity(self.names.len().saturating_sub(self.dead_names));
        for entry in &mut self.entries {
            if entry.state == EntryState::Removed {
                continue;
            }
            let start = entry.name_start as usize;
            let name = self.names.get(start..start + usize::from(entry.name_length));
            entry.name_start = u32::try_from(names.len()).unwrap_or(u32::MAX);
            names.extend_from_slice(name.unwrap_or_default());
        }
        self.names = names;
        self.dead_names = 0;
    }
}

impl PackedEntry {
    fn new(name_start: u32, name: &OsStr, parent: u32, kind: EntryKind) -> Self {
        Self {
            name_start,
            parent,
            version: 0,
            nanoseconds: 0,
            inode: 0,
            changed: 0,
            size: 0,
            seconds: 0,
            // File names have at most 255 bytes.
            name_length: u8::try_from(name.len()).unwrap_or(u8::MAX),
            kind,
            is_ignored: false,
            state: EntryState::Young,
        }
    }
}
