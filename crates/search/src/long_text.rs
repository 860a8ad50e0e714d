//! Searches texts that are too long for one call of the regex engine, in a way that can be cancelled.
//!
//! A call of the regex engine cannot be interrupted, and takes seconds for a line of some megabytes or
//! for a large pattern. So it is only given texts that it can search in a moment. Longer texts are
//! searched here: in overlapping pieces if the length of a match is limited, otherwise with an
//! `interruptible_dfa`, or where that cannot decide, with an `nfa_simulation`.

use std::sync::OnceLock;

use grep_matcher::Match;
use regex_syntax::hir::{Class, Hir, HirKind};

use super::interruptible_dfa::InterruptibleDfa;

/// How many steps the engine may take in one call: the length of the text times the number of states
/// of the pattern.
const STEPS_AT_ONCE: usize = 16 * 1024 * 1024;
/// The text of one call has at least this many bytes.
const LEAST_BYTES: usize = 64;
/// The text of one call has at most this many bytes.
const MOST_BYTES: usize = 1024 * 1024;
/// Texts are searched in pieces only if no match is longer than this.
const MAX_OVERLAP: usize = 64 * 1024;
/// How many bytes after its end a match may depend on: one character.
const LOOK_AHEAD: usize = 4;

/// Searches long texts for one pattern.
#[derive(Debug)]
pub(super) struct LongText {
    hir: Hir,
    /// An estimate of the number of states of the pattern.
    states: usize,
    /// The length of the longest possible match, if it is limited.
    max_len: Option<usize>,
    /// Built on first use.
    dfa: OnceLock<Option<InterruptibleDfa>>,
}

/// The search was cancelled before it found an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interrupted;

impl LongText {
    pub(super) fn new(hir: Hir) -> Self {
        let states = states_of(&hir).max(1);
        let max_len = hir.properties().maximum_len().filter(|it| *it <= MAX_OVERLAP);
        Self { hir, states, max_len, dfa: OnceLock::new() }
    }

    /// The pattern.
    pub(super) fn hir(&self) -> &Hir {
        &self.hir
    }

    /// How many bytes the engine may be given in one call.
    pub(super) fn bytes_at_once(&self) -> usize {
        (STEPS_AT_ONCE / self.states).clamp(LEAST_BYTES, MOST_BYTES)
    }

    /// Whether anchors of the pattern depend on carriage returns. Then a line cannot be searched without
    /// what follows it.
    pub(super) fn sees_carriage_returns(&self) -> bool {
        self.hir.properties().look_set().contains_anchor_crlf()
    }

