//! Files that affect ignore rules but are in no watched directory: those above the root, the user's
//! global excludes, and the excludes of repositories. They are checked before each answer.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use rustix::{fs::CWD, io::Errno};
use toolwright_files::EntryKind;

use super::{
    entry_table::EntryNumber,
    file_stamp::{FileStamp, Looked, look, look_through},
};

/// The rules that a file is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum RulesScope {
    /// Those above the root.
    Above,
    /// Those of a directory in the tree.
    Folder(EntryNumber),
}

/// All such files, with their state when the rules were read.
#[derive(Debug, Default)]
pub(super) struct SettingFiles {
    files: HashMap<RulesScope, Vec<(PathBuf, SettingState)>>,
}

/// The state of a path: the entry itself, and the target if it is a symbolic link.
#[derive(Clone, Copy, Debug)]
struct SettingState {
    itself: Result<SettingLook, Errno>,
    target: Result<SettingLook, Errno>,
}

/// The stamp of a file. For other entries the kind and the inode are enough.
#[derive(Clone, Copy, Debug)]
enum SettingLook {
    File(FileStamp),
    Other(EntryKind, u32),
}

impl SettingFiles {
    /// Records the current state of files. Call this before the rules are read from them.
    pub(super) fn note(&mut self, place: RulesScope, paths: Vec<PathBuf>) {
        if paths.is_empty() {
            self.files.remove(&place);
            return;
        }
        let states = paths.into_iter().map(|path| {
            let state = SettingState::of(&path);
            (path, state)
        });
        self.files.insert(place, states.collect());
    }

    pub(super) fn forget(&mut self, place: RulesScope) {
        self.files.remove(&place);
    }

    /// The owners of rules that may have changed.
    pub(super) fn changed(&self) -> Vec<RulesScope> {
        let changed = self.files.iter().filter(|(_, files)| {
            files.iter().any(|(path, before)| !before.is_surely(&SettingState::of(path)))
        });
        changed.map(|(place, _)| *place).collect()
    }
}

impl SettingState {
    fn of(path: &Path) -> Self {
        let look_of = |looked: Looked| match looked.kind {
            EntryKind::File => SettingLook::File(looked.stamp),
            kind => SettingLook::Other(kind, looked.stamp.inode),
        };
        let itself = look(CWD, path.as_os_str());
        let is_link = itself.is_ok_and(|it| it.kind == EntryKind::Link);
        let target = if is_link { look_through(CWD, path.as_os_str()) } else { itself };
        Self { itself: itself.map(look_of), target: target.map(look_of) }
    }

    fn is_surely(&self, now: &Self) -> bool {
        let pairs = [(self.itself, now.itself), (self.target, now.target)];
        pairs.into_iter().all(|pair| match pair {
            (Ok(SettingLook::File(before)), Ok(SettingLook::File(now))) => before.is_surely(&now),
            (Ok(SettingLook::Other(kind, inode)), Ok(SettingLook::Other(kind_now, inode_now))) => {
                (kind, inode) == (kind_now, inode_now)
            }
            (Err(before), Err(now)) => before == now,
            _ => false,
        })
    }
}
