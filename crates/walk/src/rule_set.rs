//! The ignore rules of one file.
//!
//! An ignore file is part of the tree that is walked, so it is not trusted. What it may cost is limited:
//! its size, the number of its rules and the number of comparisons for each entry. Most rules are plain
//! names, which cost next to nothing. A file that exceeds a limit is not applied, and the answer says so.
//! Then files are shown that should be ignored, but none is hidden that should be shown.

use std::{borrow::Cow, collections::HashSet, fs::File, io::Read as _, path::Path, sync::Arc};

use super::{
    pattern::{MAX_GLOB_BYTES, nests_too_deep},
    rule_lines::{EntryToMatch, IgnoreRule, RuleLine, RuleLines},
    rules::IgnoreDecision,
};

#[cfg(test)]
mod tests;

/// The size of the largest ignore file that is read.
const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// The most bytes of all rules that apply in a directory, including those from directories above it.
const MAX_BYTES: usize = 4 * 1024 * 1024;
/// The most rules that apply in a directory.
const MAX_RULES: usize = 100_000;
/// The most comparisons with plain names that the rules of a directory may cost for each entry. This is
/// enough for 4,096 globs.
const MAX_COST: usize = 32_768;
/// The additional cost of each level with rules.
const LEVEL_COST: usize = 32;

/// A name that no rule names. A rule that ignores it ignores everything in that directory.
const ANY_NAME: &str = "\u{1}any\u{1}name\u{1}";

/// The memory that rules take, and the work of applying them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RuleCost {
    bytes: usize,
    rules: usize,
    comparisons: usize,
}

impl RuleCost {
    /// The cost of a directory level, besides that of its rules.
    pub(super) const LEVEL: Self = Self { bytes: 0, rules: 0, comparisons: LEVEL_COST };

    pub(super) fn and(self, other: Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            rules: self.rules + other.rules,
            comparisons: self.comparisons + other.comparisons,
        }
    }

    /// Which limit is exceeded, if any.
    pub(super) fn excess(self) -> Option<String> {
        let beyond = |what: &str, most: usize| {
            Some(format!(
                "together with the rules of directories above there are more than {most} {what}"
            ))
        };
        if self.bytes > MAX_BYTES {
            return beyond("bytes of rules", MAX_BYTES);
        }
        if self.rules > MAX_RULES {
            return beyond("rules", MAX_RULES);
        }
        if self.comparisons > MAX_COST {
            return beyond("comparisons with rules for each entry", MAX_COST);
        }
        None
    }
}

/// The rules of one file.
#[derive(Clone, Debug)]
pub(super) struct RuleSet {
    root: RulesRoot,
    brings_back_names: bool,
    cost: RuleCost,
    lines: Arc<RuleLines>,
    /// The indexes of rules that do not apply; mostly empty.
    spared: Arc<HashSet<u32>>,
}

/// The directory that rules are relative to.
#[derive(Clone, Debug)]
enum RulesRoot {
    /// A directory above every entry that is matched, by the length of its path.
    Above(usize),
    /// A directory that may not contain the entry. Then rules are matched against its name and its
    /// whole path.
    Anywhere(Arc<Path>),
}

/// The rules of a file, and the reasons why some could not be applied.
#[derive(Debug, Default)]
pub(super) struct ReadRules {
    pub(super) rules: Option<RuleSet>,
    pub(super) limit: Option<String>,
}

