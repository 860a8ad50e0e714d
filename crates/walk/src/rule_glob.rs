//! One glob of an ignore file, compiled so that matching takes a few steps per byte of a name.
//!
//! The glob is parsed by `globset`, as in ripgrep, which turns it into a regular expression. A small one
//! becomes an automaton whose set of states is a bit set in one integer, with one bit for each position
//! in the glob; a large one is left to the regex engine. A `GlobSet` of all globs of a file is not used,
//! because it is one large regular expression, and building that takes seconds for a thousand lines
//! like `[!x]*`.

use globset::GlobBuilder;
use regex_automata::meta::Regex;
use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, Hir, HirKind};

/// The cost of matching a small glob against a name, in comparisons with a plain name.
const SMALL_COST: usize = 8;
/// How much more it costs to match a path, which is longer than a name.
const PATH_FACTOR: usize = 4;
/// The cost of matching a large glob.
const LARGE_COST: usize = 512;
/// The most positions of a small glob.
const MAX_POSITIONS: usize = 128;
/// The size limit of a large glob that the regex engine compiles.
const LARGE_BYTES: usize = 512 * 1024;

/// A compiled glob.
#[derive(Debug)]
pub(super) enum RuleGlob {
    Small(Box<GlobAutomaton>),
    Large(Box<Regex>),
}

/// An automaton whose states are the positions in the glob that consume a byte. Each is one bit.
#[derive(Debug)]
pub(super) struct GlobAutomaton {
    /// For each byte, the positions that consume it.
    takes: [u128; 256],
    /// For each position, those that may follow it.
    follow: Vec<u128>,
    first: u128,
    last: u128,
    takes_nothing: bool,
}

impl RuleGlob {
    /// `None` if this is not a valid glob, or is too large for the engine.
    pub(super) fn new(glob: &str) -> Option<Self> {
        let glob =
            GlobBuilder::new(glob).literal_separator(true).backslash_escape(true).build().ok()?;
        let mut parser =
            regex_syntax::ParserBuilder::new().utf8(false).dot_matches_new_line(true).build();
        let hir = within_parts(&parser.parse(glob.regex()).ok()?);
        if let Some(automaton) = GlobAutomaton::of(&hir) {
            return Some(Self::Small(Box::new(automaton)));
        }
        let config = Regex::config()
            .utf8_empty(false)
            .nfa_size_limit(Some(LARGE_BYTES))
            .hybrid(false)
            .dfa(false);
        let engine = Regex::builder().configure(config).build_from_hir(&hir).ok()?;
        Some(Self::Large(Box::new(engine)))
    }

    /// The cost of matching a name or a path, in comparisons with a plain name.
    pub(super) fn cost(&self, of_paths: bool) -> usize {
        match self {
            Self::Small(_) if of_paths => SMALL_COST * PATH_FACTOR,
            Self::Small(_) => SMALL_COST,
            Self::Large(_) => LARGE_COST,
        }
    }

    /// Whether the glob matches a whole text.
    pub(super) fn fits(&self, text: &[u8]) -> bool {
        match self {
            Self::Small(automaton) => automaton.fit(text),
            Self::Large(engine) => engine.is_match(text),
        }
    }
}

/// Removes the slash from classes, as git does; in ripgrep `a[!x]b` also matches the path `a/b`. Only a
/// wildcard for any byte may match across components.
fn within_parts(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Class(Class::Bytes(class)) => {
            let mut class = class.clone();
            let is_any = class.ranges() == [ClassBytesRange::new(0, 255)];
            if !is_any {
                class.difference(&ClassBytes::new([ClassBytesRange::new(b'/', b'/')]));
            }
            Hir::class(Class::Bytes(class))
        }
        HirKind::Repetition(repeated) => {
            let mut repeated = repeated.clone();
            repeated.sub = Box::new(within_parts(&repeated.sub));
            Hir::repetition(repeated)
        }
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(within_parts).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(within_parts).collect()),
        HirKind::Capture(group) => within_parts(&group.sub),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Look(_) | HirKind::Class(_) => hir.clone(),
    }
}

/// A part of a glob: the positions where it may begin and end, and whether it may match nothing.
#[derive(Clone, Copy)]
struct GlobPart {
    first: u128,
    last: u128,
    takes_nothing: bool,
}

impl GlobPart {
    const NOTHING: Self = Self { first: 0, last: 0, takes_nothing: true };
}

impl GlobAutomaton {
    /// `None` if there are more positions than bits.
    fn of(hir: &Hir) -> Option<Self> {
        let mut automaton =
            Self { takes: [0; 256], follow: Vec::new(), first: 0, last: 0, takes_nothing: false };
        let whole = automaton.part(hir)?;
        automaton.first = whole.first;
        automaton.last = whole.last;
        automaton.takes_nothing = whole.takes_nothing;
        Some(automaton)
    }

