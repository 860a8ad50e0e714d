//! Finds the text that an edit is to replace, even if it is written slightly differently, and adapts the
//! new text to the file.
//!
//! Strategies are tried in order, from strict to lenient. Each ignores differences that do not change what
//! a person reads. There is no fuzzy matching: a match differs from its target only in what its strategy
//! ignores.

mod adapt;
mod indentation;
mod nearest;
mod sequence;
mod view;

use std::ops::Range;

use memchr::{memchr_iter, memmem};

use sequence::Sequence;
use view::{Needle, NormalizedView, ViewKind, is_blank};

pub use adapt::Replacement;
pub use nearest::{NEAREST_TEXT_BYTES, nearest_region};

/// Which differences are ignored to find a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchStrategy {
    /// None: the text is equal to the target.
    Exact,
    /// Whether lines end in `\n` or `\r\n`.
    LineEndings,
    /// Spaces and tabs at the end of lines, and line endings.
    TrailingBlanks,
    /// Indentation that all lines share, and what [`MatchStrategy::TrailingBlanks`] ignores.
    IndentationShift,
    /// The form of quotes, dashes and spaces, the composition of accents, and what
    /// [`MatchStrategy::TrailingBlanks`] ignores.
    UnicodePunctuation,
}

impl MatchStrategy {
    /// All strategies, in the order in which they are tried.
    pub(crate) const LADDER: [Self; 5] = [
        Self::Exact,
        Self::LineEndings,
        Self::TrailingBlanks,
        Self::IndentationShift,
        Self::UnicodePunctuation,
    ];

    /// The name of the strategy in results, which never changes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::LineEndings => "line-endings",
            Self::TrailingBlanks => "trailing-blanks",
            Self::IndentationShift => "indentation-shift",
            Self::UnicodePunctuation => "unicode-punctuation",
        }
    }
}

/// All matches of a target by the first strategy that finds any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matches {
    /// The strategy that found them.
    pub strategy: MatchStrategy,
    /// The matches in order; at least one.
    pub hits: Vec<TargetMatch>,
}

/// What is done about matches that overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlaps {
    /// All are returned, because one of them is to be chosen.
    Given,
    /// Only the first is returned, because all matches are to be replaced.
    LeftOut,
}

/// Why a search was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GivenUp {
    /// The caller cancelled it.
    #[error("the search was cancelled")]
    Cancelled,
    /// There are too many matches.
    #[error("more than {MAX_HITS} places")]
    TooMany,
}

/// The most matches that are returned, because each takes memory.
pub const MAX_HITS: usize = 1_000_000;

/// How many bytes of a text are searched leniently at a time.
const PART_BYTES: usize = 1024 * 1024;
/// A part that has to be longer, because of a long line or target, has at most this many times as many.
const MAX_PARTS: usize = 8;

/// One match of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetMatch {
    /// The range of the match in the text, in bytes.
    pub(crate) range: Range<usize>,
    /// The number of the first line, counted from 1.
    pub first_line: usize,
    /// The number of the last line that has a character or its ending in the range.
    pub last_line: usize,
    /// How the indentation differs from that of the target, if it does.
    pub(crate) shift: Option<Box<IndentationShift>>,
}

/// The indentation of the target, and the indentation in the text instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndentationShift {
    /// The indentation that all lines of the target have.
    pub(crate) from: String,
    /// The indentation of the same lines in the text.
    pub(crate) to: String,
}

/// Looks for `target`, first strictly, then more and more leniently.
///
/// An empty target is never found. For a target of nothing but blanks only differences of line endings
/// are ignored; otherwise it would be found between any two lines.
pub fn find_target(
    text: &str,
    target: &str,
    overlaps: Overlaps,
    cancelled: &dyn Fn() -> bool,
) -> Result<Option<Matches>, GivenUp> {
    if target.is_empty() {
        return Ok(None);
    }
    for strategy in MatchStrategy::LADDER {
        if cancelled() {
            return Err(GivenUp::Cancelled);
        }
        let places = match strategy {
            MatchStrategy::Exact => find_all(text, target, overlaps),
            lenient => {
                let find = |part: &str| find_leniently(lenient, part, target, overlaps);
                find_in_parts(text, target, PART_BYTES, overlaps, &find, cancelled)
            }
        };
        if places.too_many {
            return Err(GivenUp::TooMany);
        }
        if !places.places.is_empty() {
            return Ok(Some(places.number_lines(text, strategy)));
        }
    }
    Ok(None)
}

