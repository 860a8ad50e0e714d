//! The ignore rules that apply in a directory, as in git and ripgrep.
//!
//! Each directory with ignore files adds a level to those above it. `.rgignore` takes precedence over
//! `.ignore`, and that over `.gitignore`, `.git/info/exclude` and the user's global excludes. Of files
//! of the same kind the nearest takes precedence, and in a file the last line that matches. The
//! `.gitignore` of an outer repository does not apply in an inner one.
//!
//! If the caller names a directory, rules that would ignore everything in it, like `dist/*` above it or
//! the `*` in a `.venv`, do not apply, because the caller wants to see what is in it. All others do.

use std::{
    fs::File,
    io, iter,
    path::{Path, PathBuf},
    sync::Arc,
};

use toolwright_base::regular_file;
use toolwright_files::{EntryKind, Folder};

use super::{
    rule_set::{RuleCost, RuleSet},
    rule_sources::WorktreeDirectories,
};

/// The decision of ignore rules about an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IgnoreDecision {
    Ignored,
    /// A negated rule matches, which also un-hides hidden files.
    Kept,
    Unmentioned,
}

/// The rules of one directory, linked to those of the directories above it.
#[derive(Debug)]
pub struct Rules {
    above: Option<Arc<Rules>>,
    ripgrep: Option<RuleSet>,
    plain: Option<RuleSet>,
    git: Option<RuleSet>,
    exclude: Option<RuleSet>,
    is_repository: bool,
    /// The cost of these rules and of those above.
    cost: RuleCost,
}

/// An ignore file that could not be applied, or not completely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnappliedRules {
    /// The path of the ignore file.
    pub file: PathBuf,
    /// Why it could not be applied.
    pub cause: String,
}

/// Which ignore files a directory has, according to its listing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RuleFiles {
    ripgrep: bool,
    plain: bool,
    git: bool,
    repository: Repository,
}

/// Whether a directory is the top of a repository, and of which kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Repository {
    #[default]
    None,
    /// It has a `.git` of this kind.
    Git(EntryKind),
    /// It has a `.jj`, which uses git's excludes.
    Jujutsu,
}

/// Whether the caller named a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// The walk starts there, or the pattern spells it out.
    Named,
    /// It is somewhere below such a directory.
    Reached,
}

impl RuleFiles {
    /// Notes an entry if it is an ignore file or belongs to a repository.
    pub fn note(&mut self, name: &[u8], kind: EntryKind) {
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

    pub(super) fn repository(self) -> Repository {
        self.repository
    }

    /// Whether there is any.
    pub fn any(self) -> bool {
        self.ripgrep || self.plain || self.git || self.repository != Repository::None
    }
}

/// Reads the ignore files of one directory, adding up their cost.
struct RuleFileReader<'a> {
    folder: &'a Path,
    /// Opens a file by its path relative to the directory.
    open: &'a dyn Fn(&Path) -> io::Result<File>,
    cost: RuleCost,
    unapplied: &'a mut Vec<UnappliedRules>,
}

impl RuleFileReader<'_> {
    /// The rules of a file, if it can be read and has any.
    fn read(&mut self, opened: io::Result<File>, name: &Path) -> Option<RuleSet> {
        let read = match opened {
            Ok(file) => RuleSet::read(file, self.folder, self.cost),
            Err(cause) if is_absent(&cause) => return None,
            Err(cause) => {
                self.note(name, cause.to_string());
                return None;
            }
        };
        if let Some(limit) = read.limit {
            self.note(name, limit);
        }
        let rules = read.rules?;
        self.cost = self.cost.and(rules.cost());
        Some(rules)
    }

    fn note(&mut self, name: &Path, cause: String) {
        self.unapplied.push(UnappliedRules { file: self.folder.join(name), cause });
    }

    /// The `info/exclude` of the repository in this directory. In a linked worktree `.git` is a file.
    fn excludes(&mut self, kind: EntryKind) -> Option<RuleSet> {
        let directory = match kind {
            EntryKind::Folder => PathBuf::from(".git"),
            EntryKind::File => WorktreeDirectories::read(self.open).ok()??.common?,
            EntryKind::Link | EntryKind::Other => return None,
        };
        let path = directory.join("info/exclude");
        self.read((self.open)(&path), &path)
    }
}

