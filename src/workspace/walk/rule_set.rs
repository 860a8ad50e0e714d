//! The ignore rules of one file.
//!
//! A file of rules comes with the tree, so whoever made the tree made it. What it may cost is bounded
//! before it is paid: its size, the number of its rules and, in looks, what an entry costs that is judged
//! by them. Plain lines, which most are, cost next to nothing, however many there are. A file beyond the
//! bounds does not hold, and an answer says so: to show what was to be ignored hides nothing.

use std::{borrow::Cow, collections::HashSet, fs::File, io::Read as _, path::Path, sync::Arc};

use super::{
    pattern::{MAX_GLOB_BYTES, nests_too_deep},
    rule_glob::RuleGlob,
    rules::Ruling,
};

/// The largest file of rules that is read.
const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// What the rules that hold in a directory, those above it included, may take together.
const MAX_BYTES: usize = 4 * 1024 * 1024;
/// How many of them there may be.
const MAX_RULES: usize = 100_000;
/// What they may cost together for each entry, in looks at a plain rule: 4,096 globs.
const MAX_COST: usize = 32_768;
/// What a directory with rules costs beside them: entries in it are judged once more.
const LEVEL_COST: usize = 32;

/// A name that no rule is about. A line that ignores it ignores everything beside it.
const ANY_NAME: &str = "\u{1}any\u{1}name\u{1}";

/// What rules take and cost.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Burden {
    bytes: usize,
    rules: usize,
    cost: usize,
}

impl Burden {
    /// That of a directory that may have rules.
    pub(super) const LEVEL: Self = Self { bytes: 0, rules: 0, cost: LEVEL_COST };

    pub(super) fn and(self, other: Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            rules: self.rules + other.rules,
            cost: self.cost + other.cost,
        }
    }

    /// Which bound is passed, if one is.
    pub(super) fn excess(self) -> Option<String> {
        let beyond = |what: &str, most: usize| {
            Some(format!("with the rules above it there are more than {most} {what}"))
        };
        if self.bytes > MAX_BYTES {
            return beyond("bytes of rules", MAX_BYTES);
        }
        if self.rules > MAX_RULES {
            return beyond("rules", MAX_RULES);
        }
        if self.cost > MAX_COST {
            return beyond("looks at rules for each entry", MAX_COST);
        }
        None
    }
}

/// The rules of one file.
#[derive(Clone, Debug)]
pub(super) struct RuleSet {
    root: Root,
    brings_back_names: bool,
    burden: Burden,
    lines: Arc<Lines>,
    /// Lines that do not hold any more; empty for most.
    spared: Arc<HashSet<u32>>,
}

/// What rules are relative to.
#[derive(Clone, Debug)]
enum Root {
    /// A directory that every entry they are asked about is in: so many bytes of its path.
    Above(usize),
    /// A directory that an entry may be in or not. Elsewhere they are about names and whole paths.
    Anywhere(Arc<Path>),
}

/// The lines of a file, each once: of lines that are the same the last one decides.
#[derive(Debug)]
struct Lines {
    text: Box<str>,
    rules: Vec<Rule>,
    /// Rules that are a name or a path and no more, in the order of their text.
    names: Vec<(u32, Literal)>,
    paths: Vec<(u32, Literal)>,
    longest_path: usize,
    /// All others, in the order of the file.
    tests: Vec<(u32, Test)>,
}

#[derive(Clone, Copy, Debug)]
struct Rule {
    brings_back: bool,
    only_folders: bool,
}

/// A part of the text.
#[derive(Clone, Copy, Debug)]
struct Literal {
    start: u32,
    end: u32,
}

#[derive(Debug)]
enum Test {
    NameBegins(Literal),
    NameEnds(Literal),
    Name(RuleGlob),
    Path(RuleGlob),
}

/// What was read of a file: its rules, and what of it does not hold.
#[derive(Debug, Default)]
pub(super) struct ReadRules {
    pub(super) rules: Option<RuleSet>,
    pub(super) limit: Option<String>,
}

/// An entry as rules see it.
#[derive(Clone, Copy)]
struct Judged<'p> {
    below: &'p [u8],
    name: &'p [u8],
    is_folder: bool,
}

