//! Finds the text an edit means, though it may be written a little differently.
//!
//! Each rung of the ladder ignores one more thing that does not change what a person reads.
//! Nothing here guesses by likeness: a hit differs from its target only in what its rung ignores.

mod adapt;
mod indentation;
mod nearest;
mod view;

use std::ops::Range;

use memchr::{memchr_iter, memmem};

pub use adapt::Replacement;
pub use nearest::{NearestRegion, nearest_region};
use view::{Needle, View, ViewKind, is_blank};

/// What was ignored to find a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchStrategy {
    /// Nothing.
    Exact,
    /// Whether lines end in `\n` or `\r\n`.
    LineEndings,
    /// Blanks at the end of lines, and line endings.
    TrailingBlanks,
    /// Indentation that all lines share, and what [`MatchStrategy::TrailingBlanks`] ignores.
    IndentationShift,
    /// The shape of quotes, dashes and spaces, how accents are composed, and what
    /// [`MatchStrategy::TrailingBlanks`] ignores.
    UnicodePunctuation,
}

impl MatchStrategy {
    /// All strategies, in the order in which they are tried.
    pub const LADDER: [Self; 5] = [
        Self::Exact,
        Self::LineEndings,
        Self::TrailingBlanks,
        Self::IndentationShift,
        Self::UnicodePunctuation,
    ];

    /// The stable name.
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

/// All places where a target is, by the first strategy that finds any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matches {
    /// What was ignored.
    pub strategy: MatchStrategy,
    /// The places, at least one, in order and apart from each other.
    pub hits: Vec<Hit>,
    /// The line of another place that overlaps the only hit: the target is ambiguous all the same.
    pub overlapping_line: Option<usize>,
}

/// One place where a target is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The bytes of the text.
    pub range: Range<usize>,
    /// The first line, from 1.
    pub first_line: usize,
    /// The last line that has a character or an ending in the range.
    pub last_line: usize,
    /// How this place is indented, if differently from the target.
    pub shift: Option<Box<IndentationShift>>,
}

/// Indentation of the target, and what stands for it in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndentationShift {
    /// What all lines of the target start with.
    pub from: String,
    /// What the same lines of the text start with.
    pub to: String,
}

/// Looks for `target`, strictly first, then more and more leniently.
///
/// An empty target is nowhere. A target of nothing but blanks is taken literally, except for line
/// endings: leniency would find it between any two lines.
pub fn find_target(text: &str, target: &str) -> Option<Matches> {
    if target.is_empty() {
        return None;
    }
    MatchStrategy::LADDER.into_iter().find_map(|strategy| {
        let found = find_by(strategy, text, target);
        (!found.places.is_empty()).then(|| found.number_lines(text, strategy))
    })
}

fn find_by(strategy: MatchStrategy, text: &str, target: &str) -> Found {
    let blank = || {
        target
            .chars()
            .all(|it| it == '\r' || it == '\n' || is_blank(it, ViewKind::UnicodePunctuation))
    };
    let has_returns = |it: &str| memchr::memchr(b'\r', it.as_bytes()).is_some();
    match strategy {
        MatchStrategy::Exact => find_all(text, target),
        // Without a return on either side this would be the exact search again.
        MatchStrategy::LineEndings if !has_returns(text) && !has_returns(target) => {
            Found::default()
        }
        MatchStrategy::LineEndings => {
            // A return before the end of a line is shown with the line, and whoever copies both
            // gives what looks like one ending.
            let shown = target.contains("\r\n").then(|| Needle::as_shown(target));
            let shown = shown.map(|it| find_needle(text, &it, ViewKind::LineEndings));
            shown
                .filter(|it| !it.places.is_empty())
                .unwrap_or_else(|| find_in_view(text, target, ViewKind::LineEndings))
        }
        _ if blank() => Found::default(),
        MatchStrategy::TrailingBlanks => find_in_view(text, target, ViewKind::TrailingBlanks),
        MatchStrategy::IndentationShift => indentation::find(text, target),
        MatchStrategy::UnicodePunctuation => {
            find_in_view(text, target, ViewKind::UnicodePunctuation)
        }
    }
}