/// Whether an error means that there is no ignore file: it does not exist, or is a link that is not
/// followed.
fn is_absent(cause: &io::Error) -> bool {
    #[cfg(unix)]
    if cause.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
        return true;
    }
    matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

impl Rules {
    /// The rules that apply in a directory, given those above it and its listing.
    pub fn within(
        above: Option<&Arc<Self>>,
        folder: &Folder,
        files: RuleFiles,
        naming: Naming,
        unapplied: &mut Vec<UnappliedRules>,
    ) -> Option<Arc<Self>> {
        let above = match naming {
            Naming::Named => Self::sparing(above, &folder.path()),
            Naming::Reached => above.cloned(),
        };
        if !files.any() {
            return above;
        }
        let path = folder.path();
        let mut reader = RuleFileReader {
            folder: &path,
            open: &|it| folder.open_settings(it),
            cost: above.as_ref().map_or_else(RuleCost::default, |it| it.cost),
            unapplied,
        };
        let mut read = |present: bool, name: &str| {
            let opened = present.then(|| folder.open_file(name.as_ref()))?;
            let rules = reader.read(opened, name.as_ref())?;
            // With rules that un-ignore something, the file is a list of what is wanted.
            if naming == Naming::Reached || rules.brings_back_names() {
                return Some(rules);
            }
            Some(rules.sparing(&path).unwrap_or(rules))
        };
        let ripgrep = read(files.ripgrep, ".rgignore");
        let plain = read(files.plain, ".ignore");
        let git = read(files.git, ".gitignore");
        let exclude = match files.repository {
            Repository::Git(kind) => reader.excludes(kind),
            Repository::None | Repository::Jujutsu => None,
        };
        let is_repository = files.repository != Repository::None;
        let cost = reader.cost.and(RuleCost::LEVEL);
        if let Some(excess) = cost.excess() {
            reader.note(Path::new(""), excess);
            return above;
        }
        Some(Arc::new(Self { above, ripgrep, plain, git, exclude, is_repository, cost }))
    }