impl RuleSet {
    /// Reads rules that hold below a directory, where others hold already.
    pub(super) fn read(file: File, folder: &Path, above: Burden) -> ReadRules {
        let mut bytes = Vec::new();
        if let Err(cause) = file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes) {
            return ReadRules { rules: None, limit: Some(cause.to_string()) };
        }
        if bytes.len() as u64 > MAX_FILE_BYTES {
            let limit = format!("it has more than {MAX_FILE_BYTES} bytes");
            return ReadRules { rules: None, limit: Some(limit) };
        }
        let text = String::from_utf8_lossy(&bytes);
        Self::parse(text.strip_prefix('\u{feff}').unwrap_or(&text), folder, above)
    }

    /// Lines that are no pattern are passed over, as git does.
    fn parse(text: &str, folder: &Path, above: Burden) -> ReadRules {
        let mut limit = None;
        let mut lines = Lines {
            text: text.into(),
            rules: Vec::new(),
            names: Vec::new(),
            paths: Vec::new(),
            longest_path: 0,
            tests: Vec::new(),
        };
        let mut burden = Burden { bytes: text.len(), rules: 0, cost: 0 };
        let mut seen = HashSet::new();
        let mut brings_back_names = false;
        let mut number = text.lines().count() + 1;
        // From the end: of the same lines the last is kept.
        for line in text.lines().rev() {
            number -= 1;
            if let Some(back) = line.strip_prefix('!') {
                brings_back_names |= !back.trim_start_matches('/').starts_with('.');
            }
            let Some(parsed) = Line::of(line) else { continue };
            if !seen.insert(parsed.original) {
                continue;
            }
            // The parser of globs recurses: a hostile line must not reach it.
            if line.len() > MAX_GLOB_BYTES || nests_too_deep(line) {
                limit = Some(format!(
                    "line {number} has more than {MAX_GLOB_BYTES} bytes or braces that nest too deep"
                ));
                continue;
            }
            burden.rules += 1;
            burden.cost += lines.add(text, parsed);
            if let Some(excess) = burden.and(above).excess() {
                return ReadRules { rules: None, limit: Some(excess) };
            }
        }
        if lines.rules.is_empty() {
            return ReadRules { rules: None, limit };
        }
        lines.arrange();
        let rules = Self {
            root: Root::Above(folder.as_os_str().len()),
            brings_back_names,
            burden,
            lines: Arc::new(lines),
            spared: Arc::default(),
        };
        ReadRules { rules: Some(rules), limit }
    }

    /// The globs of a caller, which are read as lines of rules.
    pub(super) fn of_globs(globs: &[String], folder: &Path) -> ReadRules {
        let mut read = Self::parse(&globs.join("\n"), folder, Burden::default());
        read.rules = read.rules.map(|it| it.holding_anywhere(folder));
        read
    }

    /// The same rules for paths that may be elsewhere.
    pub(super) fn holding_anywhere(mut self, folder: &Path) -> Self {
        self.root = Root::Anywhere(folder.into());
        self
    }

    /// Whether one of them would ignore something.
    pub(super) fn ignores_any(&self) -> bool {
        self.lines.rules.iter().any(|it| !it.brings_back)
    }

    pub(super) fn burden(&self) -> Burden {
        self.burden
    }

    /// What they say of an entry by its absolute path.
    pub(super) fn ruling(&self, path: &Path, is_folder: bool) -> Ruling {
        let path = with_slashes(path);
        let judged = self.judged(&path, is_folder);
        match self.lines.last_fitting(judged, u32::MAX, &self.spared) {
            Some((_, Rule { brings_back: true, .. })) => Ruling::Kept,
            Some(_) => Ruling::Ignored,
            None => Ruling::Unmentioned,
        }
    }

    fn judged<'p>(&self, path: &'p [u8], is_folder: bool) -> Judged<'p> {
        let below = match &self.root {
            Root::Above(length) => path.get(*length..).unwrap_or_default(),
            Root::Anywhere(folder) => {
                let below = path.strip_prefix(&*with_slashes(folder));
                below.filter(|it| it.starts_with(b"/")).unwrap_or(path)
            }
        };
        let below = below.strip_prefix(b"/").unwrap_or(below);
        let name = memchr::memrchr(b'/', below).and_then(|it| below.get(it + 1..));
        Judged { below, name: name.unwrap_or(below), is_folder }
    }

    /// The rules without those lines that ignore whatever is in a directory; `None` when there are no
    /// such lines.
    pub(super) fn sparing(&self, folder: &Path) -> Option<Self> {
        let anything = folder.join(ANY_NAME);
        let anything = with_slashes(&anything);
        let judged = self.judged(&anything, false);
        let mut spared = HashSet::clone(&self.spared);
        let mut before = u32::MAX;
        // Up to a line that brings everything back: what stands before that one does not hold anyway.
        while let Some((index, Rule { brings_back: false, .. })) =
            self.lines.last_fitting(judged, before, &self.spared)
        {
            spared.insert(index);
            before = index;
        }
        let changed = spared.len() > self.spared.len();
        changed.then(|| Self { spared: Arc::new(spared), ..self.clone() })
    }

    /// Whether a line brings something back, other than files like `.gitignore` that keep an otherwise
    /// empty directory.
    pub(super) fn brings_back_names(&self) -> bool {
        self.brings_back_names
    }
}