/// Which of several hits is nearest to a line, counted from 1; none when two are equally near.
pub fn unique_by_line_hint(hits: &[Hit], line: usize) -> Option<usize> {
    let distance =
        |hit: &Hit| hit.first_line.saturating_sub(line).max(line.saturating_sub(hit.last_line));
    let nearest = hits.iter().map(distance).min()?;
    let mut near = hits.iter().enumerate().filter(|(_, hit)| distance(hit) == nearest);
    let (index, _) = near.next()?;
    near.next().is_none().then_some(index)
}

/// Where a rung found the target.
#[derive(Default)]
struct Found {
    places: Vec<Place>,
    overlapping: Option<usize>,
}

struct Place {
    range: Range<usize>,
    shift: Option<Box<IndentationShift>>,
}

impl From<Range<usize>> for Place {
    fn from(range: Range<usize>) -> Self {
        Self { range, shift: None }
    }
}

impl Found {
    fn number_lines(self, text: &str, strategy: MatchStrategy) -> Matches {
        let mut lines = LineCounter { text, offset: 0, line: 1 };
        let number = |place: Place| {
            let first_line = lines.advance(place.range.start);
            let last_line = lines.advance(place.range.end.saturating_sub(1));
            Hit { range: place.range, first_line, last_line, shift: place.shift }
        };
        let hits = self.places.into_iter().map(number).collect();
        let line_of = |offset| LineCounter { text, offset: 0, line: 1 }.advance(offset);
        Matches { strategy, hits, overlapping_line: self.overlapping.map(line_of) }
    }
}

struct LineCounter<'a> {
    text: &'a str,
    offset: usize,
    line: usize,
}

impl LineCounter<'_> {
    fn advance(&mut self, to: usize) -> usize {
        if let Some(passed) = self.text.as_bytes().get(self.offset..to) {
            self.line += memchr_iter(b'\n', passed).count();
            self.offset = to;
        }
        self.line
    }
}

fn find_all(text: &str, target: &str) -> Found {
    let (ranges, overlapping) = occurrences(text, target);
    // A hit that starts between `\r` and `\n` would tear the line ending; the next rung takes both.
    let torn = |it: &Range<usize>| {
        it.start.checked_sub(1).and_then(|it| text.as_bytes().get(it)) == Some(&b'\r')
    };
    if target.starts_with('\n') && ranges.iter().any(torn) {
        return Found::default();
    }
    Found { places: ranges.into_iter().map(Place::from).collect(), overlapping }
}

fn find_in_view(text: &str, target: &str, kind: ViewKind) -> Found {
    Needle::new(target, kind).map_or_else(Found::default, |it| find_needle(text, &it, kind))
}

fn find_needle(text: &str, needle: &Needle, kind: ViewKind) -> Found {
    let view = View::new(text, kind);
    let (ranges, overlapping) = occurrences(view.as_str(), needle.as_str());
    let mut places: Vec<Place> = Vec::new();
    for range in ranges {
        if let Some(mut range) = needle.locate(&view, &range) {
            // Blanks between two hits belong to the first.
            range.start = places.last().map_or(range.start, |it| range.start.max(it.range.end));
            places.push(range.into());
        }
    }
    Found { places, overlapping: overlapping.and_then(|it| view.start(it)) }
}

/// Where `needle` is, from left to right without overlap; and if that is one place only, where
/// else it starts inside of it.
fn occurrences(haystack: &str, needle: &str) -> (Vec<Range<usize>>, Option<usize>) {
    let finder = memmem::Finder::new(needle);
    let ranges: Vec<_> =
        finder.find_iter(haystack.as_bytes()).map(|it| it..it + needle.len()).collect();
    let overlapping = match ranges.as_slice() {
        [only] => haystack.as_bytes().get(only.start + 1..).and_then(|rest| {
            let window = rest.get(..needle.len() * 2 - 2).unwrap_or(rest);
            finder.find(window).map(|it| only.start + 1 + it)
        }),
        _ => None,
    };
    (ranges, overlapping)
}

#[cfg(test)]
mod tests;
