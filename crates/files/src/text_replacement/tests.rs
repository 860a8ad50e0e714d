//! Tests of each strategy, and of replacing what was found.

#![expect(clippy::format_collect, clippy::unwrap_used, reason = "tests")]

use std::time::Instant;

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::{adapt::TextEdit, *};
use crate::text_file::TextFile;

/// The text of a match, and its first and last line.
type ExpectedMatch<'a> = (&'a str, usize, usize);

fn find_target(text: &str, target: &str) -> Option<Matches> {
    super::find_target(text, target, Overlaps::LeftOut, &|| false).unwrap()
}

fn starts_with_overlaps(text: &str, target: &str) -> (&'static str, Vec<usize>) {
    let found = super::find_target(text, target, Overlaps::Given, &|| false).unwrap().unwrap();
    (found.strategy.name(), found.hits.iter().map(|it| it.first_line).collect())
}

fn find<'a>(text: &'a str, target: &str) -> Option<(&'static str, Vec<ExpectedMatch<'a>>)> {
    let found = find_target(text, target)?;
    let shown = |hit: &TargetMatch| (&text[hit.range.clone()], hit.first_line, hit.last_line);
    Some((found.strategy.name(), found.hits.iter().map(shown).collect()))
}

fn replace(text: &str, target: &str, new_text: &str) -> String {
    let found = find_target(text, target).unwrap();
    let replacement = Replacement::new(text, target, found.strategy, new_text);
    let edits: Vec<TextEdit<'_>> = found.hits.iter().flat_map(|it| replacement.at(it)).collect();
    let file = TextFile::from_bytes(text.as_bytes().to_vec()).unwrap();
    String::from_utf8(file.splice(&edits).unwrap()).unwrap()
}

proptest! {
    #[test]
    fn a_text_that_is_searched_in_parts_gives_what_it_gives_as_a_whole(
        text in "([ab“] ?\r?\n?){0,30}", target in "([ab\"] ?\n?){1,4}", part in 4_usize..16,
    ) {
        // If there is an exact match, lenient strategies are not tried.
        let is_exact = !find_all(&text, &target, Overlaps::Given).places.is_empty();
        for strategy in MatchStrategy::LADDER.into_iter().skip(1).filter(|_| !is_exact) {
            let find = |text: &str| find_leniently(strategy, text, &target, Overlaps::Given);
            let whole = find(&text);
            let in_parts = find_in_parts(&text, &target, part * 8, Overlaps::Given, &find, &|| false);
            let ranges = |places: MatchedRanges| places.places.into_iter().map(|it| it.range).collect::<Vec<_>>();
            prop_assert_eq!(ranges(in_parts), ranges(whole), "{:?}", strategy);
        }
    }
}

#[test]
fn an_exact_target_is_found_with_its_lines() {
    let text = "one\ntwo\nthree\ntwo\n";
    assert_eq!(find(text, "two\nthree\n"), Some(("exact", vec![("two\nthree\n", 2, 3)])));
    assert_eq!(find(text, "two"), Some(("exact", vec![("two", 2, 2), ("two", 4, 4)])));
    assert_eq!(find(text, "four"), None);
    assert_eq!(find(text, ""), None);
    assert_eq!(find("", "x"), None);
}

#[test]
fn overlapping_matches_are_all_returned_when_one_must_be_chosen() {
    assert_eq!(starts_with_overlaps("}\n}\n}\n", "}\n}\n"), ("exact", vec![1, 2]));
    assert_eq!(starts_with_overlaps("}\n}\n", "}\n}\n"), ("exact", vec![1]));
    assert_eq!(starts_with_overlaps("a\na\na\na\nb\na\na", "a\na"), ("exact", vec![1, 2, 3, 6]));
    let shifted = starts_with_overlaps("\t}\n\t}\n\t}\n", "}\n}\n");
    assert_eq!(shifted, ("indentation-shift", vec![1, 2]));
    let blanks = starts_with_overlaps("} \n} \n} \n", "}\n}\n");
    assert_eq!(blanks, ("trailing-blanks", vec![1, 2]));
    // All matches are replaced, from left to right.
    assert_eq!(find("aaaa", "aa").unwrap().1.len(), 2);
    assert_eq!(find_target("\t}\n\t}\n\t}\n", "}\n}\n").unwrap().hits.len(), 1);
}