    /// The first match at or after `at`. `find` calls the engine; `is_cancelled` is called after each
    /// short piece of work.
    pub(super) fn find(
        &self,
        text: &[u8],
        at: usize,
        find: &dyn Fn(&[u8], usize) -> Option<Match>,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Option<Match>, Interrupted> {
        let bytes = self.bytes_at_once();
        if text.len().saturating_sub(at) <= bytes {
            return if is_cancelled() { Err(Interrupted) } else { Ok(find(text, at)) };
        }
        if let Some(max_len) = self.max_len.filter(|it| *it <= bytes.max(1_024)) {
            return in_pieces(text, at, (bytes, max_len), find, is_cancelled);
        }
        // The pattern has been compiled by the engine, so compiling does not fail here either.
        let Some(dfa) = self.dfa.get_or_init(|| InterruptibleDfa::new(&self.hir)) else {
            return Ok(find(text, at));
        };
        dfa.find(text, at, is_cancelled)
    }
}

/// Searches pieces that overlap by the length of the longest match. Only matches that begin before
/// the overlap are used, because the others may be affected by the end of the piece.
fn in_pieces(
    text: &[u8],
    at: usize,
    (bytes, max_len): (usize, usize),
    find: &dyn Fn(&[u8], usize) -> Option<Match>,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<Option<Match>, Interrupted> {
    let mut from = at;
    loop {
        if is_cancelled() {
            return Err(Interrupted);
        }
        let next = from + bytes;
        let end = next.saturating_add(max_len + LOOK_AHEAD).min(text.len());
        let found = find(text.get(..end).unwrap_or(text), from);
        if end == text.len() {
            return Ok(found);
        }
        if let Some(found) = found.filter(|it| it.start() < next) {
            return Ok(Some(found));
        }
        from = next;
    }
}

/// An estimate of the number of states of a compiled pattern.
fn states_of(hir: &Hir) -> usize {
    match hir.kind() {
        HirKind::Empty => 0,
        HirKind::Literal(literal) => literal.0.len(),
        // A range of characters has up to four bytes, some of which are shared by ranges.
        HirKind::Class(Class::Unicode(class)) => 2 * class.ranges().len().max(1),
        HirKind::Look(_) | HirKind::Class(Class::Bytes(_)) => 1,
        HirKind::Repetition(repeated) => {
            let times = repeated.max.unwrap_or(repeated.min.saturating_add(1)).max(1);
            states_of(&repeated.sub).saturating_add(1).saturating_mul(times as usize)
        }
        HirKind::Capture(group) => states_of(&group.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().fold(parts.len(), |sum, it| sum.saturating_add(states_of(it)))
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::{super::interruptible_dfa::BLOCK_BYTES, *};

    fn parsed(pattern: &str) -> Hir {
        regex_syntax::ParserBuilder::new()
            .utf8(false)
            .multi_line(true)
            .build()
            .parse(pattern)
            .unwrap()
    }

    fn expected(pattern: &str, text: &[u8], at: usize) -> Option<Match> {
        let regex = regex::bytes::RegexBuilder::new(pattern).multi_line(true).build().unwrap();
        regex.find_at(text, at).map(|it| Match::new(it.start(), it.end()))
    }

    #[test]
    fn little_is_done_between_two_questions_whatever_the_pattern() {
        let text = "ab".repeat(2_000_000);
        for (pattern, least) in [
            // All states are known after a few steps: one check per block.
            ("a.*[^a-z]", 4_000_000 / BLOCK_BYTES),
            // The length of a match is limited: one check per piece.
            ("[ab]{200}x", 4_000_000 / MOST_BYTES),
            // Each byte leads to a new, large state.
            ("(?:a.{0,3000}){3}x$", 300),
        ] {
            let text = if least == 300 { text.get(..4_000).unwrap() } else { text.as_str() };
            let long = LongText::new(parsed(pattern));
            let asked = Cell::new(0);
            let find = |text: &[u8], at: usize| expected(pattern, text, at);
            let found = long.find(text.as_bytes(), 0, &find, &|| {
                asked.set(asked.get() + 1);
                false
            });
            assert_eq!(found, Ok(None), "{pattern}");
            assert!(asked.get() >= least, "{pattern}: {} questions", asked.get());
        }
    }

    #[test]
    fn a_search_that_is_left_ends_with_the_next_question() {
        let text = "ab".repeat(3_000_000);
        for pattern in ["a.*[^a-z]", "ab{2}c", r"\ba.*é"] {
            let long = LongText::new(parsed(pattern));
            let asked = Cell::new(0);
            let is_cancelled = || {
                asked.set(asked.get() + 1);
                asked.get() > 2
            };
            let found = long.find(text.as_bytes(), 0, &|_, _| None, &is_cancelled);
            assert_eq!((found, asked.get()), (Err(Interrupted), 3), "{pattern}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn a_long_text_is_searched_as_by_the_engine(
            pattern in prop::sample::select(vec![
                "a.*b", "a+?b", r"\bé*a\b", "^b|a$", "(a|ab)(c|bcd)*", "b*", r"\Ba", "[^a]+c$", "a|b.*",
                "ab", r"\bab\b", "(?i)É|b{2,3}", r"c\z", r"\Aa", "^$",
            ]),
            text in "[abcé\n]{0,60}",
            at in 0_usize..8,
        ) {
            let text = text.as_bytes();
            let at = at.min(text.len());
            let long = LongText::new(parsed(pattern));
            let wanted = expected(pattern, text, at);
            let dfa = InterruptibleDfa::new(&long.hir).unwrap();
            prop_assert_eq!(dfa.find(text, at, &|| false), Ok(wanted), "{}", pattern);
            let all = dfa.find_by_simulation(text, at, &|| false);
            prop_assert_eq!(all, Ok(wanted), "{}", pattern);
            if let Some(max_len) = long.max_len {
                let find = |text: &[u8], at: usize| expected(pattern, text, at);
                let found = in_pieces(text, at, (5, max_len), &find, &|| false);
                prop_assert_eq!(found, Ok(wanted), "{}", pattern);
            }
        }
    }
}
