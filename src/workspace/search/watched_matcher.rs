//! A matcher that stops when nobody waits for its matches any more.
//!
//! A single file can keep the engine busy for minutes: a pattern that looks at the rest of a long line
//! for each of its matches. The searcher itself only asks between pieces of a file.

use std::cell::Cell;

use grep_matcher::{ByteSet, LineMatchKind, LineTerminator, Match, Matcher, NoCaptures, NoError};

use super::line_matcher::LineMatcher;

/// How many bytes the engine may have looked at between two questions.
const BYTES_BETWEEN_QUESTIONS: usize = 4 * 1024 * 1024;
/// What a look costs, in bytes, however short the text is.
const BYTES_PER_LOOK: usize = 1024;

/// Matches what its matcher matches; once told to stop, nothing. An error instead would have to be
/// handled wherever the searcher may fail, which is a lot of code for what is dropped anyway.
pub(super) struct WatchedMatcher<'a> {
    matcher: &'a LineMatcher,
    cancelled: &'a dyn Fn() -> bool,
    /// Bytes that may have been looked at since the last question.
    looked_at: Cell<usize>,
    stopped: Cell<bool>,
}

impl<'a> WatchedMatcher<'a> {
    pub(super) fn new(matcher: &'a LineMatcher, cancelled: &'a dyn Fn() -> bool) -> Self {
        Self { matcher, cancelled, looked_at: Cell::new(0), stopped: Cell::new(false) }
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
        if looked_at < BYTES_BETWEEN_QUESTIONS {
            self.looked_at.set(looked_at);
            return true;
        }
        !self.is_cancelled_after_many()
    }

    #[cold]
    fn is_cancelled_after_many(&self) -> bool {
        // Stays at the limit once stopped, so that every further look ends here.
        let stopped = self.is_cancelled();
        self.looked_at.set(if stopped { BYTES_BETWEEN_QUESTIONS } else { 0 });
        stopped
    }
}

impl Matcher for WatchedMatcher<'_> {
    type Captures = NoCaptures;
    type Error = NoError;

    fn find_candidate_line(&self, haystack: &[u8]) -> Result<Option<LineMatchKind>, NoError> {
        if !self.looks_at(haystack.len()) {
            return Ok(None);
        }
        self.matcher.find_candidate_line(haystack)
    }

    fn find_at(&self, haystack: &[u8], at: usize) -> Result<Option<Match>, NoError> {
        if !self.looks_at(haystack.len().saturating_sub(at)) {
            return Ok(None);
        }
        self.matcher.find_at(haystack, at)
    }

    fn shortest_match_at(&self, haystack: &[u8], at: usize) -> Result<Option<usize>, NoError> {
        if !self.looks_at(haystack.len().saturating_sub(at)) {
            return Ok(None);
        }
        self.matcher.shortest_match_at(haystack, at)
    }

    fn is_match_at(&self, haystack: &[u8], at: usize) -> Result<bool, NoError> {
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
