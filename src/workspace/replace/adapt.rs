//! Fits new text to the place it goes to: line endings and indentation.

use std::borrow::Cow;

use memchr::{memchr, memrchr};

use super::{Hit, IndentationShift, MatchStrategy};
use crate::workspace::{LineEnding, LineEndings};

/// How far from a hit its line ending is looked for, before the whole file is asked.
const NEIGHBOURHOOD: usize = 1024;

/// New text for the hits of one search.
#[derive(Clone, Debug)]
pub struct Replacement<'a> {
    text: &'a str,
    new_text: &'a str,
    strategy: MatchStrategy,
    file_ending: Option<LineEnding>,
}

impl<'a> Replacement<'a> {
    /// Takes the text that was searched, what the search ignored, and what to put in place.
    pub fn new(text: &'a str, strategy: MatchStrategy, new_text: &'a str) -> Self {
        let has_lines = memchr(b'\n', new_text.as_bytes()).is_some();
        let file_ending = if has_lines { LineEndings::count(text).dominant() } else { None };
        Self { text, new_text, strategy, file_ending }
    }

    /// The new text as it is written at a hit: its lines end like the lines it replaces, else like
    /// the nearest ones, else like most of the file, and are indented as the hit is.
    ///
    /// Where the target was found exactly, `\r\n` in the new text is meant and stays.
    pub fn for_hit(&self, hit: &Hit) -> Cow<'a, str> {
        let shifted = match &hit.shift {
            Some(shift) => Cow::Owned(shift_lines(self.new_text, shift)),
            None => Cow::Borrowed(self.new_text),
        };
        let Some(ending) = self.file_ending.map(|most| self.ending_at(hit).unwrap_or(most)) else {
            return shifted;
        };
        let has_return = shifted.contains("\r\n");
        match (ending, self.strategy) {
            (_, MatchStrategy::Exact) if has_return => shifted,
            (LineEnding::Newline, _) if has_return => Cow::Owned(shifted.replace("\r\n", "\n")),
            (LineEnding::Newline, _) => shifted,
            (LineEnding::ReturnNewline, _) if has_return => {
                Cow::Owned(shifted.replace("\r\n", "\n").replace('\n', "\r\n"))
            }
            (LineEnding::ReturnNewline, _) => Cow::Owned(shifted.replace('\n', "\r\n")),
        }
    }

    fn ending_at(&self, hit: &Hit) -> Option<LineEnding> {
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

/// Blank lines stay as they are; a line with less indentation than is taken away loses what it has.
fn shift_lines(new_text: &str, shift: &IndentationShift) -> String {
    let IndentationShift { from, to } = shift;
    let mut shifted = String::with_capacity(new_text.len() + to.len() * 8);
    for line in new_text.split_inclusive('\n') {
        if line.trim().is_empty() {
            shifted.push_str(line);
        } else if let Some(rest) = line.strip_prefix(from.as_str()) {
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
    shifted
}