/// Looks for a target in one part of a text after the other, because a normalized view takes more memory
/// than its text. Parts end with a line, and overlap by as many lines as the target has.
fn find_in_parts(
    text: &str,
    target: &str,
    part_bytes: usize,
    overlaps: Overlaps,
    find: &dyn Fn(&str) -> MatchedRanges,
    cancelled: &dyn Fn() -> bool,
) -> MatchedRanges {
    if text.len() <= part_bytes {
        return find(text);
    }
    let next_line = |from: usize| {
        let rest = text.as_bytes().get(from..).unwrap_or_default();
        memchr::memchr(b'\n', rest).map_or(text.len(), |it| from + it + 1)
    };
    let height = memchr_iter(b'\n', target.as_bytes()).count() + 1;
    let mut places = MatchedRanges::default();
    let mut start = 0;
    while start < text.len() && !places.too_many && !cancelled() {
        let end = next_line(start + part_bytes);
        let far = (0..height).fold(end, |far, _| next_line(far));
        // Lines and targets of many megabytes are only found exactly.
        let part = text.get(start..far).filter(|it| it.len() <= MAX_PARTS * part_bytes);
        let found = part.map(find).unwrap_or_default();
        for MatchedRange { range, shift } in found.places {
            let range = range.start + start..range.end + start;
            if range.start < end && range.start >= places.reach(overlaps) {
                places.add(MatchedRange { range, shift });
            }
        }
        places.too_many |= found.too_many;
        start = end;
    }
    places
}

fn find_leniently(
    strategy: MatchStrategy,
    text: &str,
    target: &str,
    overlaps: Overlaps,
) -> MatchedRanges {
    let blank = || {
        target
            .chars()
            .all(|it| it == '\r' || it == '\n' || is_blank(it, ViewKind::UnicodePunctuation))
    };
    let has_returns = |it: &str| memchr::memchr(b'\r', it.as_bytes()).is_some();
    match strategy {
        MatchStrategy::Exact => find_all(text, target, overlaps),
        // Without carriage returns this would be the same as the exact search.
        MatchStrategy::LineEndings if !has_returns(text) && !has_returns(target) => {
            MatchedRanges::default()
        }
        MatchStrategy::LineEndings => {
            // A line that ends with `\r\r\n` is shown with a `\r` at its end, which together with the
            // line break looks like one line ending in the target.
            let shown = target.contains("\r\n").then(|| Needle::as_shown(target));
            let shown = shown.map(|it| find_needle(text, &it, ViewKind::LineEndings, overlaps));
            shown
                .filter(|it| !it.places.is_empty())
                .unwrap_or_else(|| find_in_view(text, target, ViewKind::LineEndings, overlaps))
        }
        _ if blank() => MatchedRanges::default(),
        MatchStrategy::TrailingBlanks => {
            find_in_view(text, target, ViewKind::TrailingBlanks, overlaps)
        }
        MatchStrategy::IndentationShift => indentation::find(text, target, overlaps),
        MatchStrategy::UnicodePunctuation => {
            find_in_view(text, target, ViewKind::UnicodePunctuation, overlaps)
        }
    }
}

/// The index of the match that is nearest to a line, counted from 1. `None` if two are equally near.
pub fn unique_by_line_hint(hits: &[TargetMatch], line: usize) -> Option<usize> {
    // Of matches that contain the line, the one that begins nearest to it.
    let distance = |hit: &TargetMatch| {
        let outside = hit.first_line.saturating_sub(line).max(line.saturating_sub(hit.last_line));
        (outside, hit.first_line.abs_diff(line))
    };
    let nearest = hits.iter().map(distance).min()?;
    let mut near = hits.iter().enumerate().filter(|(_, hit)| distance(hit) == nearest);
    let (index, _) = near.next()?;
    near.next().is_none().then_some(index)
}

/// The matches of one strategy.
#[derive(Default)]
struct MatchedRanges {
    places: Vec<MatchedRange>,
    too_many: bool,
}

