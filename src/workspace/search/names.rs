//! Finds files by their path: newest first, the first few of them, and how many there are.

use std::{
    cmp::Reverse,
    ffi::OsString,
    io,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use super::{Scope, SearchError, best::Best};
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
    /// The files, the one changed last first.
    pub files: Vec<FoundFile>,
    /// How many there are in all.
    pub total: u64,
    /// How many directories could not be read.
    pub unreadable: u64,
    /// Some of those, with the cause.
    pub examples: Vec<(PathBuf, String)>,
    /// Where nothing was found: some ignored or hidden files that fit.
    pub left_out: Vec<PathBuf>,
}

/// A file, in two parts: many are in the same directory, and a path for each is a text for each.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FoundFile {
    /// Its directory, absolute.
    pub folder: Arc<Path>,
    /// Its name there.
    pub name: OsString,
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
    let mut newest =
        Newest { files: Best::new(request.limit), total: 0, unreadable: 0, examples: Vec::new() };
    // Files of the same age are given by path. Coming in that order, they are sorted without a look at
    // their paths, which is what takes long where all are of the same age, as in a fresh checkout.
    let end = scope
        .walk(Taken::Selected, Order::Path)
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
        files: newest.files.sorted().into_iter().map(|(_, _, file)| file).collect(),
        total: newest.total,
        unreadable: newest.unreadable,
        examples: newest.examples,
        left_out: left_out.0,
    })
}

/// Looks when files were changed.
struct Stamps;

enum Stamped {
    Files(Arc<Path>, Vec<(Reverse<SystemTime>, OsString)>),
    Unreadable(PathBuf, String),
}

impl Visitor for Stamps {
    type Result = Stamped;

    fn visit(
        &mut self,
        folder: &Folder,
        names: Vec<OsString>,
        done: &dyn Fn() -> bool,
    ) -> Option<Stamped> {
        if done() {
            return None;
        }
        let stamped = |name: OsString| {
            let modified = match folder.modified(&name) {
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => return None,
                // Listed, so it is there, though nobody may know how old it is.
                Err(_) => SystemTime::UNIX_EPOCH,
                Ok(modified) => modified,
            };
            Some((Reverse(modified), name))
        };
        let files = names.into_iter().filter_map(stamped).collect();
        Some(Stamped::Files(Arc::clone(folder.path()), files))
    }

    fn unreadable(&mut self, folder: &Path, cause: &io::Error) -> Option<Stamped> {
        Some(Stamped::Unreadable(folder.to_owned(), cause.to_string()))
    }
}

struct Newest {
    /// With the number of each in path order.
    files: Best<(Reverse<SystemTime>, u64, FoundFile)>,
    total: u64,
    unreadable: u64,
    examples: Vec<(PathBuf, String)>,
}

impl Gather for Newest {
    type Result = Stamped;

    fn weight(stamped: &Stamped) -> usize {
        match stamped {
            Stamped::Files(folder, files) => {
                let names: usize = files.iter().map(|(_, name)| 64 + name.len()).sum();
                128 + folder.as_os_str().len() + names
            }
            Stamped::Unreadable(folder, cause) => 128 + folder.as_os_str().len() + cause.len(),
        }
    }

    fn take(&mut self, stamped: Stamped) -> ControlFlow<()> {
        match stamped {
            Stamped::Files(folder, files) => {
                for (modified, name) in files {
                    let file = FoundFile { folder: Arc::clone(&folder), name };
                    self.files.add((modified, self.total, file));
                    self.total += 1;
                }
            }
            Stamped::Unreadable(folder, cause) => {
                self.unreadable += 1;
                if self.examples.len() < MAX_EXAMPLES {
                    self.examples.push((folder, cause));
                }
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
        names: Vec<OsString>,
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
