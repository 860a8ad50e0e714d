//! Why an answer is empty: what would have matched, had it been searched.
//!
//! Runs only when nothing else matched, within a fixed amount of work, so that it too gives the same
//! answer every time.

use std::{
    collections::HashSet,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use super::{
    Query, SearchError, SearchRequest,
    answer::WouldMatch,
    scan::{BinaryFiles, Details, Scanned, Scanner},
    sinks::Presence,
    watched_matcher::WatchedMatcher,
};
use crate::workspace::walk::{FileNames, Folder, Gather, Noticed, Order, Taken, Visitor};

/// How many files an empty answer names of each kind.
const MAX_NAMED: usize = 3;
/// How many files are searched for the sake of an explanation.
const MAX_FILES: usize = 20_000;
/// How many bytes of them; a file that is larger alone is not looked at.
const MAX_BYTES: u64 = 128 * 1024 * 1024;

/// Searches what a search left out: ignored and hidden files, if there were any, and binary files.
pub(super) fn would_match(
    request: &SearchRequest<'_>,
    left_out_any: bool,
    binary: &[PathBuf],
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Result<WouldMatch, SearchError> {
    let explore = |taken: Taken, files: Files<'_>| {
        let mut matching = Matching::default();
        let make_visitor = || Explorer {
            scanner: Scanner::new(request.query, Details::default()),
            query: request.query,
            files,
        };
        request
            .scope
            .walk(taken, Order::Path)
            .run(&make_visitor, &mut matching, cancelled)
            .map_err(|cause| request.scope.failed(cause))??;
        Ok::<_, SearchError>(matching)
    };
    let left_out =
        if left_out_any { explore(Taken::LeftOut, Files::Text)? } else { Matching::default() };
    let binary: HashSet<&Path> = binary.iter().map(PathBuf::as_path).collect();
    let binary = if binary.is_empty() {
        Matching::default()
    } else {
        explore(Taken::Selected, Files::Binary(&binary))?
    };
    // Where some were found, nobody needs to know that there may be others.
    let gave_up = |it: &Matching| it.passed_over && it.paths.is_empty();
    Ok(WouldMatch {
        gave_up: gave_up(&left_out) || gave_up(&binary),
        left_out: left_out.paths,
        binary: binary.paths,
    })
}

/// Which files are looked at.
#[derive(Clone, Copy)]
enum Files<'a> {
    Text,
    Binary(&'a HashSet<&'a Path>),
}

struct Explorer<'a> {
    scanner: Scanner,
    query: &'a Query,
    files: Files<'a>,
}

/// The files of one group: how many were looked at, and which match.
#[derive(Default)]
struct Explored {
    looked_at: usize,
    bytes: u64,
    /// Whether some were not looked at.
    passed_over: bool,
    matching: Vec<PathBuf>,
}

impl Visitor for Explorer<'_> {
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
                Files::Text => BinaryFiles::Skipped,
                Files::Binary(wanted) if wanted.contains(path.as_path()) => BinaryFiles::Searched,
                Files::Binary(_) => continue,
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
struct Matching {
    looked_at: usize,
    bytes: u64,
    passed_over: bool,
    paths: Vec<PathBuf>,
}

impl Gather for Matching {
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
            // Whether others follow is not known, and to say that none do would be a guess.
            self.passed_over = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}