#[test]
fn a_search_with_too_many_matches_or_a_cancelled_one_is_given_up() {
    let everywhere = "a".repeat(MAX_HITS + 1);
    let find =
        |overlaps, cancelled: bool| super::find_target(&everywhere, "a", overlaps, &|| cancelled);
    assert_eq!(find(Overlaps::LeftOut, false), Err(GivenUp::TooMany));
    assert_eq!(find(Overlaps::Given, false), Err(GivenUp::TooMany));
    assert_eq!(find(Overlaps::Given, true), Err(GivenUp::Cancelled));
    assert_eq!(find_target(&everywhere[1..], "a").unwrap().hits.len(), MAX_HITS);
}

#[test]
fn lines_that_target_and_new_text_share_stay_as_the_file_has_them() {
    // Two blanks at the end of a line are a line break in Markdown.
    assert_eq!(
        replace("Roses  \nare red\nend", "Roses\nare red", "Roses\nare blue"),
        "Roses  \nare blue\nend"
    );
    assert_eq!(
        replace("“hi” — he\nfoo\n", "\"hi\" - he\nfoo", "\"hi\" - he\nbar"),
        "“hi” — he\nbar\n"
    );
    assert_eq!(replace("a\r\nb\nc\r\nd\n", "a\nb\nc", "a\nB\nc"), "a\r\nB\nc\r\nd\n");
    assert_eq!(replace("cafe\u{301}\nfoo\n", "café\nfoo", "café\nbar"), "cafe\u{301}\nbar\n");
    // Lines that come, go and end differently.
    let text = "a \r\nb\t\nc  \r\nd\n";
    assert_eq!(replace(text, "a\nb\nc\n", "a\nc\n"), "a \r\nc  \r\nd\n");
    assert_eq!(replace(text, "a\nb\nc\n", "a\nx\ny\nb\nc\n"), "a \r\nx\r\ny\r\nb\t\nc  \r\nd\n");
    assert_eq!(replace(text, "a\nb\nc", "a\nb\nc\nz"), "a \r\nb\t\nc\nz  \r\nd\n");
    assert_eq!(replace(text, "a\nb\nc\n", "a\nb"), "a \r\nb\td\n");
    assert_eq!(replace(text, "a\nb\nc\n", ""), "d\n");
    assert_eq!(replace(text, "b\nc\n", "0\nb\nc\n"), "a \r\n0\nb\t\nc  \r\nd\n");
    assert_eq!(
        replace("\tif x {\n\t\ty(); \n\t}\n", "if x {\n\ty();\n}\n", "if z {\n\ty();\n\tw();\n}\n"),
        "\tif z {\n\t\ty(); \n\t\tw();\n\t}\n"
    );
}

#[test]
fn line_endings_of_target_and_text_may_differ() {
    let text = "a\r\nb\r\nc\nd";
    assert_eq!(find(text, "a\nb\n"), Some(("line-endings", vec![("a\r\nb\r\n", 1, 2)])));
    assert_eq!(find(text, "\nb\nc"), Some(("line-endings", vec![("\r\nb\r\nc", 1, 3)])));
    assert_eq!(find(text, "c\r\nd"), Some(("line-endings", vec![("c\nd", 3, 4)])));
    assert_eq!(find(text, "a\nb"), Some(("line-endings", vec![("a\r\nb", 1, 2)])));
    // Exact, except for the carriage return before the newline.
    assert_eq!(find("a\r\nfoo\n", "\nfoo"), Some(("line-endings", vec![("\r\nfoo", 1, 2)])));
    assert_eq!(replace("a\r\nfoo\n", "\nfoo", ""), "a\n");
    // Lines that end with two carriage returns are shown with one.
    let doubled = "a\r\r\nb\r\r\nc\r\r\n";
    assert_eq!(find(doubled, "a\r\nb\r"), Some(("line-endings", vec![("a\r\r\nb\r", 1, 2)])));
    assert_eq!(replace(doubled, "\nb\r\n", "\n"), "a\r\r\nc\r\r\n");
    let twice = "a\r\nb\r\na\r\nb\r\n";
    assert_eq!(find(twice, "a\nb").unwrap().1.len(), 2);
}

#[test]
fn blanks_at_the_end_of_lines_may_differ() {
    let text = "if x {  \n\ty();\t\n}\n   \nend \r\n";
    assert_eq!(
        find(text, "if x {\n\ty();\n}\n"),
        Some(("trailing-blanks", vec![("if x {  \n\ty();\t\n}\n", 1, 3)]))
    );
    // Blanks after the last line belong to the match only if the target has some.
    assert_eq!(find(text, "x {\n\ty();").unwrap().1, [("x {  \n\ty();", 1, 2)]);
    assert_eq!(find(text, "x {\n\ty();  ").unwrap().1, [("x {  \n\ty();\t", 1, 2)]);
    assert_eq!(find(text, "}\n\nend\n").unwrap().1, [("}\n   \nend \r\n", 3, 5)]);
    assert_eq!(find("foo bar\n", "foo  "), None);
    assert_eq!(find("foo\n", "foo  "), Some(("trailing-blanks", vec![("foo", 1, 1)])));
}

