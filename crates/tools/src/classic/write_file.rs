//! `write_file`: creates a file, or with `overwrite` replaces its whole content.

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{ErrorKind, SideEffect, ToolError, ToolKind, shown_path};
use toolwright_core::{Tool, ToolContext};
use toolwright_files::RelativePaths;

use crate::{
    editing::{self, Current, FileToChange, NewContent},
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

impl Tool for WriteFile {
    type Input = Input;
    type Plan = FileToChange<WrittenFacts>;

    const NAME: &'static str = "write_file";
    const TITLE: &'static str = "Write File";
    const DESCRIPTION: &'static str = include_str!("../description/write_file.md");
    const SIDE_EFFECT: SideEffect = SideEffect::Mutating;
    const KIND: ToolKind = ToolKind::edits_files(&["path"]).twin_of("Write");

    fn plan(&self, input: Input, cx: &ToolContext) -> Result<Self::Plan, ToolError> {
        let path = editing::resolve(&input.path, RelativePaths::FromFirstRoot, cx)?;
        let Input { content, overwrite, .. } = input;
        let what = format!("Write {} ({} bytes)", shown_path(path.absolute()), content.len());
        Ok(FileToChange::new(path, what, move |current| checked(current, &content, overwrite)))
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
