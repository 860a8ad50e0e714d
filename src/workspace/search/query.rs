//! What is searched for: a regular expression as ripgrep reads it, within limits.

use std::sync::Arc;

use grep_regex::{ErrorKind, RegexMatcherBuilder};
use regex_syntax::hir::{Hir, HirKind};

use super::{line_matcher::LineMatcher, long_text::LongText, needed::Needed};

/// The longest pattern that is taken. To read one takes some hundred times as much memory.
const MAX_PATTERN_BYTES: usize = 32 * 1024;
/// How many times a pattern may have a class of Unicode, like `\w`: each is some kilobytes of ranges.
const MAX_UNICODE_CLASSES: usize = 1_000;
/// The largest compiled pattern. The engine's own limit would let a short pattern take 100 MiB.
pub(super) const MAX_COMPILED_BYTES: usize = 10 * 1024 * 1024;
/// How much each thread may cache of a pattern's automaton.
const MAX_AUTOMATON_BYTES: usize = 2 * 1024 * 1024;

/// The longest pattern that is shown with a caret below the mistake.
const MAX_SHOWN_BYTES: usize = 1_000;

/// Whether upper and lower case are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// They differ.
    Sensitive,
    /// They are the same.
    Insensitive,
}

/// What one match may span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// A part of one line.
    Line,
    /// Several lines; a dot matches line ends too.
    Lines,
}

/// Why a pattern was refused.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// It does not parse, or is too large.
    #[error("{0}")]
    Malformed(String),
    /// It can only match across lines, and is to match within one.
    #[error("every match would have a line end in it, and a match is within a line")]
    NeedsLines,
    /// Some of what it matches is across lines, and it is to match within one.
    #[error("part of the pattern has a line end in it, and a match is within a line")]
    PartNeedsLines,
}

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Query {
    pub(super) matcher: LineMatcher,
    pub(super) span: Span,
}

impl Query {
    /// Compiles a pattern.
    pub fn new(pattern: &str, case: Case, span: Span) -> Result<Self, QueryError> {
        check_size(pattern)?;
        let mut builder = RegexMatcherBuilder::new();
        builder
            .multi_line(true)
            .case_insensitive(case == Case::Insensitive)
            .size_limit(MAX_COMPILED_BYTES)
            .dfa_size_limit(MAX_AUTOMATON_BYTES);
        match span {
            Span::Line => builder.line_terminator(Some(b'\n')),
            Span::Lines => builder.dot_matches_new_line(true),
        };
        match builder.build(pattern) {
            Ok(regex) => {
                let Some(hir) = parsed(pattern, case, span) else {
                    return Err(QueryError::Malformed("the pattern cannot be read".to_owned()));
                };
                let needed = if span == Span::Line { Needed::of(&hir) } else { None };
                let long_text = Arc::new(LongText::new(hir));
                Ok(Self { matcher: LineMatcher { regex, needed, long_text }, span })
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

/// What a pattern may cost is known before it is read.
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

/// The pattern as the matcher reads it.
fn parsed(pattern: &str, case: Case, span: Span) -> Option<Hir> {
    let mut parser = regex_syntax::ParserBuilder::new()
        .utf8(false)
        .multi_line(true)
        .case_insensitive(case == Case::Insensitive)
        .dot_matches_new_line(span == Span::Lines)
        .build();
    parser.parse(pattern).ok()
}

/// Whether every match has a line end in it.
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

/// What is wrong with a pattern, with a caret below the place. The matcher's own error shows the
/// pattern with additions that nobody wrote.
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
        Query::new(pattern, Case::Sensitive, Span::Line)
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
        let query = |pattern| Query::new(pattern, Case::Sensitive, Span::Line);
        let has_filter = |pattern| query(pattern).is_ok_and(|it| it.matcher.needed.is_some());
        assert!(has_filter("fooo[^x]*\\r$"));
        assert!(!has_filter("(?R)fooo[^x]*\\r$"));
    }

    #[test]
    fn a_pattern_over_lines_is_told_from_a_wrong_one() {
        let within = Query::new("a\\nb", Case::Sensitive, Span::Line);
        assert!(matches!(within, Err(QueryError::NeedsLines)));
        for (pattern, all) in [("a\\n|(b\\nc)+", true), ("a|b\\n", false), ("a(b\\n)?", false)] {
            let refused = Query::new(pattern, Case::Sensitive, Span::Line);
            let needs_lines = matches!(refused, Err(QueryError::NeedsLines));
            let in_part = matches!(refused, Err(QueryError::PartNeedsLines));
            assert_eq!((needs_lines, in_part), (all, !all), "{pattern}");
        }
        assert!(Query::new("a\\nb", Case::Sensitive, Span::Lines).is_ok());
    }
}
