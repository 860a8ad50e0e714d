//! The files outside a directory's listing that its ignore rules depend on: git's excludes, and the files
//! that lead to them. A reader of rules opens them, and an index looks whether they have changed.

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use toolwright_base::regular_file;
use toolwright_files::EntryKind;

use super::rules::{Repository, RuleFiles, Rules};

/// How many bytes are read of a `.git` file, which names the directory of the repository.
const MAX_POINTER_BYTES: u64 = 8_192;

/// The directories of a linked worktree: its own, and that of the repository. Paths may be relative to the
/// worktree.
#[derive(Debug)]
pub(super) struct WorktreeDirectories {
    private: PathBuf,
    /// `None` if the worktree does not tell, as in a submodule.
    pub(super) common: Option<PathBuf>,
}

impl WorktreeDirectories {
    /// Where the `.git` file of a worktree leads. `open` opens a file by its path relative to the worktree.
    pub(super) fn read(open: &dyn Fn(&Path) -> io::Result<File>) -> io::Result<Option<Self>> {
        let first_line = |path: &Path| -> io::Result<String> {
            let mut text = String::new();
            open(path)?.take(MAX_POINTER_BYTES).read_to_string(&mut text)?;
            Ok(text.lines().next().unwrap_or_default().to_owned())
        };
        let pointer = first_line(Path::new(".git"))?;
        let Some(private) = pointer.strip_prefix("gitdir: ").map(PathBuf::from) else {
            return Ok(None);
        };
        let common = first_line(&private.join("commondir")).ok().map(|it| private.join(it));
        Ok(Some(Self { private, common }))
    }
}

impl RuleFiles {
    /// The files outside the listing of `folder` that its rules depend on, if it is the top of a repository.
    pub fn settings(self, folder: &Path) -> Vec<PathBuf> {
        match self.repository() {
            Repository::Git(EntryKind::Folder) => vec![folder.join(".git/info/exclude")],
            Repository::Git(EntryKind::File) => worktree_settings(folder),
            Repository::Git(EntryKind::Link | EntryKind::Other)
            | Repository::None
            | Repository::Jujutsu => Vec::new(),
        }
    }
}

impl Rules {
    /// All files that the rules above the start of a walk depend on, whether they exist or not.
    pub fn sources_above(start: &Path, global: Option<&Path>) -> Vec<PathBuf> {
        let mut sources: Vec<PathBuf> = global.into_iter().map(Path::to_path_buf).collect();
        for folder in start.ancestors().skip(1) {
            let names = [".rgignore", ".ignore", ".gitignore", ".git", ".jj"];
            sources.extend(names.map(|name| folder.join(name)));
            let git = folder.join(".git");
            if git.symlink_metadata().is_ok_and(|it| it.is_file()) {
                sources.extend(worktree_settings(folder));
            } else {
                sources.push(git.join("info/exclude"));
            }
        }
        sources
    }
}

fn worktree_settings(folder: &Path) -> Vec<PathBuf> {
    let open = |path: &Path| regular_file::open(&folder.join(path));
    let mut settings = vec![folder.join(".git")];
    if let Ok(Some(WorktreeDirectories { private, common })) = WorktreeDirectories::read(&open) {
        settings.push(folder.join(private).join("commondir"));
        settings.extend(common.map(|it| folder.join(it).join("info/exclude")));
    }
    settings
}
