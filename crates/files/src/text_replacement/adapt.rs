//! Adapts new text to the place where it is inserted. Lines that the target and the new text have in
//! common stay as they are in the file; new lines get the file's line endings and indentation.

use std::{borrow::Cow, ops::Range};

use memchr::{memchr, memchr_iter, memrchr};
use similar::{DiffOp, DiffTag};

use super::{IndentationShift, MatchStrategy, TargetMatch};
use crate::{
    diff::compare,
    line_ending::{LineEnding, LineEndings},
};

/// How far from a match a line ending is looked for. Then that of most lines in the file is used.
const NEIGHBOURHOOD: usize = 1024;

/// A part of the text, and its replacement.
pub(crate) type TextEdit<'a> = (Range<usize>, Cow<'a, str>);

/// The new text for the matches of one search.
#[derive(Clone, Debug)]
pub struct Replacement<'a> {
    text: &'a str,
    new_text: &'a str,
    /// The number of line endings in the new text.
    endings: usize,
    file_ending: Option<LineEnding>,
    by_line: Option<ByLine<'a>>,
}

impl<'a> Replacement<'a> {
    /// Prepares to replace `target`, which was found in `text` by `strategy`, with `new_text`.
    pub fn new(text: &'a str, target: &'a str, strategy: MatchStrategy, new_text: &'a str) -> Self {
        let endings = memchr_iter(b'\n', new_text.as_bytes()).count();
        let file_ending = if endings > 0 { LineEndings::count(text).dominant() } else { None };
        // An exact match equals the target byte for byte.
        let by_line = (strategy != MatchStrategy::Exact).then(|| ByLine::new(target, new_text));
        Self { text, new_text, endings, file_ending, by_line }
    }

    /// The most bytes that [`at`](Self::at) can return for a match.
    pub fn size_at(&self, hit: &TargetMatch) -> usize {
        let indentation = hit.shift.as_ref().map_or(0, |it| it.to.len());
        let more = (self.endings + 1).saturating_mul(indentation + 1);
        self.new_text.len().saturating_add(more)
    }

    /// The edits at one match. If the match is not exact, only the lines in which the new text differs from
    /// the target are changed.
    ///
    /// New lines get the line ending of those they replace, otherwise that of the nearest line, otherwise
    /// that of most lines in the file. They are indented like the match.
    pub fn at(&self, hit: &TargetMatch) -> Vec<TextEdit<'a>> {
        let lines = self.by_line.as_ref().and_then(|it| it.edits(self, hit));
        lines.unwrap_or_else(|| vec![(hit.range.clone(), self.whole(hit))])
    }

    fn whole(&self, hit: &TargetMatch) -> Cow<'a, str> {
        let shifted = match &hit.shift {
            Some(shift) => Cow::Owned(shift_lines(self.new_text, shift)),
            None => Cow::Borrowed(self.new_text),
        };
        let Some(ending) = self.usual_ending(hit) else {
            return shifted;
        };
        let has_return = shifted.contains("\r\n");
        if has_return && self.means_its_endings(hit) {
            return shifted;
        }
        match ending {
            LineEnding::Newline if has_return => Cow::Owned(shifted.replace("\r\n", "\n")),
            LineEnding::Newline => shifted,
            LineEnding::ReturnNewline if has_return => {
                Cow::Owned(shifted.replace("\r\n", "\n").replace('\n', "\r\n"))
            }
            LineEnding::ReturnNewline => Cow::Owned(shifted.replace('\n', "\r\n")),
        }
    }

    /// Whether the line endings of the new text are intended: the match is exact and has whole lines, and
    /// the endings are all `\r\n`, or mixed as they were.
    fn means_its_endings(&self, hit: &TargetMatch) -> bool {
        if self.by_line.is_some() {
            return false;
        }
        let is_mixed = |it: LineEndings| it.newline > 0 && it.return_newline > 0;
        let replaced = LineEndings::count(self.text.get(hit.range.clone()).unwrap_or_default());
        let given = LineEndings::count(self.new_text);
        replaced.dominant().is_some() && (!is_mixed(given) || is_mixed(replaced))
    }

    fn usual_ending(&self, hit: &TargetMatch) -> Option<LineEnding> {
        self.file_ending.map(|most| self.ending_at(hit).unwrap_or(most))
    }

    fn ending_at(&self, hit: &TargetMatch) -> Option<LineEnding> {
        let bytes = self.text.as_bytes();
        let replaced = self.text.get(hit.range.clone()).unwrap_or_default();
        let before = bytes.get(..hit.range.start).unwrap_or_default();
        let after = bytes.get(hit.range.end..).unwrap_or_default();
        let after = after.get(..NEIGHBOURHOOD).unwrap_or(after);
        let near = before.len().saturating_sub(NEIGHBOURHOOD);
        LineEndings::count(replaced)
            .dominant()
            .or_else(|| memchr(b'\n', after).map(|it| self.ending_before(hit.range.end + it)))
            .or_else(|| {
                let newline = memrchr(b'\n', before.get(near..).unwrap_or_default())?;
                Some(self.ending_before(near + newline))
            })
    }

    fn ending_before(&self, newline: usize) -> LineEnding {
        let before = newline.checked_sub(1).and_then(|it| self.text.as_bytes().get(it));
        if before == Some(&b'\r') { LineEnding::ReturnNewline } else { LineEnding::Newline }
    }
}

