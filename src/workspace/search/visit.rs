//! Searches the files that a walk hands over.

use std::{
    ffi::OsString,
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
};
use crate::workspace::walk::{Folder, ShortReads, Visitor};

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
    pub(super) unreadable: Vec<(PathBuf, String)>,
    pub(super) rows: usize,
    pub(super) bytes: usize,
}

/// A file to search.
struct Target {
    file: File,
    short_reads: ShortReads,
}

/// One thread's part of a search.
pub(super) struct FileVisitor {
    scanner: Scanner,
    query: super::Query,
    shape: Shape,
    limit: RowLimit,
}

impl FileVisitor {
    pub(super) fn new(request: &SearchRequest<'_>) -> Self {
        let details = match request.shape {
            Shape::Files | Shape::Counts => Details::default(),
            Shape::Lines { before, after, .. } => Details { line_numbers: true, before, after },
        };
        Self {
            scanner: Scanner::new(request.query, details),
            query: request.query.clone(),
            shape: request.shape,
            limit: request.row_limit(),
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
        let (scanned, hit) = match self.shape {
            Shape::Files => {
                let mut sink = Presence::default();
                let scanned = self.scanner.scan(&mut file, short_reads, binary, &mut sink, done);
                let hit = sink.0.then(|| {
                    let modified = file.metadata().and_then(|it| it.modified());
                    Hit::Present(modified.unwrap_or(SystemTime::UNIX_EPOCH))
                });
                (scanned, hit)
            }
            Shape::Counts => {
                let mut sink = Counter { matcher: &self.query.matcher, count: 0 };
                let scanned = self.scanner.scan(&mut file, short_reads, binary, &mut sink, done);
                (scanned, (sink.count > 0).then_some(Hit::Count(sink.count)))
            }
            Shape::Lines { only_matching, .. } => {
                let mut sink = LineSink {
                    matcher: &self.query.matcher,
                    only_matching,
                    limit: self.limit,
                    rows: Vec::new(),
                    rows_before: group.rows,
                    bytes: group.bytes,
                };
                let scanned = self.scanner.scan(&mut file, short_reads, binary, &mut sink, done);
                group.rows += sink.rows.len();
                group.bytes = sink.bytes;
                let full = sink.is_full();
                let rows = sink.rows;
                if !rows.is_empty() {
                    group.hits.push((path(), Hit::Rows(rows)));
                }
                if full {
                    return false;
                }
                (scanned, None)
            }
        };
        match scanned {
            Ok(Scanned::Text) => group.hits.extend(hit.map(|it| (path(), it))),
            // As to ripgrep: a file that turns out to be binary after some matches has no count.
            Ok(Scanned::Binary) => group.binary.push(path()),
            Err(cause) => group.note_unreadable(path(), &cause),
        }
        true
    }
}

impl Group {
    fn note_unreadable(&mut self, path: PathBuf, cause: &io::Error) {
        // The searcher's own error is about a configuration that nobody has seen.
        let text = if cause.kind() == io::ErrorKind::Other {
            format!("a line is longer than {} bytes", super::scan::MAX_HEAP_BYTES)
        } else {
            cause.to_string()
        };
        self.unreadable.push((path, text));
    }

    fn is_empty(&self) -> bool {
        self.hits.is_empty() && self.binary.is_empty() && self.unreadable.is_empty()
    }
}

impl Visitor for FileVisitor {
    type Result = Group;

    fn visit(
        &mut self,
        folder: &Folder,
        names: Vec<OsString>,
        done: &dyn Fn() -> bool,
    ) -> Option<Group> {
        let mut group = Group::default();
        for name in &names {
            if done() {
                return None;
            }
            let path = || folder.path().join(name);
            match folder.open_file(name) {
                Ok(file) => {
                    let target = Target { file, short_reads: folder.short_reads() };
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

    fn unreadable(&mut self, folder: &Path, cause: &io::Error) -> Option<Group> {
        let unreadable = vec![(folder.to_owned(), cause.to_string())];
        Some(Group { unreadable, ..Group::default() })
    }
}
