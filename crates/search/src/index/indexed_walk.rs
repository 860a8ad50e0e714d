//! Plans the walk of a search: which files it visits, according to the index.

use std::{
    cmp::Reverse, collections::HashMap, ffi::OsStr, path::Path, sync::Arc, time::SystemTime,
};

use toolwright_walk::{Rules, WalkPlan, WalkedFiles};

use super::{
    Candidates, EntryNumber, IndexedFiles, SearchPlan, WhyCold,
    file_set::FileSet,
    need::Need,
    ready_index::ReadyIndex,
    tree::WatchedTree,
    tree_walk::{IndexedTreeVisitor, start_in, walk_some, walk_tree},
};
use crate::{FoundFile, Scope, SmallestItems};

/// If a search starts in a directory with less than one in this many of all files, the files are
/// checked one by one.
const FEW_OF_ALL: usize = 8;

impl ReadyIndex {
    /// The files that may match a search.
    pub(super) fn plan_search(
        &self,
        scope: &Scope<'_>,
        need: &Need,
    ) -> Result<SearchPlan, WhyCold> {
        let start = start_in(&self.tree, scope.start, scope.selection)?;
        let candidates = self.candidates(start, need);
        // A problem with a directory is reported, whatever the directory contains.
        let wanted = candidates.files().map(|(file, _)| file).chain(self.tree.odd_folders());
        let marked = with_folders(&self.tree, wanted);
        let mut planner = Planner::new(Some(&marked));
        let selected = WalkedFiles::Selected;
        if scope.selection.may_take_ignored() {
            // The index does not know the files in ignored directories, so none of them is marked.
            planner.every_folder = true;
            walk_tree(&self.tree, scope, selected, &mut planner)?;
        } else {
            let entries = |folder| self.tree.entries_among(folder, &marked);
            walk_some(&self.tree, entries, scope, selected, &mut planner)?;
        }
        Ok(SearchPlan { plan: planner.plan, candidates })
    }

    fn candidates(&self, start: EntryNumber, need: &Need) -> Candidates {
        if start != self.tree.root_number() {
            let most = self.signatures.counts().files / FEW_OF_ALL;
            if let Some(files) = files_below(&self.tree, start, most) {
                return self.signatures.candidates_among(files.into_iter(), need);
            }
        }
        self.signatures.candidates(need)
    }

    /// The files that would be selected if they were not ignored or hidden.
    pub(super) fn plan_left_out(&self, scope: &Scope<'_>) -> Result<WalkPlan, WhyCold> {
        let mut planner = Planner::new(None);
        walk_tree(&self.tree, scope, WalkedFiles::LeftOut, &mut planner)?;
        Ok(planner.plan)
    }

    /// The most recently modified of the selected files, at most `limit`.
    pub(super) fn find_files(
        &self,
        scope: &Scope<'_>,
        limit: usize,
    ) -> Result<IndexedFiles, WhyCold> {
        let mut newest = NewestInTree {
            tree: &self.tree,
            files: SmallestItems::new(limit),
            total: 0,
            is_complete: true,
        };
        walk_tree(&self.tree, scope, WalkedFiles::Selected, &mut newest)?;
        if newest.is_complete {
            return Ok(newest.finish());
        }
        let mut planner = Planner::new(None);
        walk_tree(&self.tree, scope, WalkedFiles::Selected, &mut planner)?;
        Ok(IndexedFiles::Planned(planner.plan))
    }
}

/// The files below a directory, unless there are more than `most`.
fn files_below(tree: &WatchedTree, start: EntryNumber, most: usize) -> Option<Vec<EntryNumber>> {
    let mut files = Vec::new();
    let mut folders = vec![start];
    while let Some(folder) = folders.pop() {
        for entry in tree.entries(folder) {
            match entry.kind {
                toolwright_files::EntryKind::File => files.push(entry.number),
                toolwright_files::EntryKind::Folder => folders.push(entry.number),
                _ => {}
            }
        }
        if files.len() > most {
            return None;
        }
    }
    Some(files)
}

