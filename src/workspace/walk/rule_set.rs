//! The ignore rules of one file.
//!
//! A file of rules comes with the tree, so whoever made the tree made it. What it may cost is bounded
//! before it is paid: its size, the number of its rules and, in looks, what an entry costs that is judged
//! by them. Plain lines, which most are, cost next to nothing, however many there are. A file beyond the
//! bounds does not hold, and an answer says so: to show what was to be ignored hides nothing.

use std::{borrow::Cow, collections::HashSet, fs::File, io::Read as _, path::Path, sync::Arc};

use super::{
    pattern::{MAX_GLOB_BYTES, nests_too_deep},
    rule_lines::{Judged, Line, Lines, Rule},
    rules::Ruling,
};

#[cfg(test)]
mod tests;

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

/// What was read of a file: its rules, and what of it does not hold.
#[derive(Debug, Default)]
pub(super) struct ReadRules {
    pub(super) rules: Option<RuleSet>,
    pub(super) limit: Option<String>,
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
        let mut lines = Lines::new(text);
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
            burden.cost += lines.add(text, &parsed);
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
