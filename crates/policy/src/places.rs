//! The directories that rules refer to, and the protected places, which are never changed without asking.

use std::path::{Component, Path, PathBuf};

use toolwright_base::path_to_text;
use toolwright_shell::ShellDialect;

/// Directories whose content other programs run or trust.
pub const PROTECTED_DIRECTORIES: [&str; 7] =
    [".git", ".toolwright", ".claude", ".vscode", ".idea", ".husky", ".ssh"];

/// Files that shells and tools run or trust.
pub const PROTECTED_FILES: [&str; 14] = [
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".envrc",
    ".gitconfig",
    ".gitmodules",
    ".inputrc",
    ".mcp.json",
    ".npmrc",
    ".profile",
    ".zprofile",
    ".zshenv",
    ".zshrc",
];

/// The directories that rules and command lines refer to.
#[derive(Clone, Debug, Default)]
pub struct PolicyPlaces {
    /// The project's directory: relative patterns start here.
    pub project: PathBuf,
    /// Every directory of the workspace, the project's included.
    pub roots: Vec<PathBuf>,
    /// What `~` stands for in rules.
    pub home: Option<PathBuf>,
    /// What `~` stands for in command lines, if that differs: the `HOME` of commands.
    pub shell_home: Option<PathBuf>,
    /// The shell that commands run in.
    pub shell: ShellDialect,
    /// The project's directory as the host wrote it, if that differs.
    pub project_as_given: Option<PathBuf>,
    /// More places that are never changed without asking, such as policy files.
    pub protected: Vec<PathBuf>,
    /// Those of `protected` that the host may create at any time, such as the files of its store.
    pub made_by_host: Vec<PathBuf>,
}

impl PolicyPlaces {
    /// A workspace of one directory.
    pub fn of_project(project: impl Into<PathBuf>) -> Self {
        let project = project.into();
        Self { roots: vec![project.clone()], project, ..Self::default() }
    }

    /// True for a path inside the workspace.
    pub(super) fn contains(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.starts_with(root))
    }

    /// True for places that other programs run or trust, whether they exist or not.
    pub(super) fn is_protected(&self, path: &Path) -> bool {
        // A workspace inside `.git` or `.claude/worktrees` is not itself protected.
        let below = self.roots.iter().find_map(|root| path.strip_prefix(root).ok());
        below
            .unwrap_or(path)
            .components()
            .any(|part| part.as_os_str().to_str().is_some_and(is_protected_name))
            || self.protected.iter().any(|it| path.starts_with(it))
    }

    /// `is_protected` for callers outside of policy.
    pub fn is_protected_place(&self, path: &Path) -> bool {
        self.is_protected(path)
    }

    /// True when there may be protected places below a directory.
    pub(super) fn may_hold_protected(&self, directory: &Path) -> bool {
        self.roots.iter().chain(&self.protected).any(|it| it.starts_with(directory))
    }

    /// The names of all protected places.
    pub(super) fn protected_names(&self) -> impl Iterator<Item = &str> {
        let own = self.protected.iter().filter_map(|it| it.file_name()?.to_str());
        PROTECTED_DIRECTORIES.into_iter().chain(PROTECTED_FILES).chain(own)
    }

    /// Resolves a directory in a rule: absolute, relative to the project, or relative to home with `~/`.
    pub(super) fn directory(&self, text: &str) -> Result<PathBuf, String> {
        let from_home = if text == "~" { Some("") } else { text.strip_prefix("~/") };
        match (from_home, &self.home) {
            (None, _) => Ok(normal(&self.project.join(text))),
            (Some(rest), Some(home)) => Ok(normal(&home.join(rest))),
            (Some(_), None) => Err("`~` is not known here; write the whole path".to_owned()),
        }
    }

    /// The ways to write a path in a rule: absolute, and relative to the project.
    pub(super) fn texts_of(&self, path: &Path) -> Vec<String> {
        // A path that is not UTF-8 must not evade a condition.
        let text = |it: &Path| it.to_str().map_or_else(|| path_to_text(it).into(), str::to_owned);
        let mut texts = vec![text(path)];
        if let Ok(below) = path.strip_prefix(&self.project) {
            texts.extend(self.project_as_given.as_ref().map(|it| text(&it.join(below))));
            let below = text(below);
            texts.push(format!("./{below}"));
            texts.push(if below.is_empty() { ".".to_owned() } else { below });
        }
        texts
    }

    /// The value of `~` in command lines.
    pub(super) fn home_text(&self) -> Option<&str> {
        self.shell_home.as_deref().or(self.home.as_deref()).and_then(Path::to_str)
    }
}

/// True for names of directories and files that other programs run or trust.
pub(super) fn is_protected_name(name: &str) -> bool {
    PROTECTED_DIRECTORIES.iter().any(|it| it.eq_ignore_ascii_case(name))
        || PROTECTED_FILES.iter().any(|it| it.eq_ignore_ascii_case(name))
}

/// The path without `.` and `..`, by its text alone.
pub(super) fn normal(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                result.pop();
            }
            other => result.push(other),
        }
    }
    result
}
