//! Combines what the threads of a search found into one answer.

use std::{
    cmp::Reverse,
    ops::ControlFlow,
    path::{Path, PathBuf},
    time::SystemTime,
};

use toolwright_walk::{Gather, UnappliedRules};

use super::{
    SearchRequest, Shape,
    answer::{FileRows, Found, Row, RowKind, RowText, SearchAnswer, Skipped, Totals, WouldMatch},
    file_visitor::{FileMatches, GroupMatches},
    match_sinks::RowLimit,
    notices::{MAX_EXAMPLES, Notices},
    path_order::{ByPath, by_path},
    smallest_items::SmallestItems,
};

/// How many binary files are remembered, to be searched if nothing else matches.
const MAX_BINARY: usize = 100;
/// An estimate of the memory that a path takes besides its characters.
const PATH_BYTES: usize = 64;

/// The answer so far.
pub(super) struct Gathered {
    shown: GatheredMatches,
    limit: RowLimit,
    totals: Totals,
    binary: SmallestItems<ByPath>,
    binary_count: u64,
    partly: SmallestItems<(ByPath, u64)>,
    partly_count: u64,
    unreadable: SmallestItems<(ByPath, String)>,
    unreadable_count: u64,
    unapplied: SmallestItems<(ByPath, String)>,
    unapplied_count: u64,
}

enum GatheredMatches {
    Files(SmallestItems<(Reverse<SystemTime>, ByPath)>),
    Counts(SmallestItems<(ByPath, u64)>),
    Lines(GatheredLines),
}

struct GatheredLines {
    files: Vec<FileRows>,
    with_gaps: bool,
    /// How many rows were seen, including those before the offset.
    seen: usize,
    bytes: usize,
    more: bool,
}

impl Gathered {
    pub(super) fn new(request: &SearchRequest<'_>) -> Self {
        let limit = request.row_limit();
        let kept = limit.offset.saturating_add(limit.rows);
        let shown = match request.shape {
            Shape::Files => GatheredMatches::Files(SmallestItems::new(kept)),
            Shape::Counts => GatheredMatches::Counts(SmallestItems::new(kept)),
            Shape::Lines { before, after, .. } => GatheredMatches::Lines(GatheredLines {
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
            binary: SmallestItems::new(MAX_BINARY),
            binary_count: 0,
            partly: SmallestItems::new(MAX_EXAMPLES),
            partly_count: 0,
            unreadable: SmallestItems::new(MAX_EXAMPLES),
            unreadable_count: 0,
            unapplied: SmallestItems::new(MAX_EXAMPLES),
            unapplied_count: 0,
        }
    }

    /// The answer, and some binary files, which are searched if the answer is empty.
    pub(super) fn finish(self) -> (SearchAnswer, Vec<PathBuf>) {
        let RowLimit { offset, rows, .. } = self.limit;
        let mut totals = Some(self.totals);
        let all = usize::try_from(self.totals.files).unwrap_or(usize::MAX);
        let mut more = all > offset.saturating_add(rows);
        let found = match self.shown {
            GatheredMatches::Files(files) => {
                let files = files.sorted().into_iter().skip(offset);
                Found::Files(files.map(|(_, path)| path.0).collect())
            }
            GatheredMatches::Counts(counts) => Found::Counts(
                counts
                    .sorted()
                    .into_iter()
                    .skip(offset)
                    .map(|(path, count)| (path.0, count))
                    .collect(),
            ),
            GatheredMatches::Lines(lines) => {
                more = lines.more;
                if more {
                    // The search stopped early, so the totals are unknown.
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
                    unapplied: self.unapplied_count,
                    unapplied_examples: self
                        .unapplied
                        .sorted()
                        .into_iter()
                        .map(|(path, cause)| UnappliedRules { file: path.0, cause })
                        .collect(),
                },
            },
            would_match: WouldMatch::default(),
            why_cold: None,
        };
        (answer, self.binary.sorted().into_iter().map(|it| it.0).collect())
    }
}

impl Gather for Gathered {
    type Result = GroupMatches;

    fn weight(group: &GroupMatches) -> usize {
        group.held + group.hits.len() * PATH_BYTES
    }

    fn take(&mut self, group: GroupMatches) -> ControlFlow<()> {
        let full_at = self.take_hits(group.hits);
        // What comes after the file that filled the answer may be in the same group or not, so it is not
        // told. In that file itself, the search may have ended anywhere.
        let is_before_cut =
            |path: &Path| full_at.as_ref().is_none_or(|it| by_path(path, it).is_lt());
        for path in group.binary.into_iter().filter(|it| is_before_cut(it)) {
            self.binary_count += 1;
            self.binary.add(ByPath(path));
        }
        for (path, from) in group.partly.into_iter().filter(|it| is_before_cut(&it.0)) {
            self.partly_count += 1;
            self.partly.add((ByPath(path), from));
        }
        for (path, cause) in group.unreadable.into_iter().filter(|it| is_before_cut(&it.0)) {
            self.unreadable_count += 1;
            self.unreadable.add((ByPath(path), cause));
        }
        self.unapplied_count += group.unapplied.len() as u64;
        for UnappliedRules { file, cause } in group.unapplied {
            self.unapplied.add((ByPath(file), cause));
        }
        if full_at.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Gathered {
    /// Adds the matches of files, in order. Returns the file that filled the answer, if one did.
    fn take_hits(&mut self, hits: Vec<(PathBuf, FileMatches)>) -> Option<PathBuf> {
        for (path, hit) in hits {
            self.totals.files += 1;
            match (&mut self.shown, hit) {
                (GatheredMatches::Files(files), FileMatches::Present(modified)) => {
                    files.add((Reverse(modified), ByPath(path)));
                }
                (GatheredMatches::Counts(counts), FileMatches::Count(count)) => {
                    self.totals.matches += count;
                    counts.add((ByPath(path), count));
                }
                (GatheredMatches::Lines(lines), FileMatches::Rows(rows)) => {
                    self.totals.matches += matches_among(&rows);
                    lines.add(path.clone(), rows, self.limit);
                    if lines.more {
                        return Some(path);
                    }
                }
                // All matches of a search have the same shape.
                (
                    GatheredMatches::Files(_)
                    | GatheredMatches::Counts(_)
                    | GatheredMatches::Lines(_),
                    _,
                ) => {}
            }
        }
        None
    }
}

impl GatheredLines {
    /// Adds those rows of a file that are to be shown.
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