    /// The rules without those that ignore everything in `folder`.
    fn sparing(rules: Option<&Arc<Self>>, folder: &Path) -> Option<Arc<Self>> {
        // A loop instead of recursion, because a tree may have any number of levels.
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
                ripgrep: ripgrep.or_else(|| level.ripgrep.clone()),
                plain: plain.or_else(|| level.plain.clone()),
                git: git.or_else(|| level.git.clone()),
                exclude: exclude.or_else(|| level.exclude.clone()),
                is_repository: level.is_repository,
                cost: level.cost,
            }));
        }
        kept
    }

    /// Whether a search that names `folder`, in which these rules apply, may see other files in it than one
    /// that only reaches it. True in doubt.
    pub fn naming_matters(&self, folder: &Path) -> bool {
        iter::successors(Some(self), |level| level.above.as_deref()).any(|level| {
            let sets = [&level.ripgrep, &level.plain, &level.git, &level.exclude];
            sets.into_iter().flatten().any(|it| it.spares_any() || it.sparing(folder).is_some())
        })
    }

    /// The rules of the directories above the start of a walk, and those of the user, which are given as a
    /// file and the directory that it is relative to.
    pub fn above(
        start: &Path,
        global: Option<(&Path, &Path)>,
        unapplied: &mut Vec<UnappliedRules>,
    ) -> Option<Arc<Self>> {
        let mut rules = None;
        let mut level =
            |folder: &Path, read: &mut dyn FnMut(&mut RuleFileReader<'_>) -> Option<Self>| {
                let above: Option<Arc<Self>> = rules.take();
                let mut reader = RuleFileReader {
                    folder,
                    open: &|it| regular_file::open(&folder.join(it)),
                    cost: above.as_ref().map_or_else(RuleCost::default, |it| it.cost),
                    unapplied,
                };
                rules = match read(&mut reader) {
                    Some(level) => Some(Arc::new(Self { above, cost: reader.cost, ..level })),
                    None => above,
                };
            };
        if let Some((file, folder)) = global {
            // These have the lowest precedence, so they are the outermost level.
            level(folder, &mut |reader| {
                let excludes = reader.read(regular_file::open(file), file)?;
                Some(Self { exclude: Some(excludes.holding_anywhere(folder)), ..Self::none() })
            });
        }
        let ancestors: Vec<&Path> = start.ancestors().skip(1).collect();
        for folder in ancestors.into_iter().rev() {
            level(folder, &mut |reader| {
                let mut read = |name: &str| {
                    let opened = regular_file::open_named(&folder.join(name));
                    // As in a listing, anything but a file with that name is not an ignore file.
                    if opened.as_ref().is_err_and(|it| regular_file::other_kind(it).is_some()) {
                        return None;
                    }
                    reader.read(opened, name.as_ref())
                };
                let (ripgrep, plain, git) =
                    (read(".rgignore"), read(".ignore"), read(".gitignore"));
                let repository = folder.join(".git").symlink_metadata().ok();
                let is_repository = repository.is_some() || folder.join(".jj").is_dir();
                let is_nothing = ripgrep.is_none() && plain.is_none() && git.is_none();
                if is_nothing && !is_repository {
                    return None;
                }
                let exclude = repository.and_then(|it| {
                    let kind = if it.is_file() { EntryKind::File } else { EntryKind::Folder };
                    reader.excludes(kind)
                });
                Some(Self { ripgrep, plain, git, exclude, is_repository, ..Self::none() })
            });
        }
        rules
    }

    fn none() -> Self {
        Self {
            above: None,
            ripgrep: None,
            plain: None,
            git: None,
            exclude: None,
            is_repository: false,
            cost: RuleCost::default(),
        }
    }

    /// Whether an entry is ignored, by its absolute path.
    pub fn ignores(&self, path: &Path, kind: EntryKind) -> bool {
        self.ruling(path, kind) == IgnoreDecision::Ignored
    }

    /// The decision about an entry, by its absolute path.
    pub(super) fn ruling(&self, path: &Path, kind: EntryKind) -> IgnoreDecision {
        let is_folder = kind == EntryKind::Folder;
        let ask = |set: &Option<RuleSet>| match set {
            Some(set) => set.ruling(path, is_folder),
            None => IgnoreDecision::Unmentioned,
        };
        let (mut ripgrep, mut plain, mut git, mut exclude) = (
            IgnoreDecision::Unmentioned,
            IgnoreDecision::Unmentioned,
            IgnoreDecision::Unmentioned,
            IgnoreDecision::Unmentioned,
        );
        let mut left_repository = false;
        let mut level = Some(self);
        while let Some(rules) = level {
            ripgrep = ripgrep.or_else(|| ask(&rules.ripgrep));
            plain = plain.or_else(|| ask(&rules.plain));
            if !left_repository {
                git = git.or_else(|| ask(&rules.git));
                exclude = exclude.or_else(|| ask(&rules.exclude));
            } else if rules.above.is_none() && !rules.is_repository && rules.git.is_none() {
                // The user's excludes apply in every repository.
                exclude = exclude.or_else(|| ask(&rules.exclude));
            }
            left_repository |= rules.is_repository;
            level = rules.above.as_deref();
        }
        ripgrep.or_else(|| plain).or_else(|| git).or_else(|| exclude)
    }
}

impl IgnoreDecision {
    fn or_else(self, other: impl FnOnce() -> Self) -> Self {
        if self == Self::Unmentioned { other() } else { self }
    }
}
