//! Files with several names (hard links). An event only names the path through which a file was
//! changed. So the other names in the tree are checked as well, and the file itself is watched for
//! changes through names outside of the tree.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    os::fd::AsFd as _,
};

use super::{
    entry_table::EntryNumber,
    event_queue::WatchNumber,
    file_stamp::look_at_place,
    judge::RULE_NAMES,
    tree::{WatchTarget, WatchedTree},
    why_cold::WhyCold,
};

/// How many files are watched besides directories. Changes of further files through names outside
/// of the tree are found by the next sweep.
const MAX_WATCHED_FILES: usize = 16_384;

/// The files that have several names, by the digest of their inode.
#[derive(Debug, Default)]
pub(super) struct HardLinks {
    names: HashMap<u32, BTreeSet<EntryNumber>>,
    watches: HashMap<EntryNumber, WatchNumber>,
    /// Files that were found to have several names, and are not yet in `names`.
    found: Vec<EntryNumber>,
    /// Digests of inodes that changed.
    changed: HashSet<u32>,
}

impl HardLinks {
    /// Records that a file with several names is new or changed.
    pub(super) fn note(&mut self, number: EntryNumber, inode: u32) {
        if self.names.get(&inode).is_some_and(|it| it.contains(&number)) {
            self.changed.insert(inode);
        } else {
            self.found.push(number);
        }
    }

    /// Records that a watched file changed.
    pub(super) fn note_change(&mut self, inode: u32) {
        self.changed.insert(inode);
    }

    /// How many files are watched.
    pub(super) fn watched(&self) -> usize {
        self.watches.len()
    }
}

impl WatchedTree {
    /// Stops watching a file that is gone or has only one name left.
    pub(super) fn forget_link(&mut self, number: EntryNumber) {
        let inode = self.table.inode(number);
        let links = &mut self.links;
        let Some(names) = links.names.get_mut(&inode) else { return };
        if !names.remove(&number) {
            return;
        }
        let is_last = names.is_empty();
        if let Some(watch) = links.watches.remove(&number)
            && !names.iter().any(|it| links.watches.get(it) == Some(&watch))
        {
            self.targets.remove(&watch);
            self.queue.unwatch(watch);
        }
        if is_last {
            links.names.remove(&inode);
        }
    }

    /// Checks all names of each file that was found or changed, and applies the rules of those that
    /// are ignore files.
    pub(super) fn follow_links(&mut self) -> Result<(), WhyCold> {
        loop {
            let rules = self.look_at_links();
            if rules.is_empty() {
                return Ok(());
            }
            // Directories that are no longer ignored may have more files with several names.
            for folder in rules {
                self.judge_below(folder)?;
            }
        }
    }

    /// Returns the directories whose ignore files changed.
    fn look_at_links(&mut self) -> BTreeSet<EntryNumber> {
        let found = std::mem::take(&mut self.links.found);
        let mut changed = std::mem::take(&mut self.links.changed);
        if !found.is_empty() {
            let inodes: HashSet<u32> = found.iter().map(|it| self.table.inode(*it)).collect();
            for number in self.table.files_with_inodes(&|it| inodes.contains(&it)) {
                let inode = self.table.inode(number);
                let names = self.links.names.entry(inode).or_default();
                if names.insert(number) {
                    self.watch_link(number, inode);
                }
            }
            // They may have been written to before the watch began.
            changed.extend(inodes);
        }
        let mut rules = BTreeSet::new();
        for inode in changed {
            for number in self.links.names.get(&inode).cloned().unwrap_or_default() {
                self.look_at_file(number);
                if RULE_NAMES.iter().any(|it| self.table.name(number) == *it) {
                    rules.extend(self.table.parent(number));
                }
            }
        }
        rules
    }

    fn watch_link(&mut self, number: EntryNumber, inode: u32) {
        if self.links.watches.len() >= MAX_WATCHED_FILES {
            return;
        }
        let below = self.table.path_below(number);
        // If it cannot be watched, the next sweep finds its changes.
        let Ok(place) = self.root.open_place(&below) else { return };
        let Ok(watch) = self.queue.watch_file(place.as_fd()) else { return };
        if matches!(self.targets.get(&watch), Some(WatchTarget::Folder(_))) {
            return;
        }
        self.targets.insert(watch, WatchTarget::Inode(inode));
        self.links.watches.insert(number, watch);
    }

    /// Records that a file was changed through another of its names.
    fn look_at_file(&mut self, number: EntryNumber) {
        self.table.touch(number);
        let below = self.table.path_below(number);
        let Ok(place) = self.root.open_place(&below) else { return };
        if let Some(looked) = look_at_place(&place)
            && looked.stamp.inode == self.table.inode(number)
        {
            self.table.set_stamp(number, &looked.stamp);
        }
    }
}
