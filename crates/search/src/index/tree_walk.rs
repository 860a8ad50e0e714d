//! Walks the tree of an index in the same way as a walk of the disk, and selects entries by the
//! same rules.

use std::{ffi::OsStr, path::Path, sync::Arc};

use toolwright_files::{EntryKind, WorkspacePath};
use toolwright_walk::{EntryJudge, IgnoredBy, Rules, Selection, WalkedFiles};

use super::{
    EntryNumber, WhyCold,
    entry_table::EntryView,
    tree::{TreeEntry, WatchedTree},
};
use crate::Scope;

/// Receives the entries that a walk of the tree takes, in the order of their paths.
pub(super) trait IndexedTreeVisitor {
    /// Whether a file is wanted at all. Called before the file is judged.
    fn wants_file(&self, file: EntryNumber) -> bool;

    /// Whether something in a directory may be wanted.
    fn wants_folder(&self, folder: EntryNumber) -> bool;

    /// Called for a file.
    fn file(&mut self, name: &OsStr, left_out: bool, file: EntryNumber);

    /// Called before the entries of a directory.
    fn enter(&mut self, name: &OsStr, left_out: bool);

    /// Called after the entries of a directory.
    fn leave(&mut self);

    /// Called for a directory that has to be listed. `rules` are those of its parent. Returns false
    /// to end the walk.
    fn unknown_folder(&mut self, name: &OsStr, left_out: bool, rules: Option<&Arc<Rules>>) -> bool;
}

/// A directory on the current path of the walk.
struct TreeLevel<I> {
    folder: EntryNumber,
    entries: I,
    left_out: bool,
}

/// Walks everything below the start of a scope.
pub(super) fn walk_tree(
    tree: &WatchedTree,
    scope: &Scope<'_>,
    taken: WalkedFiles,
    visitor: &mut impl IndexedTreeVisitor,
) -> Result<(), WhyCold> {
    walk_some(tree, |folder| tree.entries(folder), scope, taken, visitor)
}

/// The same, but only with the entries of each directory that `entries_of` returns, in the order of
/// their names.
pub(super) fn walk_some<'t, I: Iterator<Item = EntryView<'t>>>(
    tree: &'t WatchedTree,
    entries_of: impl Fn(EntryNumber) -> I,
    scope: &Scope<'_>,
    taken: WalkedFiles,
    visitor: &mut impl IndexedTreeVisitor,
) -> Result<(), WhyCold> {
    let start = start_in(tree, scope.start, scope.selection)?;
    let mut path = scope.start.absolute().to_owned();
    let start_bytes = path.as_os_str().len();
    let mut judge = EntryJudge::new(scope.selection, scope.visibility, taken, start_bytes);
    let mut open = vec![TreeLevel { folder: start, entries: entries_of(start), left_out: false }];
    judge.go_to(&path, 0);
    while let Some(level) = open.last_mut() {
        let Some(entry) = level.entries.next() else {
            open.pop();
            path.pop();
            visitor.leave();
            if let Some(depth) = open.len().checked_sub(1) {
                judge.go_to(&path, depth);
            }
            continue;
        };
        let mut left_out = level.left_out;
        let ignored = IgnoredBy::known(entry.is_ignored);
        match entry.kind {
            EntryKind::File => {
                if visitor.wants_file(entry.number)
                    && !judge.rejects_name(entry.name)
                    && judge.takes(entry.name, EntryKind::File, &mut left_out, ignored)
                {
                    visitor.file(entry.name, left_out, entry.number);
                }
            }
            EntryKind::Folder => {
                if !visitor.wants_folder(entry.number)
                    || !judge.takes(entry.name, EntryKind::Folder, &mut left_out, ignored)
                {
                    continue;
                }
                if !tree.knows_all_of(entry.number) {
                    let rules = tree.rules(level.folder);
                    if !visitor.unknown_folder(entry.name, left_out, rules) {
                        return Ok(());
                    }
                    continue;
                }
                path.push(entry.name);
                check_naming(tree, scope.selection, entry.number, &path, open.len())?;
                judge.go_to(&path, open.len());
                visitor.enter(entry.name, left_out);
                let entries = entries_of(entry.number);
                open.push(TreeLevel { folder: entry.number, entries, left_out });
            }
            EntryKind::Link | EntryKind::Other => {}
        }
    }
    Ok(())
}

/// The directory in which a walk starts, if the tree has everything that such a walk would report.
pub(super) fn start_in(
    tree: &WatchedTree,
    start: &WorkspacePath,
    selection: &Selection,
) -> Result<EntryNumber, WhyCold> {
    let TreeEntry::Open(folder) = tree.place(start.below()) else {
        return Err(WhyCold::NotInTree { at: start.absolute().to_owned() });
    };
    // A walk reports ignore files that could not be applied, including those above its start.
    let mut above = Some(folder);
    while let Some(at) = above {
        if !tree.unapplied(at).is_empty() {
            return Err(WhyCold::UnappliedRules);
        }
        above = tree.parent(at);
    }
    if !tree.unapplied_above().is_empty() {
        return Err(WhyCold::UnappliedRules);
    }
    check_naming(tree, selection, folder, start.absolute(), 0)?;
    Ok(folder)
}

/// Fails for a directory that the caller named, if different rules apply there because it is named.
fn check_naming(
    tree: &WatchedTree,
    selection: &Selection,
    folder: EntryNumber,
    path: &Path,
    depth: usize,
) -> Result<(), WhyCold> {
    if selection.is_named(path, depth) && tree.naming_matters(folder) {
        return Err(WhyCold::NamedFolder);
    }
    Ok(())
}
