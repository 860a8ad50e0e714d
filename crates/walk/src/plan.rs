//! A walk whose files are known beforehand, from an index: nothing has to be listed to find them.
//!
//! The walk enters the directories of the plan and visits the files in it, in the same order and on the same
//! threads as any other. A directory that the plan names without knowing what is in it is listed.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    sync::Arc,
};

use toolwright_files::EntryKind;

use super::{name_list::NameList, rules::Rules};

/// The number of a directory that is listed during the walk.
const LISTED: u32 = u32::MAX;

/// The directories of a walk. The first is its start.
#[derive(Debug, Default)]
pub struct WalkPlan {
    folders: Vec<PlannedFolder>,
}

/// What a walk does in one directory.
#[derive(Debug, Default)]
pub(crate) struct PlannedFolder {
    names: NameList,
    /// For each name, the number by which the maker of the plan knows a file, or the place of a directory in
    /// the plan.
    numbers: Vec<u32>,
    /// The rules of this directory, for the directories in it that are listed.
    rules: Option<Arc<Rules>>,
}

impl WalkPlan {
    /// A plan for a walk that starts in a directory, of which nothing is known yet.
    pub fn new() -> Self {
        Self { folders: vec![PlannedFolder::default()] }
    }

    /// A plan for files below a start, in the order of their paths.
    pub fn of_paths(start: &Path, files: &[PathBuf]) -> Self {
        let mut plan = Self::new();
        // The names of the directories that lead to the file before, and their places.
        let mut open: Vec<(&OsStr, usize)> = Vec::new();
        for file in files {
            let Ok(below) = file.strip_prefix(start) else { continue };
            let Some(name) = below.file_name() else { continue };
            let folders = || below.parent().into_iter().flat_map(Path::iter);
            let shared = folders().zip(&open).take_while(|(one, (other, _))| one == other).count();
            open.truncate(shared);
            for folder in folders().skip(shared) {
                let above = open.last().map_or(0, |(_, place)| *place);
                open.push((folder, plan.add_folder(above, folder, false)));
            }
            plan.add_file(open.last().map_or(0, |(_, place)| *place), name, false, LISTED);
        }
        plan
    }

    /// Adds a file to a directory. Entries of a directory have to be added in the order of their names.
    pub fn add_file(&mut self, folder: usize, name: &OsStr, left_out: bool, number: u32) {
        self.add(folder, name, EntryKind::File, left_out, number);
    }

    /// Adds a directory of which the plan will tell what is in it, and returns its place.
    pub fn add_folder(&mut self, folder: usize, name: &OsStr, left_out: bool) -> usize {
        let place = self.folders.len();
        self.folders.push(PlannedFolder::default());
        let number = u32::try_from(place).unwrap_or(LISTED);
        self.add(folder, name, EntryKind::Folder, left_out, number);
        place
    }

    /// Adds a directory that is listed when the walk gets there. `rules` are those of the directory it is in.
    pub fn add_listed(
        &mut self,
        folder: usize,
        name: &OsStr,
        left_out: bool,
        rules: Option<&Arc<Rules>>,
    ) {
        self.add(folder, name, EntryKind::Folder, left_out, LISTED);
        if let Some(planned) = self.folders.get_mut(folder) {
            planned.rules = rules.cloned();
        }
    }

    fn add(&mut self, folder: usize, name: &OsStr, kind: EntryKind, left_out: bool, number: u32) {
        if let Some(planned) = self.folders.get_mut(folder)
            && planned.names.push(name, kind, left_out)
        {
            planned.numbers.push(number);
        }
    }

    /// Removes the last entry of a directory, which turned out to be a directory with nothing to do in it.
    pub fn take_back(&mut self, folder: usize) {
        if let Some(planned) = self.folders.get_mut(folder) {
            planned.names.pop();
            planned.numbers.pop();
        }
    }

    /// Whether there is nothing to do in a directory.
    pub fn is_empty(&self, folder: usize) -> bool {
        self.folders.get(folder).is_none_or(|it| it.names.is_empty())
    }

    pub(super) fn folder(&self, place: usize) -> Option<&PlannedFolder> {
        self.folders.get(place)
    }
}

impl PlannedFolder {
    pub(super) fn names(&self) -> &NameList {
        &self.names
    }

    pub(super) fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    pub(super) fn rules(&self) -> Option<&Arc<Rules>> {
        self.rules.as_ref()
    }

    /// The place in the plan of the directory that is the entry of this index, unless it is listed.
    pub(super) fn place(&self, index: usize) -> Option<usize> {
        self.numbers.get(index).filter(|it| **it != LISTED).and_then(|it| usize::try_from(*it).ok())
    }
}
