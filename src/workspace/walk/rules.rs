//! The ignore rules that hold in a directory, as git and ripgrep read them.
//!
//! Each directory with rules of its own adds a level to those above it. `.rgignore` beats `.ignore`,
//! which beats `.gitignore`, `.git/info/exclude` and the user's global excludes; within one kind the
//! nearest file wins, and in a file the last line that fits. A repository inside another one does
//! not take the outer one's `.gitignore`.
//!
//! Who names a directory wants to see what is in it: there, lines that ignore whatever it holds, like
//! `dist/*` above or the `*` of a `.venv`, do not hold. All others do.

use std::{fs::File, iter, path::Path, sync::Arc};

use super::{
    entry::EntryKind,
    folder::Folder,
    rule_set::{IntoRules as _, RuleSet, repository_excludes},
};

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
    ripgrep: Option<RuleSet>,
    plain: Option<RuleSet>,
    git: Option<RuleSet>,
    exclude: Option<RuleSet>,
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

/// How a walk came to a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// It starts there, or what was asked for spells it out.
    Named,
    /// It is below such a one.
    Reached,
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
        naming: Naming,
    ) -> Option<Arc<Self>> {
        let above = match naming {
            Naming::Named => Self::sparing(above, folder.path()),
            Naming::Reached => above.cloned(),
        };
        if !files.any() {
            return above;
        }
        let read = |present: bool, name: &str| {
            let rules = present
                .then(|| folder.open_file(name.as_ref()).ok())??
                .into_rules(folder.path())?;
            // Lines that bring something back make the rest of the file a list of what is wanted.
            if naming == Naming::Reached || rules.brings_back_names() {
                return Some(rules);
            }
            rules.sparing(folder.path()).unwrap_or(Some(rules))
        };
        Some(Arc::new(Self {
            above,
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

    /// The same rules without those that ignore whatever is in a directory.
    fn sparing(rules: Option<&Arc<Self>>, folder: &Path) -> Option<Arc<Self>> {
        // No recursion: there are as many levels as whoever made the tree liked.
        let levels: Vec<&Arc<Self>> =
            iter::successors(rules, |level| level.above.as_ref()).collect();
        let mut kept: Option<Arc<Self>> = None;
        let mut changed = false;
        for level in levels.into_iter().rev() {
            let sets = [&level.ripgrep, &level.plain, &level.git, &level.exclude];
            let spared = sets.map(|set| set.as_ref().and_then(|it| it.sparing(folder)));
            changed |= spared.iter().any(Option::is_some);
            if !changed {
                kept = Some(Arc::clone(level));
                continue;
            }
            let [ripgrep, plain, git, exclude] = spared;
            kept = Some(Arc::new(Self {
                above: kept,
                ripgrep: ripgrep.unwrap_or_else(|| level.ripgrep.clone()),
                plain: plain.unwrap_or_else(|| level.plain.clone()),
                git: git.unwrap_or_else(|| level.git.clone()),
                exclude: exclude.unwrap_or_else(|| level.exclude.clone()),
                is_repository: level.is_repository,
            }));
        }
        kept
    }

    /// The rules of the directories a walk starts below, and of the user.
    pub(super) fn above(start: &Path, global: Option<RuleSet>) -> Option<Arc<Self>> {
        let mut rules = global.map(|it| {
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
        let ask = |set: &Option<RuleSet>| match set {
            Some(set) => set.ruling(path, is_folder),
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
