//! `Write`: creates a file or replaces its whole content.

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{Access, SideEffect, ToolError, ToolKind, shown_path};
use toolwright_core::{CallPlan, Preview, Tool, ToolContext, ToolOutput};
use toolwright_files::{RelativePaths, WorkspacePath};

use crate::{
    editing::{self, Changed},
    writing::{WrittenFacts, written},
};

#[derive(Default)]
pub(super) struct Write;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The absolute path of the file to write.
    file_path: String,
    /// The whole content of the file.
    content: String,
}

pub(super) struct Plan {
    path: WorkspacePath,
    content: String,
}

impl Tool for Write {
    type Input = Input;
    type Plan = Plan;

    const NAME: &'static str = "Write";
    const TITLE: &'static str = "Write File";
    const DESCRIPTION: &'static str = include_str!("../description/write.md");
    const SIDE_EFFECT: SideEffect = SideEffect::Mutating;
    const KIND: ToolKind = ToolKind::edits_files(&["file_path"]);
    const ALIASES: &'static [&'static str] = &["FileWrite"];

    fn plan(&self, input: Input, cx: &ToolContext) -> Result<Plan, ToolError> {
        let path = editing::resolve(&input.file_path, RelativePaths::Refused(&cx.visibility), cx)?;
        Ok(Plan { path, content: input.content })
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
        Some(editing::preview(&self.path, cx, |current| written(current, &self.content)))
    }

    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<Changed<WrittenFacts>>, ToolError> {
        let Plan { path, content } = self;
        editing::change(path, cx, move |current| written(current, &content)).await
    }
}
