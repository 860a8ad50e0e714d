//! The ignore rules that hold in a directory, as git and ripgrep read them.
//!
//! Each directory with rules of its own adds a level to those above it. `.rgignore` beats `.ignore`,
//! which beats `.gitignore`, `.git/info/exclude` and the user's global excludes; within one kind the
//! nearest file wins, and in a file the last line that fits. A repository inside another one does
//! not take the outer one's `.gitignore`.

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
    folder::Folder,
    pattern::{MAX_GLOB_BYTES, nests_too_deep},
};

/// The largest ignore file that is read.
const MAX_RULES_BYTES: u64 = 4 * 1024 * 1024;

/// What the rules say of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ruling {
    Ignored,
    /// Kept by a negated rule, which also brings hidden files back.
    Kept,
    Unmentioned,
}

/// The rules of one directory, above those of the directories it is in.
#[derive(Debug)]
pub(super) struct Rules {
    above: Option<Arc<Rules>>,
    ripgrep: Option<Gitignore>,
    plain: Option<Gitignore>,
    git: Option<Gitignore>,
    exclude: Option<Gitignore>,
    is_repository: bool,
}

/// Which files of rules a listing showed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RuleFiles {
    ripgrep: bool,
    plain: bool,
    git: bool,
    repository: Repository,
}

/// What makes a directory the top of a repository.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Repository {
    #[default]
    None,
    /// `.git`, and what it is.
    Git(EntryKind),
    /// `.jj`, whose excludes are git's.
    Jujutsu,
}

impl RuleFiles {
    /// Takes note of an entry that has to do with rules.
    pub(super) fn note(&mut self, name: &[u8], kind: EntryKind) {
        match name {
            b".gitignore" => self.git |= kind == EntryKind::File,
            b".ignore" => self.plain |= kind == EntryKind::File,
            b".rgignore" => self.ripgrep |= kind == EntryKind::File,
            b".git" => self.repository = Repository::Git(kind),
            b".jj" if kind == EntryKind::Folder && self.repository == Repository::None => {
                self.repository = Repository::Jujutsu;
            }
            _ => {}
        }
    }

    fn any(self) -> bool {
        self.ripgrep || self.plain || self.git || self.repository != Repository::None
    }
}

impl Rules {
    /// The rules that hold in a directory, given those above it and what its listing showed.
    pub(super) fn within(
        above: Option<&Arc<Self>>,
        folder: &Folder,
        files: RuleFiles,
    ) -> Option<Arc<Self>> {
        if !files.any() {
            return above.cloned();
        }
        let read = |present: bool, name: &str| {
            present.then(|| folder.open_file(name.as_ref()).ok())??.into_rules(folder.path())
        };
        Some(Arc::new(Self {
            above: above.cloned(),
            ripgrep: read(files.ripgrep, ".rgignore"),
            plain: read(files.plain, ".ignore"),
            git: read(files.git, ".gitignore"),
            exclude: match files.repository {
                Repository::Git(kind) => repository_excludes(folder.path(), kind),
                Repository::None | Repository::Jujutsu => None,
            },
            is_repository: files.repository != Repository::None,
        }))
    }

    /// The rules of the directories a walk starts below, and of the user.
    pub(super) fn above(start: &Path, global: Option<Gitignore>) -> Option<Arc<Self>> {
        let mut rules = global.filter(|it| !it.is_empty()).map(|it| {
            Arc::new(Self {
                above: None,
                ripgrep: None,
                plain: None,
                git: None,
                // The weakest of all: no other level has its excludes further out.
                exclude: Some(it),
                is_repository: false,
            })
        });
        let ancestors: Vec<&Path> = start.ancestors().skip(1).collect();
        for folder in ancestors.into_iter().rev() {
            let read = |name: &str| {
                let path = folder.join(name);
                path.symlink_metadata().ok().filter(std::fs::Metadata::is_file)?;
                File::open(path).ok()?.into_rules(folder)
            };
            let (ripgrep, plain, git) = (read(".rgignore"), read(".ignore"), read(".gitignore"));
            let repository = folder.join(".git").symlink_metadata().ok();
            let is_repository = repository.is_some() || folder.join(".jj").is_dir();
            if ripgrep.is_none() && plain.is_none() && git.is_none() && !is_repository {
                continue;
            }
            let exclude = repository.and_then(|it| {
                let kind = if it.is_file() { EntryKind::File } else { EntryKind::Folder };
                repository_excludes(folder, kind)
            });
            let above = rules.take();
            rules = Some(Arc::new(Self { above, ripgrep, plain, git, exclude, is_repository }));
        }
        rules
    }

    /// What the rules say of an entry by its absolute path.
    pub(super) fn ruling(&self, path: &Path, kind: EntryKind) -> Ruling {
        let is_folder = kind == EntryKind::Folder;
        let ask = |rules: &Option<Gitignore>| match rules {
            Some(rules) => match rules.matched(path, is_folder) {
                Match::Ignore(_) => Ruling::Ignored,
                Match::Whitelist(_) => Ruling::Kept,
                Match::None => Ruling::Unmentioned,
            },
            None => Ruling::Unmentioned,
        };
        let (mut ripgrep, mut plain, mut git, mut exclude) =
            (Ruling::Unmentioned, Ruling::Unmentioned, Ruling::Unmentioned, Ruling::Unmentioned);
        let mut left_repository = false;
        let mut level = Some(self);
        while let Some(rules) = level {
            ripgrep = ripgrep.or_else(|| ask(&rules.ripgrep));
            plain = plain.or_else(|| ask(&rules.plain));
            if !left_repository {
                git = git.or_else(|| ask(&rules.git));
                exclude = exclude.or_else(|| ask(&rules.exclude));
            } else if rules.above.is_none() && !rules.is_repository && rules.git.is_none() {
                // The user's own excludes hold in every repository.
                exclude = exclude.or_else(|| ask(&rules.exclude));
            }
            left_repository |= rules.is_repository;
            level = rules.above.as_deref();
        }
        ripgrep.or_else(|| plain).or_else(|| git).or_else(|| exclude)
    }
}

impl Ruling {
    fn or_else(self, other: impl FnOnce() -> Self) -> Self {
        if self == Self::Unmentioned { other() } else { self }
    }
}

/// Reads the user's global excludes, which hold below the directory given.
pub(super) fn global_excludes(file: &Path, below: &Path) -> Option<Gitignore> {
    File::open(file).ok()?.into_rules(below)
}

trait IntoRules {
    fn into_rules(self, folder: &Path) -> Option<Gitignore>;
}

impl IntoRules for File {
    /// The rules in a file. Lines that are no pattern are passed over, as git does.
    fn into_rules(self, folder: &Path) -> Option<Gitignore> {
        if !self.metadata().ok()?.is_file() {
            return None;
        }
        let mut bytes = Vec::new();
        self.take(MAX_RULES_BYTES).read_to_end(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let mut builder = GitignoreBuilder::new(folder);
        for line in text.lines() {
            // The parser of globs recurses: a hostile line must not reach it.
            if line.len() <= MAX_GLOB_BYTES && !nests_too_deep(line) {
                let _ = builder.add_line(None, line);
            }
        }
        builder.build().ok().filter(|it| !it.is_empty())
    }
}

/// `info/exclude` of the repository at a directory, also where `.git` is a file: a linked worktree.
fn repository_excludes(folder: &Path, kind: EntryKind) -> Option<Gitignore> {
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
