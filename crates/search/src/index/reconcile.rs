//! Brings the tree up to date with every change that was complete at the time of the request.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    ffi::OsString,
    os::fd::AsFd as _,
    path::Path,
};

use rustix::{fs::inotify::ReadFlags, io::Errno};
use toolwright_files::{EntryKind, is_temporary_name};

use super::{
    entry_table::{EntryNumber, EntryTable, WhyClosed},
    event_queue::QueuedEvent,
    file_stamp::{Looked, look},
    judge::RULE_NAMES,
    new_names::NewNames,
    root_check::failed,
    setting_files::RulesScope,
    sweep::SweepCause,
    tree::{TreeEntry, WatchTarget, WatchedTree},
    why_cold::WhyCold,
};

/// The names and directories to check after changes.
#[derive(Debug, Default)]
pub(super) struct Suspects {
    /// Names to check, by directory.
    pub(super) names: BTreeMap<EntryNumber, BTreeSet<OsString>>,
    /// Names of directories whose attributes changed, so that their subdirectories may be readable
    /// now.
    attributes: HashSet<(EntryNumber, OsString)>,
    /// Names that directories were moved to. While they were elsewhere, their paths led to other
    /// files.
    moved: HashSet<(EntryNumber, OsString)>,
    new_names: NewNames,
    /// Names of new directories, as they were when they were checked.
    new_folders: Vec<(EntryNumber, OsString)>,
    /// Directories to open, close or compare.
    folders: Vec<EntryNumber>,
    /// Directories whose rules changed.
    rules: BTreeSet<EntryNumber>,
    /// Directories to list again, with everything below them.
    relist: Vec<EntryNumber>,
    /// Directories to list again because the permissions of their entries may have changed.
    relist_alone: Vec<EntryNumber>,
}

impl WatchedTree {
    /// Applies every change that was complete when this was called. Without changes it takes a few
    /// system calls.
    ///
    /// After an error the tree must not be used until [`Self::read_again`] succeeds.
    pub(crate) fn refresh(&mut self) -> Result<(), WhyCold> {
        if let Some(why) = &self.cold {
            return Err(why.clone());
        }
        let refreshed = self.take_in();
        if let Err(why) = &refreshed {
            self.cold = Some(why.clone());
        }
        refreshed
    }

    fn take_in(&mut self) -> Result<(), WhyCold> {
        let mut suspects = Suspects::default();
        for below in self.root.check()? {
            self.suspect_mount(&below, &mut suspects);
        }
        let events =
            self.queue.drain().map_err(|cause| WhyCold::Failed { cause: cause.to_string() })?;
        let any_event = !events.is_empty();
        for event in events {
            self.suspect(event, &mut suspects)?;
        }
        for place in self.setting_files.changed() {
            match place {
                RulesScope::Above => {
                    self.read_rules_above();
                    suspects.rules.insert(EntryTable::ROOT);
                }
                RulesScope::Folder(number) => {
                    suspects.rules.insert(number);
                }
            }
        }
        if any_event || !suspects.rules.is_empty() || !suspects.names.is_empty() {
            self.look_into(suspects)?;
        }
        self.check_mounted_files()
    }

    /// Adds a path where something was mounted or unmounted.
    fn suspect_mount(&self, below: &Path, suspects: &mut Suspects) {
        let (Some(parent), Some(name)) = (below.parent(), below.file_name()) else { return };
        if let TreeEntry::Open(folder) = self.place(parent) {
            suspects.names.entry(folder).or_default().insert(name.to_owned());
        }
    }

    /// Fails if a file is a mount point, because there are no events for such a file.
    pub(super) fn check_mounted_files(&self) -> Result<(), WhyCold> {
        for below in self.root.mounted() {
            if let TreeEntry::NoFolder(_) = self.place(below) {
                return Err(WhyCold::Mount { at: self.root.path().join(below) });
            }
        }
        Ok(())
    }

    /// Adds the name or directory that an event is about.
    pub(super) fn suspect(
        &mut self,
        event: QueuedEvent,
        suspects: &mut Suspects,
    ) -> Result<(), WhyCold> {
        if event.is_any_of(ReadFlags::QUEUE_OVERFLOW) {
            return Err(WhyCold::QueueOverflow);
        }
        let folder = match self.targets.get(&event.watch) {
            // The directory is no longer watched.
            None => return Ok(()),
            Some(WatchTarget::Inode(inode)) => {
                self.links.note_change(*inode);
                if event.is_any_of(ReadFlags::IGNORED) {
                    self.targets.remove(&event.watch);
                }
                return Ok(());
            }
            Some(WatchTarget::Folder(folder)) => *folder,
        };
        if !event.name.is_empty() {
            suspects.new_names.note(folder, &event);
            if event.is_any_of(ReadFlags::ISDIR) && event.is_any_of(ReadFlags::ATTRIB) {
                suspects.attributes.insert((folder, event.name.clone()));
            }
            if event.is_any_of(ReadFlags::ISDIR) && event.is_any_of(ReadFlags::MOVED_TO) {
                suspects.moved.insert((folder, event.name.clone()));
            }
            suspects.names.entry(folder).or_default().insert(event.name);
            return Ok(());
        }
        let ends = ReadFlags::IGNORED | ReadFlags::UNMOUNT | ReadFlags::DELETE_SELF;
        if folder == EntryTable::ROOT {
            if event.is_any_of(ends | ReadFlags::MOVE_SELF) {
                return Err(WhyCold::RootMoved);
            }
        } else if event.is_any_of(ends)
            && let Some(parent) = self.table.parent(folder)
        {
            // Another file may have its name now.
            let name = self.table.name(folder).to_owned();
            suspects.names.entry(parent).or_default().insert(name);
            if event.is_any_of(ReadFlags::IGNORED) {
                self.targets.remove(&event.watch);
            }
        }
        Ok(())
    }