struct MatchedRange {
    range: Range<usize>,
    shift: Option<Box<IndentationShift>>,
}

impl From<Range<usize>> for MatchedRange {
    fn from(range: Range<usize>) -> Self {
        Self { range, shift: None }
    }
}

impl MatchedRanges {
    /// Adds a match. Returns false if there are too many.
    fn add(&mut self, place: impl Into<MatchedRange>) -> bool {
        self.too_many = self.places.len() == MAX_HITS;
        if !self.too_many {
            self.places.push(place.into());
        }
        !self.too_many
    }

    /// The earliest position where the next match may start.
    fn reach(&self, overlaps: Overlaps) -> usize {
        match overlaps {
            Overlaps::Given => 0,
            Overlaps::LeftOut => self.places.last().map_or(0, |it| it.range.end),
        }
    }

    fn number_lines(self, text: &str, strategy: MatchStrategy) -> Matches {
        let (mut starts, mut ends) = (LineCounter::new(text), LineCounter::new(text));
        let number = |place: MatchedRange| {
            let first_line = starts.advance(place.range.start);
            let last_line = ends.advance(place.range.end.saturating_sub(1));
            TargetMatch { range: place.range, first_line, last_line, shift: place.shift }
        };
        Matches { strategy, hits: self.places.into_iter().map(number).collect() }
    }
}

struct LineCounter<'a> {
    text: &'a str,
    offset: usize,
    line: usize,
}

impl<'a> LineCounter<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, offset: 0, line: 1 }
    }

    fn advance(&mut self, to: usize) -> usize {
        if let Some(passed) = self.text.as_bytes().get(self.offset..to) {
            self.line += memchr_iter(b'\n', passed).count();
            self.offset = to;
        }
        self.line
    }
}

fn find_all(text: &str, target: &str, overlaps: Overlaps) -> MatchedRanges {
    // A match that starts between `\r` and `\n` would split a line ending. The next strategy finds both.
    let torn = |it: usize| it.checked_sub(1).and_then(|it| text.as_bytes().get(it)) == Some(&b'\r');
    let mut places = MatchedRanges::default();
    for start in occurrences(text, target, overlaps) {
        if target.starts_with('\n') && torn(start) {
            return MatchedRanges::default();
        }
        if !places.add(start..start + target.len()) {
            break;
        }
    }
    places
}

fn find_in_view(text: &str, target: &str, kind: ViewKind, overlaps: Overlaps) -> MatchedRanges {
    let needle = Needle::new(target, kind);
    needle.map_or_else(MatchedRanges::default, |it| find_needle(text, &it, kind, overlaps))
}

fn find_needle(text: &str, needle: &Needle, kind: ViewKind, overlaps: Overlaps) -> MatchedRanges {
    let view = NormalizedView::new(text, kind);
    let mut places = MatchedRanges::default();
    for start in occurrences(view.as_str(), needle.as_str(), overlaps) {
        let Some(range) = needle.locate(&view, &(start..start + needle.as_str().len())) else {
            continue;
        };
        // Blanks between two matches belong to the first.
        let start = range.start.max(places.reach(overlaps));
        if !places.add(start..range.end) {
            break;
        }
    }
    places
}

/// The starts of all occurrences of `needle`, in order.
fn occurrences<'a>(
    haystack: &'a str,
    needle: &'a str,
    overlaps: Overlaps,
) -> Box<dyn Iterator<Item = usize> + 'a> {
    let apart = memmem::find_iter(haystack.as_bytes(), needle.as_bytes());
    if overlaps == Overlaps::LeftOut {
        return Box::new(apart);
    }
    // Occurrences that this search misses overlap one that it finds, so they begin inside it.
    let sequence = Sequence::new(needle.as_bytes());
    if !sequence.can_overlap() {
        return Box::new(apart);
    }
    let length = needle.len();
    Box::new(apart.flat_map(move |first| {
        let end = haystack.len().min(first + length * 2 - 1);
        let window = haystack.as_bytes().get(first..end).unwrap_or_default();
        let inside: Vec<usize> = sequence.starts(window).map(|it| first + it).collect();
        inside
    }))
}

#[cfg(test)]
mod tests;
