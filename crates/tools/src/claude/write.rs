//! `Write`: creates a file or replaces its whole content.

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{SideEffect, ToolError, ToolKind, shown_path};
use toolwright_core::{Tool, ToolContext};
use toolwright_files::RelativePaths;

use crate::{
    editing::{self, FileToChange},
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

impl Tool for Write {
    type Input = Input;
    type Plan = FileToChange<WrittenFacts>;

    const NAME: &'static str = "Write";
    const TITLE: &'static str = "Write File";
    const DESCRIPTION: &'static str = include_str!("../description/write.md");
    const SIDE_EFFECT: SideEffect = SideEffect::Mutating;
    const KIND: ToolKind = ToolKind::edits_files(&["file_path"]);
    const ALIASES: &'static [&'static str] = &["FileWrite"];

    fn plan(&self, input: Input, cx: &ToolContext) -> Result<Self::Plan, ToolError> {
        let path = editing::resolve(&input.file_path, RelativePaths::Refused(&cx.visibility), cx)?;
        let content = input.content;
        let what = format!("Write {} ({} bytes)", shown_path(path.absolute()), content.len());
        Ok(FileToChange::new(path, what, move |current| written(current, &content)))
    }
}
