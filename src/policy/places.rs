//! Where the workspace is, and which places in it are never changed without asking.

use std::path::{Component, Path, PathBuf};

/// Directories whose content is run or believed by other programs.
const PROTECTED_DIRECTORIES: [&str; 7] =
    [".git", ".toolwright", ".claude", ".vscode", ".idea", ".husky", ".ssh"];

/// Files that shells and tools run or believe.
const PROTECTED_FILES: [&str; 14] = [
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

/// The surroundings that rules speak about, given once as values.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The project's directory: relative patterns start here.
    pub project: PathBuf,
    /// Every directory of the workspace, the project's included.
    pub roots: Vec<PathBuf>,
    /// What `~` stands for.
    pub home: Option<PathBuf>,
    /// Further places that are never changed without asking: the plugin directory, stores.
    pub protected: Vec<PathBuf>,
}

impl Places {
    /// A workspace of one directory.
    pub fn of_project(project: impl Into<PathBuf>) -> Self {
        let project = project.into();
        Self { roots: vec![project.clone()], project, home: None, protected: Vec::new() }
    }

    /// True inside the workspace.
    pub(super) fn contains(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.starts_with(root))
    }

    /// True for places that other programs run or believe, whether they exist yet or not.
    pub(super) fn is_protected(&self, path: &Path) -> bool {
        let is_listed = |name: &str| {
            PROTECTED_DIRECTORIES.iter().any(|it| it.eq_ignore_ascii_case(name))
                || PROTECTED_FILES.iter().any(|it| it.eq_ignore_ascii_case(name))
        };
        // A workspace that lies inside `.git` or `.claude/worktrees` is not itself protected.
        let below = self.roots.iter().find_map(|root| path.strip_prefix(root).ok());
        below
            .unwrap_or(path)
            .components()
            .any(|part| part.as_os_str().to_str().is_some_and(is_listed))
            || self.protected.iter().any(|it| path.starts_with(it))
    }

    /// A directory as rules name it: absolute, from the project, or from home by `~/`.
    pub(super) fn directory(&self, text: &str) -> Result<PathBuf, String> {
        let from_home = if text == "~" { Some("") } else { text.strip_prefix("~/") };
        match (from_home, &self.home) {
            (None, _) => Ok(normal(&self.project.join(text))),
            (Some(rest), Some(home)) => Ok(normal(&home.join(rest))),
            (Some(_), None) => Err("`~` is not known here; write the whole path".to_owned()),
        }
    }

    /// The text of home, for `~` in command lines.
    pub(super) fn home_text(&self) -> Option<&str> {
        self.home.as_deref().and_then(Path::to_str)
    }
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
