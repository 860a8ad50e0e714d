//! Explains an empty answer: which files would have matched if they had been searched.
//!
//! It only runs if nothing else matched. Its work is limited by counting, not by time, so that it
//! always gives the same answer.

use std::{ops::ControlFlow, path::PathBuf};

use toolwright_files::Folder;
use toolwright_walk::{
    FileNames, Gather, Noticed, ResultOrder, WalkPlan, WalkVisitor, WalkedFiles,
};

use super::{
    Query, SearchError, SearchRequest,
    answer::WouldMatch,
    file_scanner::{BinaryFiles, Details, Scanned, Scanner},
    match_sinks::Presence,
    watched_matcher::WatchedMatcher,
};

/// How many files of each kind are named.
const MAX_NAMED: usize = 3;
/// How many files are searched.
const MAX_FILES: usize = 20_000;
/// How many bytes are searched. A larger file is not searched at all.
const MAX_BYTES: u64 = 128 * 1024 * 1024;

/// Searches the files that a search did not: ignored and hidden files, if there were any, and binary
/// files.
pub(super) fn would_match(
    request: &SearchRequest<'_>,
    left_out_any: bool,
    binary: &[PathBuf],
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Result<WouldMatch, SearchError> {
    let explore = |taken: WalkedFiles, plan: Option<&WalkPlan>, files: ExploredFiles| {
        let mut matching = MatchingPaths::default();
        let make_visitor = || Explorer {
            scanner: Scanner::new(request.query, Details::default()),
            query: request.query,
            files,
        };
        request
            .scope
            .walk(taken, ResultOrder::Path, plan)
            .run(&make_visitor, &mut matching, cancelled)
            .map_err(|cause| request.scope.failed(cause))??;
        Ok::<_, SearchError>(matching)
    };
    let left_out = if left_out_any {
        let plan = request.scope.index.and_then(|it| it.plan_left_out(&request.scope).ok());
        explore(WalkedFiles::LeftOut, plan.as_ref(), ExploredFiles::Text)?
    } else {
        MatchingPaths::default()
    };
    let binary = if binary.is_empty() {
        MatchingPaths::default()
    } else {
        let plan = WalkPlan::of_paths(request.scope.start.absolute(), binary);
        explore(WalkedFiles::Selected, Some(&plan), ExploredFiles::Binary)?
    };
    // If some were found, it does not matter that there may be others.
    let gave_up = |it: &MatchingPaths| it.passed_over && it.paths.is_empty();
    Ok(WouldMatch {
        gave_up: gave_up(&left_out) || gave_up(&binary),
        left_out: left_out.paths,
        binary: binary.paths,
    })
}

/// Which files are searched.
#[derive(Clone, Copy)]
enum ExploredFiles {
    Text,
    Binary,
}

struct Explorer<'a> {
    scanner: Scanner,
    query: &'a Query,
    files: ExploredFiles,
}

/// The files of one group: how many were searched, and which match.
#[derive(Default)]
struct Explored {
    looked_at: usize,
    bytes: u64,
    /// Whether some were not searched.
    passed_over: bool,
    matching: Vec<PathBuf>,
}

impl WalkVisitor for Explorer<'_> {
    type Result = Explored;

    fn visit(
        &mut self,
        folder: &Folder,
        names: FileNames<'_>,
        done: &dyn Fn() -> bool,
    ) -> Option<Explored> {
        let mut explored = Explored::default();
        let short_reads = folder.short_reads().ok()?;
        for name in names {
            if done() {
                return None;
            }
            let path = folder.path().join(name);
            let binary = match self.files {
                ExploredFiles::Text => BinaryFiles::Skipped,
                ExploredFiles::Binary => BinaryFiles::Searched,
            };
            explored.looked_at += 1;
            let mut sink = Presence::default();
            let Ok(mut file) = folder.open_file(name) else { continue };
            let bytes = file.metadata().map_or(0, |it| it.len());
            if explored.bytes.saturating_add(bytes) > MAX_BYTES {
                explored.passed_over = true;
                continue;
            }
            explored.bytes += bytes;
            let matcher = WatchedMatcher::new(&self.query.matcher, done);
            let scanned = self.scanner.scan(&mut file, short_reads, binary, &matcher, &mut sink);
            if sink.0 && matches!(scanned, Ok(Scanned::Text)) {
                explored.matching.push(path);
            }
        }
        (explored.looked_at > 0).then_some(explored)
    }

    fn notice(&mut self, _: Noticed) -> Option<Explored> {
        None
    }
}

#[derive(Default)]
struct MatchingPaths {
    looked_at: usize,
    bytes: u64,
    passed_over: bool,
    paths: Vec<PathBuf>,
}

impl Gather for MatchingPaths {
    type Result = Explored;

    fn weight(explored: &Explored) -> usize {
        explored.matching.len() * size_of::<PathBuf>()
    }

    fn take(&mut self, explored: Explored) -> ControlFlow<()> {
        self.looked_at += explored.looked_at;
        self.bytes += explored.bytes;
        self.passed_over |= explored.passed_over;
        self.paths.extend(explored.matching);
        self.paths.truncate(MAX_NAMED);
        if self.paths.len() == MAX_NAMED {
            return ControlFlow::Break(());
        }
        if self.looked_at >= MAX_FILES || self.bytes >= MAX_BYTES {
            // It is unknown whether others would match.
            self.passed_over = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}
