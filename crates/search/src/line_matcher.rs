//! A regex matcher with a prefilter: only lines that contain a text required by every match are given
//! to the regex engine, because looking for that text is much faster.

use std::sync::Arc;

use grep_matcher::{ByteSet, LineMatchKind, LineTerminator, Match, Matcher, NoCaptures, NoError};
use grep_regex::RegexMatcher;

use super::{long_text::LongText, required_text::RequiredText};

/// Finds the same matches as its regex, without capture groups.
#[derive(Clone, Debug)]
pub(super) struct LineMatcher {
    pub(super) regex: RegexMatcher,
    /// The prefilter, for patterns that match within one line.
    pub(super) required_text: Option<RequiredText>,
    /// Searches texts that are too long for one call of the regex engine.
    pub(super) long_text: Arc<LongText>,
}

impl Matcher for LineMatcher {
    type Captures = NoCaptures;
    type Error = NoError;

    fn find_candidate_line(&self, haystack: &[u8]) -> Result<Option<LineMatchKind>, NoError> {
        match &self.required_text {
            Some(required_text) => Ok(required_text.find(haystack).map(LineMatchKind::Candidate)),
            None => self.regex.find_candidate_line(haystack),
        }
    }

    fn find_at(&self, haystack: &[u8], at: usize) -> Result<Option<Match>, NoError> {
        self.regex.find_at(haystack, at)
    }

    fn shortest_match_at(&self, haystack: &[u8], at: usize) -> Result<Option<usize>, NoError> {
        self.regex.shortest_match_at(haystack, at)
    }

    fn is_match_at(&self, haystack: &[u8], at: usize) -> Result<bool, NoError> {
        self.regex.is_match_at(haystack, at)
    }

    fn new_captures(&self) -> Result<NoCaptures, NoError> {
        Ok(NoCaptures::new())
    }

    fn non_matching_bytes(&self) -> Option<&ByteSet> {
        self.regex.non_matching_bytes()
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        self.regex.line_terminator()
    }
}
