//! A matcher that stops when nobody waits for its matches any more.
//!
//! A single file can keep the engine busy for minutes: a pattern that looks at the rest of a long line
//! for each of its matches. The searcher itself only asks between pieces of a file.

use std::cell::Cell;

use grep_matcher::{ByteSet, LineMatchKind, LineTerminator, Match, Matcher, NoCaptures, NoError};

use super::line_matcher::LineMatcher;

/// What a look costs, in bytes, however short the text is.
const BYTES_PER_LOOK: usize = 1024;
/// How many times the bytes of one look may be looked at between two questions.
const LOOKS_AT_ONCE: usize = 4;

/// Matches what its matcher matches; once told to stop, nothing. An error instead would have to be
/// handled wherever the searcher may fail, which is a lot of code for what is dropped anyway.
pub(super) struct WatchedMatcher<'a> {
    matcher: &'a LineMatcher,
    cancelled: &'a dyn Fn() -> bool,
    /// How many bytes the engine may be given at once.
    at_once: usize,
    /// Bytes that may have been looked at since the last question.
    looked_at: Cell<usize>,
    stopped: Cell<bool>,
}

impl<'a> WatchedMatcher<'a> {
    pub(super) fn new(matcher: &'a LineMatcher, cancelled: &'a dyn Fn() -> bool) -> Self {
        let at_once = matcher.long_text.bytes_at_once();
        Self { matcher, cancelled, at_once, looked_at: Cell::new(0), stopped: Cell::new(false) }
    }

    /// Asks whether to go on.
    pub(super) fn is_cancelled(&self) -> bool {
        if !self.stopped.get() && (self.cancelled)() {
            self.stopped.set(true);
        }
        self.stopped.get()
    }

    /// Whether it was told to stop: what was found until then is not all there is.
    pub(super) fn has_stopped(&self) -> bool {
        self.stopped.get()
    }

    /// Counts a look at so many bytes at most, and says whether to take it. Nobody knows how many it will
    /// be: a short match may be what is left of a look at everything.
    fn looks_at(&self, bytes: usize) -> bool {
        let looked_at = self.looked_at.get().saturating_add(bytes + BYTES_PER_LOOK);
        if looked_at < self.at_once.saturating_mul(LOOKS_AT_ONCE) {
            self.looked_at.set(looked_at);
            return true;
        }
        !self.is_cancelled_after_many()
    }

    #[cold]
    fn is_cancelled_after_many(&self) -> bool {
        // Stays at the limit once stopped, so that every further look ends here.
        let stopped = self.is_cancelled();
        self.looked_at.set(if stopped { usize::MAX } else { 0 });
        stopped
    }

    /// The first match in a text too long to be given to the engine.
    #[cold]
    fn find_in_long(&self, haystack: &[u8], at: usize) -> Option<Match> {
        let find = |text: &[u8], at: usize| self.matcher.find_at(text, at).unwrap_or(None);
        let long_text = &self.matcher.long_text;
        let found = long_text.find(haystack, at, &find, &|| self.is_cancelled_after_many());
        // Who left finds nothing more.
        found.unwrap_or(None)
    }

    /// The first match in lines that are together too long: as many of them as the engine may be given,
    /// then the next, and one that is too long by itself alone. No match has a line end in it.
    #[cold]
    fn find_in_lines(&self, haystack: &[u8], at: usize) -> Option<Match> {
        let mut from = at;
        while from <= haystack.len() {
            let most = from.saturating_add(self.at_once).min(haystack.len());
            let lines = haystack.get(from..most).unwrap_or_default();
            let end = if most == haystack.len() {
                most
            } else if let Some(last) = memchr::memrchr(b'\n', lines) {
                from + last
            } else {
                let rest = haystack.get(most..).unwrap_or_default();
                memchr::memchr(b'\n', rest).map_or(haystack.len(), |it| most + it)
            };
            let lines = haystack.get(..end).unwrap_or(haystack);
            let found = if end - from <= self.at_once {
                if self.is_cancelled_after_many() {
                    return None;
                }
                self.matcher.find_at(lines, from).unwrap_or(None)
            } else {
                self.find_in_long(lines, from)
            };
            if found.is_some() || self.has_stopped() {
                return found;
            }
            from = end + 1;
        }
        None
    }

    fn find_in(&self, haystack: &[u8], at: usize) -> Option<Match> {
        if self.matcher.line_terminator().is_some()
            && !self.matcher.long_text.sees_carriage_returns()
        {
            self.find_in_lines(haystack, at)
        } else {
            self.find_in_long(haystack, at)
        }
    }

    fn is_long(&self, haystack: &[u8], at: usize) -> bool {
        haystack.len().saturating_sub(at) > self.at_once
    }
}

impl Matcher for WatchedMatcher<'_> {
    type Captures = NoCaptures;
    type Error = NoError;

    fn find_candidate_line(&self, haystack: &[u8]) -> Result<Option<LineMatchKind>, NoError> {
        if self.is_long(haystack, 0) {
            if let Some(needed) = &self.matcher.needed {
                return Ok(needed.find(haystack).map(LineMatchKind::Candidate));
            }
            let found = self.find_in(haystack, 0);
            return Ok(found.map(|it| LineMatchKind::Confirmed(it.end())));
        }
        if !self.looks_at(haystack.len()) {
            return Ok(None);
        }
        self.matcher.find_candidate_line(haystack)
    }

    fn find_at(&self, haystack: &[u8], at: usize) -> Result<Option<Match>, NoError> {
        if self.is_long(haystack, at) {
            return Ok(self.find_in(haystack, at));
        }
        if !self.looks_at(haystack.len().saturating_sub(at)) {
            return Ok(None);
        }
        self.matcher.find_at(haystack, at)
    }

    fn shortest_match_at(&self, haystack: &[u8], at: usize) -> Result<Option<usize>, NoError> {
        if self.is_long(haystack, at) {
            return Ok(self.find_in(haystack, at).map(|it| it.end()));
        }
        if !self.looks_at(haystack.len().saturating_sub(at)) {
            return Ok(None);
        }
        self.matcher.shortest_match_at(haystack, at)
    }

    fn is_match_at(&self, haystack: &[u8], at: usize) -> Result<bool, NoError> {
        if self.is_long(haystack, at) {
            return Ok(self.find_in(haystack, at).is_some());
        }
        Ok(self.looks_at(haystack.len().saturating_sub(at))
            && self.matcher.is_match_at(haystack, at)?)
    }

    fn new_captures(&self) -> Result<NoCaptures, NoError> {
        Ok(NoCaptures::new())
    }

    fn non_matching_bytes(&self) -> Option<&ByteSet> {
        self.matcher.non_matching_bytes()
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        self.matcher.line_terminator()
    }
}