/// The difference between target and new text by lines. A match has the same lines as its target, even
/// if they are written differently.
#[derive(Clone, Debug)]
struct ByLine<'a> {
    target: LinesWithoutEndings<'a>,
    new: LinesWithoutEndings<'a>,
    steps: Vec<DiffOp>,
}

/// Lines without their endings. All but the last had one.
#[derive(Clone, Debug)]
struct LinesWithoutEndings<'a> {
    bodies: Vec<&'a str>,
    last_is_ended: bool,
}

impl<'a> LinesWithoutEndings<'a> {
    fn of(text: &'a str) -> Self {
        let bodies = text.split_inclusive('\n').map(|it| without_ending(it).0).collect();
        Self { bodies, last_is_ended: text.ends_with('\n') }
    }

    fn is_ended(&self, index: usize) -> bool {
        index + 1 < self.bodies.len() || self.last_is_ended
    }
}

/// A line of the file: the positions of its start, of its ending and of the next line.
struct FileLine {
    start: usize,
    ending: Range<usize>,
}

impl<'a> ByLine<'a> {
    fn new(target: &'a str, new_text: &'a str) -> Self {
        let (target, new) = (LinesWithoutEndings::of(target), LinesWithoutEndings::of(new_text));
        let steps = compare(&target.bodies, &new.bodies);
        Self { target, new, steps }
    }

    fn edits(&self, whole: &Replacement<'a>, hit: &TargetMatch) -> Option<Vec<TextEdit<'a>>> {
        let mut end = hit.range.start;
        let place: Vec<FileLine> = whole
            .text
            .get(hit.range.clone())?
            .split_inclusive('\n')
            .map(|line| {
                let start = end;
                end += line.len();
                FileLine { start, ending: start + without_ending(line).0.len()..end }
            })
            .collect();
        let is_ended = place.last().is_some_and(|it| !it.ending.is_empty());
        if place.len() != self.target.bodies.len() || is_ended != self.target.last_is_ended {
            return None;
        }
        let usual = whole.usual_ending(hit).unwrap_or(LineEnding::Newline).as_str();
        let ending_of = |line: Option<&FileLine>| {
            line.and_then(|it| whole.text.get(it.ending.clone())).filter(|it| !it.is_empty())
        };
        let mut edits = Vec::new();
        for step in &self.steps {
            let (old, new) = (step.old_range(), step.new_range());
            // Lines that do not replace a line with an ending get that of the line before.
            let before = ending_of(old.start.checked_sub(1).and_then(|it| place.get(it)));
            if step.tag() == DiffTag::Equal {
                for (index, line) in place.get(old.clone())?.iter().enumerate() {
                    let was_ended = self.target.is_ended(old.start + index);
                    match (was_ended, self.new.is_ended(new.start + index)) {
                        (true, false) => edits.push((line.ending.clone(), Cow::Borrowed(""))),
                        (false, true) => {
                            let previous = (old.start + index).checked_sub(1);
                            let ending = ending_of(previous.and_then(|it| place.get(it)));
                            let at = line.ending.end;
                            edits.push((at..at, Cow::Borrowed(ending.unwrap_or(usual))));
                        }
                        _ => {}
                    }
                }
                continue;
            }
            let replaced = place.get(old.clone())?;
            let start = place.get(old.start).map_or(hit.range.end, |it| it.start);
            let end = replaced.last().map_or(start, |it| it.ending.end);
            let mut written = String::new();
            for (index, body) in self.new.bodies.get(new.clone())?.iter().enumerate() {
                push_shifted(&mut written, body, hit.shift.as_deref());
                if self.new.is_ended(new.start + index) {
                    let same = replaced.get(index).or(replaced.last());
                    written.push_str(ending_of(same).or(before).unwrap_or(usual));
                }
            }
            edits.push((start..end, Cow::Owned(written)));
        }
        Some(edits)
    }
}

/// Splits a line into its content and its ending.
fn without_ending(line: &str) -> (&str, &str) {
    let body = line.strip_suffix('\n').map_or(line, |it| it.strip_suffix('\r').unwrap_or(it));
    line.split_at(body.len())
}

pub(super) fn shift_lines(new_text: &str, shift: &IndentationShift) -> String {
    let mut shifted = String::with_capacity(new_text.len() + shift.to.len() * 8);
    for line in new_text.split_inclusive('\n') {
        push_shifted(&mut shifted, line, Some(shift));
    }
    shifted
}

/// Adds a line with shifted indentation. Blank lines stay as they are. From a line that has less
/// indentation than is to be removed, all of it is removed.
fn push_shifted(shifted: &mut String, line: &str, shift: Option<&IndentationShift>) {
    let Some(IndentationShift { from, to }) = shift.filter(|_| !line.trim().is_empty()) else {
        return shifted.push_str(line);
    };
    if let Some(rest) = line.strip_prefix(from.as_str()) {
        shifted.push_str(to);
        shifted.push_str(rest);
    } else if let Some(added) = to.strip_prefix(from.as_str()) {
        shifted.push_str(added);
        shifted.push_str(line);
    } else if let Some(taken) = from.strip_prefix(to.as_str()) {
        let indented = line.len() - line.trim_start_matches([' ', '\t']).len();
        shifted.push_str(line.get(taken.len().min(indented)..).unwrap_or_default());
    } else {
        shifted.push_str(line);
    }
}
