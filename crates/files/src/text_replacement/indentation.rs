//! Finds blocks of lines that differ from the target only by a uniform change of indentation.
//!
//! Two blocks differ by a uniform shift exactly if their lines are equal without indentation, and each
//! line is indented relative to the one before in the same way. So each line becomes a token of both,
//! and the search is for a sequence of tokens, which takes linear time for any text.

use std::collections::HashMap;

use super::{IndentationShift, MatchedRange, MatchedRanges, Overlaps, sequence::Sequence};

/// The id of all tokens that are not in the target.
const UNKNOWN: u32 = u32::MAX;

/// The lines of a text, by number.
struct IndentedLines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

/// One line: its position, its indentation and its content without surrounding blanks.
struct IndentedLine<'a> {
    start: usize,
    next: usize,
    ended: bool,
    indentation: &'a str,
    content: &'a str,
}

impl<'a> IndentedLines<'a> {
    fn new(text: &'a str) -> Self {
        let ends = memchr::memchr_iter(b'\n', text.as_bytes()).map(|it| it + 1);
        let starts = std::iter::once(0).chain(ends).filter(|it| *it < text.len()).collect();
        Self { text, starts }
    }

    fn get(&self, number: usize) -> Option<IndentedLine<'a>> {
        let start = *self.starts.get(number)?;
        let next = self.starts.get(number + 1).copied().unwrap_or(self.text.len());
        let raw = self.text.get(start..next)?;
        let body = raw.strip_suffix('\n').map_or(raw, |it| it.strip_suffix('\r').unwrap_or(it));
        let trimmed = body.trim_end_matches([' ', '\t']);
        let content = trimmed.trim_start_matches([' ', '\t']);
        let (indentation, _) = trimmed.split_at(trimmed.len() - content.len());
        Some(IndentedLine { start, next, ended: raw.ends_with('\n'), indentation, content })
    }

    fn iter(&self) -> impl Iterator<Item = IndentedLine<'a>> {
        (0..self.starts.len()).filter_map(|it| self.get(it))
    }

    fn tokens(&self) -> impl Iterator<Item = LineToken<'a>> {
        let mut last = "";
        self.iter().map(move |line| {
            if line.content.is_empty() {
                return ("", "", "");
            }
            let shared = common_prefix(last, line.indentation);
            let (_, before) = last.split_at(shared);
            let (_, here) = line.indentation.split_at(shared);
            last = line.indentation;
            (line.content, before, here)
        })
    }
}

/// The content of a line, and the difference of its indentation to that of the last line with content.
type LineToken<'a> = (&'a str, &'a str, &'a str);

fn common_prefix(left: &str, right: &str) -> usize {
    left.bytes().zip(right.bytes()).take_while(|(left, right)| left == right).count()
}

pub(super) fn find(text: &str, target: &str, overlaps: Overlaps) -> MatchedRanges {
    let wanted = IndentedLines::new(target);
    let Some((lead, first)) = wanted.iter().enumerate().find(|(_, it)| !it.content.is_empty())
    else {
        return MatchedRanges::default();
    };
    // The first line with content may have any indentation, so it is compared separately.
    let mut ids: HashMap<LineToken<'_>, u32> = HashMap::new();
    let needle: Vec<u32> = wanted
        .tokens()
        .skip(lead + 1)
        .zip(0..UNKNOWN)
        .map(|(token, fresh)| *ids.entry(token).or_insert(fresh))
        .collect();
    let present = IndentedLines::new(text);
    let haystack: Vec<u32> =
        present.tokens().map(|it| ids.get(&it).copied().unwrap_or(UNKNOWN)).collect();

    let shared = shared_indentation(&wanted);
    let inner = first.indentation.len() - shared.len();
    let needs_ending = target.ends_with('\n');
    let place = |tail: usize| {
        let anchor = tail.checked_sub(1)?;
        let here = present.get(anchor).filter(|it| it.content == first.content)?;
        let top = anchor.checked_sub(lead)?;
        // Each blank line is visited for one anchor only, so this takes linear time altogether.
        let is_blank = |it: usize| present.get(it).is_some_and(|it| it.content.is_empty());
        if !(top..anchor).rev().all(is_blank) {
            return None;
        }
        let start = present.get(top)?.start;
        let last = present.get(anchor + needle.len()).filter(|it| it.ended || !needs_ending)?;
        let content_end = last.start + last.indentation.len() + last.content.len();
        let end = if needs_ending { last.next } else { content_end };
        let (to, _) = here.indentation.split_at(here.indentation.len().checked_sub(inner)?);
        Some((start..end, to))
    };
    let sequence = Sequence::new(&needle);
    // A target with a single line may match any line.
    let everywhere = if needle.is_empty() { 1..haystack.len() + 1 } else { 0..0 };
    let mut places = MatchedRanges::default();
    for (range, to) in everywhere.chain(sequence.starts(&haystack)).filter_map(place) {
        if places.reach(overlaps) > range.start {
            continue;
        }
        let shift = IndentationShift { from: shared.to_owned(), to: to.to_owned() };
        if !places.add(MatchedRange { range, shift: Some(Box::new(shift)) }) {
            break;
        }
    }
    places
}

fn shared_indentation<'a>(lines: &IndentedLines<'a>) -> &'a str {
    let mut indentations =
        lines.iter().filter(|it| !it.content.is_empty()).map(|it| it.indentation);
    let first = indentations.next().unwrap_or_default();
    indentations.fold(first, |shared, it| shared.split_at(common_prefix(shared, it)).0)
}
