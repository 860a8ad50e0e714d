//! `write_file`: creates a file, or with `overwrite` replaces its whole content.

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{Access, ErrorKind, SideEffect, ToolError, ToolKind, shown_path};
use toolwright_core::{CallPlan, Preview, Tool, ToolContext, ToolOutput};
use toolwright_files::{RelativePaths, WorkspacePath};

use crate::{
    editing::{self, Changed, Current, NewContent},
    writing::{WrittenFacts, written},
};

#[derive(Default)]
pub(super) struct WriteFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The file to write, absolute or relative to the workspace.
    path: String,
    /// The whole content of the file.
    content: String,
    /// Replace a file that exists.
    #[serde(default)]
    overwrite: bool,
}

pub(super) struct Plan {
    path: WorkspacePath,
    content: String,
    overwrite: bool,
}

impl Tool for WriteFile {
    type Input = Input;
    type Plan = Plan;

    const NAME: &'static str = "write_file";
    const TITLE: &'static str = "Write File";
    const DESCRIPTION: &'static str = include_str!("../description/write_file.md");
    const SIDE_EFFECT: SideEffect = SideEffect::Mutating;
    const KIND: ToolKind = ToolKind::edits_files(&["path"]).twin_of("Write");

    fn plan(&self, input: Input, cx: &ToolContext) -> Result<Plan, ToolError> {
        let path = editing::resolve(&input.path, RelativePaths::FromFirstRoot, cx)?;
        Ok(Plan { path, content: input.content, overwrite: input.overwrite })
    }
}

impl CallPlan for Plan {
    type Output = Changed<WrittenFacts>;

    fn accesses(&self) -> Vec<Access> {
        vec![Access::Write(self.path.absolute().to_owned())]
    }

    fn describe(&self) -> String {
        format!("Write {} ({} bytes)", shown_path(self.path.absolute()), self.content.len())
    }

    fn preview(&self, cx: &ToolContext) -> Option<Preview> {
        let Plan { path, content, overwrite } = self;
        Some(editing::preview(path, cx, |current| checked(current, content, *overwrite)))
    }

    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<Changed<WrittenFacts>>, ToolError> {
        let Plan { path, content, overwrite } = self;
        editing::change(path, cx, move |current| checked(current, &content, overwrite)).await
    }
}

fn checked(
    current: &Current,
    content: &str,
    overwrite: bool,
) -> Result<NewContent<WrittenFacts>, ToolError> {
    if current.bytes.is_some() && !overwrite {
        return Err(ToolError::new(
            ErrorKind::FileExists,
            format!("`{}` already exists; set overwrite to replace it", current.path),
        ));
    }
    written(current, content)
}
