//! Matches in a text too long to be searched in one go, by an engine that can be left at any byte.
//!
//! The regex engine looks at a text until it knows, and nobody can stop it: in a line of some megabytes,
//! or with a large pattern in a short one, that takes seconds. So it is given no more than it can do in a
//! moment. A longer text is searched here: where no match is longer than so many bytes, in pieces that
//! overlap; otherwise step by step, by an automaton that is made as it goes, or, where that cannot tell,
//! by following all ways through the pattern at once.

use std::sync::OnceLock;

use grep_matcher::Match;
use regex_syntax::hir::{Class, Hir, HirKind};

use super::stepping::Stepper;

/// How many steps the engine may take in one go: bytes, each times the states of the pattern.
const STEPS_AT_ONCE: usize = 16 * 1024 * 1024;
/// The least and the most bytes that this may be.
const LEAST_BYTES: usize = 64;
const MOST_BYTES: usize = 1024 * 1024;
/// The longest match that a search in pieces is for.
const MAX_OVERLAP: usize = 64 * 1024;
/// How far beyond its end a match may look: one character.
const LOOK_AHEAD: usize = 4;

/// How long texts are searched for one pattern.
#[derive(Debug)]
pub(super) struct LongText {
    hir: Hir,
    /// About how many states the pattern has.
    states: usize,
    /// The longest match there can be, if there is one.
    max_len: Option<usize>,
    /// Made when first needed.
    stepper: OnceLock<Option<Stepper>>,
}

/// Whoever waited does not wait any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Left;

impl LongText {
    pub(super) fn new(hir: Hir) -> Self {
        let states = states_of(&hir).max(1);
        let max_len = hir.properties().maximum_len().filter(|it| *it <= MAX_OVERLAP);
        Self { hir, states, max_len, stepper: OnceLock::new() }
    }

    /// How many bytes the engine may be given at once.
    pub(super) fn bytes_at_once(&self) -> usize {
        (STEPS_AT_ONCE / self.states).clamp(LEAST_BYTES, MOST_BYTES)
    }

    /// Whether anchors look at carriage returns: a line alone does not tell what follows it.
    pub(super) fn sees_carriage_returns(&self) -> bool {
        self.hir.properties().look_set().contains_anchor_crlf()
    }

    /// The first match from a place on. `find` asks the engine; `left` says whether to stop, and is asked
    /// after each moment of work.
    pub(super) fn find(
        &self,
        text: &[u8],
        at: usize,
        find: &dyn Fn(&[u8], usize) -> Option<Match>,
        left: &dyn Fn() -> bool,
    ) -> Result<Option<Match>, Left> {
        let bytes = self.bytes_at_once();
        if text.len().saturating_sub(at) <= bytes {
            return if left() { Err(Left) } else { Ok(find(text, at)) };
        }
        if let Some(max_len) = self.max_len.filter(|it| *it <= bytes.max(1_024)) {
            return in_pieces(text, at, (bytes, max_len), find, left);
        }
        // What the engine compiled compiles here too.
        let Some(stepper) = self.stepper.get_or_init(|| Stepper::new(&self.hir)) else {
            return Ok(find(text, at));
        };
        stepper.find(text, at, left)
    }
}

/// Searches pieces that overlap by the longest match: where each piece ends is not seen by any match that
/// counts.
fn in_pieces(
    text: &[u8],
    at: usize,
    (bytes, max_len): (usize, usize),
    find: &dyn Fn(&[u8], usize) -> Option<Match>,
    left: &dyn Fn() -> bool,
) -> Result<Option<Match>, Left> {
    let mut from = at;
    loop {
        if left() {
            return Err(Left);
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

/// About how many states a pattern has when it is compiled.
fn states_of(hir: &Hir) -> usize {
    match hir.kind() {
        HirKind::Empty => 0,
        HirKind::Literal(literal) => literal.0.len(),
        // A range of characters is up to four bytes, many of which ranges share.
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

    use super::{super::stepping::BLOCK_BYTES, *};

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
            // Known after a few steps: one question for each block.
            ("a.*[^a-z]", 4_000_000 / BLOCK_BYTES),
            // A match is never long: one for each piece.
            ("[ab]{200}x", 4_000_000 / MOST_BYTES),
            // Each byte makes a new state of very many.
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
            let left = || {
                asked.set(asked.get() + 1);
                asked.get() > 2
            };
            let found = long.find(text.as_bytes(), 0, &|_, _| None, &left);
            assert_eq!((found, asked.get()), (Err(Left), 3), "{pattern}");
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
            let stepper = Stepper::new(&long.hir).unwrap();
            prop_assert_eq!(stepper.find(text, at, &|| false), Ok(wanted), "{}", pattern);
            let all = stepper.find_by_all_ways(text, at, &|| false);
            prop_assert_eq!(all, Ok(wanted), "{}", pattern);
            if let Some(max_len) = long.max_len {
                let find = |text: &[u8], at: usize| expected(pattern, text, at);
                let found = in_pieces(text, at, (5, max_len), &find, &|| false);
                prop_assert_eq!(found, Ok(wanted), "{}", pattern);
            }
        }
    }
}
