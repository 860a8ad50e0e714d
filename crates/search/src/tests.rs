//! Searches of single files: how many rows are kept, and when cancellation is checked.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{
    cell::Cell,
    fs::{self, File},
};

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use tempfile::TempDir;
use toolwright_files::{RelativePaths, Roots};
use toolwright_walk::HiddenFiles;

use super::{
    file_visitor::{FileMatches, FileVisitor, GroupMatches},
    *,
};

/// A search of one file.
struct SingleFileSearch<'a> {
    text: &'a [u8],
    pattern: &'a str,
    span: MatchSpan,
    shape: Shape,
    offset: usize,
    limit: Option<usize>,
}

const ONLY_MATCHING: Shape = Shape::Lines { before: 0, after: 0, only_matching: true };
const WHOLE_LINES: Shape = Shape::Lines { before: 0, after: 0, only_matching: false };

impl SingleFileSearch<'_> {
    /// What a visitor finds in the file.
    fn visit(&self, cancelled: &dyn Fn() -> bool) -> GroupMatches {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, self.text).unwrap();
        let roots = Roots::new(dir.path(), &[]).unwrap();
        let start = roots.resolve("file", RelativePaths::FromFirstRoot).unwrap();
        let request = SearchRequest {
            scope: Scope {
                start: &start,
                selection: &Selection::new(HiddenFiles::Seen),
                global_excludes: None,
                visibility: &Visibility::everything(),
                threads: &SearchThreads::new(0),
                index: None,
            },
            query: &Query::new(self.pattern, super::CaseSensitivity::Sensitive, self.span).unwrap(),
            shape: self.shape,
            offset: self.offset,
            limit: self.limit,
            max_bytes: 1024 * 1024,
        };
        let mut group = GroupMatches::default();
        let file = File::open(&path).unwrap();
        FileVisitor::new(&request, true, None).named_file(file, &path, &mut group, cancelled);
        group
    }

    fn rows(&self) -> Vec<Row> {
        let group = self.visit(&|| false);
        let rows = group.hits.into_iter().map(|(_, hit)| match hit {
            FileMatches::Rows(rows) => rows,
            FileMatches::Present(_) | FileMatches::Count(_) => Vec::new(),
        });
        rows.flatten().collect()
    }
}

#[test]
fn a_slow_pattern_checks_for_cancellation_within_one_line() {
    let text = "A".repeat(200_000);
    for (span, shape) in [(MatchSpan::Line, ONLY_MATCHING), (MatchSpan::Lines, Shape::Counts)] {
        let asked = Cell::new(0);
        let stop_soon = || {
            asked.set(asked.get() + 1);
            asked.get() > 20
        };
        let case = SingleFileSearch {
            text: text.as_bytes(),
            // Each match is one letter, but reads all that follow.
            pattern: ".*[^A-Z]|[A-Z]",
            span,
            shape,
            offset: 0,
            limit: None,
        };
        let group = case.visit(&stop_soon);
        assert!(asked.get() > 20, "{span:?}: asked {} times", asked.get());
        assert!(group.unreadable.is_empty() && group.hits.len() <= 1, "{group:?}");
        if let Some((_, FileMatches::Rows(rows))) = group.hits.first() {
            assert!(rows.len() < 1_000, "{}", rows.len());
        }
    }
}

#[test]
fn no_more_rows_are_made_than_an_answer_shows() {
    for (pattern, shape) in [("[\\s\\S]+", WHOLE_LINES), ("a\\n", ONLY_MATCHING)] {
        let case = SingleFileSearch {
            text: &b"a\n".repeat(50_000),
            pattern,
            span: MatchSpan::Lines,
            shape,
            offset: 10,
            limit: Some(3),
        };
        // One more, which shows that there are more.
        assert_eq!(case.rows().len(), 10 + 3 + 1, "{pattern}");
    }
}

#[test]
fn rows_that_are_passed_over_keep_no_text() {
    let case = SingleFileSearch {
        text: &b"some words\n".repeat(20),
        pattern: "words",
        span: MatchSpan::Line,
        shape: WHOLE_LINES,
        offset: 15,
        limit: None,
    };
    let rows = case.rows();
    let texts: Vec<bool> =
        rows.iter().map(|it| it.text == RowText::Whole("some words".into())).collect();
    assert_eq!(texts, [vec![false; 15], vec![true; 5]].concat());
    assert_eq!(rows.last().unwrap().line, Some(20));
}

