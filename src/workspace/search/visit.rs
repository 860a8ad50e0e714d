//! Searches the files that a walk hands over.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::{
    SearchRequest, Shape,
    answer::Row,
    scan::{BinaryFiles, Details, Scanned, Scanner},
    sinks::{Counter, LineSink, Presence, RowLimit},
    watched_matcher::WatchedMatcher,
};
use crate::workspace::walk::{FileNames, Folder, Noticed, ShortReads, UnheldRules, Visitor};

/// What was found in one file.
#[derive(Debug)]
pub(super) enum Hit {
    Present(SystemTime),
    Count(u64),
    Rows(Vec<Row>),
}

/// What was found in some files of one directory.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) hits: Vec<(PathBuf, Hit)>,
    pub(super) binary: Vec<PathBuf>,
    /// Files that turned out to be binary after some rows, and from which byte on.
    pub(super) partly: Vec<(PathBuf, u64)>,
    pub(super) unreadable: Vec<(PathBuf, String)>,
    pub(super) unheld: Vec<UnheldRules>,
    /// What the rows take in memory.
    pub(super) held: usize,
}

/// A file to search.
struct Target {
    file: File,
    short_reads: ShortReads,
}

/// Rows that are known to come before those of the next file.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    rows: usize,
    /// What those beyond the offset take of the answer.
    bytes: usize,
}

/// One thread's part of a search.
pub(super) struct FileVisitor {
    scanner: Scanner,
    query: super::Query,
    shape: Shape,
    limit: RowLimit,
    /// Whether this visitor sees all files, in the order of the answer.
    in_order: bool,
    counted: Counted,
}

impl FileVisitor {
    pub(super) fn new(request: &SearchRequest<'_>, in_order: bool) -> Self {
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
            counted: Counted::default(),
        }
    }

    /// Searches a file that the caller named, whatever it holds.
    pub(super) fn named_file(
        &mut self,
        file: File,
        path: &Path,
        group: &mut Group,
        done: &dyn Fn() -> bool,
    ) {
        let target = Target { file, short_reads: ShortReads::MeanNothing };
        self.search(target, &|| path.to_owned(), BinaryFiles::Searched, group, done);
    }

    /// Searches one file; false when the group holds all that an answer can show.
    fn search(
        &mut self,
        Target { mut file, short_reads }: Target,
        path: &dyn Fn() -> PathBuf,
        binary: BinaryFiles,
        group: &mut Group,
        done: &dyn Fn() -> bool,
    ) -> bool {
        let Self { scanner, query, counted, .. } = self;
        let matcher = &WatchedMatcher::new(&query.matcher, done);
        let mut full = false;
        let (scanned, hit) = match self.shape {
            Shape::Files => {
                let mut sink = Presence::default();
                let scanned = scanner.scan(&mut file, short_reads, binary, matcher, &mut sink);
                let hit = sink.0.then(|| {
                    let modified = file.metadata().and_then(|it| it.modified());
                    Hit::Present(modified.unwrap_or(SystemTime::UNIX_EPOCH))
                });
                (scanned, hit)
            }
            Shape::Counts => {
                let mut sink = Counter { matcher, count: 0 };
                let scanned = scanner.scan(&mut file, short_reads, binary, matcher, &mut sink);
                (scanned, (sink.count > 0).then_some(Hit::Count(sink.count)))
            }
            Shape::Lines { only_matching, before, after } => {
                // The answer has a gap between files where it shows what is near a match.
                let gap = usize::from(counted.rows > 0 && (before > 0 || after > 0));
                let mut sink = LineSink {
                    matcher,
                    only_matching,
                    limit: self.limit,
                    rows: Vec::new(),
                    rows_before: counted.rows + gap,
                    in_order: self.in_order,
                    bytes: counted.bytes,
                    held: 0,
                };
                let scanned = scanner.scan(&mut file, short_reads, binary, matcher, &mut sink);
                full = sink.is_full();
                group.held += sink.held;
                if !sink.rows.is_empty() {
                    counted.rows = sink.rows_before + sink.rows.len();
                    counted.bytes = sink.bytes;
                }
                (scanned, (!sink.rows.is_empty()).then_some(Hit::Rows(sink.rows)))
            }
        };
        // Whoever stopped the search takes no answer.
        if matcher.has_stopped() {
            return false;
        }
        match (scanned, hit) {
            (Ok(Scanned::Text), hit) => group.hits.extend(hit.map(|it| (path(), it))),
            (Ok(Scanned::Binary { from }), Some(hit @ Hit::Rows(_))) => {
                group.hits.push((path(), hit));
                if !full {
                    group.partly.push((path(), from));
                }
            }
            // As to ripgrep: a file that turns out to be binary after some matches has no count.
            (Ok(Scanned::Binary { .. }), _) => group.binary.push(path()),
            (Err(cause), hit) => {
                group.unreadable.push((path(), scanner.explain(&cause, matcher)));
                group
                    .hits
                    .extend(hit.filter(|it| matches!(it, Hit::Rows(_))).map(|it| (path(), it)));
            }
        }
        !full
    }
}

impl Group {
    fn is_empty(&self) -> bool {
        self.hits.is_empty()
            && self.binary.is_empty()
            && self.partly.is_empty()
            && self.unreadable.is_empty()
            && self.unheld.is_empty()
    }
}

impl Visitor for FileVisitor {
    type Result = Group;

    fn visit(
        &mut self,
        folder: &Folder,
        names: FileNames<'_>,
        done: &dyn Fn() -> bool,
    ) -> Option<Group> {
        let mut group = Group::default();
        let short_reads = match folder.short_reads() {
            Ok(short_reads) => short_reads,
            Err(cause) => {
                let unreadable = vec![(folder.path().to_path_buf(), cause.to_string())];
                return Some(Group { unreadable, ..Group::default() });
            }
        };
        if !self.in_order {
            self.counted = Counted::default();
        }
        for name in names {
            if done() {
                return None;
            }
            let path = || folder.path().join(name);
            match folder.open_file(name) {
                Ok(file) => {
                    let target = Target { file, short_reads };
                    if !self.search(target, &path, BinaryFiles::Skipped, &mut group, done) {
                        break;
                    }
                }
                // Removed since it was listed: nothing is missing from the answer.
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => {}
                Err(cause) => group.unreadable.push((path(), cause.to_string())),
            }
        }
        (!group.is_empty()).then_some(group)
    }

    fn notice(&mut self, noticed: Noticed) -> Option<Group> {
        let unreadable = noticed.unreadable.map(|(path, cause)| (path, cause.to_string()));
        let unreadable = unreadable.into_iter().collect();
        Some(Group { unreadable, unheld: noticed.unheld, ..Group::default() })
    }
}
