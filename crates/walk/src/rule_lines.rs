//! The lines of an ignore file, arranged so that the rules for an entry are found quickly.

use std::collections::HashSet;

use super::rule_glob::RuleGlob;

/// The rules of a file. Of identical lines only the last is kept, because it decides.
#[derive(Debug)]
pub(super) struct RuleLines {
    text: Box<str>,
    pub(super) rules: Vec<IgnoreRule>,
    /// Rules that are a plain name, sorted by that name.
    names: Vec<(u32, Literal)>,
    paths: Vec<(u32, Literal)>,
    longest_path: usize,
    /// All other rules, in the order of the file.
    tests: Vec<(u32, RuleTest)>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct IgnoreRule {
    pub(super) brings_back: bool,
    only_folders: bool,
}

/// A part of the text, by its start and end.
#[derive(Clone, Copy, Debug)]
struct Literal {
    start: u32,
    end: u32,
}

#[derive(Debug)]
enum RuleTest {
    NameBegins(Literal),
    NameEnds(Literal),
    Name(RuleGlob),
    Path(RuleGlob),
}

/// An entry that rules are matched against.
#[derive(Clone, Copy)]
pub(super) struct EntryToMatch<'p> {
    pub(super) below: &'p [u8],
    pub(super) name: &'p [u8],
    pub(super) is_folder: bool,
}

/// A line of an ignore file, parsed.
pub(super) struct RuleLine<'t> {
    pub(super) original: &'t str,
    /// The glob, without `!` and slashes around it.
    glob: &'t str,
    is_path: bool,
    rule: IgnoreRule,
}

impl<'t> RuleLine<'t> {
    pub(super) fn of(line: &'t str) -> Option<Self> {
        if line.starts_with('#') {
            return None;
        }
        let original = if line.ends_with("\\ ") { line } else { line.trim_end() };
        if original.is_empty() {
            return None;
        }
        let mut rule = IgnoreRule { brings_back: false, only_folders: false };
        let (mut glob, mut is_path) = (original, false);
        if glob.starts_with("\\!") || glob.starts_with("\\#") {
            glob = glob.get(1..).unwrap_or_default();
        } else {
            if let Some(rest) = glob.strip_prefix('!') {
                rule.brings_back = true;
                glob = rest;
            }
            if let Some(rest) = glob.strip_prefix('/') {
                is_path = true;
                glob = rest;
            }
        }
        if let Some(rest) = glob.strip_suffix('/') {
            rule.only_folders = true;
            // The trailing slash may have been escaped.
            glob = rest.strip_suffix('\\').unwrap_or(rest);
        }
        is_path |= glob.contains('/');
        if glob.is_empty() && !is_path {
            // A lone `!` matches everything, as in ripgrep.
            glob = "**";
        }
        Some(Self { original, glob, is_path, rule })
    }
}

impl RuleLines {
    pub(super) fn new(text: &str) -> Self {
        Self {
            text: text.into(),
            rules: Vec::new(),
            names: Vec::new(),
            paths: Vec::new(),
            longest_path: 0,
            tests: Vec::new(),
        }
    }

    /// Adds a rule before all others, and returns the cost of matching it.
    pub(super) fn add(&mut self, text: &str, line: &RuleLine<'_>) -> usize {
        let index = u32::try_from(self.rules.len()).unwrap_or(u32::MAX);
        let literal = |part: &str| {
            let start = part.as_ptr().addr() - text.as_ptr().addr();
            let place = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
            Literal { start: place(start), end: place(start + part.len()) }
        };
        let RuleLine { glob, is_path, rule, .. } = *line;
        if is_plain(glob) {
            if is_path {
                self.longest_path = self.longest_path.max(glob.len());
                self.paths.push((index, literal(glob)));
            } else {
                self.names.push((index, literal(glob)));
            }
            self.rules.push(rule);
            return 0;
        }
        let fits = if is_path {
            // This matches what is in a directory, but not the directory itself.
            let inside = if glob.ends_with("/**") { format!("{glob}/*") } else { glob.to_owned() };
            RuleGlob::new(&inside).map(RuleTest::Path)
        } else if let Some(end) = glob.strip_prefix('*').filter(|it| is_plain(it)) {
            Some(RuleTest::NameEnds(literal(end)))
        } else if let Some(begin) = glob.strip_suffix('*').filter(|it| is_plain(it)) {
            Some(RuleTest::NameBegins(literal(begin)))
        } else {
            RuleGlob::new(glob).map(RuleTest::Name)
        };
        let Some(fits) = fits else { return 0 };
        let cost = match &fits {
            RuleTest::NameBegins(_) | RuleTest::NameEnds(_) => 1,
            RuleTest::Name(glob) => glob.cost(false),
            RuleTest::Path(glob) => glob.cost(true),
        };
        self.tests.push((index, fits));
        self.rules.push(rule);
        cost
    }

