//! Finds the text an edit means, though it may be written a little differently.
//!
//! Each rung of the ladder ignores one more thing that does not change what a person reads.
//! Nothing here guesses by likeness: a hit differs from its target only in what its rung ignores.

mod adapt;
mod indentation;
mod nearest;
mod sequence;
mod view;

use std::ops::Range;

use memchr::{memchr_iter, memmem};

pub use adapt::{Edit, Replacement};
pub use nearest::{NEAREST_TEXT_BYTES, NearestRegion, nearest_region};
use sequence::Sequence;
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
    /// The places, at least one, in order.
    pub hits: Vec<Hit>,
}

/// What is done about places that overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlaps {
    /// All are given: one of them is to be chosen.
    Given,
    /// The first is given: all are to be replaced.
    LeftOut,
}

/// Why a search was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GivenUp {
    /// Nobody waits for it.
    #[error("the search was cancelled")]
    Cancelled,
    /// The target is nearly everywhere.
    #[error("more than {MAX_HITS} places")]
    TooMany,
}

/// How many places are told: each costs memory.
pub const MAX_HITS: usize = 1_000_000;

/// How much of a text is looked at leniently at a time, and how many times that in one piece.
const PART_BYTES: usize = 1024 * 1024;
const MAX_PARTS: usize = 8;

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

/// Looks for a target in one part of a text after the other: what levels out differences is larger than
/// the text it is about. Parts end with a line, and go on for as many lines as the target has.
fn find_in_parts(
    text: &str,
    target: &str,
    part_bytes: usize,
    overlaps: Overlaps,
    find: &dyn Fn(&str) -> Places,
    cancelled: &dyn Fn() -> bool,
) -> Places {
    if text.len() <= part_bytes {
        return find(text);
    }
    let next_line = |from: usize| {
        let rest = text.as_bytes().get(from..).unwrap_or_default();
        memchr::memchr(b'\n', rest).map_or(text.len(), |it| from + it + 1)
    };
    let height = memchr_iter(b'\n', target.as_bytes()).count() + 1;
    let mut places = Places::default();
    let mut start = 0;
    while start < text.len() && !places.too_many && !cancelled() {
        let end = next_line(start + part_bytes);
        let far = (0..height).fold(end, |far, _| next_line(far));
        // Lines and targets of many megabytes are found as given, or not at all.
        let part = text.get(start..far).filter(|it| it.len() <= MAX_PARTS * part_bytes);
        let found = part.map(find).unwrap_or_default();
        for Place { range, shift } in found.places {
            let range = range.start + start..range.end + start;
            if range.start < end && range.start >= places.reach(overlaps) {
                places.add(Place { range, shift });
            }
        }
        places.too_many |= found.too_many;
        start = end;
    }
    places
}

fn find_leniently(strategy: MatchStrategy, text: &str, target: &str, overlaps: Overlaps) -> Places {
    let blank = || {
        target
            .chars()
            .all(|it| it == '\r' || it == '\n' || is_blank(it, ViewKind::UnicodePunctuation))
    };
    let has_returns = |it: &str| memchr::memchr(b'\r', it.as_bytes()).is_some();
    match strategy {
        MatchStrategy::Exact => find_all(text, target, overlaps),
        // Without a return on either side this would be the exact search again.
        MatchStrategy::LineEndings if !has_returns(text) && !has_returns(target) => {
            Places::default()
        }
        MatchStrategy::LineEndings => {
            // A return before the end of a line is shown with the line, and whoever copies both
            // gives what looks like one ending.
            let shown = target.contains("\r\n").then(|| Needle::as_shown(target));
            let shown = shown.map(|it| find_needle(text, &it, ViewKind::LineEndings, overlaps));
            shown
                .filter(|it| !it.places.is_empty())
                .unwrap_or_else(|| find_in_view(text, target, ViewKind::LineEndings, overlaps))
        }
        _ if blank() => Places::default(),
        MatchStrategy::TrailingBlanks => {
            find_in_view(text, target, ViewKind::TrailingBlanks, overlaps)
        }
        MatchStrategy::IndentationShift => indentation::find(text, target, overlaps),
        MatchStrategy::UnicodePunctuation => {
            find_in_view(text, target, ViewKind::UnicodePunctuation, overlaps)
        }
    }
}

