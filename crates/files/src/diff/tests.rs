//! Tests of diffs: their format, their limits, and that they can be applied.

#![expect(clippy::format_collect, clippy::indexing_slicing, clippy::unwrap_used, reason = "tests")]

use std::time::Instant;

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

fn diff(old: &str, new: &str) -> Diff {
    unified_diff(old, new, "a.txt", &DiffLimits::default())
}

fn numbered(count: usize) -> String {
    (1..=count).map(|it| format!("line {it}\n")).collect()
}

#[test]
fn a_change_is_shown_with_three_lines_around_it_and_true_line_numbers() {
    let old = numbered(20);
    let new = old.replace("line 10\n", "line ten\nand more\n");
    let expected = "--- a.txt\n+++ a.txt\n@@ -7,7 +7,8 @@\n line 7\n line 8\n line 9\n-line 10\n+line ten\n+and more\n line 11\n line 12\n line 13\n";
    assert_eq!(
        diff(&old, &new),
        Diff { text: expected.to_owned(), added: 2, removed: 1, cut: false }
    );
}

#[test]
fn equal_texts_have_no_diff() {
    assert_eq!(diff("a\n", "a\n"), Diff::default());
}

#[test]
fn a_missing_final_newline_is_shown() {
    let shown = diff("a\nb", "a\nb\n");
    assert_eq!(
        shown.text,
        "--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"
    );
}

#[test]
fn a_new_file_and_an_emptied_one_name_line_zero() {
    assert_eq!(diff("", "a\n").text, "--- a.txt\n+++ a.txt\n@@ -0,0 +1 @@\n+a\n");
    assert_eq!(diff("a\n", "").text, "--- a.txt\n+++ a.txt\n@@ -1 +0,0 @@\n-a\n");
}

#[test]
fn lines_that_do_not_fit_are_counted_and_reported() {
    let limits = DiffLimits { max_lines: 3, ..DiffLimits::default() };
    let shown = unified_diff("", &numbered(10), "a\nb", &limits);
    assert_eq!(
        shown.text,
        "--- a\u{fffd}b\n+++ a\u{fffd}b\n@@ -0,0 +1,10 @@\n+line 1\n+line 2\n+line 3\n… [7 more lines of this diff; in all 10 added, 0 removed]\n"
    );
    assert_eq!((shown.added, shown.cut), (10, true));
    let long = "é".repeat(5_000);
    let shown = diff("", &long);
    assert!(shown.text.contains("… [4000 more characters]") && shown.cut);
}

#[test]
fn two_texts_with_nothing_in_common_end_in_time() {
    let old: String = (0..200_000).map(|it| format!("{it}\n")).collect();
    let new: String = (0..200_000).map(|it| format!("{}\n", (it * 7_919) % 200_003)).collect();
    let started = Instant::now();
    let shown = diff(&old, &new);
    assert!(shown.cut && shown.text.len() < 64 * 1024);
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

#[test]
fn changes_far_apart_in_a_large_text_are_separate_hunks() {
    let old = numbered(60_000);
    let new = old
        .replace("line 2\n", "line two\n")
        .replace("line 30000\n", "")
        .replace("line 59999\n", "line 59999\nand more\n");
    let shown = diff(&old, &new);
    assert_eq!((shown.added, shown.removed, shown.cut), (2, 2, false));
    assert_eq!(patch(&old, &shown.text), new);
    // Lines that occur often are not anchors, but are between some.
    let with_blanks = |it: &str| it.replace('\n', "\n}\n\n");
    let (old, new) = (with_blanks(&old), with_blanks(&new));
    let shown = diff(&old, &new);
    assert_eq!((shown.added, shown.removed, shown.cut), (4, 4, false));
    assert_eq!(patch(&old, &shown.text), new);
}

/// The old text with the diff applied.
fn patch(old: &str, diff: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let mut new: Vec<String> = Vec::new();
    let mut taken = 0;
    for line in diff.split_inclusive('\n').skip(2) {
        let (sign, rest) = line.split_at(1);
        match sign {
            "@" => {
                let header = rest.split(['-', ' ']).nth(2).unwrap();
                let (start, count) = header.split_once(',').unwrap_or((header, "1"));
                let start: usize = start.parse().unwrap();
                let start = if count == "0" { start } else { start - 1 };
                new.extend(old[taken..start].iter().map(|it| (*it).to_owned()));
                taken = start;
            }
            "\\" => {
                if let Some(last) = new.last_mut().filter(|it| it.ends_with('\n')) {
                    last.pop();
                }
            }
            "-" => taken += 1,
            "+" => new.push(rest.to_owned()),
            _ => {
                new.push(rest.to_owned());
                taken += 1;
            }
        }
    }
    new.extend(old[taken..].iter().map(|it| (*it).to_owned()));
    new.concat()
}

proptest! {
    #[test]
    fn a_diff_that_is_not_cut_turns_the_old_text_into_the_new_one(
        old in prop::collection::vec("[ab]{0,1}", 0..30),
        new in prop::collection::vec("[ab]{0,1}", 0..30),
        head in 0_usize..8, tail in 0_usize..8,
    ) {
        let frame = |middle: &[String]| {
            format!("{}{}\n{}", numbered(head), middle.join("\n"), numbered(tail))
        };
        let (old, new) = (frame(&old), frame(&new));
        let shown = diff(&old, &new);
        prop_assert_eq!(patch(&old, &shown.text), new);
    }
}
