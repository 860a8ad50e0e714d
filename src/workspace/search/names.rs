//! Finds files by their path: newest first, the first few of them, and how many there are.

use std::{
    cmp::Reverse,
    ffi::{OsStr, OsString},
    io,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use super::{Notices, Scope, SearchError, best::Best};
use crate::workspace::walk::{FileNames, Folder, Gather, Noticed, Order, Taken, Visitor};

/// How many ignored files an empty answer names.
const MAX_NAMED: usize = 3;

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
    /// What is to be said about directories and rules.
    pub notices: Notices,
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
        Newest { files: Best::new(request.limit), total: 0, notices: Notices::default() };
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
        notices: newest.notices,
        left_out: left_out.0,
    })
}

/// Looks when files were changed.
struct Stamps;

enum Stamped {
    Files(Arc<Path>, Vec<(Reverse<SystemTime>, OsString)>),
    Noticed(Noticed),
}

impl Visitor for Stamps {
    type Result = Stamped;

    fn visit(
        &mut self,
        folder: &Folder,
        names: FileNames<'_>,
        done: &dyn Fn() -> bool,
    ) -> Option<Stamped> {
        if done() {
            return None;
        }
        let stamped = |name: &OsStr| {
            let modified = match folder.modified(name) {
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => return None,
                // Listed, so it is there, though nobody may know how old it is.
                Err(_) => SystemTime::UNIX_EPOCH,
                Ok(modified) => modified,
            };
            Some((Reverse(modified), name.to_owned()))
        };
        Some(Stamped::Files(folder.path(), names.filter_map(stamped).collect()))
    }

    fn notice(&mut self, noticed: Noticed) -> Option<Stamped> {
        Some(Stamped::Noticed(noticed))
    }
}

struct Newest {
    /// With the number of each in path order.
    files: Best<(Reverse<SystemTime>, u64, FoundFile)>,
    total: u64,
    notices: Notices,
}

impl Gather for Newest {
    type Result = Stamped;

    fn weight(stamped: &Stamped) -> usize {
        match stamped {
            Stamped::Files(folder, files) => {
                let names: usize = files.iter().map(|(_, name)| 64 + name.len()).sum();
                128 + folder.as_os_str().len() + names
            }
            Stamped::Noticed(noticed) => super::notices::weight(noticed),
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
            Stamped::Noticed(noticed) => self.notices.add(noticed),
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
        names: FileNames<'_>,
        _: &dyn Fn() -> bool,
    ) -> Option<Vec<PathBuf>> {
        let path = folder.path();
        Some(names.take(MAX_NAMED).map(|name| path.join(name)).collect())
    }

    fn notice(&mut self, _: Noticed) -> Option<Vec<PathBuf>> {
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
