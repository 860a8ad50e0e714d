//! What a search found, and what it passed over.

use std::path::PathBuf;

use super::notices::Notices;

/// About what a row takes beside its text, here as in an answer: the path, the number, the form of data.
const ROW_BYTES: usize = 48;

/// What a row of an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// A line with a match, or the matched part of it.
    Match,
    /// A line near a match.
    Context,
    /// Lines are left out here.
    Gap,
}

/// The text of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowText {
    /// All of it, without the line's end.
    Whole(Box<str>),
    /// The line is too long to be shown.
    Long {
        /// How many characters it has.
        chars: usize,
    },
}

/// One row of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What it is.
    pub kind: RowKind,
    /// Its line, counted from 1.
    pub line: Option<u64>,
    /// Its text.
    pub text: RowText,
}

impl Row {
    /// What the row takes of the bytes that an answer may have. Whoever searches and whoever gathers
    /// have to count alike: a file that was left early must be the last one shown.
    pub(super) fn bytes(&self) -> usize {
        let text = match &self.text {
            RowText::Whole(text) => text.len(),
            RowText::Long { .. } => 0,
        };
        ROW_BYTES + text
    }
}

/// The rows of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRows {
    /// The file, absolute.
    pub path: PathBuf,
    /// Its rows; a gap may stand before the first, where rows of another file precede it.
    pub rows: Vec<Row>,
}

/// What was found, in the shape that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Files with a match, the one changed last first.
    Files(Vec<PathBuf>),
    /// How often each file matches, by path.
    Counts(Vec<(PathBuf, u64)>),
    /// Lines, by path.
    Lines(Vec<FileRows>),
}

/// All there is, shown or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Files with a match.
    pub files: u64,
    /// Matching lines; matches, where one may span several lines. Only counted where that is asked for.
    pub matches: u64,
}

/// Files that were not searched to their end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Files that are not text.
    pub binary: u64,
    /// Files that turned out to be binary after some of their rows.
    pub partly: u64,
    /// Some of those, and from about which byte on they are binary, by path.
    pub partly_examples: Vec<(PathBuf, u64)>,
    /// What could not be read, and which rules did not hold, by path.
    pub notices: Notices,
}

/// What an empty answer passed over although it would have matched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WouldMatch {
    /// Some ignored or hidden files, by path.
    pub left_out: Vec<PathBuf>,
    /// Some binary files, by path.
    pub binary: Vec<PathBuf>,
    /// Whether there were too many to look at all of them, and none that was looked at matches.
    pub gave_up: bool,
}

/// The answer to a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchAnswer {
    /// What is shown.
    pub found: Found,
    /// Whether more follows what is shown.
    pub more: bool,
    /// All there is, where everything was searched.
    pub totals: Option<Totals>,
    /// What was not searched.
    pub skipped: Skipped,
    /// For an empty answer: what would have matched.
    pub would_match: WouldMatch,
}
