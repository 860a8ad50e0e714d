//! Lists directories into the tree: new ones, and those that have to be read again.

use std::{
    cmp::Ordering,
    ffi::OsStr,
    os::fd::{BorrowedFd, OwnedFd},
};

use rustix::io::Errno;
use toolwright_files::EntryKind;
use toolwright_walk::RuleFiles;

use super::{
    entry_table::{EntryNumber, EntryTable, OpenFolder, WhyClosed},
    event_queue::WatchNumber,
    file_stamp::{FileStamp, Looked},
    folder_reading::{FolderAsRead, FolderToRead, NameAsRead, NotRead, read_folders},
    root_check::failed,
    setting_files::RulesScope,
    tree::{WatchTarget, WatchedTree},
    why_cold::WhyCold,
};

/// How many directories are read at once.
const FOLDERS_AT_ONCE: usize = 64;

impl WatchedTree {
    /// Watches and lists a directory and everything below it. Known entries are compared with the
    /// disk.
    pub(super) fn list_below(
        &mut self,
        start: EntryNumber,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), WhyCold> {
        // A list instead of recursion, because directories may be nested to any depth.
        let mut work = vec![start];
        while !work.is_empty() {
            if cancelled() {
                return Err(WhyCold::NotBuiltYet);
            }
            // None of them is below another: a directory is only added after its parent was listed.
            let some = work.split_off(work.len().saturating_sub(self.readable_at_once()));
            self.list_some(some, &mut work)?;
        }
        Ok(())
    }

    /// How many directories may be read at once without exceeding the limit on watches by more than
    /// one.
    fn readable_at_once(&self) -> usize {
        let room = self.settings.max_watches.saturating_sub(self.targets.len());
        room.clamp(1, FOLDERS_AT_ONCE)
    }

    /// Lists one directory, and adds its subdirectories to the work.
    pub(super) fn list(
        &mut self,
        number: EntryNumber,
        work: &mut Vec<EntryNumber>,
    ) -> Result<(), WhyCold> {
        self.list_some(vec![number], work)
    }

    fn list_some(
        &mut self,
        numbers: Vec<EntryNumber>,
        work: &mut Vec<EntryNumber>,
    ) -> Result<(), WhyCold> {
        let is_folder = |it: &EntryNumber| self.table.kind(*it) == Some(EntryKind::Folder);
        let folders: Vec<FolderToRead> = numbers
            .into_iter()
            .filter(is_folder)
            .map(|number| FolderToRead { number, below: self.table.path_below(number) })
            .collect();
        let is_new = |it: &FolderToRead| self.table.folder(it.number).is_none();
        if self.targets.len() >= self.settings.max_watches && folders.iter().any(is_new) {
            return Err(WhyCold::TooManyWatches { watched: self.targets.len() });
        }
        let read = read_folders(&self.root, &self.queue, &folders);
        let is_added = |it: &FolderAsRead| !self.targets.contains_key(&it.watch);
        let watched = self.targets.len() + read.iter().flatten().filter(|it| is_added(it)).count();
        // In reverse, so that the order of the work is the same as if each were listed alone.
        for (folder, read) in folders.iter().zip(read).rev() {
            match read {
                Ok(read) => self.take(folder.number, read, work)?,
                Err(NotRead::Opening(cause)) => self.cannot_open(folder.number, cause)?,
                Err(NotRead::Watching(cause)) => return Err(cannot_watch(cause, watched)),
            }
        }
        Ok(())
    }

    /// Updates a directory to what was read, and adds its subdirectories to the work.
    fn take(
        &mut self,
        number: EntryNumber,
        read: FolderAsRead,
        work: &mut Vec<EntryNumber>,
    ) -> Result<(), WhyCold> {
        let FolderAsRead { folder, watch, names } = read;
        if self.table.kind(number) != Some(EntryKind::Folder) {
            return Ok(());
        }
        if self.table.folder(number).is_some_and(|it| it.watch != watch) {
            // Another directory has the name now.
            self.empty(number);
        }
        if self.table.folder(number).is_none() {
            self.table.open(number, OpenFolder::new(watch));
        }
        // A directory that was moved keeps its watch.
        self.targets.insert(watch, WatchTarget::Folder(number));
        let names = match names {
            Ok(names) => names,
            Err(cause) => return self.cannot_open(number, cause),
        };
        if self.table.len() + names.len() > self.settings.max_entries {
            return Err(WhyCold::TooManyEntries { most: self.settings.max_entries });
        }
        self.merge(number, &names);
        self.read_rules(number, &folder);
        let (open, closed) = self.judge_children(number);
        work.extend(open);
        work.extend(closed);
        Ok(())
    }

    /// Watches a directory.
    pub(super) fn watch_folder(&self, folder: BorrowedFd<'_>) -> Result<WatchNumber, WhyCold> {
        let cold = |cause| cannot_watch(cause, self.targets.len());
        self.queue.watch_folder(folder).map_err(cold)
    }