    fn part(&mut self, hir: &Hir) -> Option<GlobPart> {
        match hir.kind() {
            // A glob matches a whole text, so its only anchors are at both ends.
            HirKind::Empty | HirKind::Look(_) => Some(GlobPart::NOTHING),
            HirKind::Literal(literal) => {
                let mut whole = GlobPart::NOTHING;
                for byte in &literal.0 {
                    let place = self.position(&[(*byte, *byte)])?;
                    whole = self.joined(whole, place);
                }
                Some(whole)
            }
            HirKind::Class(Class::Bytes(class)) => {
                let ranges: Vec<(u8, u8)> =
                    class.ranges().iter().map(|it| (it.start(), it.end())).collect();
                self.position(&ranges)
            }
            HirKind::Class(Class::Unicode(_)) => None,
            HirKind::Repetition(repeated) => {
                let mut part = self.part(&repeated.sub)?;
                match (repeated.min, repeated.max) {
                    (0, Some(1)) => {}
                    (0 | 1, None) => self.leads(part.last, part.first),
                    _ => return None,
                }
                part.takes_nothing |= repeated.min == 0;
                Some(part)
            }
            HirKind::Capture(group) => self.part(&group.sub),
            HirKind::Concat(parts) => {
                let mut whole = GlobPart::NOTHING;
                for part in parts {
                    let part = self.part(part)?;
                    whole = self.joined(whole, part);
                }
                Some(whole)
            }
            HirKind::Alternation(branches) => {
                let mut whole = GlobPart { first: 0, last: 0, takes_nothing: false };
                for branch in branches {
                    let branch = self.part(branch)?;
                    whole.first |= branch.first;
                    whole.last |= branch.last;
                    whole.takes_nothing |= branch.takes_nothing;
                }
                Some(whole)
            }
        }
    }

    /// Adds a position that consumes one byte of these ranges.
    fn position(&mut self, ranges: &[(u8, u8)]) -> Option<GlobPart> {
        let index = self.follow.len();
        if index >= MAX_POSITIONS {
            return None;
        }
        let bit = 1 << index;
        self.follow.push(0);
        for (from, to) in ranges {
            for takes in self.takes.iter_mut().take(usize::from(*to) + 1).skip(usize::from(*from)) {
                *takes |= bit;
            }
        }
        Some(GlobPart { first: bit, last: bit, takes_nothing: false })
    }

    fn joined(&mut self, one: GlobPart, other: GlobPart) -> GlobPart {
        self.leads(one.last, other.first);
        GlobPart {
            first: if one.takes_nothing { one.first | other.first } else { one.first },
            last: if other.takes_nothing { one.last | other.last } else { other.last },
            takes_nothing: one.takes_nothing && other.takes_nothing,
        }
    }

    fn leads(&mut self, from: u128, to: u128) {
        for (index, follow) in self.follow.iter_mut().enumerate() {
            if from & (1 << index) != 0 {
                *follow |= to;
            }
        }
    }

    fn takes(&self, byte: u8) -> u128 {
        self.takes.get(usize::from(byte)).copied().unwrap_or(0)
    }

    fn fit(&self, text: &[u8]) -> bool {
        let Some((first, rest)) = text.split_first() else { return self.takes_nothing };
        // Most texts do not end in the right way, which is quickly checked.
        if text.last().is_some_and(|it| self.takes(*it) & self.last == 0) {
            return false;
        }
        let mut active = self.first & self.takes(*first);
        for byte in rest {
            let mut next = 0;
            while active != 0 {
                let index = active.trailing_zeros() as usize;
                next |= self.follow.get(index).copied().unwrap_or(0);
                active &= active - 1;
            }
            active = next & self.takes(*byte);
            if active == 0 {
                return false;
            }
        }
        active & self.last != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_fits_what_git_says() {
        for (glob, fits, others) in [
            ("a*b", &["ab", "axb", "aab"][..], &["a/b", "ab/", "b"][..]),
            ("a[!x]b", &["aab"], &["a/b", "axb"]),
            ("**/a", &["a", "x/a", "x/y/a"], &["xa", "a/x"]),
            ("a/**/b", &["a/b", "a/x/b", "a/x/y/b"], &["ab", "a/xb"]),
            ("a/**/*", &["a/b", "a/b/c"], &["a"]),
            ("{a,b?}.c", &["a.c", "bx.c"], &["b.c", "ax.c"]),
            ("**", &["a", "a/b"], &[]),
            ("?", &["a"], &["é", "", "/"]),
            (r"\*", &["*"], &["a"]),
        ] {
            let compiled = RuleGlob::new(glob);
            let fit = |text: &&str| compiled.as_ref().is_some_and(|it| it.fits(text.as_bytes()));
            assert!(matches!(compiled, Some(RuleGlob::Small(_))), "{glob}");
            assert!(fits.iter().all(fit), "{glob}");
            assert!(!others.iter().any(fit), "{glob}");
        }
    }

    #[test]
    fn a_glob_with_more_places_than_bits_is_left_to_the_engine() {
        let long = format!("{}*{}", "a".repeat(70), "b".repeat(70));
        let compiled = RuleGlob::new(&long);
        assert!(matches!(compiled, Some(RuleGlob::Large(_))));
        let fits = |text: String| compiled.as_ref().is_some_and(|it| it.fits(text.as_bytes()));
        assert!(fits(format!("{}x{}", "a".repeat(70), "b".repeat(70))));
        assert!(!fits(format!("{}/{}", "a".repeat(70), "b".repeat(70))));
    }

    #[test]
    fn the_longest_globs_are_not_too_large_for_the_engine() {
        for (begin, part, end) in [
            ("{", "*a,", "b}"),
            ("", "[a-y]z", ""),
            ("", "?", ""),
            ("", "a*", ""),
            ("", "**/", "a"),
        ] {
            let glob = format!("{begin}{}{end}", part.repeat(4_000 / part.len()));
            assert!(RuleGlob::new(&glob).is_some(), "{begin}{part}{end}");
        }
    }

    #[test]
    fn what_is_no_glob_is_none() {
        for glob in ["a[", "{a", "a}", "[z-a]", "a\\"] {
            assert!(RuleGlob::new(glob).is_none(), "{glob}");
        }
    }
}
