//! Finds files by path, and returns the most recently modified ones and the total number.

use std::{
    cmp::Reverse,
    ffi::{OsStr, OsString},
    io,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Instant, SystemTime},
};

use toolwright_files::Folder;
use toolwright_walk::{
    FileNames, Gather, Noticed, ResultOrder, WalkPlan, WalkVisitor, WalkedFiles,
};

use super::{Notices, Scope, SearchError, smallest_items::SmallestItems};
use crate::index::{IndexedFiles, WhyCold};

/// How many ignored files are named in an empty answer.
const MAX_NAMED: usize = 3;

/// Which files to find, and how many to return.
#[derive(Clone, Copy, Debug)]
pub struct FindFilesRequest<'a> {
    /// Where to look, and which files to select.
    pub scope: Scope<'a>,
    /// The most files to return.
    pub limit: usize,
}

/// The files that were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundFiles {
    /// The files, most recently modified first.
    pub files: Vec<FoundFile>,
    /// The number of all files found, including those not returned.
    pub total: u64,
    /// Directories that could not be read, and rules that could not be applied.
    pub notices: Notices,
    /// If nothing was found: some ignored or hidden files that match.
    pub left_out: Vec<PathBuf>,
    /// Why the index was not used, if there is one.
    pub why_cold: Option<WhyCold>,
}

/// The path of a file in two parts, so that files in the same directory share the first part.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FoundFile {
    /// The absolute path of its directory.
    pub folder: Arc<Path>,
    /// The name of the file in that directory.
    pub name: OsString,
}

/// Finds the files that the request selects.
pub fn find_files(
    request: &FindFilesRequest<'_>,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Result<FoundFiles, SearchError> {
    let scope = &request.scope;
    if !scope.kind()?.is_dir() {
        return Err(scope.failed(io::ErrorKind::NotADirectory.into()));
    }
    let mut newest = NewestFiles {
        files: SmallestItems::new(request.limit),
        total: 0,
        notices: Notices::default(),
    };
    // Files of the same age are sorted by path. The walk visits them in that order, so that sorting only
    // has to compare numbers. Comparing paths is slow if all files have the same age, as in a fresh
    // checkout.
    let mut why_cold = None;
    let began = Instant::now();
    let plan = match scope.index.map(|it| it.find_files(scope, request.limit)) {
        Some(Ok(IndexedFiles::All { files, total })) => {
            if total > 0 {
                return Ok(FoundFiles { files, total, ..FoundFiles::default() });
            }
            Some(WalkPlan::new())
        }
        Some(Ok(IndexedFiles::Planned(plan))) => Some(plan),
        Some(Err(why)) => {
            why_cold = Some(why);
            None
        }
        None => None,
    };
    let end = scope
        .walk(WalkedFiles::Selected, ResultOrder::Path, plan.as_ref())
        .run(&|| ModificationTimes, &mut newest, cancelled)
        .map_err(|cause| scope.failed(cause))??;
    if let (None, Some(index)) = (&plan, scope.index) {
        index.note_cold_search(began.elapsed());
    }
    let mut left_out = FirstPaths(Vec::new());
    if newest.total == 0 && (end.left_out_any || plan.is_some()) {
        let plan = scope.index.and_then(|it| it.plan_left_out(scope).ok());
        scope
            .walk(WalkedFiles::LeftOut, ResultOrder::Path, plan.as_ref())
            .run(&|| PathsOnly, &mut left_out, cancelled)
            .map_err(|cause| scope.failed(cause))??;
    }
    Ok(FoundFiles {
        files: newest.files.sorted().into_iter().map(|(_, _, file)| file).collect(),
        total: newest.total,
        notices: newest.notices,
        left_out: left_out.0,
        why_cold,
    })
}

/// Reads the modification times of files.
struct ModificationTimes;

enum FilesOrNotice {
    Files(Arc<Path>, Vec<(Reverse<SystemTime>, OsString)>),
    Noticed(Noticed),
}

impl WalkVisitor for ModificationTimes {
    type Result = FilesOrNotice;

    fn visit(
        &mut self,
        folder: &Folder,
        names: FileNames<'_>,
        done: &dyn Fn() -> bool,
    ) -> Option<FilesOrNotice> {
        if done() {
            return None;
        }
        let stamped = |name: &OsStr| {
            let modified = match folder.modified(name) {
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => return None,
                // The file exists, because it was listed, but its age is unknown.
                Err(_) => SystemTime::UNIX_EPOCH,
                Ok(modified) => modified,
            };
            Some((Reverse(modified), name.to_owned()))
        };
        Some(FilesOrNotice::Files(folder.path(), names.filter_map(stamped).collect()))
    }

    fn notice(&mut self, noticed: Noticed) -> Option<FilesOrNotice> {
        Some(FilesOrNotice::Noticed(noticed))
    }
}

struct NewestFiles {
    /// Each with its modification time and its index in path order.
    files: SmallestItems<(Reverse<SystemTime>, u64, FoundFile)>,
    total: u64,
    notices: Notices,
}

impl Gather for NewestFiles {
    type Result = FilesOrNotice;

    fn weight(stamped: &FilesOrNotice) -> usize {
        match stamped {
            FilesOrNotice::Files(folder, files) => {
                let names: usize = files.iter().map(|(_, name)| 64 + name.len()).sum();
                128 + folder.as_os_str().len() + names
            }
            FilesOrNotice::Noticed(noticed) => super::notices::weight(noticed),
        }
    }

    fn take(&mut self, stamped: FilesOrNotice) -> ControlFlow<()> {
        match stamped {
            FilesOrNotice::Files(folder, files) => {
                for (modified, name) in files {
                    let file = FoundFile { folder: Arc::clone(&folder), name };
                    self.files.add((modified, self.total, file));
                    self.total += 1;
                }
            }
            FilesOrNotice::Noticed(noticed) => self.notices.add(noticed),
        }
        ControlFlow::Continue(())
    }
}

/// Returns the paths of files without looking at them.
struct PathsOnly;

impl WalkVisitor for PathsOnly {
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

/// The first few paths.
struct FirstPaths(Vec<PathBuf>);

impl Gather for FirstPaths {
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
