//! Makes one answer of what the threads of a search found.

use std::{cmp::Reverse, ops::ControlFlow, path::PathBuf, time::SystemTime};

use super::{
    SearchRequest, Shape,
    answer::{FileRows, Found, Row, RowKind, RowText, SearchAnswer, Skipped, Totals, WouldMatch},
    best::Best,
    notices::{MAX_EXAMPLES, Notices},
    order::ByPath,
    sinks::RowLimit,
    visit::{Group, Hit},
};
use crate::workspace::walk::{Gather, UnheldRules};

/// How many binary files are remembered, to be searched where nothing else matches.
const MAX_BINARY: usize = 100;
/// About what a path costs beside its characters.
const PATH_BYTES: usize = 64;

/// What has been found so far.
pub(super) struct Gathered {
    shown: Shown,
    limit: RowLimit,
    totals: Totals,
    binary: Best<ByPath>,
    binary_count: u64,
    partly: Best<(ByPath, u64)>,
    partly_count: u64,
    unreadable: Best<(ByPath, String)>,
    unreadable_count: u64,
    unheld: Best<(ByPath, String)>,
    unheld_count: u64,
}

enum Shown {
    Files(Best<(Reverse<SystemTime>, ByPath)>),
    Counts(Best<(ByPath, u64)>),
    Lines(Lines),
}

struct Lines {
    files: Vec<FileRows>,
    with_gaps: bool,
    /// Rows seen, those passed over included.
    seen: usize,
    bytes: usize,
    more: bool,
}

impl Gathered {
    pub(super) fn new(request: &SearchRequest<'_>) -> Self {
        let limit = request.row_limit();
        let kept = limit.offset.saturating_add(limit.rows);
        let shown = match request.shape {
            Shape::Files => Shown::Files(Best::new(kept)),
            Shape::Counts => Shown::Counts(Best::new(kept)),
            Shape::Lines { before, after, .. } => Shown::Lines(Lines {
                files: Vec::new(),
                with_gaps: before > 0 || after > 0,
                seen: 0,
                bytes: 0,
                more: false,
            }),
        };
        Self {
            shown,
            limit,
            totals: Totals::default(),
            binary: Best::new(MAX_BINARY),
            binary_count: 0,
            partly: Best::new(MAX_EXAMPLES),
            partly_count: 0,
            unreadable: Best::new(MAX_EXAMPLES),
            unreadable_count: 0,
            unheld: Best::new(MAX_EXAMPLES),
            unheld_count: 0,
        }
    }

    /// The answer, and binary files that it may have to say something about.
    pub(super) fn finish(self) -> (SearchAnswer, Vec<PathBuf>) {
        let RowLimit { offset, rows, .. } = self.limit;
        let mut totals = Some(self.totals);
        let all = usize::try_from(self.totals.files).unwrap_or(usize::MAX);
        let mut more = all > offset.saturating_add(rows);
        let found = match self.shown {
            Shown::Files(files) => {
                let files = files.sorted().into_iter().skip(offset);
                Found::Files(files.map(|(_, path)| path.0).collect())
            }
            Shown::Counts(counts) => Found::Counts(
                counts
                    .sorted()
                    .into_iter()
                    .skip(offset)
                    .map(|(path, count)| (path.0, count))
                    .collect(),
            ),
            Shown::Lines(lines) => {
                more = lines.more;
                if more {
                    // The search stopped with what it shows: nobody knows what would have followed.
                    totals = None;
                }
                Found::Lines(lines.files)
            }
        };
        let answer = SearchAnswer {
            found,
            more,
            totals,
            skipped: Skipped {
                binary: self.binary_count,
                partly: self.partly_count,
                partly_examples: self
                    .partly
                    .sorted()
                    .into_iter()
                    .map(|(path, from)| (path.0, from))
                    .collect(),
                notices: Notices {
                    unreadable: self.unreadable_count,
                    examples: self
                        .unreadable
                        .sorted()
                        .into_iter()
                        .map(|(path, cause)| (path.0, cause))
                        .collect(),
                    unheld: self.unheld_count,
                    unheld_examples: self
                        .unheld
                        .sorted()
                        .into_iter()
                        .map(|(path, cause)| UnheldRules { file: path.0, cause })
                        .collect(),
                },
            },
            would_match: WouldMatch::default(),
        };
        (answer, self.binary.sorted().into_iter().map(|it| it.0).collect())
    }
}

impl Gather for Gathered {
    type Result = Group;

    fn weight(group: &Group) -> usize {
        group.held + group.hits.len() * PATH_BYTES
    }

    fn take(&mut self, group: Group) -> ControlFlow<()> {
        self.binary_count += group.binary.len() as u64;
        self.unreadable_count += group.unreadable.len() as u64;
        for path in group.binary {
            self.binary.add(ByPath(path));
        }
        self.partly_count += group.partly.len() as u64;
        for (path, from) in group.partly {
            self.partly.add((ByPath(path), from));
        }
        for (path, cause) in group.unreadable {
            self.unreadable.add((ByPath(path), cause));
        }
        self.unheld_count += group.unheld.len() as u64;
        for UnheldRules { file, cause } in group.unheld {
            self.unheld.add((ByPath(file), cause));
        }
        for (path, hit) in group.hits {
            self.totals.files += 1;
            match (&mut self.shown, hit) {
                (Shown::Files(files), Hit::Present(modified)) => {
                    files.add((Reverse(modified), ByPath(path)));
                }
                (Shown::Counts(counts), Hit::Count(count)) => {
                    self.totals.matches += count;
                    counts.add((ByPath(path), count));
                }
                (Shown::Lines(lines), Hit::Rows(rows)) => {
                    self.totals.matches += matches_among(&rows);
                    lines.add(path, rows, self.limit);
                    if lines.more {
                        return ControlFlow::Break(());
                    }
                }
                // A search has one shape, and so have all its hits.
                (Shown::Files(_) | Shown::Counts(_) | Shown::Lines(_), _) => {}
            }
        }
        ControlFlow::Continue(())
    }
}

impl Lines {
    /// Adds the rows of a file, as far as they are to be shown.
    fn add(&mut self, path: PathBuf, mut rows: Vec<Row>, limit: RowLimit) {
        if self.with_gaps && self.seen > 0 {
            let gap = Row { kind: RowKind::Gap, line: None, text: RowText::Whole("".into()) };
            rows.insert(0, gap);
        }
        let mut kept = Vec::new();
        for row in rows {
            let index = self.seen;
            self.seen += 1;
            if index < limit.offset {
                continue;
            }
            let bytes = row.bytes();
            if index - limit.offset >= limit.rows || self.bytes + bytes > limit.bytes {
                self.more = true;
                break;
            }
            self.bytes += bytes;
            kept.push(row);
        }
        if !kept.is_empty() {
            self.files.push(FileRows { path, rows: kept });
        }
    }
}

fn matches_among(rows: &[Row]) -> u64 {
    rows.iter().filter(|row| row.kind == RowKind::Match).count() as u64
}