/// A line that is a rule.
struct Line<'t> {
    original: &'t str,
    /// What has to fit, without what stands before and behind it.
    glob: &'t str,
    is_path: bool,
    rule: Rule,
}

impl<'t> Line<'t> {
    fn of(line: &'t str) -> Option<Self> {
        if line.starts_with('#') {
            return None;
        }
        let original = if line.ends_with("\\ ") { line } else { line.trim_end() };
        if original.is_empty() {
            return None;
        }
        let mut rule = Rule { brings_back: false, only_folders: false };
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
            // The slash may have been escaped.
            glob = rest.strip_suffix('\\').unwrap_or(rest);
        }
        is_path |= glob.contains('/');
        if glob.is_empty() && !is_path {
            // A lone `!`: to ripgrep it is about everything.
            glob = "**";
        }
        Some(Self { original, glob, is_path, rule })
    }
}

impl Lines {
    /// Adds a rule that comes before all others, and says what it costs.
    fn add(&mut self, text: &str, line: Line<'_>) -> usize {
        let index = u32::try_from(self.rules.len()).unwrap_or(u32::MAX);
        let literal = |part: &str| {
            let start = part.as_ptr().addr() - text.as_ptr().addr();
            let place = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
            Literal { start: place(start), end: place(start + part.len()) }
        };
        let Line { glob, is_path, rule, .. } = line;
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
        let test = if is_path {
            // What is in a directory, and not the directory itself.
            let inside = if glob.ends_with("/**") { format!("{glob}/*") } else { glob.to_owned() };
            RuleGlob::new(&inside).map(Test::Path)
        } else if let Some(end) = glob.strip_prefix('*').filter(|it| is_plain(it)) {
            Some(Test::NameEnds(literal(end)))
        } else if let Some(begin) = glob.strip_suffix('*').filter(|it| is_plain(it)) {
            Some(Test::NameBegins(literal(begin)))
        } else {
            RuleGlob::new(glob).map(Test::Name)
        };
        let Some(test) = test else { return 0 };
        let cost = match &test {
            Test::NameBegins(_) | Test::NameEnds(_) => 1,
            Test::Name(glob) => glob.cost(false),
            Test::Path(glob) => glob.cost(true),
        };
        self.tests.push((index, test));
        self.rules.push(rule);
        cost
    }

