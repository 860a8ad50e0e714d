//! Searches the content of files with ripgrep's engine, in this process.
//!
//! A [`SearchRequest`] says where, what and how much; [`search`] walks, scans and gathers. Files with
//! matches come newest first, counts and lines by path, and the same request on the same files gives
//! the same answer, however many threads were at it.

mod all_ways;
mod answer;
mod best;
mod gather;
mod line_matcher;
mod list;
mod long_text;
mod names;
mod needed;
mod notices;
mod order;
mod query;
mod scan;
mod sinks;
mod stepping;
mod visit;
mod watched_matcher;
mod would_match;

#[cfg(test)]
mod tests;

use std::{fs::FileType, io, path::Path};

pub use answer::{
    FileRows, Found, Row, RowKind, RowText, SearchAnswer, Skipped, Totals, WouldMatch,
};
pub use list::list;
pub use names::{FoundFile, FoundNames, NamesRequest, find_names};
pub use notices::Notices;
pub use query::{Case, Query, QueryError, Span};

use self::{
    gather::Gathered,
    sinks::RowLimit,
    visit::{FileVisitor, Group},
};
use super::{
    WorkspacePath,
    walk::{
        Cancelled, Gather as _, IgnoreRules, Order, SearchThreads, Selection, Taken, Visibility,
        Walk, open_named,
    },
};
use crate::path_text::path_to_text;

/// The most rows any answer is made of.
const MAX_ROWS: usize = 100_000;

/// The most rows that each thread of a search keeps although the answer may pass over them.
const MAX_KEPT_OFFSET: usize = 5_000;

/// What an answer shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Which files have a match.
    Files,
    /// How many lines of each file match.
    Counts,
    /// The lines.
    Lines {
        /// Lines shown before a match.
        before: usize,
        /// Lines shown after it.
        after: usize,
        /// Only the matched part of a line.
        only_matching: bool,
    },
}

/// Where files are looked for.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The directory, or for a search the file, to start with.
    pub start: &'a WorkspacePath,
    /// What is asked for.
    pub selection: &'a Selection,
    /// The user's global excludes, and the directory they are relative to.
    pub global_excludes: Option<(&'a Path, &'a Path)>,
    /// What may be seen at all.
    pub visibility: &'a Visibility,
    /// The threads to use.
    pub threads: &'a SearchThreads,
}

/// A search.
#[derive(Clone, Copy, Debug)]
pub struct SearchRequest<'a> {
    /// Where.
    pub scope: Scope<'a>,
    /// What for.
    pub query: &'a Query,
    /// What the answer shows.
    pub shape: Shape,
    /// How many rows it passes over.
    pub offset: usize,
    /// How many rows it shows at most; all when there is no limit, as far as they fit.
    pub limit: Option<usize>,
    /// How many bytes of lines it shows at most.
    pub max_bytes: usize,
}

/// Why a search failed.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The search was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// Nothing is where it should start.
    #[error("nothing is at `{path}`{}", super::reader::did_you_mean(.suggestions))]
    NotFound {
        /// Where.
        path: String,
        /// What is there with a close name.
        suggestions: Vec<String>,
    },
    /// It cannot start with something like this.
    #[error("`{0}` is neither a file nor a directory")]
    NotSearchable(String),
    /// It has to start with a directory.
    #[error("`{0}` is a file, not a directory")]
    NotAFolder(String),
    /// The system refused.
    #[error("`{0}` cannot be read: {1}")]
    Io(String, io::Error),
}

impl SearchError {
    /// Why a search could not start at a place.
    fn at(place: &WorkspacePath, visibility: &Visibility, cause: io::Error) -> Self {
        let path = place.absolute();
        let shown = path_to_text(path).into_owned();
        match cause.kind() {
            io::ErrorKind::NotFound => {
                let suggestions = super::suggest::close_names(place, visibility);
                Self::NotFound { suggestions, path: shown }
            }
            io::ErrorKind::NotADirectory => {
                // It may be any part of the path that is a file.
                let file = path.ancestors().find(|it| it.symlink_metadata().is_ok());
                Self::NotAFolder(path_to_text(file.unwrap_or(path)).into_owned())
            }
            _ => Self::Io(shown, cause),
        }
    }
}

impl<'a> Scope<'a> {
    fn walk(&self, taken: Taken, order: Order) -> Walk<'a> {
        Walk {
            start: self.start,
            selection: self.selection,
            ignore_rules: IgnoreRules::Hold,
            global_excludes: self.global_excludes,
            visibility: self.visibility,
            taken,
            order,
            threads: self.threads,
        }
    }

    /// What is at the start, without opening it: opening a device can already do something.
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

/// Runs a search.
pub fn search(
    request: &SearchRequest<'_>,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Result<SearchAnswer, SearchError> {
    let scope = &request.scope;
    let kind = scope.kind()?;
    let mut gathered = Gathered::new(request);
    let left_out_any = if kind.is_dir() {
        let order = match request.shape {
            Shape::Files | Shape::Counts => Order::Any,
            Shape::Lines { .. } => Order::Path,
        };
        // Rows that are passed over need no text where it is known which they are: on one thread.
        let in_order = request.offset > MAX_KEPT_OFFSET && order == Order::Path;
        let alone = SearchThreads::new(0);
        let make_visitor = || FileVisitor::new(request, in_order);
        let mut walk = scope.walk(Taken::Selected, order);
        if in_order {
            walk.threads = &alone;
        }
        walk.run(&make_visitor, &mut gathered, cancelled)
            .map_err(|cause| scope.failed(cause))??
            .left_out_any
    } else if kind.is_file() {
        let mut visitor = FileVisitor::new(request, true);
        let mut group = Group::default();
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
    if answer.totals.is_some_and(|it| it.files == 0) {
        answer.would_match = would_match::would_match(request, left_out_any, &binary, cancelled)?;
    }
    Ok(answer)
}
