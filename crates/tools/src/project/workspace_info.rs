//! `workspace-info`: where the project is, and which branch and remote it has.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolwright_base::{Access, SideEffect, ToolError, ToolKind, shortened, shown_path, shown_text};
use toolwright_core::{CallPlan, Tool, ToolContext, ToolOutput};
use toolwright_files::WorkspacePath;

use crate::{
    git::{GitError, GitRunner, RepositoryState, find_repository},
    git_asking::{self, GIT_LIMIT},
};

#[derive(Default)]
pub(super) struct WorkspaceInfo;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {}

/// What is known about the workspace.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WorkspaceData {
    /// The directory of the project.
    project_path: String,
    /// Further directories that tools may touch.
    additional_directories: Vec<String>,
    /// The top directory of the working tree; null outside of a repository and in a bare one.
    git_root: Option<String>,
    /// The branch; null if none is checked out.
    git_branch: Option<String>,
    /// The commit; null before the first one.
    git_commit: Option<String>,
    /// The URL of the remote, without a password; null if there is none.
    git_remote_url: Option<String>,
}

/// The directory of the project.
pub(super) struct Plan {
    directory: WorkspacePath,
}

impl Tool for WorkspaceInfo {
    type Input = Input;
    type Plan = Plan;

    const NAME: &'static str = "workspace-info";
    const TITLE: &'static str = "Workspace Info";
    const DESCRIPTION: &'static str = include_str!("../description/workspace_info.md");
    const SIDE_EFFECT: SideEffect = SideEffect::None;
    const KIND: ToolKind = ToolKind::PLAIN.running_unasked();
    const TIMEOUT: Option<Duration> = Some(GIT_LIMIT);

    fn plan(&self, _input: Input, cx: &ToolContext) -> Result<Plan, ToolError> {
        Ok(Plan { directory: git_asking::directory(None, cx)? })
    }
}

impl CallPlan for Plan {
    type Output = WorkspaceData;

    fn accesses(&self) -> Vec<Access> {
        vec![Access::Read(self.directory.absolute().to_owned())]
    }

    fn describe(&self) -> String {
        format!("Information about {}", shown_path(self.directory.absolute()))
    }

    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<WorkspaceData>, ToolError> {
        let roots = cx.session.shared.files.roots.all();
        let mut data = WorkspaceData {
            project_path: shown_path(self.directory.absolute()),
            additional_directories: roots.iter().skip(1).map(|it| shown_path(it)).collect(),
            git_root: None,
            git_branch: None,
            git_commit: None,
            git_remote_url: None,
        };
        let git = git_asking::runner(&self.directory, cx);
        let place = match find_repository(&git, self.directory.absolute()).await {
            // The path of the project is known without git.
            Err(GitError::Missing) => RepositoryState::Nowhere,
            found => found?,
        };
        // Queries for names run no programs, so a bare repository may be named here.
        let named: &[&str] = match &place {
            RepositoryState::Nowhere => return Ok(present(data)),
            RepositoryState::Bare => &["--git-dir=."],
            RepositoryState::WorkingTree(repository) => {
                data.git_root = Some(shown_path(&repository.top));
                &[]
            }
        };
        let ask = async |question: &[&str]| said(&git, &[named, question].concat()).await;
        data.git_branch = ask(&["symbolic-ref", "--quiet", "--short", "HEAD"]).await?;
        data.git_commit = ask(&["rev-parse", "--quiet", "--verify", "HEAD"]).await?;
        data.git_remote_url = match ask(&["config", "--get", "remote.origin.url"]).await? {
            Some(url) => Some(url),
            None => match ask(&["remote"]).await?.as_deref().and_then(|it| it.lines().next()) {
                Some(first) => ask(&["config", "--get", &format!("remote.{first}.url")]).await?,
                None => None,
            },
        };
        data.git_remote_url = data.git_remote_url.map(|it| without_password(&it));
        Ok(present(data))
    }
}

fn present(data: WorkspaceData) -> ToolOutput<WorkspaceData> {
    let text = serde_json::to_string_pretty(&json!(data)).unwrap_or_default();
    ToolOutput::text(text).with_data(data)
}

/// The output of git; `None` if there is no such name, which git reports with code 1.
async fn said(git: &GitRunner<'_>, arguments: &[&str]) -> Result<Option<String>, GitError> {
    match git.run(arguments).await {
        Ok(answer) => {
            let text = shown_text(String::from_utf8_lossy(&answer).trim());
            Ok((!text.is_empty()).then(|| shortened(&text, 2_000).into_owned()))
        }
        Err(GitError::Refused { code: Some(1), .. }) => Ok(None),
        Err(other) => Err(other),
    }
}

/// A URL without the user's password or token, which some users keep in it.
fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = match rest.split_once('/') {
        Some((authority, path)) => (authority, format!("/{path}")),
        None => (rest, String::new()),
    };
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn passwords_are_removed_from_urls() {
        for (url, expected) in [
            ("https://me:secret@example.org/a.git", "https://example.org/a.git"),
            ("https://token@example.org/a@b.git", "https://example.org/a@b.git"),
            ("https://a:b@c@example.org", "https://example.org"),
            ("https://example.org/a@b", "https://example.org/a@b"),
            ("git@example.org:a/b.git", "git@example.org:a/b.git"),
            ("/srv/git/a.git", "/srv/git/a.git"),
        ] {
            assert_eq!(without_password(url), expected);
        }
    }
}
