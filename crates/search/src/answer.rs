//! The answer to a search: what it found, and what it skipped.

use std::path::PathBuf;

use super::notices::Notices;
use crate::index::WhyCold;

/// An estimate of what a row takes besides its text, in memory and in an answer: the path, the line
/// number, the syntax around them.
const ROW_BYTES: usize = 48;

/// The kinds of rows in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// A line with a match, or the matched part of it.
    Match,
    /// A line near a match.
    Context,
    /// A separator where lines are left out.
    Gap,
}

/// The text of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowText {
    /// The whole text, without the line ending.
    Whole(Box<str>),
    /// The line is too long to be shown; only its length is given.
    Long {
        /// The length of the line in characters.
        chars: usize,
    },
}

/// One row of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Whether this is a match, context or a gap.
    pub kind: RowKind,
    /// The line number, counted from 1.
    pub line: Option<u64>,
    /// The text of the line.
    pub text: RowText,
}

impl Row {
    /// How many of the bytes of an answer this row takes. Searching and gathering must count in the same
    /// way: if the search of a file stops because the answer is full, that file must be the last one
    /// shown.
    pub(super) fn bytes(&self) -> usize {
        let text = match &self.text {
            RowText::Whole(text) => text.len(),
            RowText::Long { .. } => 0,
        };
        ROW_BYTES + text
    }
}

/// The rows of one file, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRows {
    /// The absolute path of the file.
    pub path: PathBuf,
    /// The rows. If rows of another file precede them, the first may be a gap.
    pub rows: Vec<Row>,
}

/// What was found, in the shape that the request asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Files with a match, most recently modified first.
    Files(Vec<PathBuf>),
    /// The number of matches in each file, sorted by path.
    Counts(Vec<(PathBuf, u64)>),
    /// Lines, sorted by path.
    Lines(Vec<FileRows>),
}

/// Totals of all matches, including those that are not shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Files with a match.
    pub files: u64,
    /// The number of matching lines, or of matches if they may span lines. Only counted if the shape of
    /// the answer needs it.
    pub matches: u64,
}

/// Files that were not searched completely.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Files that are not text.
    pub binary: u64,
    /// Files that turned out to be binary after some of their rows.
    pub partly: u64,
    /// Some of those, sorted by path, with the offset at which binary data was found.
    pub partly_examples: Vec<(PathBuf, u64)>,
    /// What could not be read, and which ignore rules could not be applied.
    pub notices: Notices,
}

/// For an empty answer: files that would have matched but were not searched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WouldMatch {
    /// Some ignored or hidden files, sorted by path.
    pub left_out: Vec<PathBuf>,
    /// Some binary files, sorted by path.
    pub binary: Vec<PathBuf>,
    /// Whether there were too many files to look at all of them, and none of those looked at matches.
    pub gave_up: bool,
}

/// The answer to a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchAnswer {
    /// The part that is shown.
    pub found: Found,
    /// Whether there is more than is shown.
    pub more: bool,
    /// The totals, if everything was searched.
    pub totals: Option<Totals>,
    /// The files that were not searched.
    pub skipped: Skipped,
    /// For an empty answer: files that would have matched.
    pub would_match: WouldMatch,
    /// Why the index was not used, if there is one.
    pub why_cold: Option<WhyCold>,
}