    /// Puts the rules, which were added in reverse, in the order of the file, and sorts plain names.
    pub(super) fn arrange(&mut self) {
        let count = u32::try_from(self.rules.len()).unwrap_or(u32::MAX);
        let turned = |rule: u32| count.saturating_sub(rule + 1);
        self.rules.reverse();
        self.tests.reverse();
        for (rule, _) in &mut self.tests {
            *rule = turned(*rule);
        }
        let text = self.text.as_bytes();
        for literals in [&mut self.names, &mut self.paths] {
            for (rule, _) in literals.iter_mut() {
                *rule = turned(*rule);
            }
            literals.sort_unstable_by(|(one_rule, one), (other_rule, other)| {
                (one.of(text), one_rule).cmp(&(other.of(text), other_rule))
            });
        }
    }

    /// The last rule before index `before` that matches an entry, and its index.
    pub(super) fn last_fitting(
        &self,
        entry: EntryToMatch<'_>,
        before: u32,
        spared: &HashSet<u32>,
    ) -> Option<(u32, IgnoreRule)> {
        let may_be = |index: u32| {
            let rule = self.rules.get(index as usize)?;
            let holds = (entry.is_folder || !rule.only_folders)
                && (spared.is_empty() || !spared.contains(&index));
            holds.then_some((index, *rule))
        };
        let mut best = self.literal(&self.names, entry.name, before, &may_be);
        if entry.below.len() <= self.longest_path {
            let path = self.literal(&self.paths, entry.below, before, &may_be);
            best = best.into_iter().chain(path).max_by_key(|(index, _)| *index);
        }
        let above = best.map(|(index, _)| index);
        for (index, test) in self.tests.iter().rev().skip_while(|(index, _)| *index >= before) {
            if above.is_some_and(|it| it > *index) {
                break;
            }
            if let Some(found) = may_be(*index)
                && self.fits(test, entry)
            {
                return Some(found);
            }
        }
        best
    }

    fn literal(
        &self,
        among: &[(u32, Literal)],
        wanted: &[u8],
        before: u32,
        may_be: &dyn Fn(u32) -> Option<(u32, IgnoreRule)>,
    ) -> Option<(u32, IgnoreRule)> {
        let text = self.text.as_bytes();
        let from = among.partition_point(|(_, it)| it.of(text) < wanted);
        let same = among.get(from..)?.iter().take_while(|(_, it)| it.of(text) == wanted);
        same.filter(|(rule, _)| *rule < before).filter_map(|(rule, _)| may_be(*rule)).last()
    }

    fn fits(&self, test: &RuleTest, entry: EntryToMatch<'_>) -> bool {
        let lines = self.text.as_bytes();
        match test {
            RuleTest::NameBegins(literal) => entry.name.starts_with(literal.of(lines)),
            RuleTest::NameEnds(literal) => entry.name.ends_with(literal.of(lines)),
            RuleTest::Name(glob) => glob.fits(entry.name),
            RuleTest::Path(glob) => glob.fits(entry.below),
        }
    }
}

impl Literal {
    fn of(self, text: &[u8]) -> &[u8] {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// Whether a glob matches nothing but its own text.
fn is_plain(glob: &str) -> bool {
    !glob.contains(['*', '?', '[', '{', '}', '\\'])
}