#[test]
fn blanks_between_two_hits_belong_to_the_first() {
    let found = find_target("a \nx  \nx  \n", " \t\nx\t").unwrap();
    let ranges: Vec<_> = found.hits.iter().map(|it| it.range.clone()).collect();
    assert_eq!(ranges, [1..6, 6..10]);
}

#[test]
fn a_block_may_be_indented_differently_as_a_whole() {
    let text = "impl A {\n        fn a() {\n            b();\n\n        }\n}\n";
    let target = "fn a() {\n    b();\n\n}\n";
    let (strategy, hits) = find(text, target).unwrap();
    assert_eq!(strategy, "indentation-shift");
    assert_eq!(hits, [("        fn a() {\n            b();\n\n        }\n", 2, 5)]);
    assert_eq!(
        replace(text, target, "fn a() {\n    c();\n\n    d();  \n}\n"),
        "impl A {\n        fn a() {\n            c();\n\n            d();  \n        }\n}\n"
    );
    // With less indentation than the target.
    assert_eq!(replace("a\n  b\n", "    a\n      b\n", "    c\n  d\n      e\n"), "c\nd\n  e\n");
    // If one line differs in another way, the shift is not uniform.
    assert_eq!(find("  a\n   b\n", "a\nb\n"), None);
    assert_eq!(find("a\n  b\n c\n", "  a\n    b\n  c\n"), None);
}

#[test]
fn tabs_may_stand_for_the_shared_spaces() {
    let text = "{\n\tfoo(\n\t  x)\n}\n";
    let target = "    foo(\n      x)";
    assert_eq!(find(text, target).unwrap().0, "indentation-shift");
    assert_eq!(replace(text, target, "    bar(\n      y)"), "{\n\tbar(\n\t  y)\n}\n");
    assert_eq!(replace("\ta\r\n\tb\r\n", "a\nb\n", "a\n\nc\n"), "\ta\r\n\r\n\tc\r\n");
}

#[test]
fn shifted_blocks_that_occur_twice_are_all_found() {
    let text = " a\n b\nx\n   a\n   b\n";
    let hits = find(text, "a\nb\n").unwrap().1;
    assert_eq!(hits, [(" a\n b\n", 1, 2), ("   a\n   b\n", 4, 5)]);
    assert_eq!(replace(text, "a\nb\n", "c\n"), " c\nx\n   c\n");
    assert_eq!(find("x\n\n   a\n   b\n", "\na\nb").unwrap().1, [("\n   a\n   b", 2, 4)]);
}

#[test]
fn quotes_dashes_spaces_and_composition_may_differ() {
    let text = "say “hi” – it’s\u{a0}fine\nCafe\u{301} noir\nü\n";
    assert_eq!(
        find(text, "say \"hi\" - it's fine"),
        Some(("unicode-punctuation", vec![("say “hi” – it’s\u{a0}fine", 1, 1)]))
    );
    assert_eq!(find(text, "\"hi\"").unwrap().1, [("“hi”", 1, 1)]);
    assert_eq!(find(text, "Café").unwrap().1, [("Cafe\u{301}", 2, 2)]);
    assert_eq!(find(text, "u\u{308}").unwrap().1, [("ü", 3, 3)]);
    assert_eq!(find(text, "hi\" - it's fine  \nCafé noir").unwrap().1.len(), 1);
    assert_eq!(find("각\n", "\u{1100}\u{1161}\u{11a8}").unwrap().1, [("각", 1, 1)]);
    assert_eq!(replace("“a” “a”", "\"a\"", "“b”"), "“b” “b”");
}

#[test]
fn blanks_alone_are_taken_literally() {
    assert_eq!(find("a\n\t\nb\n", "  \n"), None);
    assert_eq!(find("a\n\nb", "\n\n").unwrap().0, "exact");
    assert_eq!(find("a\r\n\r\nb", "\n\n").unwrap().0, "line-endings");
}

