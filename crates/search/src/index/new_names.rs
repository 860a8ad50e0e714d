//! Names that were created and removed between two refreshes.
//!
//! A hard link may be created, written to and removed before the next refresh. Then the file of a
//! name in the tree has changed, but no event names it. So whenever a new name is already gone, and
//! whenever there is a new directory, the stamps of all files have to be compared.

use std::{
    collections::{HashMap, HashSet},
    ffi::OsString,
};

use rustix::fs::inotify::ReadFlags;
use toolwright_files::is_temporary_name;

use super::{entry_table::EntryNumber, event_queue::QueuedEvent};

/// The names that were created since the last refresh.
#[derive(Debug, Default)]
pub(super) struct NewNames {
    names: HashSet<(EntryNumber, OsString)>,
    /// Renames whose second event is still missing, and whether the name was new.
    moving: HashMap<u32, bool>,
    vanished: bool,
}

impl NewNames {
    /// Records what an event says about a name in a directory.
    pub(super) fn note(&mut self, folder: EntryNumber, event: &QueuedEvent) {
        let name = || (folder, event.name.clone());
        // The engine's own writes end with a rename, and never create a second name of a file.
        if is_temporary_name(event.name()) {
            if event.is_any_of(ReadFlags::MOVED_FROM) {
                self.moving.insert(event.cookie, false);
            }
        } else if event.is_any_of(ReadFlags::CREATE) {
            self.names.insert(name());
        } else if event.is_any_of(ReadFlags::DELETE) {
            self.vanished |= self.names.remove(&name());
        } else if event.is_any_of(ReadFlags::MOVED_FROM) {
            let was_new = self.names.remove(&name());
            self.moving.insert(event.cookie, was_new);
        } else if event.is_any_of(ReadFlags::MOVED_TO) {
            // The file that had the name before is gone.
            self.vanished |= self.names.remove(&name());
            // A file that comes from outside of the tree is new.
            if self.moving.remove(&event.cookie).unwrap_or(true) {
                self.names.insert(name());
            }
        }
    }

    /// Whether a name is new.
    pub(super) fn has(&self, folder: EntryNumber, name: &OsString) -> bool {
        !self.names.is_empty() && self.names.contains(&(folder, name.clone()))
    }

    /// Whether a new name was removed, replaced or moved out of the tree.
    pub(super) fn any_vanished(&self) -> bool {
        self.vanished || self.moving.values().any(|was_new| *was_new)
    }
}