/// Which of several hits is nearest to a line, counted from 1; none when two are equally near.
pub fn unique_by_line_hint(hits: &[Hit], line: usize) -> Option<usize> {
    // Of those that have the line in them, the one that begins nearest to it.
    let distance = |hit: &Hit| {
        let outside = hit.first_line.saturating_sub(line).max(line.saturating_sub(hit.last_line));
        (outside, hit.first_line.abs_diff(line))
    };
    let nearest = hits.iter().map(distance).min()?;
    let mut near = hits.iter().enumerate().filter(|(_, hit)| distance(hit) == nearest);
    let (index, _) = near.next()?;
    near.next().is_none().then_some(index)
}

/// Where a rung found the target.
#[derive(Default)]
struct Places {
    places: Vec<Place>,
    too_many: bool,
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

impl Places {
    /// Adds a place; false when there is no room for more.
    fn add(&mut self, place: impl Into<Place>) -> bool {
        self.too_many = self.places.len() == MAX_HITS;
        if !self.too_many {
            self.places.push(place.into());
        }
        !self.too_many
    }

    /// Where the next place may start at the earliest.
    fn reach(&self, overlaps: Overlaps) -> usize {
        match overlaps {
            Overlaps::Given => 0,
            Overlaps::LeftOut => self.places.last().map_or(0, |it| it.range.end),
        }
    }

    fn number_lines(self, text: &str, strategy: MatchStrategy) -> Matches {
        let (mut starts, mut ends) = (LineCounter::new(text), LineCounter::new(text));
        let number = |place: Place| {
            let first_line = starts.advance(place.range.start);
            let last_line = ends.advance(place.range.end.saturating_sub(1));
            Hit { range: place.range, first_line, last_line, shift: place.shift }
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

fn find_all(text: &str, target: &str, overlaps: Overlaps) -> Places {
    // A hit that starts between `\r` and `\n` would tear the line ending; the next rung takes both.
    let torn = |it: usize| it.checked_sub(1).and_then(|it| text.as_bytes().get(it)) == Some(&b'\r');
    let mut places = Places::default();
    for start in occurrences(text, target, overlaps) {
        if target.starts_with('\n') && torn(start) {
            return Places::default();
        }
        if !places.add(start..start + target.len()) {
            break;
        }
    }
    places
}

fn find_in_view(text: &str, target: &str, kind: ViewKind, overlaps: Overlaps) -> Places {
    let needle = Needle::new(target, kind);
    needle.map_or_else(Places::default, |it| find_needle(text, &it, kind, overlaps))
}

fn find_needle(text: &str, needle: &Needle, kind: ViewKind, overlaps: Overlaps) -> Places {
    let view = View::new(text, kind);
    let mut places = Places::default();
    for start in occurrences(view.as_str(), needle.as_str(), overlaps) {
        let Some(range) = needle.locate(&view, &(start..start + needle.as_str().len())) else {
            continue;
        };
        // Blanks between two hits belong to the first.
        let start = range.start.max(places.reach(overlaps));
        if !places.add(start..range.end) {
            break;
        }
    }
    places
}

/// Where `needle` starts, from left to right.
fn occurrences<'a>(
    haystack: &'a str,
    needle: &'a str,
    overlaps: Overlaps,
) -> Box<dyn Iterator<Item = usize> + 'a> {
    let apart = memmem::find_iter(haystack.as_bytes(), needle.as_bytes());
    if overlaps == Overlaps::LeftOut {
        return Box::new(apart);
    }
    // What overlaps another occurrence begins inside of one of these.
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
