//! A matcher that stops when the search is cancelled.
//!
//! The searcher only checks for cancellation between pieces of a file. That is not enough: a pattern
//! that reads the rest of a long line for each of its matches takes minutes for a single file.

use std::cell::Cell;

use grep_matcher::{ByteSet, LineMatchKind, LineTerminator, Match, Matcher, NoCaptures, NoError};

use super::line_matcher::LineMatcher;

/// The fixed cost of a call of the engine, counted in bytes.
const BYTES_PER_LOOK: usize = 1024;
/// How many calls with the largest text may be made between two checks for cancellation.
const LOOKS_AT_ONCE: usize = 4;

/// Finds the same matches as its matcher, and none at all once the search is cancelled. That is not an
/// error, which would need much code in the searcher although the result is dropped anyway.
pub(super) struct WatchedMatcher<'a> {
    matcher: &'a LineMatcher,
    cancelled: &'a dyn Fn() -> bool,
    /// How many bytes the engine may be given in one call.
    at_once: usize,
    /// How many bytes the engine may have read since the last check.
    looked_at: Cell<usize>,
    stopped: Cell<bool>,
}

impl<'a> WatchedMatcher<'a> {
    pub(super) fn new(matcher: &'a LineMatcher, cancelled: &'a dyn Fn() -> bool) -> Self {
        let at_once = matcher.long_text.bytes_at_once();
        Self { matcher, cancelled, at_once, looked_at: Cell::new(0), stopped: Cell::new(false) }
    }

    /// Checks for cancellation.
    pub(super) fn is_cancelled(&self) -> bool {
        if !self.stopped.get() && (self.cancelled)() {
            self.stopped.set(true);
        }
        self.stopped.get()
    }

    /// Whether the search was cancelled, so that its matches are incomplete.
    pub(super) fn has_stopped(&self) -> bool {
        self.stopped.get()
    }

    /// Counts a call with this many bytes and returns whether to make it. All bytes are counted, because
    /// the engine may read all of them even to find a short match.
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
        // Once cancelled, this stays at the limit, so that every further call ends here.
        let stopped = self.is_cancelled();
        self.looked_at.set(if stopped { usize::MAX } else { 0 });
        stopped
    }

    /// The first match in a text that is too long for one call of the engine.
    #[cold]
    fn find_in_long(&self, haystack: &[u8], at: usize) -> Option<Match> {
        let find = |text: &[u8], at: usize| self.matcher.find_at(text, at).unwrap_or(None);
        let long_text = &self.matcher.long_text;
        let found = long_text.find(haystack, at, &find, &|| self.is_cancelled_after_many());
        // A cancelled search has no match.
        found.unwrap_or(None)
    }

    /// The first match in lines that are together too long for one call: as many lines as fit are
    /// searched at a time, and a line that is too long is searched separately. This is correct because
    /// no match contains a line break.
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
            if let Some(required_text) = &self.matcher.required_text {
                return Ok(required_text.find(haystack).map(LineMatchKind::Candidate));
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