    /// Records that a directory cannot be opened.
    fn cannot_open(&mut self, number: EntryNumber, cause: Errno) -> Result<(), WhyCold> {
        if number == EntryTable::ROOT {
            return Err(WhyCold::RootMoved);
        }
        self.empty(number);
        let why = match cause {
            // It is gone, and the event is in the queue.
            Errno::NOENT | Errno::NOTDIR | Errno::LOOP => {
                if let Some(parent) = self.table.parent(number) {
                    self.remove_entries(parent, &[number]);
                }
                return Ok(());
            }
            Errno::XDEV => WhyClosed::Mounted,
            Errno::NAMETOOLONG => WhyClosed::TooDeep,
            Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::NOSYS | Errno::AGAIN => {
                return Err(failed(cause));
            }
            cause => WhyClosed::Unreadable(cause.raw_os_error()),
        };
        self.table.close(number, why);
        Ok(())
    }

    /// Updates the known entries of a directory to its listing, which is sorted by name.
    fn merge(&mut self, number: EntryNumber, names: &[NameAsRead]) {
        let known: Vec<EntryNumber> = self.table.children(number).collect();
        let mut gone = Vec::new();
        let mut kept: Vec<(EntryNumber, &NameAsRead)> = Vec::new();
        let mut new: Vec<&NameAsRead> = Vec::new();
        let (mut known, mut listed) = (known.into_iter().peekable(), names.iter().peekable());
        loop {
            let order = match (known.peek(), listed.peek()) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(known), Some(it)) => self.table.name(*known).cmp(&it.name),
            };
            let was = if order.is_le() { known.next() } else { None };
            let is = if order.is_ge() { listed.next() } else { None };
            match (was, is) {
                (Some(was), Some(is)) if self.table.kind(was) == Some(is.kind) => {
                    kept.push((was, is));
                }
                (was, is) => {
                    gone.extend(was);
                    new.extend(is);
                }
            }
        }
        self.remove_entries(number, &gone);
        let added = self.table.add(number, new.iter().map(|it| (it.name.as_os_str(), it.kind)));
        for (file, looked) in added.into_iter().zip(new.iter().map(|it| it.looked)) {
            if let Some(looked) = looked {
                self.table.set_stamp(file, &looked.stamp);
                self.note_links(file, &looked);
            }
        }
        for (file, is) in kept.into_iter().filter(|(_, it)| it.kind == EntryKind::File) {
            let before = self.table.stamp(file).unwrap_or_default();
            match is.looked {
                Some(looked) if before.is_surely(&looked.stamp) => {}
                Some(looked) => self.update_file(file, &looked),
                // The files of this directory cannot be examined, so a search has to report it.
                None if before != FileStamp::default() => {
                    self.forget_link(file);
                    self.table.touch(file);
                    self.table.set_stamp(file, &FileStamp::default());
                }
                None => {}
            }
        }
    }

    /// Records that a file changed.
    pub(super) fn update_file(&mut self, file: EntryNumber, looked: &Looked) {
        if looked.links == 1 || looked.stamp.inode != self.table.inode(file) {
            self.forget_link(file);
        }
        self.table.touch(file);
        self.table.set_stamp(file, &looked.stamp);
        self.note_links(file, looked);
    }

    pub(super) fn note_links(&mut self, file: EntryNumber, looked: &Looked) {
        if looked.links > 1 {
            self.links.note(file, looked.stamp.inode);
        }
    }

    /// Removes entries of a directory, with everything below them.
    pub(super) fn remove_entries(&mut self, folder: EntryNumber, gone: &[EntryNumber]) {
        if gone.is_empty() {
            return;
        }
        for number in gone {
            self.empty(*number);
            self.forget_link(*number);
        }
        self.table.remove(folder, gone);
    }

    /// Removes everything below a directory, and stops watching it.
    pub(super) fn empty(&mut self, number: EntryNumber) {
        let mut below = vec![number];
        let mut next = 0;
        while let Some(folder) = below.get(next).copied() {
            let folders = self.table.children(folder);
            below.extend(folders.filter(|it| self.table.folder(*it).is_some()));
            next += 1;
        }
        for folder in below.into_iter().rev() {
            let files: Vec<EntryNumber> = self.table.children(folder).collect();
            for file in files {
                self.forget_link(file);
            }
            self.table.remove_children(folder);
            let Some(open) = self.table.close(folder, WhyClosed::Unseen) else { continue };
            self.setting_files.forget(RulesScope::Folder(folder));
            // If the directory was moved, the watch belongs to its new entry.
            if self.targets.get(&open.watch) == Some(&WatchTarget::Folder(folder)) {
                self.targets.remove(&open.watch);
                self.queue.unwatch(open.watch);
            }
        }
    }

    /// Opens a directory.
    pub(super) fn open_number(&self, number: EntryNumber) -> Result<OwnedFd, Errno> {
        self.root.open_folder(&self.table.path_below(number))
    }

    /// The ignore files of an open directory.
    pub(super) fn rule_files(&self, number: EntryNumber) -> RuleFiles {
        let mut files = RuleFiles::default();
        for name in super::judge::RULE_NAMES {
            let child = self.table.child(number, OsStr::new(name));
            if let Some(kind) = child.and_then(|it| self.table.kind(it)) {
                files.note(name.as_bytes(), kind);
            }
        }
        files
    }
}

/// The reason for a cold tree if a directory cannot be watched. `watched` is the number of those
/// that are.
fn cannot_watch(cause: Errno, watched: usize) -> WhyCold {
    match cause {
        Errno::NOSPC | Errno::NOMEM => WhyCold::TooManyWatches { watched },
        cause => failed(cause),
    }
}