/// These entries and all directories above them.
fn with_folders(tree: &WatchedTree, entries: impl Iterator<Item = EntryNumber>) -> FileSet {
    let mut all = FileSet::default();
    for entry in entries {
        let mut at = Some(entry);
        while let Some(number) = at
            && all.insert(number)
        {
            at = tree.parent(number);
        }
    }
    all
}

/// Makes a plan of the files and directories that are taken.
struct Planner<'m> {
    plan: WalkPlan,
    /// The positions in the plan of the current directory and those above it.
    places: Vec<usize>,
    /// The wanted entries. `None` for all.
    marked: Option<&'m FileSet>,
    /// Whether directories are entered even if nothing in them is marked.
    every_folder: bool,
}

impl<'m> Planner<'m> {
    fn new(marked: Option<&'m FileSet>) -> Self {
        Self { plan: WalkPlan::new(), places: vec![0], marked, every_folder: false }
    }

    fn place(&self) -> usize {
        self.places.last().copied().unwrap_or(0)
    }
}

impl IndexedTreeVisitor for Planner<'_> {
    fn wants_file(&self, file: EntryNumber) -> bool {
        self.marked.is_none_or(|it| it.contains(file))
    }

    fn wants_folder(&self, folder: EntryNumber) -> bool {
        self.every_folder || self.wants_file(folder)
    }

    fn file(&mut self, name: &OsStr, left_out: bool, file: EntryNumber) {
        self.plan.add_file(self.place(), name, left_out, file.0);
    }

    fn enter(&mut self, name: &OsStr, left_out: bool) {
        let place = self.plan.add_folder(self.place(), name, left_out);
        self.places.push(place);
    }

    fn leave(&mut self) {
        // A directory without planned files is removed from the plan.
        if let Some(place) = self.places.pop()
            && self.plan.is_empty(place)
            && let Some(above) = self.places.last()
        {
            self.plan.take_back(*above);
        }
    }

    fn unknown_folder(&mut self, name: &OsStr, left_out: bool, rules: Option<&Arc<Rules>>) -> bool {
        self.plan.add_listed(self.place(), name, left_out, rules);
        true
    }
}

/// Keeps the most recently modified files.
struct NewestInTree<'t> {
    tree: &'t WatchedTree,
    /// Each with its modification time and its index in path order.
    files: SmallestItems<(Reverse<SystemTime>, u64, EntryNumber)>,
    total: u64,
    /// Whether the index knows the entries of every directory.
    is_complete: bool,
}

impl IndexedTreeVisitor for NewestInTree<'_> {
    fn wants_file(&self, _: EntryNumber) -> bool {
        true
    }

    fn wants_folder(&self, _: EntryNumber) -> bool {
        true
    }

    fn file(&mut self, _: &OsStr, _: bool, file: EntryNumber) {
        let modified = self.tree.stamp(file).map_or(SystemTime::UNIX_EPOCH, |it| it.modified());
        self.files.add((Reverse(modified), self.total, file));
        self.total += 1;
    }

    fn enter(&mut self, _: &OsStr, _: bool) {}

    fn leave(&mut self) {}

    fn unknown_folder(&mut self, _: &OsStr, _: bool, _: Option<&Arc<Rules>>) -> bool {
        self.is_complete = false;
        false
    }
}

impl NewestInTree<'_> {
    fn finish(self) -> IndexedFiles {
        let Self { tree, files, total, .. } = self;
        let mut folders: HashMap<EntryNumber, Arc<Path>> = HashMap::new();
        let found = files.sorted().into_iter().filter_map(|(_, _, file)| {
            let parent = tree.parent(file)?;
            let folder = folders.entry(parent).or_insert_with(|| tree.path(parent).into());
            let name = tree.entry(file)?.name.to_owned();
            Some(FoundFile { folder: Arc::clone(folder), name })
        });
        IndexedFiles::All { files: found.collect(), total }
    }
}
