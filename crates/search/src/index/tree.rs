//! The tree of a root: every directory, file and link below it. Each directory is watched to keep
//! the tree up to date.
//!
//! Why it is correct:
//! - A directory is watched before it is listed, so changes during the listing are in the queue.
//! - The queue is read before each answer. It has every change that was complete by then.
//! - Events only say which names to check. The file system is then queried for the current state.
//! - If something cannot be watched, the tree or a directory in it is cold: [`WhyCold`],
//!   [`WhyClosed`].
//!
//! It uses the same ignore rules as a walk, and does not know what is searched for.

use std::{
    fs::File,
    io,
    os::fd::OwnedFd,
    path::{Component, Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use rustc_hash::FxHashMap;
use rustix::fs::OFlags;
use toolwright_base::regular_file;
use toolwright_files::EntryKind;
use toolwright_walk::{Rules, UnappliedRules};

use super::{
    entry_table::{EntryNumber, EntryTable, EntryVersion, EntryView, TreeChanges, WhyClosed},
    event_queue::{EventQueue, WatchNumber},
    file_set::FileSet,
    file_stamp::FileStamp,
    hard_links::HardLinks,
    root_check::{WatchedRoot, failed, kernel_number, open_below},
    setting_files::{RulesScope, SettingFiles},
    sweep::SweepCause,
    why_cold::WhyCold,
};

/// The most cold directories that a status names.
const MAX_REPORTED: usize = 20;

/// The settings of a tree.
#[derive(Clone, Debug)]
pub(crate) struct TreeSettings {
    /// The user's global excludes, and the directory they are relative to.
    pub(crate) global_excludes: Option<(PathBuf, PathBuf)>,
    /// The most entries. With more, the tree is cold.
    pub(crate) max_entries: usize,
    /// The most watched directories. With more, the tree is cold.
    pub(crate) max_watches: usize,
}

impl TreeSettings {
    /// The default limits. At most half of the user's watches are used, because other programs need
    /// some.
    pub(crate) fn new(global_excludes: Option<(PathBuf, PathBuf)>) -> Self {
        let limit = kernel_number("/proc/sys/fs/inotify/max_user_watches");
        Self {
            global_excludes,
            max_entries: 2_000_000,
            max_watches: limit.map_or(8_192, |it| it / 2),
        }
    }
}

/// What a watch is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WatchTarget {
    Folder(EntryNumber),
    /// Files with several names, by the digest of their inode.
    Inode(u32),
}

/// The entries below a root, and the watches that keep them up to date.
#[derive(Debug)]
pub(crate) struct WatchedTree {
    pub(super) root: WatchedRoot,
    pub(super) settings: TreeSettings,
    pub(super) table: EntryTable,
    pub(super) queue: EventQueue,
    pub(super) targets: FxHashMap<WatchNumber, WatchTarget>,
    pub(super) links: HardLinks,
    pub(super) setting_files: SettingFiles,
    /// The rules above the root.
    pub(super) rules_above: Option<Arc<Rules>>,
    pub(super) unapplied_above: Vec<UnappliedRules>,
    /// Why the tree can no longer be used.
    pub(super) cold: Option<WhyCold>,
    pub(super) sweep_wanted: Option<SweepCause>,
    pub(super) last_sweep: Instant,
}

/// The entry that a path below the root leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TreeEntry {
    /// A directory whose content is in the tree.
    Open(EntryNumber),
    /// A path in or below a directory whose content is not in the tree.
    Closed(EntryNumber, WhyClosed),
    /// A file, a link or something else that is not a directory.
    NoFolder(EntryNumber),
    /// Nothing.
    Absent,
}

/// The location of a file, to open it without the tree.
#[derive(Clone, Debug)]
pub(crate) struct FileLocation {
    root: Arc<OwnedFd>,
    below: PathBuf,
}