#[test]
fn the_reason_why_a_file_is_too_large_depends_on_the_kind_of_search() {
    let large = b"short\n".repeat(17 * 1024 * 1024 / 6);
    let one_line = vec![b'a'; 17 * 1024 * 1024];
    for (text, span, why) in [
        (&large, MatchSpan::Lines, "the limit for matches that span lines"),
        (&one_line, MatchSpan::Line, "a line is longer than"),
    ] {
        let case = SingleFileSearch {
            text,
            pattern: "absent\\s",
            span,
            shape: Shape::Counts,
            offset: 0,
            limit: None,
        };
        let unreadable = case.visit(&|| false).unreadable;
        assert!(unreadable.first().unwrap().1.contains(why), "{unreadable:?}");
    }
}

#[test]
fn one_long_line_is_left_after_a_moment_whatever_the_pattern() {
    let text = format!("{}é", "ab".repeat(3_000_000));
    for (span, pattern) in [
        (MatchSpan::Line, "a.*[^a-zé]"),
        (MatchSpan::Lines, "a[^x]*[^a-zé]"),
        (MatchSpan::Line, "(ab){3}x"),
        (MatchSpan::Line, r"\bb.*x"),
        (MatchSpan::Lines, "(?:a.{0,3000}){3}x$"),
    ] {
        let (asked, enough) = (Cell::new(0), 4);
        let stop_soon = || {
            asked.set(asked.get() + 1);
            asked.get() >= enough
        };
        let case = SingleFileSearch {
            text: text.as_bytes(),
            pattern,
            span,
            shape: Shape::Counts,
            offset: 0,
            limit: None,
        };
        let group = case.visit(&stop_soon);
        // The fourth check cancelled it: there was no further check, and no match.
        assert_eq!((asked.get(), group.hits.len()), (enough, 0), "{pattern}");
    }
}

#[test]
#[cfg(unix)]
fn an_explanation_gives_up_after_a_fixed_number_of_files() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join(".ignore"), "/ignored\n").unwrap();
    fs::create_dir(dir.path().join("ignored")).unwrap();
    let explain = |files: std::ops::Range<usize>| {
        for file in files {
            fs::write(dir.path().join(format!("ignored/{file:05}")), "").unwrap();
        }
        let roots = Roots::new(dir.path(), &[]).unwrap();
        let start = roots.resolve(".", RelativePaths::FromFirstRoot).unwrap();
        let request = SearchRequest {
            scope: Scope {
                start: &start,
                selection: &Selection::new(HiddenFiles::Seen),
                global_excludes: None,
                visibility: &Visibility::everything(),
                threads: &SearchThreads::new(1),
                index: None,
            },
            query: &Query::new("needle", super::CaseSensitivity::Sensitive, MatchSpan::Line)
                .unwrap(),
            shape: Shape::Files,
            offset: 0,
            limit: None,
            max_bytes: 1024,
        };
        search(&request, &|| false).unwrap().would_match
    };
    assert_eq!(explain(0..19_000), WouldMatch::default());
    fs::write(dir.path().join("ignored/zzz"), "needle").unwrap();
    assert_eq!(explain(0..0).left_out, [dir.path().canonicalize().unwrap().join("ignored/zzz")]);
    // After 20,000 other files it is not searched, and the answer says so.
    let behind = explain(19_000..20_001);
    assert_eq!((behind.left_out.len(), behind.gave_up), (0, true));
}

/// The parts of each line that matches cover, found by checking every match for every line.
fn parts_by_line(text: &str, pattern: &str) -> Vec<(u64, String)> {
    let regex = regex::RegexBuilder::new(pattern).multi_line(true).build().unwrap();
    let matches: Vec<_> = regex.find_iter(text).collect();
    let mut parts = Vec::new();
    let mut start = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let end = start + line.trim_end_matches('\n').len();
        for found in &matches {
            let (from, to) = (found.start().max(start), found.end().min(end));
            if from < to || (found.is_empty() && (start..end).contains(&from)) {
                parts.push((index as u64 + 1, text.get(from..to).unwrap().to_owned()));
            }
        }
        start += line.len();
    }
    parts
}

proptest! {
    #[test]
    fn matches_over_lines_are_shown_line_by_line(
        text in "([ab]{0,3}\n){0,12}[ab]{0,2}",
        pattern in prop::sample::select(vec![
            "a\\n", "a\\nb", "b*\\n+", "a[\\s\\S]*?b", "\\n\\n", "b|\\na", "(a|\\n)+", "ab?\\n?",
        ]),
    ) {
        let case = SingleFileSearch {
            text: text.as_bytes(),
            pattern,
            span: MatchSpan::Lines,
            shape: ONLY_MATCHING,
            offset: 0,
            limit: None,
        };
        let rows: Vec<(u64, String)> = case
            .rows()
            .into_iter()
            .map(|row| match row.text {
                RowText::Whole(text) => (row.line.unwrap(), text.into_string()),
                RowText::Long { .. } => (0, String::new()),
            })
            .collect();
        prop_assert_eq!(rows, parts_by_line(&text, pattern), "{} in {:?}", pattern, text);
    }
}
