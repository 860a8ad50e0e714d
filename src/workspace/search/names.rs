//! Finds files by their path: newest first, the first few of them, and how many there are.

use std::{
    cmp::Reverse,
    ffi::OsString,
    io,
    ops::ControlFlow,
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::{Scope, SearchError, best::Best, order::ByPath};
use crate::workspace::walk::{Folder, Gather, Order, Taken, Visitor};

/// How many ignored files an empty answer names.
const MAX_NAMED: usize = 3;
/// How many directories that could not be read an answer names.
const MAX_EXAMPLES: usize = 5;

/// What to find.
#[derive(Clone, Copy, Debug)]
pub struct NamesRequest<'a> {
    /// Where, and which.
    pub scope: Scope<'a>,
    /// How many are given.
    pub limit: usize,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundNames {
    /// Files, absolute, the one changed last first.
    pub files: Vec<PathBuf>,
    /// How many there are in all.
    pub total: u64,
    /// How many directories could not be read.
    pub unreadable: u64,
    /// Some of those, with the cause.
    pub examples: Vec<(PathBuf, String)>,
    /// Where nothing was found: some ignored or hidden files that fit.
    pub left_out: Vec<PathBuf>,
}

/// Finds files.
pub fn find_names(
    request: &NamesRequest<'_>,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Result<FoundNames, SearchError> {
    let scope = &request.scope;
    if !scope.kind()?.is_dir() {
        return Err(scope.failed(io::ErrorKind::NotADirectory.into()));
    }
    let mut newest = Newest {
        files: Best::new(request.limit),
        total: 0,
        unreadable: Best::new(MAX_EXAMPLES),
        unreadable_count: 0,
    };
    let end = scope
        .walk(Taken::Selected, Order::Any)
        .run(&|| Stamps, &mut newest, cancelled)
        .map_err(|cause| scope.failed(cause))??;
    let mut left_out = First(Vec::new());
    if newest.total == 0 && end.left_out_any {
        scope
            .walk(Taken::LeftOut, Order::Path)
            .run(&|| Paths, &mut left_out, cancelled)
            .map_err(|cause| scope.failed(cause))??;
    }
    Ok(FoundNames {
        files: newest.files.sorted().into_iter().map(|(_, path)| path.0).collect(),
        total: newest.total,
        unreadable: newest.unreadable_count,
        examples: newest
            .unreadable
            .sorted()
            .into_iter()
            .map(|(path, cause)| (path.0, cause))
            .collect(),
        left_out: left_out.0,
    })
}

/// Looks when files were changed.
struct Stamps;

enum Stamped {
    Files(Vec<(Reverse<SystemTime>, ByPath)>),
    Unreadable(PathBuf, String),
}

impl Visitor for Stamps {
    type Result = Stamped;

    fn visit(
        &mut self,
        folder: &Folder,
        names: &[OsString],
        done: &dyn Fn() -> bool,
    ) -> Option<Stamped> {
        if done() {
            return None;
        }
        let stamped = |name: &OsString| {
            let modified = match folder.modified(name) {
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => return None,
                // Listed, so it is there, though nobody may know how old it is.
                Err(_) => SystemTime::UNIX_EPOCH,
                Ok(modified) => modified,
            };
            Some((Reverse(modified), ByPath(folder.path().join(name))))
        };
        let mut files: Vec<_> = names.iter().filter_map(stamped).collect();
        // Here, because this is one of several threads: what is in order already is merged quickly.
        files.sort_unstable();
        Some(Stamped::Files(files))
    }

    fn unreadable(&mut self, folder: &Path, cause: &io::Error) -> Option<Stamped> {
        Some(Stamped::Unreadable(folder.to_owned(), cause.to_string()))
    }
}

struct Newest {
    files: Best<(Reverse<SystemTime>, ByPath)>,
    total: u64,
    unreadable: Best<(ByPath, String)>,
    unreadable_count: u64,
}

impl Gather for Newest {
    type Result = Stamped;

    fn weight(_: &Stamped) -> usize {
        0
    }

    fn take(&mut self, stamped: Stamped) -> ControlFlow<()> {
        match stamped {
            Stamped::Files(files) => {
                self.total += files.len() as u64;
                for file in files {
                    self.files.add(file);
                }
            }
            Stamped::Unreadable(folder, cause) => {
                self.unreadable_count += 1;
                self.unreadable.add((ByPath(folder), cause));
            }
        }
        ControlFlow::Continue(())
    }
}

/// Only takes names.
struct Paths;

impl Visitor for Paths {
    type Result = Vec<PathBuf>;

    fn visit(
        &mut self,
        folder: &Folder,
        names: &[OsString],
        _: &dyn Fn() -> bool,
    ) -> Option<Vec<PathBuf>> {
        Some(names.iter().map(|name| folder.path().join(name)).collect())
    }

    fn unreadable(&mut self, _: &Path, _: &io::Error) -> Option<Vec<PathBuf>> {
        None
    }
}

/// The first few by path.
struct First(Vec<PathBuf>);

impl Gather for First {
    type Result = Vec<PathBuf>;

    fn weight(paths: &Vec<PathBuf>) -> usize {
        paths.len() * size_of::<PathBuf>()
    }

    fn take(&mut self, paths: Vec<PathBuf>) -> ControlFlow<()> {
        self.0.extend(paths);
        self.0.truncate(MAX_NAMED);
        if self.0.len() == MAX_NAMED { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
