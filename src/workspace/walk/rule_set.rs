//! The ignore rules of one file.

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};

use super::{
    entry::EntryKind,
    pattern::{MAX_GLOB_BYTES, nests_too_deep},
    rules::Ruling,
};

/// The largest ignore file that is read.
const MAX_RULES_BYTES: u64 = 4 * 1024 * 1024;

/// A name that no rule is about. A line that ignores it ignores everything beside it.
const ANY_NAME: &str = "\u{1}any\u{1}name\u{1}";

/// The rules of one file.
#[derive(Clone, Debug)]
pub(super) struct RuleSet {
    rules: Gitignore,
    text: Arc<str>,
}

impl RuleSet {
    /// Lines that are no pattern are passed over, as git does.
    fn new(text: Arc<str>, folder: &Path) -> Option<Self> {
        let mut builder = GitignoreBuilder::new(folder);
        for line in text.lines() {
            // The parser of globs recurses: a hostile line must not reach it.
            if line.len() <= MAX_GLOB_BYTES && !nests_too_deep(line) {
                let _ = builder.add_line(None, line);
            }
        }
        let rules = builder.build().ok().filter(|it| !it.is_empty())?;
        Some(Self { rules, text })
    }

    /// What they say of an entry.
    pub(super) fn ruling(&self, path: &Path, is_folder: bool) -> Ruling {
        match self.rules.matched(path, is_folder) {
            Match::Ignore(_) => Ruling::Ignored,
            Match::Whitelist(_) => Ruling::Kept,
            Match::None => Ruling::Unmentioned,
        }
    }

    /// The rules without those lines that ignore whatever is in a directory; `None` when there are no
    /// such lines.
    #[expect(clippy::option_option, reason = "nothing to change, and nothing left, are two things")]
    pub(super) fn sparing(&self, folder: &Path) -> Option<Option<Self>> {
        let anything = folder.join(ANY_NAME);
        let mut spared: Option<Self> = None;
        loop {
            let set = spared.as_ref().unwrap_or(self);
            let Match::Ignore(rule) = set.rules.matched(&anything, false) else {
                return spared.map(Some);
            };
            let is_it =
                |line: &&str| *line == rule.original() || line.trim_end() == rule.original();
            let others: Vec<&str> = set.text.lines().filter(|line| !is_it(line)).collect();
            if others.len() == set.text.lines().count() {
                return spared.map(Some);
            }
            match Self::new(others.join("\n").into(), set.rules.path()) {
                Some(rest) => spared = Some(rest),
                None => return Some(None),
            }
        }
    }

    /// Whether a line brings something back, other than files like `.gitignore` that keep an otherwise
    /// empty directory.
    pub(super) fn brings_back_names(&self) -> bool {
        let negated = self.text.lines().filter_map(|line| line.strip_prefix('!'));
        negated.map(|it| it.trim_start_matches('/')).any(|it| !it.starts_with('.'))
    }
}

/// Reads the user's global excludes, which hold below the directory given.
pub(super) fn global_excludes(file: &Path, below: &Path) -> Option<RuleSet> {
    File::open(file).ok()?.into_rules(below)
}

pub(super) trait IntoRules {
    fn into_rules(self, folder: &Path) -> Option<RuleSet>;
}

impl IntoRules for File {
    fn into_rules(self, folder: &Path) -> Option<RuleSet> {
        if !self.metadata().ok()?.is_file() {
            return None;
        }
        let mut bytes = Vec::new();
        self.take(MAX_RULES_BYTES).read_to_end(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        RuleSet::new(text.strip_prefix('\u{feff}').unwrap_or(&text).into(), folder)
    }
}

/// `info/exclude` of the repository at a directory, also where `.git` is a file: a linked worktree.
pub(super) fn repository_excludes(folder: &Path, kind: EntryKind) -> Option<RuleSet> {
    let directory = match kind {
        EntryKind::Folder => folder.join(".git"),
        EntryKind::File => common_directory(folder).ok()??,
        EntryKind::Link | EntryKind::Other => return None,
    };
    File::open(directory.join("info/exclude")).ok()?.into_rules(folder)
}

fn common_directory(folder: &Path) -> io::Result<Option<PathBuf>> {
    let first_line = |path: &Path| -> io::Result<String> {
        let mut text = String::new();
        File::open(path)?.take(8_192).read_to_string(&mut text)?;
        Ok(text.lines().next().unwrap_or_default().to_owned())
    };
    let pointer = first_line(&folder.join(".git"))?;
    let Some(private) = pointer.strip_prefix("gitdir: ") else { return Ok(None) };
    let private = folder.join(private);
    let common = first_line(&private.join("commondir"))?;
    Ok(Some(private.join(common)))
}