#[test]
fn inserted_lines_end_like_the_lines_they_replace() {
    assert_eq!(replace("a\r\nb\r\n", "a", "x\ny"), "x\r\ny\r\nb\r\n");
    assert_eq!(replace("a\r\nb\r\n", "a\nb\n", "x\ny\n"), "x\r\ny\r\n");
    assert_eq!(replace("a\nb\n", "a", "x\r\ny"), "x\ny\nb\n");
    assert_eq!(replace("a\r\nb\r\n", "b", "x\r\ny\nz"), "a\r\nx\r\ny\r\nz\r\n");
    assert_eq!(replace("a\r\nb\r\n", "a\r\nb", "x\r\ny\nz"), "x\r\ny\r\nz\r\n");
    // Lines that are found as they are can be given other endings, and mixed ones stay mixed.
    assert_eq!(replace("a\nb\n", "a\nb\n", "a\r\nb\r\n"), "a\r\nb\r\n");
    assert_eq!(replace("a\r\nb\nc\n", "a\r\nb\n", "a\r\nx\n"), "a\r\nx\nc\n");
    assert_eq!(replace("a\r\nb\r\n", "a", "x\r\ny"), "x\r\ny\r\nb\r\n");
    assert_eq!(replace("a\nb\n", "a\r\nb\r\n", "x\r\ny\r\n"), "x\ny\n");
    // In a file with both, the neighbouring lines decide.
    let mixed = "a\nb\nc\r\nd\r\ne\n";
    assert_eq!(replace(mixed, "a", "x\ny"), "x\ny\nb\nc\r\nd\r\ne\n");
    assert_eq!(replace(mixed, "c\nd", "x\ny\nz"), "a\nb\nx\r\ny\r\nz\r\ne\n");
    assert_eq!(replace("a\r\nb", "b", "x\ny"), "a\r\nx\r\ny");
    assert_eq!(replace("a", "a", "x\ny"), "x\ny");
    assert_eq!(replace("a\n", "a", "x  \ny \t"), "x  \ny \t\n");
}

#[test]
fn a_line_hint_chooses_the_nearest_hit_unless_two_are_as_near() {
    let hits = find_target("a\nx\nx\nx\na\nx\na\n", "a").unwrap().hits;
    assert_eq!(unique_by_line_hint(&hits, 1), Some(0));
    assert_eq!(unique_by_line_hint(&hits, 4), Some(1));
    assert_eq!(unique_by_line_hint(&hits, 99), Some(2));
    assert_eq!(unique_by_line_hint(&hits, 3), None);
    assert_eq!(unique_by_line_hint(&[], 3), None);
    let found =
        super::find_target("aa\naa\naa\naa\n", "aa\naa", Overlaps::Given, &|| false).unwrap();
    let hits = found.unwrap().hits;
    for line in 1..=3 {
        assert_eq!(unique_by_line_hint(&hits, line), Some(line - 1));
    }
}

#[test]
fn the_nearest_region_is_the_one_that_resembles_the_target() {
    let mut text: String =
        (0..500).map(|it| format!("let value_{it} = compute({it});\n")).collect();
    text.push_str(
        "fn render(page: &Page) {\n    let title = page.title();\n    print(title);\n}\n",
    );
    let target =
        "fn render(page: &mut Page) {\n    let titel = page.title();\n    print(titel);\n}\n";
    let near = nearest_region(&text, target).unwrap();
    assert_eq!((near.first_line, near.last_line), (501, 504));
    assert!(near.similarity > 0.7 && near.similarity < 1.0);
    assert_eq!(nearest_region(&text, "zzzz qqqq"), None);
    assert_eq!(nearest_region("", "a"), None);
    assert_eq!(nearest_region("a", "\n\n"), None);
    assert_eq!(
        nearest_region("a\nb", "x\na\nb\ny\n").map(|it| (it.first_line, it.last_line)),
        Some((1, 2))
    );
}

