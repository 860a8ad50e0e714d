//! Lists directories into the tree: new ones, and those that have to be read again.

use std::{
    cmp::Ordering,
    ffi::{OsStr, OsString},
    io,
    ops::ControlFlow,
    os::fd::{AsFd as _, BorrowedFd, OwnedFd},
};

use rustix::io::Errno;

use super::{
    entry_table::{EntryNumber, EntryTable, OpenFolder, WhyClosed},
    event_queue::WatchNumber,
    file_stamp::{FileStamp, Looked, look},
    root_check::failed,
    setting_files::RulesPlace,
    tree::{WatchTarget, WatchedTree},
    why_cold::WhyCold,
};
use crate::workspace::walk::{EntryKind, Folder, RuleFiles};

/// A name in a directory, and what has it.
type ListedName = (OsString, EntryKind);

impl WatchedTree {
    /// Watches and lists a directory and all below it. What is known of them is compared with the disk.
    pub(super) fn list_below(
        &mut self,
        start: EntryNumber,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), WhyCold> {
        // A list instead of recursion, because directories may be nested to any depth.
        let mut work = vec![start];
        while let Some(number) = work.pop() {
            if cancelled() {
                return Err(WhyCold::NotBuiltYet);
            }
            self.list(number, &mut work)?;
        }
        Ok(())
    }

    /// Lists one directory, and adds those in it to the work.
    pub(super) fn list(
        &mut self,
        number: EntryNumber,
        work: &mut Vec<EntryNumber>,
    ) -> Result<(), WhyCold> {
        if self.table.kind(number) != Some(EntryKind::Folder) {
            return Ok(());
        }
        let handle = match self.root.open_folder(&self.table.path_below(number)) {
            Ok(handle) => handle,
            Err(cause) => return self.cannot_open(number, cause),
        };
        let is_new = self.table.folder(number).is_none();
        if is_new && self.targets.len() >= self.settings.max_watches {
            return Err(WhyCold::TooManyWatches { watched: self.targets.len() });
        }
        let watch = self.watch_folder(handle.as_fd())?;
        if self.table.folder(number).is_some_and(|it| it.watch != watch) {
            // Another directory has the name now.
            self.empty(number);
        }
        if self.table.folder(number).is_none() {
            self.table.open(number, OpenFolder::new(watch));
        }
        // A directory that was moved has the same watch at its new place.
        self.targets.insert(watch, WatchTarget::Folder(number));
        let folder = self.walked(number, handle);
        let mut names: Vec<ListedName> = Vec::new();
        let listed = folder.entries(&mut self.buffer, &mut |name, kind| {
            names.push((name.to_owned(), kind));
            ControlFlow::Continue(())
        });
        if let Err(cause) = listed
            && cause.kind() != io::ErrorKind::NotFound
        {
            let cause = Errno::from_io_error(&cause).unwrap_or(Errno::IO);
            return self.cannot_open(number, cause);
        }
        names.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        // While it is changed, a directory may list a name twice.
        names.dedup_by(|one, other| one.0 == other.0);
        if self.table.len() + names.len() > self.settings.max_entries {
            return Err(WhyCold::TooManyEntries { most: self.settings.max_entries });
        }
        self.merge(number, &folder, &names);
        self.read_rules(number, &folder);
        let (open, closed) = self.judge_children(number);
        work.extend(open);
        work.extend(closed);
        Ok(())
    }

    /// Watches a directory.
    pub(super) fn watch_folder(&self, folder: BorrowedFd<'_>) -> Result<WatchNumber, WhyCold> {
        self.queue.watch_folder(folder).map_err(|cause| match cause {
            Errno::NOSPC | Errno::NOMEM => WhyCold::TooManyWatches { watched: self.targets.len() },
            cause => failed(cause),
        })
    }

    /// Takes note that a directory cannot be followed.
    fn cannot_open(&mut self, number: EntryNumber, cause: Errno) -> Result<(), WhyCold> {
        if number == EntryTable::ROOT {
            return Err(WhyCold::RootMoved);
        }
        self.empty(number);
        let why = match cause {
            // It is gone, and the event that says so is in the queue.
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

    /// Brings the known entries of a directory in line with its listing, which is sorted by name.
    fn merge(&mut self, number: EntryNumber, folder: &Folder, names: &[ListedName]) {
        let known: Vec<EntryNumber> = self.table.children(number).collect();
        let mut gone = Vec::new();
        let mut kept = Vec::new();
        let mut new: Vec<(&OsStr, EntryKind)> = Vec::new();
        let (mut known, mut listed) = (known.into_iter().peekable(), names.iter().peekable());
        loop {
            let order = match (known.peek(), listed.peek()) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(known), Some((name, _))) => self.table.name(*known).cmp(name),
            };
            let was = if order.is_le() { known.next() } else { None };
            let is = if order.is_ge() { listed.next() } else { None };
            match (was, is) {
                (Some(was), Some((_, kind))) if self.table.kind(was) == Some(*kind) => {
                    kept.push(was);
                }
                (was, is) => {
                    gone.extend(was);
                    new.extend(is.map(|(name, kind)| (name.as_os_str(), *kind)));
                }
            }
        }
        self.remove_entries(number, &gone);
        let added = self.table.add(number, new.into_iter());
        let Some(handle) = folder.handle() else { return };
        for file in added {
            if let Some(looked) = self.looked_at(handle, file) {
                self.table.set_stamp(file, &looked.stamp);
                self.note_links(file, &looked);
            }
        }
        for file in kept {
            if self.table.kind(file) != Some(EntryKind::File) {
                continue;
            }
            let before = self.table.stamp(file).unwrap_or_default();
            match self.looked_at(handle, file) {
                Some(looked) if before.is_surely(&looked.stamp) => {}
                Some(looked) => self.update_file(file, &looked),
                // Nobody may look at what is in this directory, so a search has to tell of it.
                None if before != FileStamp::default() => {
                    self.forget_link(file);
                    self.table.touch(file);
                    self.table.set_stamp(file, &FileStamp::default());
                }
                None => {}
            }
        }
    }

    /// What the name of a file stands for, if it is a file. If it is not any more, the event that says so is
    /// in the queue.
    fn looked_at(&self, folder: BorrowedFd<'_>, file: EntryNumber) -> Option<Looked> {
        if self.table.kind(file) != Some(EntryKind::File) {
            return None;
        }
        let looked = look(folder, self.table.name(file)).ok()?;
        (looked.kind == EntryKind::File).then_some(looked)
    }

    /// Takes note that a file was changed.
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

    /// Removes everything below a directory, and does not follow it any more.
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
            self.setting_files.forget(RulesPlace::Folder(folder));
            // After a move the watch is that of the new place.
            if self.targets.get(&open.watch) == Some(&WatchTarget::Folder(folder)) {
                self.targets.remove(&open.watch);
                self.queue.unwatch(open.watch);
            }
        }
    }

    /// The handle of a directory, if it can be opened.
    pub(super) fn open_number(&self, number: EntryNumber) -> Result<OwnedFd, Errno> {
        self.root.open_folder(&self.table.path_below(number))
    }

    /// Which ignore files an open directory has.
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
