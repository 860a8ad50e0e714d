//! Text that every match of a pattern contains. Few lines contain it, and looking for it is several
//! times faster than running the pattern, so it serves as a prefilter.

use regex_automata::{MatchKind, Span, util::prefilter::Prefilter};
use regex_syntax::hir::{Hir, HirKind};

/// Shorter texts occur too often to be useful.
const SHORTEST: usize = 3;
/// More alternatives than this cannot be found quickly.
const MOST_TEXTS: usize = 32;

/// Finds places where a match is possible.
#[derive(Clone, Debug)]
pub(super) struct RequiredText(Prefilter);

impl RequiredText {
    /// The required text of a pattern. `None` if there is none, if the pattern itself is found just as
    /// quickly, or if a match depends on more than its line.
    pub(super) fn of(pattern: &Hir) -> Option<Self> {
        let properties = pattern.properties();
        if properties.is_literal() || properties.is_alternation_literal() {
            return None;
        }
        // Lines are matched without their line ending, on which such an anchor depends.
        if properties.look_set().contains_anchor_crlf() {
            return None;
        }
        let texts = texts_in(pattern)?;
        let found = Prefilter::new(MatchKind::All, &texts.0)?;
        found.is_fast().then_some(Self(found))
    }

    /// The first position whose line may contain a match.
    pub(super) fn find(&self, haystack: &[u8]) -> Option<usize> {
        self.0.find(haystack, Span::from(0..haystack.len())).map(|it| it.start)
    }
}

/// Every match contains one of these.
#[derive(Debug, PartialEq, Eq)]
struct AlternativeTexts<'p>(Vec<&'p [u8]>);

impl AlternativeTexts<'_> {
    fn shortest(&self) -> usize {
        self.0.iter().map(|it| it.len()).min().unwrap_or_default()
    }

    /// Longer texts occur less often. Of equally long ones, fewer are found faster.
    fn is_better_than(&self, other: &Self) -> bool {
        let rank = |it: &Self| (it.shortest(), std::cmp::Reverse(it.0.len()));
        rank(self) > rank(other)
    }
}

fn texts_in(pattern: &Hir) -> Option<AlternativeTexts<'_>> {
    match pattern.kind() {
        HirKind::Literal(literal) => {
            (literal.0.len() >= SHORTEST).then(|| AlternativeTexts(vec![&literal.0]))
        }
        HirKind::Capture(group) => texts_in(&group.sub),
        HirKind::Repetition(repeated) => {
            if repeated.min == 0 {
                return None;
            }
            texts_in(&repeated.sub)
        }
        HirKind::Concat(parts) => parts
            .iter()
            .filter_map(texts_in)
            .reduce(|best, other| if other.is_better_than(&best) { other } else { best }),
        HirKind::Alternation(branches) => {
            let mut all = Vec::new();
            for branch in branches {
                all.extend(texts_in(branch)?.0);
                if all.len() > MOST_TEXTS {
                    return None;
                }
            }
            Some(AlternativeTexts(all))
        }
        HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) => None,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    fn needed(pattern: &str) -> Vec<String> {
        let hir = regex_syntax::parse(pattern).unwrap();
        let texts = texts_in(&hir).map(|it| it.0).unwrap_or_default();
        texts.into_iter().map(|it| String::from_utf8_lossy(it).into_owned()).collect()
    }

    #[test]
    fn the_longest_text_of_a_pattern_is_needed() {
        assert_eq!(needed(r"\b(kmalloc|kzalloc)\([^,]+, GFP_\w+\)"), ["kmalloc", "kzalloc"]);
        assert_eq!(needed(r"foo\s+barbaz"), ["barbaz"]);
        assert_eq!(needed(r"(abcd)+x?"), ["abcd"]);
        assert_eq!(needed(r"(abcd){2,}"), ["abcd"]);
    }

    #[test]
    fn nothing_is_needed_that_a_match_can_do_without() {
        for pattern in [
            "(abcd)?x",
            "(abcd)*",
            "abcd|x",
            "abcd|.*",
            "(?i)abcd",
            "[abc]+",
            "a.b",
            "",
            r"\w+",
            "(abcd){0,3}",
        ] {
            assert_eq!(needed(pattern), Vec::<String>::new(), "{pattern}");
        }
    }

    #[test]
    fn what_the_engine_finds_as_fast_or_otherwise_is_left_to_it() {
        for pattern in ["abcdef", "abcdef|ghijkl", r"(?mR)abcdef[^x]*\r$", "(?mR:^)abcdef"] {
            assert!(RequiredText::of(&regex_syntax::parse(pattern).unwrap()).is_none());
        }
        assert!(RequiredText::of(&regex_syntax::parse("abcdef.*g").unwrap()).is_some());
    }

    proptest! {
        #[test]
        fn every_text_with_a_match_has_what_is_needed(
            pattern in "((abc|bca|c{1,3}a|ab?c)[abc.]?(abc)?|(abca|bcab)+|[ab]bca){1,3}",
            text in "[abc]{0,40}",
        ) {
            let hir = regex_syntax::parse(&pattern).unwrap();
            let matches = regex::Regex::new(&pattern).unwrap().is_match(&text);
            if let Some(needed) = RequiredText::of(&hir) {
                prop_assert!(!matches || needed.find(text.as_bytes()).is_some(), "{pattern} {text}");
            }
        }
    }
}