impl FileLocation {
    /// Opens the file that has this path now. Symbolic links are not followed.
    pub(crate) fn open(&self) -> io::Result<File> {
        let flags = regular_file::reading() | OFlags::NOFOLLOW;
        regular_file::checked(open_below(&self.root, &self.below, flags)?)
    }
}

impl WatchedTree {
    /// Watches and lists everything below a root. The root's path must not contain symbolic links.
    pub(crate) fn open(
        root: &Path,
        settings: &TreeSettings,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Self, WhyCold> {
        let root = WatchedRoot::open(root)?;
        let queue = EventQueue::new().map_err(|cause| match cause {
            rustix::io::Errno::MFILE => {
                WhyCold::NoInstance { cause: io::Error::from(cause).to_string() }
            }
            cause => failed(cause),
        })?;
        let mut tree = Self {
            root,
            settings: settings.clone(),
            table: EntryTable::new(),
            queue,
            targets: FxHashMap::default(),
            links: HardLinks::default(),
            setting_files: SettingFiles::default(),
            rules_above: None,
            unapplied_above: Vec::new(),
            cold: None,
            sweep_wanted: None,
            last_sweep: Instant::now(),
        };
        tree.read_again(cancelled)?;
        tree.table.shrink();
        Ok(tree)
    }

    /// The path of the root.
    #[cfg(test)]
    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    /// The changes of files since the last call. The number of a removed file is not reused before
    /// its removal was returned here.
    pub(crate) fn take_changes(&mut self) -> TreeChanges {
        self.table.take_changes()
    }

    /// Finds the entry that a path below the root leads to.
    pub(crate) fn place(&self, below: &Path) -> TreeEntry {
        let mut at = EntryTable::ROOT;
        for component in below.components() {
            let Component::Normal(name) = component else { return TreeEntry::Absent };
            match self.place_of(at) {
                TreeEntry::Open(_) => {}
                TreeEntry::NoFolder(_) => return TreeEntry::Absent,
                closed => return closed,
            }
            match self.table.child(at, name) {
                Some(child) => at = child,
                None => return TreeEntry::Absent,
            }
        }
        self.place_of(at)
    }

    fn place_of(&self, number: EntryNumber) -> TreeEntry {
        if self.table.folder(number).is_some() {
            return TreeEntry::Open(number);
        }
        match self.table.why_closed(number) {
            Some(why) => TreeEntry::Closed(number, why),
            None => TreeEntry::NoFolder(number),
        }
    }

    /// The root's number.
    #[expect(clippy::unused_self, reason = "the number belongs to this tree")]
    pub(crate) fn root_number(&self) -> EntryNumber {
        EntryTable::ROOT
    }

    /// The entries of an open directory, in the order of their names.
    pub(crate) fn entries(&self, folder: EntryNumber) -> impl Iterator<Item = EntryView<'_>> {
        self.table.children(folder).filter_map(|it| self.table.view(it))
    }

