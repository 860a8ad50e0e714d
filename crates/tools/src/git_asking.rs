//! How the tools of the `project` set run git.

use std::time::Duration;

use toolwright_base::{ErrorKind, ToolError, shown_path};
use toolwright_core::{ForModel as _, ToolContext};
use toolwright_files::{RelativePaths, WorkspacePath};

use crate::git::{GitRepository, GitRunner, RepositoryState, find_repository};

/// The time limit of git.
pub(super) const GIT_LIMIT: Duration = Duration::from_mins(1);

/// A repository, and a runner of git for it.
pub(super) struct GitQuestion<'a> {
    pub(super) git: GitRunner<'a>,
    pub(super) repository: GitRepository,
}

/// The directory that a call is about, which is inside the workspace.
pub(super) fn directory(path: Option<&str>, cx: &ToolContext) -> Result<WorkspacePath, ToolError> {
    let roots = &cx.session.shared.files.roots;
    let directory = roots.resolve(path.unwrap_or("."), RelativePaths::FromFirstRoot).for_model()?;
    if directory.absolute().is_dir() {
        return Ok(directory);
    }
    let shown = shown_path(directory.absolute());
    Err(if directory.absolute().exists() {
        ToolError::new(ErrorKind::Validation, format!("`{shown}` is not a directory"))
    } else {
        ToolError::new(ErrorKind::FileNotFound, format!("there is no directory `{shown}`"))
    })
}

/// Runs git in the directory of a call.
pub(super) fn runner<'a>(directory: &'a WorkspacePath, cx: &'a ToolContext) -> GitRunner<'a> {
    GitRunner::new(&cx.session.shared.tasks, &cx.session.id, directory.absolute())
}

/// Finds the repository of a directory, with content filters switched off.
pub(super) async fn question<'a>(
    directory: &'a WorkspacePath,
    cx: &'a ToolContext,
) -> Result<GitQuestion<'a>, ToolError> {
    let git = runner(directory, cx);
    let shown = shown_path(directory.absolute());
    let refused = |what: &str| Err(ToolError::new(ErrorKind::Git, format!("`{shown}` {what}")));
    match find_repository(&git, directory.absolute()).await? {
        RepositoryState::WorkingTree(repository) => {
            Ok(GitQuestion { git: git.without_filters().await?, repository })
        }
        RepositoryState::Bare => refused("is a bare git repository, which has no working tree"),
        RepositoryState::Nowhere => refused("is not in a git repository"),
    }
}
