//! The pattern of a search: a regular expression in ripgrep's syntax, with limits on its size.

use std::sync::Arc;

use grep_matcher::{LineTerminator, Matcher as _};
use grep_regex::{ErrorKind, RegexMatcherBuilder};
use regex_syntax::hir::{Hir, HirKind};

use super::{line_matcher::LineMatcher, long_text::LongText, required_text::RequiredText};

/// The length of the longest pattern. Parsing takes some hundred times as much memory.
const MAX_PATTERN_BYTES: usize = 32 * 1024;
/// How many Unicode classes like `\w` a pattern may have. Each takes some kilobytes.
const MAX_UNICODE_CLASSES: usize = 1_000;
/// The size of the largest compiled pattern. By its default limit the engine would let a short pattern
/// take 100 MiB.
pub(super) const MAX_COMPILED_BYTES: usize = 10 * 1024 * 1024;
/// The size of the DFA cache of each thread.
const MAX_AUTOMATON_BYTES: usize = 2 * 1024 * 1024;

/// The length of the longest pattern that an error shows, with a caret below the mistake.
const MAX_SHOWN_BYTES: usize = 1_000;

/// Whether upper and lower case are distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseSensitivity {
    /// `a` does not match `A`.
    Sensitive,
    /// `a` matches `A`.
    Insensitive,
}

/// What one match may span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchSpan {
    /// A match is within one line.
    Line,
    /// A match may span lines, and a dot matches line breaks, too.
    Lines,
}

/// Why a pattern was refused.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The pattern is invalid or too large.
    #[error("{0}")]
    Malformed(String),
    /// The pattern can only match across lines, but matches are limited to one line.
    #[error("every match would contain a line break, but a match is limited to one line")]
    NeedsLines,
    /// A part of the pattern can only match across lines, but matches are limited to one line.
    #[error("part of the pattern contains a line break, but a match is limited to one line")]
    PartNeedsLines,
}

/// A compiled pattern, ready to be used by several threads.
#[derive(Clone, Debug)]
pub struct Query {
    pub(super) matcher: LineMatcher,
    pub(super) span: MatchSpan,
}

impl Query {
    /// Compiles a pattern, after checking its size.
    pub fn new(pattern: &str, case: CaseSensitivity, span: MatchSpan) -> Result<Self, QueryError> {
        check_size(pattern)?;
        let mut builder = RegexMatcherBuilder::new();
        builder
            .multi_line(true)
            .case_insensitive(case == CaseSensitivity::Insensitive)
            .size_limit(MAX_COMPILED_BYTES)
            .dfa_size_limit(MAX_AUTOMATON_BYTES);
        match span {
            MatchSpan::Line => builder.line_terminator(Some(b'\n')),
            MatchSpan::Lines => builder.dot_matches_new_line(true),
        };
        match builder.build(pattern) {
            Ok(regex) => {
                let Some(hir) = parsed(pattern, case, span) else {
                    return Err(QueryError::Malformed("the pattern cannot be parsed".to_owned()));
                };
                let required_text =
                    if span == MatchSpan::Line { RequiredText::of(&hir) } else { None };
                let long_text = Arc::new(LongText::new(hir));
                Ok(Self { matcher: LineMatcher { regex, required_text, long_text }, span })
            }
            Err(error) => Err(match error.kind() {
                ErrorKind::NotAllowed(_) | ErrorKind::Banned(_) => {
                    match parsed(pattern, case, span).map(|it| always_ends_a_line(&it)) {
                        Some(true) => QueryError::NeedsLines,
                        Some(false) | None => QueryError::PartNeedsLines,
                    }
                }
                ErrorKind::Regex(message) if message.starts_with("compiled regex exceeds") => {
                    QueryError::Malformed(format!(
                        "the pattern is too large when compiled (more than {MAX_COMPILED_BYTES} bytes); use smaller repetitions"
                    ))
                }
                _ => {
                    QueryError::Malformed(explanation(pattern).unwrap_or_else(|| error.to_string()))
                }
            }),
        }
    }
}

impl Query {
    /// The pattern, parsed. Every match of the query is a match of it.
    pub(crate) fn hir(&self) -> &Hir {
        self.matcher.long_text.hir()
    }

    /// Whether a match may span lines. As in the searcher, it may not if the pattern cannot match a line
    /// break, whatever was asked for.
    pub(crate) fn spans_lines(&self) -> bool {
        let regex = &self.matcher.regex;
        self.span == MatchSpan::Lines
            && regex.line_terminator() != Some(LineTerminator::byte(b'\n'))
            && !regex.non_matching_bytes().is_some_and(|it| it.contains(b'\n'))
    }

    /// Whether a line has the same matches wherever it is in a file and whatever is around it, so that
    /// some lines of a file can be searched without the others.
    pub(super) fn sees_single_lines(&self) -> bool {
        let looks = self.hir().properties().look_set();
        !self.spans_lines() && !looks.contains_anchor_haystack() && !looks.contains_anchor_crlf()
    }
}