    /// Checks all suspects and updates the tree.
    pub(super) fn look_into(&mut self, mut suspects: Suspects) -> Result<(), WhyCold> {
        for (folder, names) in std::mem::take(&mut suspects.names) {
            self.look_again(folder, names, &mut suspects)?;
        }
        if suspects.new_names.any_vanished() {
            self.sweep_wanted = Some(SweepCause::NameGone);
        }
        for folder in std::mem::take(&mut suspects.rules) {
            self.judge_below(folder)?;
        }
        // A directory that the rules have closed stays closed.
        for folder in std::mem::take(&mut suspects.relist) {
            if self.table.folder(folder).is_some() {
                self.list_below(folder, &|| false)?;
            }
        }
        for folder in std::mem::take(&mut suspects.relist_alone) {
            if self.table.folder(folder).is_some() {
                self.list(folder, &mut suspects.folders)?;
            }
        }
        for folder in std::mem::take(&mut suspects.folders) {
            self.check_folder(folder)?;
        }
        // Names may have been created and removed in a new directory before it was watched.
        let mut new =
            suspects.new_folders.iter().map(|(folder, name)| self.table.child(*folder, name));
        if new.any(|it| it.is_some_and(|it| self.table.why_closed(it).is_none())) {
            self.sweep_wanted = Some(SweepCause::NameGone);
        }
        self.follow_links()
    }

    /// Looks up these names in a directory again.
    fn look_again(
        &mut self,
        folder: EntryNumber,
        names: BTreeSet<OsString>,
        suspects: &mut Suspects,
    ) -> Result<(), WhyCold> {
        if self.table.folder(folder).is_none() {
            return Ok(());
        }
        let handle = match self.open_number(folder) {
            Ok(handle) => handle,
            Err(cause @ (Errno::MFILE | Errno::NFILE | Errno::NOMEM)) => return Err(failed(cause)),
            // It is gone or closed, and there is an event for its parent directory.
            Err(_) => return Ok(()),
        };
        let (mut gone, mut new) = (Vec::new(), Vec::new());
        for name in names {
            if RULE_NAMES.iter().any(|it| name == *it) {
                suspects.rules.insert(folder);
            }
            let known = self.table.child(folder, &name);
            let looked = match look(handle.as_fd(), &name) {
                Ok(looked) if looked.kind == EntryKind::File && is_temporary_name(&name) => None,
                Ok(looked) => Some(looked),
                Err(Errno::NOENT | Errno::NOTDIR) => None,
                Err(_) => {
                    suspects.relist.push(folder);
                    continue;
                }
            };
            let Some(looked) = looked else {
                if suspects.new_names.has(folder, &name) {
                    self.sweep_wanted = Some(SweepCause::NameGone);
                }
                gone.extend(known);
                continue;
            };
            if looked.kind == EntryKind::Folder && suspects.new_names.has(folder, &name) {
                suspects.new_folders.push((folder, name.clone()));
            }
            match known {
                Some(known) if self.table.kind(known) == Some(looked.kind) => {
                    self.look_at_known(known, &looked, suspects);
                    let place = (folder, name);
                    if suspects.moved.contains(&place) {
                        suspects.relist.push(known);
                    }
                    if suspects.attributes.contains(&place) {
                        suspects.relist_alone.push(known);
                    }
                }
                known => {
                    gone.extend(known);
                    new.push((name, looked));
                }
            }
        }
        self.remove_entries(folder, &gone);
        self.add_entries(folder, &new, suspects)
    }

    fn look_at_known(&mut self, number: EntryNumber, looked: &Looked, suspects: &mut Suspects) {
        match looked.kind {
            EntryKind::File => self.update_file(number, looked),
            EntryKind::Folder => suspects.folders.push(number),
            EntryKind::Link | EntryKind::Other => {}
        }
    }

    fn add_entries(
        &mut self,
        folder: EntryNumber,
        new: &[(OsString, Looked)],
        suspects: &mut Suspects,
    ) -> Result<(), WhyCold> {
        if self.table.len() + new.len() > self.settings.max_entries {
            return Err(WhyCold::TooManyEntries { most: self.settings.max_entries });
        }
        let names = new.iter().map(|(name, looked)| (name.as_os_str(), looked.kind));
        let added = self.table.add(folder, names);
        for (number, (_, looked)) in added.into_iter().zip(new) {
            self.judge(number);
            match looked.kind {
                EntryKind::File => {
                    self.table.set_stamp(number, &looked.stamp);
                    self.note_links(number, looked);
                }
                EntryKind::Folder => suspects.folders.push(number),
                EntryKind::Link | EntryKind::Other => {}
            }
        }
        Ok(())
    }

    /// Opens or closes a directory as its rules and the system require, and lists it if it is not
    /// the same directory as before.
    fn check_folder(&mut self, number: EntryNumber) -> Result<(), WhyCold> {
        if self.table.kind(number) != Some(EntryKind::Folder) {
            return Ok(());
        }
        if self.table.name(number) == ".git" {
            self.table.close(number, WhyClosed::Repository);
            return Ok(());
        }
        if self.judge(number) {
            self.empty(number);
            self.table.close(number, WhyClosed::Ignored);
            return Ok(());
        }
        if let Some(known) = self.table.folder(number).map(|it| it.watch)
            && let Ok(handle) = self.open_number(number)
            && self.watch_folder(handle.as_fd())? == known
            && self.targets.get(&known) == Some(&WatchTarget::Folder(number))
        {
            return Ok(());
        }
        self.list_below(number, &|| false)
    }
}