    /// The entries of an open directory that are in a set, in the order of their names.
    pub(super) fn entries_among<'t>(
        &'t self,
        folder: EntryNumber,
        set: &FileSet,
    ) -> impl Iterator<Item = EntryView<'t>> {
        let some = self.table.children(folder).filter(|it| set.contains(*it));
        some.filter_map(|it| self.table.view(it))
    }

    /// One entry.
    pub(crate) fn entry(&self, number: EntryNumber) -> Option<EntryView<'_>> {
        self.table.view(number)
    }

    /// An entry of an open directory, by its name.
    #[cfg(test)]
    pub(crate) fn entry_named(
        &self,
        folder: EntryNumber,
        name: &std::ffi::OsStr,
    ) -> Option<EntryView<'_>> {
        self.table.view(self.table.child(folder, name)?)
    }

    /// The parent directory of an entry. `None` for the root.
    pub(crate) fn parent(&self, number: EntryNumber) -> Option<EntryNumber> {
        self.table.parent(number)
    }

    /// Why the content of a directory is not in the tree. `None` if it is, or if this is not a
    /// directory.
    pub(crate) fn why_closed(&self, number: EntryNumber) -> Option<WhyClosed> {
        self.table.why_closed(number)
    }

    /// Whether the tree has everything that a walk of a directory would report: its entries, and no
    /// problems.
    pub(crate) fn knows_all_of(&self, folder: EntryNumber) -> bool {
        self.table.folder(folder).is_some_and(|it| it.unapplied.is_empty())
    }

    /// The directories with a problem that a walk would report, and those that have to be walked
    /// because their content is not in the tree. Ignored directories are not included.
    pub(crate) fn odd_folders(&self) -> impl Iterator<Item = EntryNumber> + '_ {
        self.table.odd_folders()
    }

    /// The directories that are always walked, and why.
    pub(crate) fn cold_subtrees(&self) -> Vec<(PathBuf, String)> {
        let odd = self.odd_folders().filter_map(|it| Some((self.path(it), self.why_closed(it)?)));
        let mut cold: Vec<_> = odd.map(|(path, why)| (path, why.to_string())).collect();
        cold.sort();
        cold.truncate(MAX_REPORTED);
        cold
    }

    /// The absolute path of an entry.
    pub(crate) fn path(&self, number: EntryNumber) -> PathBuf {
        let below = self.table.path_below(number);
        if below.as_os_str().is_empty() {
            return self.root.path().to_path_buf();
        }
        self.root.path().join(below)
    }

    /// The rules that apply to the entries of an open directory.
    pub(crate) fn rules(&self, folder: EntryNumber) -> Option<&Arc<Rules>> {
        self.table.folder(folder)?.rules.as_ref()
    }

    /// The ignore files of an open directory that could not be applied.
    pub(crate) fn unapplied(&self, folder: EntryNumber) -> &[UnappliedRules] {
        self.table.folder(folder).map(|it| it.unapplied.as_slice()).unwrap_or_default()
    }

    /// The ignore files above the root, or of the user, that could not be applied.
    pub(crate) fn unapplied_above(&self) -> &[UnappliedRules] {
        &self.unapplied_above
    }

    /// Whether a search that starts in an open directory, or names it in a pattern, may see other
    /// files in it than the tree has. Then the directory has to be walked.
    pub(crate) fn naming_matters(&self, folder: EntryNumber) -> bool {
        // The tree treats the root as named already.
        folder != EntryTable::ROOT
            && self.rules(folder).is_some_and(|it| it.naming_matters(&self.path(folder)))
    }

    /// The size, times and identity of a file.
    pub(crate) fn stamp(&self, number: EntryNumber) -> Option<FileStamp> {
        self.table.stamp(number)
    }

    /// The version of an entry. `None` if no entry has this number.
    pub(crate) fn version(&self, number: EntryNumber) -> Option<EntryVersion> {
        self.table.version(number)
    }

    /// The location of a file, to open it without the tree.
    pub(crate) fn file_place(&self, number: EntryNumber) -> Option<FileLocation> {
        if self.table.kind(number)? != EntryKind::File {
            return None;
        }
        let root = Arc::clone(self.root.handle());
        Some(FileLocation { root, below: self.table.path_below(number) })
    }

    /// How many entries there are.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }

    /// How many directories and files are watched.
    #[cfg(test)]
    pub(crate) fn watches(&self) -> usize {
        self.targets.len()
    }

    /// An estimate of the memory that the tree takes, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.table.memory()
            + self.targets.capacity() * size_of::<(WatchNumber, WatchTarget)>()
            + self.links.watched() * 64
    }

    /// Reads the rules above the root.
    pub(super) fn read_rules_above(&mut self) {
        let global = self.settings.global_excludes.as_ref();
        let global = global.map(|(file, folder)| (file.as_path(), folder.as_path()));
        let sources = Rules::sources_above(self.root.path(), global.map(|it| it.0));
        self.setting_files.note(RulesScope::Above, sources);
        self.unapplied_above.clear();
        self.rules_above = Rules::above(self.root.path(), global, &mut self.unapplied_above);
    }
}