    /// Brings rules, which were added from the last to the first, into the order they are looked at.
    fn arrange(&mut self) {
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

    /// The last rule before one that is about an entry, and its place.
    fn last_fitting(
        &self,
        judged: Judged<'_>,
        before: u32,
        spared: &HashSet<u32>,
    ) -> Option<(u32, Rule)> {
        let may_be = |index: u32| {
            let rule = self.rules.get(index as usize)?;
            let holds = (judged.is_folder || !rule.only_folders)
                && (spared.is_empty() || !spared.contains(&index));
            holds.then_some((index, *rule))
        };
        let mut best = self.literal(&self.names, judged.name, before, &may_be);
        if judged.below.len() <= self.longest_path {
            let path = self.literal(&self.paths, judged.below, before, &may_be);
            best = best.into_iter().chain(path).max_by_key(|(index, _)| *index);
        }
        let above = best.map(|(index, _)| index);
        for (index, test) in self.tests.iter().rev().skip_while(|(index, _)| *index >= before) {
            if above.is_some_and(|it| it > *index) {
                break;
            }
            if let Some(found) = may_be(*index)
                && self.fits(test, judged)
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
        may_be: &dyn Fn(u32) -> Option<(u32, Rule)>,
    ) -> Option<(u32, Rule)> {
        let text = self.text.as_bytes();
        let from = among.partition_point(|(_, it)| it.of(text) < wanted);
        let same = among.get(from..)?.iter().take_while(|(_, it)| it.of(text) == wanted);
        same.filter(|(rule, _)| *rule < before).filter_map(|(rule, _)| may_be(*rule)).last()
    }

    fn fits(&self, test: &Test, judged: Judged<'_>) -> bool {
        let text = self.text.as_bytes();
        match test {
            Test::NameBegins(literal) => judged.name.starts_with(literal.of(text)),
            Test::NameEnds(literal) => judged.name.ends_with(literal.of(text)),
            Test::Name(glob) => glob.fits(judged.name),
            Test::Path(glob) => glob.fits(judged.below),
        }
    }
}

impl Literal {
    fn of(self, text: &[u8]) -> &[u8] {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// Whether a glob stands for nothing but itself.
fn is_plain(glob: &str) -> bool {
    !glob.contains(['*', '?', '[', '{', '}', '\\'])
}

/// The bytes of a path, with the separator that rules are written with.
#[cfg(unix)]
fn with_slashes(path: &Path) -> Cow<'_, [u8]> {
    path.as_os_str().as_encoded_bytes().into()
}

#[cfg(not(unix))]
fn with_slashes(path: &Path) -> Cow<'_, [u8]> {
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    let slash = |it: &u8| if std::path::is_separator(char::from(*it)) { b'/' } else { *it };
    bytes.map(slash).collect::<Vec<u8>>().into()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use ignore::gitignore::GitignoreBuilder;
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> ReadRules {
        RuleSet::parse(text, Path::new("/tree"), Burden::default())
    }

    fn ruling(rules: &RuleSet, path: &str, is_folder: bool) -> Ruling {
        rules.ruling(&Path::new("/tree").join(path), is_folder)
    }

    /// What ripgrep's own reading of the same text says.
    fn expected(text: &str, path: &str, is_folder: bool) -> Ruling {
        let mut builder = GitignoreBuilder::new("/tree");
        for line in text.lines() {
            let _ = builder.add_line(None, line);
        }
        let path = Path::new("/tree").join(path);
        match builder.build().unwrap().matched(path, is_folder) {
            ignore::Match::Ignore(_) => Ruling::Ignored,
            ignore::Match::Whitelist(_) => Ruling::Kept,
            ignore::Match::None => Ruling::Unmentioned,
        }
    }

    #[test]
    fn a_thousand_lines_with_classes_cost_as_many_looks_at_a_name() {
        let text: String = (0..1_000).map(|it| format!("[!x]*{it}[!y]z\n")).collect();
        let rules = parse(&text).rules.unwrap();
        assert_eq!(rules.burden.rules, 1_000);
        assert!(rules.burden.cost <= 1_000 * 8, "{:?}", rules.burden);
        assert_eq!(ruling(&rules, "a/b7cz", false), Ruling::Ignored);
        assert_eq!(ruling(&rules, "a/x7cz", false), Ruling::Unmentioned);
    }

    #[test]
    fn plain_lines_cost_nothing_and_the_same_line_counts_once() {
        let text: String = (0..50_000).map(|it| format!("d{it}/f\nname{it}\n")).collect();
        let rules = parse(&text).rules.unwrap();
        assert_eq!((rules.burden.rules, rules.burden.cost), (100_000, 0));
        assert_eq!(ruling(&rules, "d7/f", false), Ruling::Ignored);
        assert_eq!(ruling(&rules, "x/d7/f", false), Ruling::Unmentioned);
        assert_eq!(ruling(&rules, "x/name49999", false), Ruling::Ignored);
        let rules = parse(&"[!x]*\n".repeat(100_000)).rules.unwrap();
        assert_eq!(rules.burden.rules, 1);
    }

    #[test]
    fn rules_beyond_a_bound_do_not_hold_and_say_which() {
        for (text, limit) in [
            ((0..5_000).map(|it| format!("[!x]*{it}?\n")).collect(), "looks at rules"),
            ((0..100_001).map(|it| format!("{it}\n")).collect(), "100000 rules"),
            ("a".repeat(4_097), "line 1 has more than 4096 bytes"),
            (format!("b\n{}a{}", "{".repeat(50), "}".repeat(50)), "line 2 has"),
        ] as [(String, &str); 4]
        {
            let read = parse(&text);
            let said = read.limit.unwrap_or_default();
            assert!(said.contains(limit), "{limit}: {said}");
        }
        let above = Burden { bytes: MAX_BYTES, ..Burden::default() };
        let read = RuleSet::parse("a", Path::new("/tree"), above);
        assert!(read.rules.is_none() && read.limit.is_some());
    }

    #[test]
    fn lines_that_ignore_whatever_is_in_a_directory_are_spared_in_one_pass() {
        let text: String = (0..2_000).map(|it| format!("[!{it}x]*\n")).collect();
        let rules = parse(&format!("{text}*.log\n")).rules.unwrap();
        assert_eq!(ruling(&rules, "file", false), Ruling::Ignored);
        let spared = rules.sparing(Path::new("/tree")).unwrap();
        assert_eq!(spared.spared.len(), 2_000);
        assert_eq!(ruling(&spared, "file", false), Ruling::Unmentioned);
        assert_eq!(ruling(&spared, "a.log", false), Ruling::Ignored);
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
            let said = rules.map_or(Ruling::Unmentioned, |it| ruling(&it, &path, is_folder));
            prop_assert_eq!(said, expected(&text, &path, is_folder), "{:?} {}", text, path);
        }

        #[test]
        fn negated_classes_are_read_the_same_within_a_name(
            lines in prop::collection::vec("(a|b|\\*|\\?|\\[!a\\]|\\[\\^b-c\\]){1,4}", 1..4),
            path in "[abc]{1,4}",
        ) {
            let text = lines.join("\n");
            let rules = parse(&text).rules;
            let said = rules.map_or(Ruling::Unmentioned, |it| ruling(&it, &path, false));
            prop_assert_eq!(said, expected(&text, &path, false), "{:?} {}", text, path);
        }
    }
}