impl RuleSet {
    /// Reads the rules for a directory in which others, of the cost `above`, already apply.
    pub(super) fn read(file: File, folder: &Path, above: RuleCost) -> ReadRules {
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

    /// Parses rules. Invalid lines are ignored, as in git.
    fn parse(text: &str, folder: &Path, above: RuleCost) -> ReadRules {
        let mut limit = None;
        let mut lines = RuleLines::new(text);
        let mut cost = RuleCost { bytes: text.len(), rules: 0, comparisons: 0 };
        let mut seen = HashSet::new();
        let mut brings_back_names = false;
        let mut number = text.lines().count() + 1;
        // From the end, because of identical lines the last is kept.
        for line in text.lines().rev() {
            number -= 1;
            if let Some(back) = line.strip_prefix('!') {
                brings_back_names |= !back.trim_start_matches('/').starts_with('.');
            }
            let Some(parsed) = RuleLine::of(line) else { continue };
            if !seen.insert(parsed.original) {
                continue;
            }
            // The glob parser is recursive, so a hostile line must not reach it.
            if line.len() > MAX_GLOB_BYTES || nests_too_deep(line) {
                limit = Some(format!(
                    "line {number} has more than {MAX_GLOB_BYTES} bytes or braces that are nested too deeply"
                ));
                continue;
            }
            cost.rules += 1;
            cost.comparisons += lines.add(text, &parsed);
            if let Some(excess) = cost.and(above).excess() {
                return ReadRules { rules: None, limit: Some(excess) };
            }
        }
        if lines.rules.is_empty() {
            return ReadRules { rules: None, limit };
        }
        lines.arrange();
        let rules = Self {
            root: RulesRoot::Above(folder.as_os_str().len()),
            brings_back_names,
            cost,
            lines: Arc::new(lines),
            spared: Arc::default(),
        };
        ReadRules { rules: Some(rules), limit }
    }

    /// The globs of a caller, parsed as lines of an ignore file.
    pub(super) fn of_globs(globs: &[String], folder: &Path) -> ReadRules {
        let mut read = Self::parse(&globs.join("\n"), folder, RuleCost::default());
        read.rules = read.rules.map(|it| it.holding_anywhere(folder));
        read
    }

    /// The same rules, for paths that may be outside `folder`.
    pub(super) fn holding_anywhere(mut self, folder: &Path) -> Self {
        self.root = RulesRoot::Anywhere(folder.into());
        self
    }

    /// Whether there is a rule that ignores something.
    pub(super) fn ignores_any(&self) -> bool {
        self.lines.rules.iter().any(|it| !it.brings_back)
    }

    pub(super) fn cost(&self) -> RuleCost {
        self.cost
    }

    /// The decision of the rules about an entry, by its absolute path.
    pub(super) fn ruling(&self, path: &Path, is_folder: bool) -> IgnoreDecision {
        let path = with_slashes(path);
        let entry = self.entry(&path, is_folder);
        match self.lines.last_fitting(entry, u32::MAX, &self.spared) {
            Some((_, IgnoreRule { brings_back: true, .. })) => IgnoreDecision::Kept,
            Some(_) => IgnoreDecision::Ignored,
            None => IgnoreDecision::Unmentioned,
        }
    }

    fn entry<'p>(&self, path: &'p [u8], is_folder: bool) -> EntryToMatch<'p> {
        let below = match &self.root {
            RulesRoot::Above(length) => path.get(*length..).unwrap_or_default(),
            RulesRoot::Anywhere(folder) => {
                let below = path.strip_prefix(&*with_slashes(folder));
                below.filter(|it| it.starts_with(b"/")).unwrap_or(path)
            }
        };
        let below = below.strip_prefix(b"/").unwrap_or(below);
        let name = memchr::memrchr(b'/', below).and_then(|it| below.get(it + 1..));
        EntryToMatch { below, name: name.unwrap_or(below), is_folder }
    }

    /// The rules without those that ignore everything in `folder`. `None` if there are no such rules.
    pub(super) fn sparing(&self, folder: &Path) -> Option<Self> {
        let anything = folder.join(ANY_NAME);
        let anything = with_slashes(&anything);
        let entry = self.entry(&anything, false);
        let mut spared = HashSet::clone(&self.spared);
        let mut before = u32::MAX;
        // Up to a rule that un-ignores everything, because rules before it have no effect.
        while let Some((index, IgnoreRule { brings_back: false, .. })) =
            self.lines.last_fitting(entry, before, &self.spared)
        {
            spared.insert(index);
            before = index;
        }
        let changed = spared.len() > self.spared.len();
        changed.then(|| Self { spared: Arc::new(spared), ..self.clone() })
    }

    /// Whether there are rules that do not apply because they would ignore everything.
    pub(super) fn spares_any(&self) -> bool {
        !self.spared.is_empty()
    }

    /// Whether a rule un-ignores something other than files like `.gitignore`, which are only there to keep
    /// an otherwise empty directory.
    pub(super) fn brings_back_names(&self) -> bool {
        self.brings_back_names
    }
}

/// The bytes of a path with `/` as separator, as in rules.
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
