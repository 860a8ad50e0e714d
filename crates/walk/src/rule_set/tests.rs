//! Compares rules with ripgrep's implementation, and checks the limits on their cost.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::ops::Range;

use ignore::gitignore::GitignoreBuilder;
use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

fn parse(text: &str) -> ReadRules {
    RuleSet::parse(text, Path::new("/tree"), RuleCost::default())
}

/// A text with one line for each number.
fn lines(numbers: Range<u32>, line: impl Fn(u32) -> String) -> String {
    numbers.map(line).collect::<Vec<_>>().concat()
}

fn ruling(rules: &RuleSet, path: &str, is_folder: bool) -> IgnoreDecision {
    rules.ruling(&Path::new("/tree").join(path), is_folder)
}

/// The decision of ripgrep's implementation for the same text.
fn expected(text: &str, path: &str, is_folder: bool) -> IgnoreDecision {
    let mut builder = GitignoreBuilder::new("/tree");
    for line in text.lines() {
        let _ = builder.add_line(None, line);
    }
    let path = Path::new("/tree").join(path);
    match builder.build().unwrap().matched(path, is_folder) {
        ignore::Match::Ignore(_) => IgnoreDecision::Ignored,
        ignore::Match::Whitelist(_) => IgnoreDecision::Kept,
        ignore::Match::None => IgnoreDecision::Unmentioned,
    }
}

#[test]
fn a_thousand_lines_with_classes_cost_as_many_looks_at_a_name() {
    let text = lines(0..1_000, |it| format!("[!x]*{it}[!y]z\n"));
    let rules = parse(&text).rules.unwrap();
    assert_eq!(rules.cost.rules, 1_000);
    assert!(rules.cost.comparisons <= 1_000 * 8, "{:?}", rules.cost);
    assert_eq!(ruling(&rules, "a/b7cz", false), IgnoreDecision::Ignored);
    assert_eq!(ruling(&rules, "a/x7cz", false), IgnoreDecision::Unmentioned);
}

#[test]
fn plain_lines_cost_nothing_and_the_same_line_counts_once() {
    let text = lines(0..50_000, |it| format!("d{it}/f\nname{it}\n"));
    let rules = parse(&text).rules.unwrap();
    assert_eq!((rules.cost.rules, rules.cost.comparisons), (100_000, 0));
    assert_eq!(ruling(&rules, "d7/f", false), IgnoreDecision::Ignored);
    assert_eq!(ruling(&rules, "x/d7/f", false), IgnoreDecision::Unmentioned);
    assert_eq!(ruling(&rules, "x/name49999", false), IgnoreDecision::Ignored);
    let rules = parse(&"[!x]*\n".repeat(100_000)).rules.unwrap();
    assert_eq!(rules.cost.rules, 1);
}

#[test]
fn rules_beyond_a_bound_do_not_hold_and_say_which() {
    for (text, limit) in [
        (lines(0..5_000, |it| format!("[!x]*{it}?\n")), "comparisons with rules"),
        (lines(0..100_001, |it| format!("{it}\n")), "100000 rules"),
        ("a".repeat(4_097), "line 1 has more than 4096 bytes"),
        (format!("b\n{}a{}", "{".repeat(50), "}".repeat(50)), "line 2 has"),
    ] as [(String, &str); 4]
    {
        let read = parse(&text);
        let said = read.limit.unwrap_or_default();
        assert!(said.contains(limit), "{limit}: {said}");
    }
    let above = RuleCost { bytes: MAX_BYTES, ..RuleCost::default() };
    let read = RuleSet::parse("a", Path::new("/tree"), above);
    assert!(read.rules.is_none() && read.limit.is_some());
}

#[test]
fn lines_that_ignore_whatever_is_in_a_directory_are_spared_in_one_pass() {
    let text = lines(0..2_000, |it| format!("[!{it}x]*\n"));
    let rules = parse(&format!("{text}*.log\n")).rules.unwrap();
    assert_eq!(ruling(&rules, "file", false), IgnoreDecision::Ignored);
    let spared = rules.sparing(Path::new("/tree")).unwrap();
    assert_eq!(spared.spared.len(), 2_000);
    assert_eq!(ruling(&spared, "file", false), IgnoreDecision::Unmentioned);
    assert_eq!(ruling(&spared, "a.log", false), IgnoreDecision::Ignored);
    assert!(spared.sparing(Path::new("/tree")).is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn rules_say_what_ripgreps_reading_says(
        lines in prop::collection::vec(
            "!?/?(a|b|é|\\.|\\*|\\*\\*|\\?|\\[ab\\]|\\[a-b\\]|/|\\{a,b\\*\\}|\\\\\\*|/\\*\\*/){0,5}/? ?",
            1..5,
        ),
        path in "\\.?[abé][ab.é]{0,2}(/\\.?[abé][ab.é]{0,2}){0,3}",
        is_folder: bool,
    ) {
        let text = lines.join("\n");
        let rules = parse(&text).rules;
        let said = rules.map_or(IgnoreDecision::Unmentioned, |it| ruling(&it, &path, is_folder));
        prop_assert_eq!(said, expected(&text, &path, is_folder), "{:?} {}", text, path);
    }

    #[test]
    fn negated_classes_are_read_the_same_within_a_name(
        lines in prop::collection::vec("(a|b|\\*|\\?|\\[!a\\]|\\[\\^b-c\\]){1,4}", 1..4),
        path in "[abc]{1,4}",
    ) {
        let text = lines.join("\n");
        let rules = parse(&text).rules;
        let said = rules.map_or(IgnoreDecision::Unmentioned, |it| ruling(&it, &path, false));
        prop_assert_eq!(said, expected(&text, &path, false), "{:?} {}", text, path);
    }
}
