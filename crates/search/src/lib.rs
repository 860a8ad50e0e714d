//! Searches the content of files with the crates that ripgrep is made of, in this process. Also finds and
//! lists files by name, and keeps the index that makes all of this faster.
//!
//! [`search`] walks the directories (`toolwright_walk`), scans files and gathers the matches. Files with
//! matches are listed newest first, counts and lines by path. With an index, the walk follows a plan of the
//! files that can match.
//!
//! It must not know tools, policy, JSON or how an answer is worded.
//!
//! The invariant: the same [`SearchRequest`] on the same files always has the same answer, with any number of
//! threads, with or without an index.
//!
//! Start at [`search`], then `file_scanner` for one file, and `index` for the index.

mod answer;
mod file_scanner;
mod file_texts;
mod file_visitor;
mod find_files;
mod gather;
mod interruptible_dfa;
mod line_matcher;
mod list;
mod long_text;
mod match_sinks;
mod nfa_simulation;
mod notices;
mod path_order;
mod query;
mod required_text;
mod smallest_items;
mod text_scanner;
mod watched_matcher;
mod would_match;

#[cfg(all(test, target_os = "linux"))]
mod candidate_tests;
#[cfg(all(test, target_os = "linux"))]
mod need_tests;
#[cfg(test)]
mod tests;

use std::{fs::FileType, io, path::Path, time::Instant};

use toolwright_base::path_to_text;
use toolwright_files::{Visibility, WorkspacePath, open_named};
use toolwright_walk::{
    Cancelled, DirectoryWalk, Gather as _, ResultOrder, SearchThreads, Selection, WalkPlan,
    WalkedFiles,
};

use self::{
    file_visitor::{FileVisitor, GroupMatches},
    gather::Gathered,
    match_sinks::RowLimit,
};

pub use answer::{FileRows, Found, Row, RowKind, RowText, SearchAnswer, Skipped, WouldMatch};
pub(crate) use file_scanner::SMALL_FILE_BYTES;
pub(crate) use file_texts::{ContentStamp, FileTexts, TextRange};
pub use find_files::{FindFilesRequest, FoundFile, FoundFiles, find_files};
pub use list::list;
pub use notices::Notices;
pub use query::{CaseSensitivity, MatchSpan, Query, QueryError};
pub(crate) use smallest_items::SmallestItems;

/// The most rows of any answer.
const MAX_ROWS: usize = 100_000;

/// The most rows before the offset that each thread of a search keeps. With a larger offset the
/// search runs on one thread, which can count these rows without keeping them.
const MAX_KEPT_OFFSET: usize = 5_000;

/// The shape of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Which files have a match.
    Files,
    /// How many lines of each file match.
    Counts,
    /// The matching lines, with context.
    Lines {
        /// How many lines are shown before a match.
        before: usize,
        /// How many lines are shown after a match.
        after: usize,
        /// Whether only the matched parts of lines are shown.
        only_matching: bool,
    },
}

/// Which files are searched, and with which threads.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The directory to start in. A search can also start with a file.
    pub start: &'a WorkspacePath,
    /// Which files below it are selected.
    pub selection: &'a Selection,
    /// The user's global excludes, and the directory they are relative to.
    pub global_excludes: Option<(&'a Path, &'a Path)>,
    /// Which files may be seen at all.
    pub visibility: &'a Visibility,
    /// The threads that do the work.
    pub threads: &'a SearchThreads,
    /// The index of the root that the start is in.
    pub index: Option<&'a WorkspaceIndex>,
}

/// What to search for, where, and how much of it to show.
#[derive(Clone, Copy, Debug)]
pub struct SearchRequest<'a> {
    /// Where to search.
    pub scope: Scope<'a>,
    /// What to search for.
    pub query: &'a Query,
    /// The shape of the answer.
    pub shape: Shape,
    /// How many rows to skip.
    pub offset: usize,
    /// The most rows to show; without a limit, as many as fit.
    pub limit: Option<usize>,
    /// The most bytes of lines to show.
    pub max_bytes: usize,
}

/// Why a search failed.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The search was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// The start does not exist.
    #[error("`{path}` does not exist{}", toolwright_files::similar_names_note(.suggestions))]
    NotFound {
        /// The path of the start.
        path: String,
        /// Similar names that exist.
        suggestions: Vec<String>,
    },
    /// The start is a device, a socket or the like.
    #[error("`{0}` is neither a file nor a directory")]
    NotSearchable(String),
    /// The start is a file, but has to be a directory.
    #[error("`{0}` is a file, not a directory")]
    NotAFolder(String),
    /// The start cannot be read.
    #[error("`{0}` cannot be read: {1}")]
    Io(String, io::Error),
}

