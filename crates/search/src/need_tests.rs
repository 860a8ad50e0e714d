//! What a query needs of a text, against what the engine finds in it: a text with a match is never left out.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{fs, path::Path};

use grep_matcher::Matcher as _;
use regex_syntax::hir::{Class, Hir, HirKind};

use super::{CaseSensitivity, MatchSpan, Query};
use crate::index::Need;

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % limit
    }

    fn one_of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        items.get(self.below(items.len())).unwrap()
    }

    /// One in so many.
    fn rarely(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

const PIECES: [&str; 44] = [
    "alloc",
    "kmalloc",
    "Mutex",
    "lock",
    "sk_buff",
    "TASK",
    "task",
    "Straße",
    "é",
    "ß",
    "K",
    "ſ",
    "x",
    "ab",
    "",
    "foo-bar",
    "\\.",
    "\\d",
    "\\w",
    ".",
    "[a-c]",
    "[^x]",
    "\\s",
    "\\b",
    "\\B",
    "^",
    "$",
    "(?i:Mask)",
    "(?-u:\\xff)",
    "\\x{212A}",
    "[k-s]",
    "[[:upper:]]",
    "\\x00",
    "\\r",
    "0x1f",
    "(?-u:[\\x80-\\x84])",
    "日本",
    "[日本語]",
    "ǅ",
    "(?s:.)",
    "\\A",
    "\\z",
    "a{3}",
    "(?i)k",
];

/// A pattern in which anything may be repeated, grouped or one of several.
fn pattern(numbers: &mut Numbers, depth: usize) -> String {
    if depth == 0 {
        return (*numbers.one_of(&PIECES)).to_owned();
    }
    let parts: Vec<String> = (0..=numbers.below(3)).map(|_| pattern(numbers, depth - 1)).collect();
    match numbers.below(8) {
        0 | 1 => format!("(?:{})", parts.join("|")),
        2 => {
            let times = ["?", "*", "+", "{2}", "{2,}", "{1,3}", "{4}", "+?", "{0,2}", "{5,6}"];
            format!("({}){}", parts.concat(), numbers.one_of(&times))
        }
        3 => format!("{}\\n{}", parts.concat(), numbers.one_of(&PIECES)),
        _ => parts.concat(),
    }
}

/// Adds a text that the pattern matches, unless the match depends on the text around it.
fn add_match(numbers: &mut Numbers, pattern: &Hir, text: &mut Vec<u8>) {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.extend_from_slice(&literal.0),
        HirKind::Class(Class::Unicode(class)) => {
            if !class.ranges().is_empty() {
                let range = numbers.one_of(class.ranges());
                let some = u32::from(range.start()) + u32::try_from(numbers.below(40)).unwrap();
                let some = char::from_u32(some).filter(|it| *it <= range.end());
                let some = some.unwrap_or(range.end());
                text.extend_from_slice(some.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        HirKind::Class(Class::Bytes(class)) => {
            if !class.ranges().is_empty() {
                let range = numbers.one_of(class.ranges());
                text.push(if numbers.rarely(2) { range.start() } else { range.end() });
            }
        }
        HirKind::Capture(group) => add_match(numbers, &group.sub, text),
        HirKind::Repetition(repeated) => {
            let most = repeated.max.unwrap_or(repeated.min + 3).min(repeated.min + 3);
            let more = numbers.below(usize::try_from(most - repeated.min).unwrap() + 1);
            for _ in 0..repeated.min as usize + more {
                add_match(numbers, &repeated.sub, text);
            }
        }
        HirKind::Concat(parts) => parts.iter().for_each(|it| add_match(numbers, it, text)),
        HirKind::Alternation(parts) => {
            let branch = numbers.one_of(parts);
            add_match(numbers, branch, text);
        }
    }
}

/// A text around what should match.
fn surroundings(numbers: &mut Numbers) -> Vec<u8> {
    const AROUND: [&[u8]; 8] =
        [b"", b" ", b"\n", b"x", b"some words, ", b"\xff\xfe", "é".as_bytes(), b"\r\n"];
    (0..numbers.below(4)).flat_map(|_| *numbers.one_of(&AROUND)).copied().collect()
}

/// Whether the engine finds the query in a text, as a search does.
fn is_found(query: &Query, text: &[u8]) -> bool {
    let is_match = |it: &[u8]| query.matcher.regex.is_match(it).unwrap();
    if query.spans_lines() {
        return is_match(text);
    }
    text.split(|it| *it == b'\n').any(is_match)
        || query.matcher.find(text).unwrap().is_some_and(|it| !it.is_empty())
}

#[test]
fn every_text_in_which_the_engine_finds_a_match_may_be_read() {
    let mut numbers = Numbers(0x1234_5678_9abc_def1);
    let (mut found, mut needed) = (0, 0);
    for _ in 0..3_000 {
        let depth = numbers.below(4);
        let pattern = pattern(&mut numbers, depth);
        let case = *numbers.one_of(&[CaseSensitivity::Sensitive, CaseSensitivity::Insensitive]);
        let span = *numbers.one_of(&[MatchSpan::Line, MatchSpan::Line, MatchSpan::Lines]);
        let Ok(query) = Query::new(&pattern, case, span) else { continue };
        let Some(need) = Need::of(&query) else { continue };
        needed += 1;
        for _ in 0..12 {
            let mut text = surroundings(&mut numbers);
            add_match(&mut numbers, query.hir(), &mut text);
            text.extend(surroundings(&mut numbers));
            if is_found(&query, &text) {
                found += 1;
                assert!(need.may_be_in(&text), "{pattern:?} {case:?} {span:?} {text:?} {need:?}");
            }
        }
    }
    // The texts are made to match, so most do.
    assert!(needed > 1_000 && found > 5 * needed, "{found} matches of {needed} patterns");
}

#[test]
fn every_piece_of_a_real_line_leads_to_its_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut numbers = Numbers(0x0dd_ba11);
    let mut pieces = 0;
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if !path.is_file() {
            continue;
        }
        let text = fs::read_to_string(path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for _ in 0..150 {
            let chars: Vec<char> = numbers.one_of(&lines).chars().collect();
            let from = numbers.below(chars.len() + 1);
            let rest = chars.get(from..).unwrap();
            let piece: String = rest.iter().take(numbers.below(30)).collect();
            let (case, piece) = match numbers.below(3) {
                0 => (CaseSensitivity::Insensitive, piece.to_uppercase()),
                1 => (CaseSensitivity::Insensitive, piece),
                _ => (CaseSensitivity::Sensitive, piece),
            };
            let query = Query::new(&regex_syntax::escape(&piece), case, MatchSpan::Line).unwrap();
            if let Some(need) = Need::of(&query) {
                pieces += 1;
                assert!(need.may_be_in(text.as_bytes()), "{piece:?} {case:?}");
            }
        }
    }
    assert!(pieces > 1_500, "{pieces}");
}

#[test]
fn what_is_needed_leaves_out_texts_that_lack_it() {
    let text = b"fn main() { let guard = mutex_lock(&state); drop(guard); }";
    for (pattern, is_there) in [
        ("mutex_lock", true),
        ("mutex_unlock", false),
        ("(?i)MUTEX_LOCK", true),
        ("(?i)MUTEX_UNLOCK", false),
        (r"[a-z]+_lock\(&", true),
        (r"[a-z]+_lock\(\*", false),
        ("spin_lock|mutex_lock", true),
        ("spin_lock|read_lock", false),
        (r"mutex.*guard\)", true),
        (r"mutex.*guards", false),
        ("(drop|free)[(]", true),
        ("(dorp|free)[(]", false),
        ("mu[st]ex", true),
        ("mu[sr]ex", false),
        ("stat?e\\)", true),
        ("(stat)+ion", false),
    ] {
        let query = Query::new(pattern, CaseSensitivity::Sensitive, MatchSpan::Line).unwrap();
        assert_eq!(Need::of(&query).unwrap().may_be_in(text), is_there, "{pattern}");
    }
}

#[test]
fn a_pattern_that_can_match_almost_anything_needs_nothing() {
    let many = (0..4_500).map(|it| format!("w{it}")).collect::<Vec<_>>().join("|");
    for pattern in ["", ".*", r"\w+", "ab", "a.b", "[a-z]{3}", "(abc)?", "abc|d", "^$", &many] {
        let query = Query::new(pattern, CaseSensitivity::Sensitive, MatchSpan::Line).unwrap();
        assert!(Need::of(&query).is_none(), "{pattern}");
    }
}
