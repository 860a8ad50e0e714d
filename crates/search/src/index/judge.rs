//! Decides which entries of the tree are ignored, with the same rules as a walk.

use std::{os::fd::OwnedFd, sync::Arc};

use rustix::io::Errno;
use toolwright_files::{EntryKind, Folder};
use toolwright_walk::{Naming, Rules};

use super::{
    entry_table::{EntryNumber, EntryTable, WhyClosed},
    setting_files::RulesScope,
    tree::WatchedTree,
    why_cold::WhyCold,
};

/// The names of files that affect ignore rules. `.git` comes before `.jj`, because it takes
/// precedence.
pub(super) const RULE_NAMES: [&str; 5] = [".gitignore", ".ignore", ".rgignore", ".git", ".jj"];

impl WatchedTree {
    /// The rules of the parent directory.
    fn rules_around(&self, number: EntryNumber) -> Option<Arc<Rules>> {
        match self.table.parent(number) {
            Some(parent) => self.rules(parent).cloned(),
            None => self.rules_above.clone(),
        }
    }

    /// Reads the rules of an open directory.
    pub(super) fn read_rules(&mut self, number: EntryNumber, folder: &Folder) {
        let files = self.rule_files(number);
        // Recorded before the rules are read, so that a later change is noticed.
        let settings = files.settings(&folder.path());
        self.setting_files.note(RulesScope::Folder(number), settings);
        let naming = if number == EntryTable::ROOT { Naming::Named } else { Naming::Reached };
        let mut unapplied = Vec::new();
        let around = self.rules_around(number);
        let rules = Rules::within(around.as_ref(), folder, files, naming, &mut unapplied);
        if let Some(open) = self.table.folder_mut(number) {
            open.rules = rules;
            open.unapplied = unapplied;
        }
    }

    /// Decides for each entry of a directory whether it is ignored, and closes ignored directories.
    /// Returns the other directories: those that are open, and those that are not open yet.
    pub(super) fn judge_children(
        &mut self,
        number: EntryNumber,
    ) -> (Vec<EntryNumber>, Vec<EntryNumber>) {
        let children: Vec<EntryNumber> = self.table.children(number).collect();
        let rules = self.rules(number).cloned();
        let (mut open, mut unseen) = (Vec::new(), Vec::new());
        let mut path = self.path(number);
        for child in children {
            let Some(kind) = self.table.kind(child) else { continue };
            let is_ignored = rules.as_ref().is_some_and(|rules| {
                path.push(self.table.name(child));
                let is_ignored = rules.ignores(&path, kind);
                path.pop();
                is_ignored
            });
            self.table.set_ignored(child, is_ignored);
            if kind != EntryKind::Folder {
                continue;
            }
            if self.table.name(child) == ".git" {
                self.table.close(child, WhyClosed::Repository);
            } else if is_ignored {
                self.empty(child);
                self.table.close(child, WhyClosed::Ignored);
            } else if self.table.folder(child).is_some() {
                open.push(child);
            } else {
                unseen.push(child);
            }
        }
        (open, unseen)
    }

    /// Decides whether one entry is ignored.
    pub(super) fn judge(&mut self, child: EntryNumber) -> bool {
        let Some(kind) = self.table.kind(child) else { return false };
        let parent = self.table.parent(child);
        let rules = parent.and_then(|it| self.rules(it)).cloned();
        let is_ignored = rules.is_some_and(|it| it.ignores(&self.path(child), kind));
        self.table.set_ignored(child, is_ignored);
        is_ignored
    }

    /// Applies the rules again to everything below a directory, because rules in or above it
    /// changed.
    pub(super) fn judge_below(&mut self, start: EntryNumber) -> Result<(), WhyCold> {
        let mut work = vec![start];
        while let Some(number) = work.pop() {
            if self.table.folder(number).is_none() {
                continue;
            }
            let files = self.rule_files(number);
            if files.any() || number == EntryTable::ROOT {
                match self.open_number(number) {
                    Ok(handle) => self.read_rules_by(number, handle),
                    // It is gone, and the event is in the queue.
                    Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => continue,
                    Err(_) => {
                        self.list_below(number, &|| false)?;
                        continue;
                    }
                }
            } else {
                let rules = self.rules_around(number);
                self.setting_files.forget(RulesScope::Folder(number));
                if let Some(open) = self.table.folder_mut(number) {
                    open.rules = rules;
                    open.unapplied = Vec::new();
                }
            }
            let (open, unseen) = self.judge_children(number);
            work.extend(open);
            for child in unseen {
                if !self.is_refused(child) {
                    self.list_below(child, &|| false)?;
                }
            }
        }
        Ok(())
    }

    fn read_rules_by(&mut self, number: EntryNumber, handle: OwnedFd) {
        let folder = self.root.walked(&self.table.path_below(number), handle);
        self.read_rules(number, &folder);
    }

    /// Whether a directory is closed for a reason that does not depend on rules.
    fn is_refused(&self, number: EntryNumber) -> bool {
        match self.table.why_closed(number) {
            Some(WhyClosed::Mounted | WhyClosed::Unreadable(_) | WhyClosed::TooDeep) => true,
            Some(WhyClosed::Ignored | WhyClosed::Repository | WhyClosed::Unseen) | None => false,
        }
    }
}
