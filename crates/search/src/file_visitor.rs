//! Searches the files that a walk visits.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use toolwright_files::{Folder, ShortReads};
use toolwright_walk::{FileNames, Noticed, UnappliedRules, WalkVisitor};

use super::{
    SearchRequest, Shape,
    answer::Row,
    file_scanner::{BinaryFiles, Details, FileToSearch, Scanned, Scanner},
    match_sinks::{Counter, LineSink, Presence, RowLimit},
    watched_matcher::WatchedMatcher,
};
use crate::index::{Candidates, EntryNumber, SearchedPart};

/// The matches of one file, in the shape that the request asked for.
#[derive(Debug)]
pub(super) enum FileMatches {
    Present(SystemTime),
    Count(u64),
    Rows(Vec<Row>),
}

/// The matches of some files of one directory.
#[derive(Debug, Default)]
pub(super) struct GroupMatches {
    pub(super) hits: Vec<(PathBuf, FileMatches)>,
    pub(super) binary: Vec<PathBuf>,
    /// Files in which binary data was found after some rows, and its offset.
    pub(super) partly: Vec<(PathBuf, u64)>,
    pub(super) unreadable: Vec<(PathBuf, String)>,
    pub(super) unapplied: Vec<UnappliedRules>,
    /// The memory that the rows take.
    pub(super) held: usize,
}

/// The rows that are known to come before those of the next file.
#[derive(Clone, Copy, Debug, Default)]
struct RowsBefore {
    rows: usize,
    /// How many bytes of the answer those after the offset take.
    bytes: usize,
}

/// Searches files on one thread.
pub(super) struct FileVisitor<'c> {
    scanner: Scanner,
    query: super::Query,
    shape: Shape,
    limit: RowLimit,
    /// Whether this visitor visits all files, in the order of the answer.
    in_order: bool,
    counted: RowsBefore,
    /// The parts to read of files that an index knows.
    candidates: Option<&'c Candidates>,
}

impl<'c> FileVisitor<'c> {
    pub(super) fn new(
        request: &SearchRequest<'_>,
        in_order: bool,
        candidates: Option<&'c Candidates>,
    ) -> Self {
        let details = match request.shape {
            Shape::Files | Shape::Counts => Details::default(),
            Shape::Lines { before, after, .. } => Details { line_numbers: true, before, after },
        };
        Self {
            scanner: Scanner::new(request.query, details),
            query: request.query.clone(),
            shape: request.shape,
            limit: request.row_limit(),
            in_order,
            counted: RowsBefore::default(),
            candidates,
        }
    }

