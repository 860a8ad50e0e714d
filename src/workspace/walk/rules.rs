//! The ignore rules that hold in a directory, as git and ripgrep read them.
//!
//! Each directory with rules of its own adds a level to those above it. `.rgignore` beats `.ignore`,
//! which beats `.gitignore`, `.git/info/exclude` and the user's global excludes; within one kind the
//! nearest file wins, and in a file the last line that fits. A repository inside another one does
//! not take the outer one's `.gitignore`.
//!
//! Who names a directory wants to see what is in it: there, lines that ignore whatever it holds, like
//! `dist/*` above or the `*` of a `.venv`, do not hold. All others do.

use std::{
    fs::File,
    io::{self, Read as _},
    iter,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    entry::EntryKind,
    folder::Folder,
    rule_set::{Burden, RuleSet},
};
use crate::regular_file;

/// How much of a file is read that names the directory of a repository.
const MAX_POINTER_BYTES: u64 = 8_192;

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
    /// What these rules and those above take and cost.
    burden: Burden,
}

/// A file of rules that does not hold, or not all of it, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnappliedRules {
    /// The file.
    pub file: PathBuf,
    /// Why.
    pub cause: String,
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

/// Reads the files of rules of one directory, each on top of what holds already.
struct Reader<'a> {
    folder: &'a Path,
    /// Opens a file by its path from the directory.
    open: &'a dyn Fn(&Path) -> io::Result<File>,
    burden: Burden,
    unapplied: &'a mut Vec<UnappliedRules>,
}

impl Reader<'_> {
    /// The rules of a file, if there are any.
    fn read(&mut self, opened: io::Result<File>, name: &Path) -> Option<RuleSet> {
        let read = match opened {
            Ok(file) => RuleSet::read(file, self.folder, self.burden),
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
        self.burden = self.burden.and(rules.burden());
        Some(rules)
    }

    fn note(&mut self, name: &Path, cause: String) {
        self.unapplied.push(UnappliedRules { file: self.folder.join(name), cause });
    }

    /// `info/exclude` of the repository at the directory, also where `.git` is a file: a linked worktree.
    fn excludes(&mut self, kind: EntryKind) -> Option<RuleSet> {
        let directory = match kind {
            EntryKind::Folder => PathBuf::from(".git"),
            EntryKind::File => self.common_directory().ok()??,
            EntryKind::Link | EntryKind::Other => return None,
        };
        let path = directory.join("info/exclude");
        self.read((self.open)(&path), &path)
    }

    fn common_directory(&self) -> io::Result<Option<PathBuf>> {
        let first_line = |path: &Path| -> io::Result<String> {
            let mut text = String::new();
            (self.open)(path)?.take(MAX_POINTER_BYTES).read_to_string(&mut text)?;
            Ok(text.lines().next().unwrap_or_default().to_owned())
        };
        let pointer = first_line(Path::new(".git"))?;
        let Some(private) = pointer.strip_prefix("gitdir: ").map(Path::new) else {
            return Ok(None);
        };
        let common = first_line(&private.join("commondir"))?;
        Ok(Some(private.join(common)))
    }
}

/// A file that is not there, or a link where none is followed, is no file of rules.
fn is_absent(cause: &io::Error) -> bool {
    #[cfg(unix)]
    if cause.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
        return true;
    }
    matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

impl Rules {
    /// The rules that hold in a directory, given those above it and what its listing showed.
    pub(super) fn within(
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
        let mut reader = Reader {
            folder: &path,
            open: &|it| folder.open_settings(it),
            burden: above.as_ref().map_or_else(Burden::default, |it| it.burden),
            unapplied,
        };
        let mut read = |present: bool, name: &str| {
            let opened = present.then(|| folder.open_file(name.as_ref()))?;
            let rules = reader.read(opened, name.as_ref())?;
            // Lines that bring something back make the rest of the file a list of what is wanted.
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
        let burden = reader.burden.and(Burden::LEVEL);
        if let Some(excess) = burden.excess() {
            reader.note(Path::new(""), excess);
            return above;
        }
        Some(Arc::new(Self { above, ripgrep, plain, git, exclude, is_repository, burden }))
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
                ripgrep: ripgrep.or_else(|| level.ripgrep.clone()),
                plain: plain.or_else(|| level.plain.clone()),
                git: git.or_else(|| level.git.clone()),
                exclude: exclude.or_else(|| level.exclude.clone()),
                is_repository: level.is_repository,
                burden: level.burden,
            }));
        }
        kept
    }

    /// The rules of the directories a walk starts below, and of the user: a file, and the directory that
    /// it is relative to.
    pub(super) fn above(
        start: &Path,
        global: Option<(&Path, &Path)>,
        unapplied: &mut Vec<UnappliedRules>,
    ) -> Option<Arc<Self>> {
        let mut rules = None;
        let mut level = |folder: &Path, read: &mut dyn FnMut(&mut Reader<'_>) -> Option<Self>| {
            let above: Option<Arc<Self>> = rules.take();
            let mut reader = Reader {
                folder,
                open: &|it| regular_file::open(&folder.join(it)),
                burden: above.as_ref().map_or_else(Burden::default, |it| it.burden),
                unapplied,
            };
            rules = match read(&mut reader) {
                Some(level) => Some(Arc::new(Self { above, burden: reader.burden, ..level })),
                None => above,
            };
        };
        if let Some((file, folder)) = global {
            // The weakest of all: no other level has its excludes further out.
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
                    // No more than a listing would: something else by that name is no file of rules.
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
            burden: Burden::default(),
        }
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
