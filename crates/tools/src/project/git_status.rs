//! `git-status`: the files that differ from the last commit.

use std::{path::Path, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolwright_base::{Access, SideEffect, ToolError, ToolKind, shown_path, shown_text};
use toolwright_core::{CallPlan, Tool, ToolContext, ToolOutput};
use toolwright_files::{VisibilitySubject, WorkspacePath};

use crate::{
    git::{ChangedFile, status},
    git_asking::{self, GIT_LIMIT, GitQuestion},
    listing::lines_and_notes,
};

/// The number of entries that an answer shows.
const MAX_ENTRIES: usize = 2_000;

#[derive(Default)]
pub(super) struct GitStatus;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// A directory to look at instead of the whole workspace, absolute or relative to it.
    #[serde(default)]
    path: Option<String>,
}

/// The state of a working tree.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WorkingTreeData {
    /// The top directory of the working tree, which paths are relative to.
    root: String,
    /// The changed files.
    entries: Vec<StatusEntry>,
    /// The number of changed files.
    total: usize,
}

#[derive(Serialize, JsonSchema)]
struct StatusEntry {
    /// Git's two letters: the state in the index, and in the working tree.
    state: String,
    path: String,
    /// The path that it was renamed or copied from.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
}

/// The directory whose status is asked for.
pub(super) struct Plan {
    directory: WorkspacePath,
}

impl Tool for GitStatus {
    type Input = Input;
    type Plan = Plan;

    const NAME: &'static str = "git-status";
    const TITLE: &'static str = "Git Status";
    const DESCRIPTION: &'static str = include_str!("../description/git_status.md");
    const SIDE_EFFECT: SideEffect = SideEffect::None;
    const KIND: ToolKind = ToolKind::reads_files(&["path"]);
    const TIMEOUT: Option<Duration> = Some(GIT_LIMIT);

    fn plan(&self, input: Input, cx: &ToolContext) -> Result<Plan, ToolError> {
        Ok(Plan { directory: git_asking::directory(input.path.as_deref(), cx)? })
    }
}

impl CallPlan for Plan {
    type Output = WorkingTreeData;

    fn accesses(&self) -> Vec<Access> {
        vec![Access::Read(self.directory.absolute().to_owned())]
    }

    fn describe(&self) -> String {
        format!("Git status of {}", shown_path(self.directory.absolute()))
    }

    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<WorkingTreeData>, ToolError> {
        let GitQuestion { git, repository } = git_asking::question(&self.directory, cx).await?;
        let all = status(&git).await?;
        let is_seen =
            |path: &Path| cx.visibility.shows(&repository.top.join(path), VisibilitySubject::File);
        let seen: Vec<&ChangedFile> = all
            .iter()
            .filter(|it| is_seen(&it.path) && it.from.as_deref().is_none_or(is_seen))
            .collect();
        Ok(present(&seen, &repository.top))
    }
}

fn present(changed: &[&ChangedFile], top: &Path) -> ToolOutput<WorkingTreeData> {
    let total = changed.len();
    let line = |it: &&ChangedFile| match &it.from {
        Some(from) => format!("{} {} -> {}", it.state, shown_path(from), shown_path(&it.path)),
        None => format!("{} {}", it.state, shown_path(&it.path)),
    };
    let lines: Vec<String> = changed.iter().take(MAX_ENTRIES).map(line).collect();
    let mut notes = Vec::new();
    if total == 0 {
        notes.push("no changes".to_owned());
    } else {
        if total > lines.len() {
            notes.push(format!(
                "showing {} of {total} entries; give a `path` to see the rest",
                lines.len()
            ));
        }
        notes.push(format!("paths are relative to `{}`", shown_path(top)));
    }
    let entries = changed.iter().take(MAX_ENTRIES).map(|it| StatusEntry {
        state: shown_text(&it.state),
        path: shown_path(&it.path),
        from: it.from.as_deref().map(shown_path),
    });
    let data = WorkingTreeData { root: shown_path(top), entries: entries.collect(), total };
    let content = lines_and_notes(&lines, &notes);
    let display = if total == 0 { "no changes".to_owned() } else { lines.join("\n") };
    ToolOutput { content, structured: Some(data), ..ToolOutput::default() }.with_display(display)
}
