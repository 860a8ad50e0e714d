//! The tree of a root: every directory, file and link below it, kept as the disk is by watching each
//! directory.
//!
//! What makes it right:
//! - A directory is watched before it is listed, so what happens meanwhile is in the queue.
//! - Before an answer, what is in the queue is read. It holds every change that was complete by then.
//! - Events say where to look. What is there is asked of the file system.
//! - Whatever cannot be followed makes the tree, or a directory in it, cold: [`WhyCold`], [`WhyClosed`].
//!
//! It decides by the walk's own rules what is ignored, and does not know what is searched for.

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

use super::{
    entry_table::{EntryNumber, EntryTable, EntryVersion, EntryView, TreeChanges, WhyClosed},
    event_queue::{EventQueue, WatchNumber},
    file_set::FileSet,
    file_stamp::FileStamp,
    hard_links::HardLinks,
    root_check::{WatchedRoot, failed, kernel_number, open_below},
    setting_files::{RulesPlace, SettingFiles},
    sweep::SweepCause,
    why_cold::WhyCold,
};
use crate::{
    regular_file,
    workspace::walk::{EntryKind, Rules, UnappliedRules},
};

/// How many directories that are walked a status names.
const MAX_TOLD: usize = 20;

/// How a tree is made.
#[derive(Clone, Debug)]
pub(crate) struct TreeSettings {
    /// The user's global excludes, and the directory they are relative to.
    pub(crate) global_excludes: Option<(PathBuf, PathBuf)>,
    /// The most entries that are kept. With more, the tree is cold.
    pub(crate) max_entries: usize,
    /// The most directories that are watched. With more, the tree is cold.
    pub(crate) max_watches: usize,
}

impl TreeSettings {
    /// The usual limits. At most half of the user's watches are used, because other programs need some.
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

/// The entries below a root, and what keeps them up to date.
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
    /// Why nothing can be said any more.
    pub(super) cold: Option<WhyCold>,
    pub(super) sweep_wanted: Option<SweepCause>,
    pub(super) last_sweep: Instant,
}

/// What a path below the root leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlaceInTree {
    /// A directory whose content is in the tree.
    Open(EntryNumber),
    /// Something in or below a directory whose content is not in the tree.
    Closed(EntryNumber, WhyClosed),
    /// A file, a link or something else that is no directory.
    NoFolder(EntryNumber),
    /// Nothing.
    Absent,
}

/// A file to be opened without the tree.
#[derive(Clone, Debug)]
pub(crate) struct FilePlace {
    root: Arc<OwnedFd>,
    below: PathBuf,
}

impl FilePlace {
    /// Opens the file that has this name now. Links are not followed.
    pub(crate) fn open(&self) -> io::Result<File> {
        let flags = regular_file::reading() | OFlags::NOFOLLOW;
        regular_file::checked(open_below(&self.root, &self.below, flags)?)
    }
}

impl WatchedTree {
    /// Watches and lists everything below a root, whose path must have no links in it.
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

    /// What happened to files since the last call. Until then no number of a removed file is given to
    /// another one.
    pub(crate) fn take_changes(&mut self) -> TreeChanges {
        self.table.take_changes()
    }

    /// Finds what a path below the root leads to.
    pub(crate) fn place(&self, below: &Path) -> PlaceInTree {
        let mut at = EntryTable::ROOT;
        for component in below.components() {
            let Component::Normal(name) = component else { return PlaceInTree::Absent };
            match self.place_of(at) {
                PlaceInTree::Open(_) => {}
                PlaceInTree::NoFolder(_) => return PlaceInTree::Absent,
                closed => return closed,
            }
            match self.table.child(at, name) {
                Some(child) => at = child,
                None => return PlaceInTree::Absent,
            }
        }
        self.place_of(at)
    }

    fn place_of(&self, number: EntryNumber) -> PlaceInTree {
        if self.table.folder(number).is_some() {
            return PlaceInTree::Open(number);
        }
        match self.table.why_closed(number) {
            Some(why) => PlaceInTree::Closed(number, why),
            None => PlaceInTree::NoFolder(number),
        }
    }

    /// The root's number.
    #[expect(clippy::unused_self, reason = "it is the root of this tree")]
    pub(crate) fn root_number(&self) -> EntryNumber {
        EntryTable::ROOT
    }

    /// The entries of an open directory, in the order of their names.
    pub(crate) fn entries(&self, folder: EntryNumber) -> impl Iterator<Item = EntryView<'_>> {
        self.table.children(folder).filter_map(|it| self.table.view(it))
    }

    /// Those entries of an open directory that are in a set, in the order of their names.
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

    /// The directory that an entry is in. The root is in none.
    pub(crate) fn parent(&self, number: EntryNumber) -> Option<EntryNumber> {
        self.table.parent(number)
    }

    /// Why the content of a directory is not in the tree. `None` if it is, or if it is no directory.
    pub(crate) fn why_closed(&self, number: EntryNumber) -> Option<WhyClosed> {
        self.table.why_closed(number)
    }

    /// Whether the tree can say all that a walk would say of a directory: what is in it, and that nothing is
    /// wrong with it.
    pub(crate) fn knows_all_of(&self, folder: EntryNumber) -> bool {
        self.table.folder(folder).is_some_and(|it| it.unapplied.is_empty())
    }

    /// The directories that a walk would have something to say about, besides what is in them, or that have
    /// to be walked because their content is not in the tree. Without those that are ignored.
    pub(crate) fn odd_folders(&self) -> impl Iterator<Item = EntryNumber> + '_ {
        self.table.odd_folders()
    }

    /// The directories that are always walked, and why.
    pub(crate) fn cold_subtrees(&self) -> Vec<(PathBuf, String)> {
        let odd = self.odd_folders().filter_map(|it| Some((self.path(it), self.why_closed(it)?)));
        let mut cold: Vec<_> = odd.map(|(path, why)| (path, why.to_string())).collect();
        cold.sort();
        cold.truncate(MAX_TOLD);
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

    /// Whether a search that starts in an open directory, or spells it out, may see other files in it than
    /// the tree says. Then it has to be walked.
    pub(crate) fn naming_matters(&self, folder: EntryNumber) -> bool {
        // The root is named in the tree, too.
        folder != EntryTable::ROOT
            && self.rules(folder).is_some_and(|it| it.naming_matters(&self.path(folder)))
    }

    /// Size, times and identity of a file.
    pub(crate) fn stamp(&self, number: EntryNumber) -> Option<FileStamp> {
        self.table.stamp(number)
    }

    /// The version of an entry. `None` if there is none with this number.
    pub(crate) fn version(&self, number: EntryNumber) -> Option<EntryVersion> {
        self.table.version(number)
    }

    /// Where a file is, to open it without the tree.
    pub(crate) fn file_place(&self, number: EntryNumber) -> Option<FilePlace> {
        if self.table.kind(number)? != EntryKind::File {
            return None;
        }
        let root = Arc::clone(self.root.handle());
        Some(FilePlace { root, below: self.table.path_below(number) })
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
        self.setting_files.note(RulesPlace::Above, sources);
        self.unapplied_above.clear();
        self.rules_above = Rules::above(self.root.path(), global, &mut self.unapplied_above);
    }
}