    /// The part to read of the file that has this number in a plan.
    fn part_of(&self, number: Option<u32>) -> SearchedPart<'c> {
        let known = self.candidates.zip(number.map(EntryNumber::of_plan));
        known.map_or(SearchedPart::Whole, |(candidates, file)| candidates.part_of(file))
    }

    /// Searches a file that the caller named, even if it is binary.
    pub(super) fn named_file(
        &mut self,
        file: File,
        path: &Path,
        group: &mut GroupMatches,
        done: &dyn Fn() -> bool,
    ) {
        let short_reads = ShortReads::MeanNothing;
        let target = FileToSearch { file, short_reads, texts: None };
        self.search(target, &|| path.to_owned(), BinaryFiles::Searched, group, done);
    }

    /// Searches one file. Returns false if the answer is full or the search was cancelled.
    pub(super) fn search(
        &mut self,
        mut target: FileToSearch<'_>,
        path: &dyn Fn() -> PathBuf,
        binary: BinaryFiles,
        group: &mut GroupMatches,
        done: &dyn Fn() -> bool,
    ) -> bool {
        let Self { scanner, query, counted, .. } = self;
        let matcher = &WatchedMatcher::new(&query.matcher, done);
        let mut full = false;
        let (scanned, hit) = match self.shape {
            Shape::Files => {
                let mut sink = Presence::default();
                let scanned = scanner.scan_file(&mut target, binary, matcher, &mut sink);
                let hit = sink.0.then(|| {
                    let modified = target.file.metadata().and_then(|it| it.modified());
                    FileMatches::Present(modified.unwrap_or(SystemTime::UNIX_EPOCH))
                });
                (scanned, hit)
            }
            Shape::Counts => {
                let mut sink = Counter { matcher, count: 0 };
                let scanned = scanner.scan_file(&mut target, binary, matcher, &mut sink);
                (scanned, (sink.count > 0).then_some(FileMatches::Count(sink.count)))
            }
            Shape::Lines { only_matching, before, after } => {
                // With context, the answer has a gap between files.
                let gap = usize::from(counted.rows > 0 && (before > 0 || after > 0));
                let mut sink = LineSink {
                    matcher,
                    only_matching,
                    limit: self.limit,
                    rows: Vec::new(),
                    lines_before: 0,
                    rows_before: counted.rows + gap,
                    in_order: self.in_order,
                    bytes: counted.bytes,
                    held: 0,
                };
                let scanned = scanner.scan_file(&mut target, binary, matcher, &mut sink);
                // Without a row there is no gap before it either.
                full = !sink.rows.is_empty() && sink.is_full();
                group.held += sink.held;
                if !sink.rows.is_empty() {
                    counted.rows = sink.rows_before + sink.rows.len();
                    counted.bytes = sink.bytes;
                }
                (scanned, (!sink.rows.is_empty()).then_some(FileMatches::Rows(sink.rows)))
            }
        };
        // The search was cancelled, so there will be no answer.
        if matcher.has_stopped() {
            return false;
        }
        match (scanned, hit) {
            (Ok(Scanned::Text), hit) => group.hits.extend(hit.map(|it| (path(), it))),
            (Ok(Scanned::Binary { from }), Some(hit @ FileMatches::Rows(_))) => {
                group.hits.push((path(), hit));
                if !full {
                    group.partly.push((path(), from));
                }
            }
            // As in ripgrep, a file that turns out to be binary after some matches is not counted.
            (Ok(Scanned::Binary { .. }), _) => group.binary.push(path()),
            (Err(cause), hit) => {
                group.unreadable.push((path(), scanner.explain(&cause, matcher)));
                group.hits.extend(
                    hit.filter(|it| matches!(it, FileMatches::Rows(_))).map(|it| (path(), it)),
                );
            }
        }
        !full
    }
}

impl GroupMatches {
    fn is_empty(&self) -> bool {
        self.hits.is_empty()
            && self.binary.is_empty()
            && self.partly.is_empty()
            && self.unreadable.is_empty()
            && self.unapplied.is_empty()
    }
}

impl WalkVisitor for FileVisitor<'_> {
    type Result = GroupMatches;

    fn visit(
        &mut self,
        folder: &Folder,
        mut names: FileNames<'_>,
        done: &dyn Fn() -> bool,
    ) -> Option<GroupMatches> {
        let mut group = GroupMatches::default();
        let short_reads = match folder.short_reads() {
            Ok(short_reads) => short_reads,
            Err(cause) => {
                let unreadable = vec![(folder.path().to_path_buf(), cause.to_string())];
                return Some(GroupMatches { unreadable, ..GroupMatches::default() });
            }
        };
        if !self.in_order {
            self.counted = RowsBefore::default();
        }
        while let Some((name, number)) = names.next_numbered() {
            if done() {
                return None;
            }
            let path = || folder.path().join(name);
            let texts = match self.part_of(number) {
                SearchedPart::Nothing => continue,
                SearchedPart::Binary => {
                    group.binary.push(path());
                    continue;
                }
                SearchedPart::Whole => None,
                SearchedPart::Texts(texts) => Some(texts),
            };
            match folder.open_file(name) {
                Ok(file) => {
                    let target = FileToSearch { file, short_reads, texts };
                    if !self.search(target, &path, BinaryFiles::Skipped, &mut group, done) {
                        break;
                    }
                }
                // It was removed since it was listed, so nothing is missing from the answer.
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => {}
                Err(cause) => group.unreadable.push((path(), cause.to_string())),
            }
        }
        (!group.is_empty()).then_some(group)
    }

    fn notice(&mut self, noticed: Noticed) -> Option<GroupMatches> {
        let unreadable = noticed.unreadable.map(|(path, cause)| (path, cause.to_string()));
        let unreadable = unreadable.into_iter().collect();
        Some(GroupMatches { unreadable, unapplied: noticed.unapplied, ..GroupMatches::default() })
    }
}