#[test]
fn hostile_texts_and_targets_take_linear_time() {
    let started = Instant::now();
    let short = |count: usize, last: &str| "a\n".repeat(count) + last;
    let indented = |count: usize, last: &str| " a\n".repeat(count) + last;
    let cases = [
        (short(200_000, ""), short(100_000, "b\n")),
        (short(200_000, ""), indented(100_000, "  b\n")),
        (short(200_000, ""), indented(100_000, "  a\n")),
        ("\n".repeat(1_000_000), "\n".repeat(100_000) + "x"),
        ("\n".repeat(1_000_000), " \n".repeat(100_000)),
        ("\n\na\n".repeat(100_000), "\n".repeat(50_000) + "  a\n"),
        ("e\u{301}".repeat(200_000), "é".repeat(100_000) + "x"),
        ("\u{301}".repeat(300_000), "é".to_owned()),
        (" ".repeat(1_000_000), "a".to_owned() + &" ".repeat(100_000)),
    ];
    for (text, target) in &cases {
        assert_eq!(find_target(text, target), None);
        assert_eq!(super::find_target(text, target, Overlaps::Given, &|| false), Ok(None));
        nearest_region(text, target);
    }
    let (same, half) = ("a".repeat(400_000), "a".repeat(200_000));
    let found = super::find_target(&same, &half, Overlaps::Given, &|| false).unwrap().unwrap();
    assert_eq!(found.hits.len(), 200_001);
    let commas = ",".repeat(1_000_000);
    let found = find_target(&commas, ",").unwrap();
    let replacement = Replacement::new(&commas, ",", found.strategy, ",\n");
    let length = |(_, new_text): TextEdit<'_>| new_text.len();
    let written: usize = found.hits.iter().flat_map(|it| replacement.at(it)).map(length).sum();
    assert_eq!(written, 2_000_000);
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

/// The lines without everything that strategies ignore, except for Unicode.
fn bare(text: &str) -> Vec<&str> {
    text.split('\n').map(str::trim).filter(|it| !it.is_empty()).collect()
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec("(  |\t){0,2}[ab]{0,2}[ \t]{0,1}(\n|\r\n)", 0..10)
        .prop_map(|it| it.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_hit_differs_from_its_target_only_in_what_its_rung_ignores(text in text(), target in text()) {
        let Some(found) = find_target(&text, &target) else { return Ok(()); };
        let mut end = 0;
        for hit in &found.hits {
            let span = &text[hit.range.clone()];
            prop_assert!(hit.range.start >= end);
            end = hit.range.end;
            prop_assert_eq!(bare(span), bare(&target));
            prop_assert_eq!(hit.first_line, text[..hit.range.start].matches('\n').count() + 1);
            if found.strategy == MatchStrategy::IndentationShift {
                // The target, shifted like its replacement, equals the text.
                let shifted = adapt::shift_lines(&target, hit.shift.as_deref().unwrap());
                let ends = |it: &str| it.lines().map(|it| it.trim_end().to_owned()).collect::<Vec<_>>();
                prop_assert_eq!(ends(&shifted), ends(span));
            }
        }
    }

    #[test]
    fn only_lines_that_the_new_text_does_not_share_are_written(text in text(), target in text(), more in text()) {
        let Some(found) = find_target(&text, &target) else { return Ok(()); };
        prop_assume!(found.strategy != MatchStrategy::Exact);
        // If text is only added after the target, the target stays as it is.
        let new_text = format!("{target}{more}");
        let replacement = Replacement::new(&text, &target, found.strategy, &new_text);
        for hit in &found.hits {
            prop_assert_eq!(replacement.at(hit).is_empty(), more.is_empty());
            prop_assert!(replacement.at(hit).iter().all(|(range, _)| *range == (hit.range.end..hit.range.end)));
            let size: usize = replacement.at(hit).iter().map(|(_, it)| it.len()).sum();
            prop_assert!(size <= replacement.size_at(hit));
        }
    }

    #[test]
    fn lines_of_a_text_are_found_again_however_they_are_shifted(
        text in text(), shift in "(  |\t){1,2}", from in any::<prop::sample::Index>(), count in 1_usize..4,
    ) {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        prop_assume!(!lines.is_empty());
        let from = from.index(lines.len());
        let block = lines.iter().skip(from).take(count);
        let target: String = block.clone().map(|it| format!("{shift}{}\n", it.trim_end())).collect();
        prop_assume!(!target.trim().is_empty());
        let found = find_target(&text, &target).unwrap();
        let start: usize = lines.iter().take(from).map(|it| it.len()).sum();
        if found.strategy == MatchStrategy::IndentationShift {
            let overlapped = |it: &TargetMatch| it.range.start <= start && start < it.range.end;
            prop_assert!(found.hits.iter().any(overlapped));
        }
    }

    #[test]
    fn a_view_leads_back_to_where_everything_was(text in "[a\u{301}é“—\u{a0} \r\n각\u{1161}]{0,30}") {
        for kind in [ViewKind::LineEndings, ViewKind::TrailingBlanks, ViewKind::UnicodePunctuation] {
            let view = NormalizedView::new(&text, kind);
            let boundaries = (0..=view.as_str().len()).filter(|it| view.as_str().is_char_boundary(*it));
            let mut last = 0;
            for offset in boundaries {
                let (Some(end), Some(start)) = (view.end(offset), view.start(offset)) else { continue; };
                prop_assert!(text.is_char_boundary(start) && text.is_char_boundary(end));
                prop_assert!(last <= end && end <= start);
                let head = NormalizedView::new(&text[..start], kind);
                if kind == ViewKind::LineEndings {
                    prop_assert_eq!(head.as_str(), &view.as_str()[..offset]);
                }
                last = start;
            }
        }
    }
}
