//! `git-diff-summary`: the number of changed lines per file.

use std::{path::Path, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolwright_base::{Access, DataScope, SideEffect, ToolError, ToolKind, shown_path, shown_text};
use toolwright_core::{CallPlan, Tool, ToolContext, ToolOutput, whole_lines_within};
use toolwright_files::{VisibilitySubject, WorkspacePath};

use crate::{
    git::{DiffSide, diff_summary},
    git_asking::{self, GIT_LIMIT, GitQuestion},
};

/// The maximum number of bytes of the summary in an answer.
const MAX_BYTES: usize = 100_000;

#[derive(Default)]
pub(super) struct GitDiffSummary;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Whether to summarize what is staged for the next commit, instead of what is not.
    #[serde(default)]
    staged: bool,
}

/// What a summary is of.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DiffSummaryFacts {
    /// The top directory of the working tree, which paths are relative to.
    root: String,
    /// Whether it is of what is staged.
    staged: bool,
    /// Whether nothing has changed.
    is_empty: bool,
}

pub(super) struct Plan {
    directory: WorkspacePath,
    side: DiffSide,
}

impl Plan {
    const fn words(&self) -> &'static str {
        match self.side {
            DiffSide::Staged => "staged",
            DiffSide::Unstaged => "unstaged",
        }
    }
}

impl Tool for GitDiffSummary {
    type Input = Input;
    type Plan = Plan;

    const NAME: &'static str = "git-diff-summary";
    const TITLE: &'static str = "Git Diff Summary";
    const DESCRIPTION: &'static str = include_str!("../description/git_diff_summary.md");
    const SIDE_EFFECT: SideEffect = SideEffect::None;
    const KIND: ToolKind = ToolKind::PLAIN.running_unasked();
    const TIMEOUT: Option<Duration> = Some(GIT_LIMIT);

    fn plan(&self, input: Input, cx: &ToolContext) -> Result<Plan, ToolError> {
        let side = if input.staged { DiffSide::Staged } else { DiffSide::Unstaged };
        Ok(Plan { directory: git_asking::directory(None, cx)?, side })
    }
}

impl CallPlan for Plan {
    type Output = DiffSummaryFacts;
    const DATA_SCOPE: DataScope = DataScope::FactsAboutText;

    fn accesses(&self) -> Vec<Access> {
        vec![Access::Read(self.directory.absolute().to_owned())]
    }

    fn describe(&self) -> String {
        let directory = shown_path(self.directory.absolute());
        format!("Summary of {} changes in {directory}", self.words())
    }

    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<DiffSummaryFacts>, ToolError> {
        let GitQuestion { git, repository } = git_asking::question(&self.directory, cx).await?;
        let is_seen = |path: &Path| cx.visibility.shows(path, VisibilitySubject::File);
        let summary = diff_summary(&git, &repository, self.side, &is_seen).await?;
        let text = shown_text(summary.trim_end());
        let root = shown_path(&repository.top);
        let facts = DiffSummaryFacts {
            root: root.clone(),
            staged: self.side == DiffSide::Staged,
            is_empty: text.is_empty(),
        };
        if text.is_empty() {
            let message = format!("no {} changes", self.words());
            return Ok(ToolOutput::text(format!("[{message}]"))
                .with_display(message)
                .with_data(facts));
        }
        let shown = whole_lines_within(&text, MAX_BYTES);
        let mut note = format!("paths are relative to `{root}`");
        if shown.len() < text.len() {
            let lines = text.lines().count() - shown.lines().count();
            note = format!("{lines} further lines are left out; {note}");
        }
        let answer = format!("{}\n[{note}]", shown.trim_end());
        Ok(ToolOutput::text(answer).with_data(facts))
    }
}