/// Limits what parsing the pattern may cost, before it is parsed.
fn check_size(pattern: &str) -> Result<(), QueryError> {
    if pattern.len() > MAX_PATTERN_BYTES {
        return Err(QueryError::Malformed(format!(
            "the pattern has {} bytes; at most {MAX_PATTERN_BYTES} are taken; search for less at once",
            pattern.len()
        )));
    }
    let after_backslash = pattern.split('\\').skip(1);
    let classes =
        after_backslash.filter(|it| it.starts_with(['w', 'W', 'd', 'D', 's', 'S', 'p', 'P']));
    let classes = classes.count();
    if classes > MAX_UNICODE_CLASSES {
        return Err(QueryError::Malformed(format!(
            "the pattern has {classes} classes like `\\w`; at most {MAX_UNICODE_CLASSES} are taken; use repetitions"
        )));
    }
    Ok(())
}

/// The pattern, parsed in the same way as by the matcher.
fn parsed(pattern: &str, case: CaseSensitivity, span: MatchSpan) -> Option<Hir> {
    let mut parser = regex_syntax::ParserBuilder::new()
        .utf8(false)
        .multi_line(true)
        .case_insensitive(case == CaseSensitivity::Insensitive)
        .dot_matches_new_line(span == MatchSpan::Lines)
        .build();
    parser.parse(pattern).ok()
}

/// Whether every match contains a line break.
fn always_ends_a_line(pattern: &Hir) -> bool {
    match pattern.kind() {
        HirKind::Literal(literal) => literal.0.contains(&b'\n'),
        HirKind::Capture(group) => always_ends_a_line(&group.sub),
        HirKind::Repetition(repeated) => repeated.min > 0 && always_ends_a_line(&repeated.sub),
        HirKind::Concat(parts) => parts.iter().any(always_ends_a_line),
        HirKind::Alternation(branches) => branches.iter().all(always_ends_a_line),
        HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) => false,
    }
}

/// Explains what is wrong with a pattern, with a caret below the mistake. The error of the matcher is
/// not used, because it shows the pattern with additions that the caller did not write.
fn explanation(pattern: &str) -> Option<String> {
    let error = regex_syntax::parse(pattern).err()?;
    if pattern.len() <= MAX_SHOWN_BYTES {
        return Some(error.to_string());
    }
    let (what, place) = match &error {
        regex_syntax::Error::Parse(error) => (error.kind().to_string(), error.span().start.offset),
        regex_syntax::Error::Translate(error) => {
            (error.kind().to_string(), error.span().start.offset)
        }
        _ => return Some("the pattern is not a regular expression".to_owned()),
    };
    Some(format!("regex parse error at byte {place} of the pattern: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(pattern: &str) -> String {
        Query::new(pattern, CaseSensitivity::Sensitive, MatchSpan::Line)
            .err()
            .map(|it| it.to_string())
            .unwrap_or_default()
    }

    #[test]
    fn a_mistake_is_shown_below_the_pattern_as_it_was_written() {
        assert_eq!(
            refused("a(b[c-"),
            "regex parse error:\n    a(b[c-\n       ^\nerror: unclosed character class"
        );
        assert!(refused("need(?=le)").contains("look-around"), "{}", refused("need(?=le)"));
    }

    #[test]
    fn a_pattern_that_is_too_large_or_too_deep_is_refused_in_few_words() {
        assert!(refused("(a{1000}){1000}").contains("too large when compiled"));
        let many = (0..200_000).map(|it| format!("word{it}")).collect::<Vec<_>>().join("|");
        assert!(refused(&many).contains("at most 32768 are taken"), "{}", refused(&many));
        let classes = r"\w".repeat(1_001);
        assert!(refused(&classes).contains("at most 1000 are taken"), "{}", refused(&classes));
        let nested = format!("{}{}", "(".repeat(5_000), ")".repeat(5_000));
        let message = refused(&nested);
        assert!(message.contains("nest") && message.len() < 200, "{message}");
    }

    #[test]
    fn anchors_at_carriage_returns_see_the_whole_text() {
        let query = |pattern| Query::new(pattern, CaseSensitivity::Sensitive, MatchSpan::Line);
        let has_filter =
            |pattern| query(pattern).is_ok_and(|it| it.matcher.required_text.is_some());
        assert!(has_filter("fooo[^x]*\\r$"));
        assert!(!has_filter("(?R)fooo[^x]*\\r$"));
    }

    #[test]
    fn a_pattern_that_needs_several_lines_has_its_own_error() {
        let within = Query::new("a\\nb", CaseSensitivity::Sensitive, MatchSpan::Line);
        assert!(matches!(within, Err(QueryError::NeedsLines)));
        for (pattern, all) in [("a\\n|(b\\nc)+", true), ("a|b\\n", false), ("a(b\\n)?", false)] {
            let refused = Query::new(pattern, CaseSensitivity::Sensitive, MatchSpan::Line);
            let needs_lines = matches!(refused, Err(QueryError::NeedsLines));
            let in_part = matches!(refused, Err(QueryError::PartNeedsLines));
            assert_eq!((needs_lines, in_part), (all, !all), "{pattern}");
        }
        assert!(Query::new("a\\nb", CaseSensitivity::Sensitive, MatchSpan::Lines).is_ok());
    }
}