impl SearchError {
    /// The error for a start that could not be opened.
    fn at(place: &WorkspacePath, visibility: &Visibility, cause: io::Error) -> Self {
        let path = place.absolute();
        let shown = path_to_text(path).into_owned();
        match cause.kind() {
            io::ErrorKind::NotFound => {
                let suggestions = toolwright_files::close_names(place, visibility);
                Self::NotFound { suggestions, path: shown }
            }
            io::ErrorKind::NotADirectory => {
                // Any part of the path may be the file.
                let file = path.ancestors().find(|it| it.symlink_metadata().is_ok());
                Self::NotAFolder(path_to_text(file.unwrap_or(path)).into_owned())
            }
            _ => Self::Io(shown, cause),
        }
    }
}

impl<'a> Scope<'a> {
    fn walk<'p>(
        &self,
        taken: WalkedFiles,
        order: ResultOrder,
        plan: Option<&'p WalkPlan>,
    ) -> DirectoryWalk<'p>
    where
        'a: 'p,
    {
        DirectoryWalk {
            start: self.start,
            selection: self.selection,
            global_excludes: self.global_excludes,
            visibility: self.visibility,
            taken,
            order,
            threads: self.threads,
            plan,
        }
    }

    /// The type of the start. It is not opened for that, because merely opening a device can have an
    /// effect.
    fn kind(&self) -> Result<FileType, SearchError> {
        let path = self.start.absolute();
        path.symlink_metadata().map(|it| it.file_type()).map_err(|cause| self.failed(cause))
    }

    fn failed(&self, cause: io::Error) -> SearchError {
        SearchError::at(self.start, self.visibility, cause)
    }
}

impl SearchRequest<'_> {
    fn row_limit(&self) -> RowLimit {
        RowLimit {
            offset: self.offset,
            rows: self.limit.unwrap_or(MAX_ROWS).min(MAX_ROWS),
            bytes: self.max_bytes,
        }
    }
}

/// Runs a search on the threads of its scope, and explains an empty answer.
pub fn search(
    request: &SearchRequest<'_>,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Result<SearchAnswer, SearchError> {
    let scope = &request.scope;
    let kind = scope.kind()?;
    let mut gathered = Gathered::new(request);
    let mut why_cold = None;
    let left_out_any = if kind.is_dir() {
        let planned = scope.index.map(|it| it.plan_search(scope, request.query)).transpose();
        let planned = planned.unwrap_or_else(|why| {
            why_cold = Some(why);
            None
        });
        let began = Instant::now();
        let order = match request.shape {
            Shape::Files | Shape::Counts => ResultOrder::Any,
            Shape::Lines { .. } => ResultOrder::Path,
        };
        // On one thread it is known which rows are skipped, so their text need not be kept.
        let in_order = request.offset > MAX_KEPT_OFFSET && order == ResultOrder::Path;
        let alone = SearchThreads::new(0);
        let candidates = planned.as_ref().map(|it| &it.candidates);
        let make_visitor = || FileVisitor::new(request, in_order, candidates);
        let plan = planned.as_ref().map(|it| &it.plan);
        let mut walk = scope.walk(WalkedFiles::Selected, order, plan);
        if in_order {
            walk.threads = &alone;
        }
        let end = walk.run(&make_visitor, &mut gathered, cancelled);
        let end = end.map_err(|cause| scope.failed(cause))??;
        if let (None, Some(index)) = (&planned, scope.index) {
            index.note_cold_search(began.elapsed());
        }
        // A plan leaves out what is ignored without a word, so it is not known whether there was any.
        planned.is_some() || end.left_out_any
    } else if kind.is_file() {
        let mut visitor = FileVisitor::new(request, true, None);
        let mut group = GroupMatches::default();
        if scope.selection.takes_file(scope.start) {
            let file = open_named(scope.start).map_err(|cause| scope.failed(cause))?;
            visitor.named_file(file, scope.start.absolute(), &mut group, cancelled);
        }
        if cancelled() {
            return Err(Cancelled.into());
        }
        let _ = gathered.take(group);
        false
    } else {
        return Err(SearchError::NotSearchable(path_to_text(scope.start.absolute()).into_owned()));
    };
    let (mut answer, binary) = gathered.finish();
    answer.why_cold = why_cold;
    if answer.totals.is_some_and(|it| it.files == 0) {
        answer.would_match = would_match::would_match(request, left_out_any, &binary, cancelled)?;
    }
    Ok(answer)
}

mod index;

pub use index::{
    IndexMode, IndexPhase, IndexPool, IndexSettings, IndexStatus, WhyCold, WorkspaceIndex,
    WorkspaceIndexes,
};
