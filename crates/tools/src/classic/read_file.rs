//! `read_file`: shows a file, or a range of its lines, without line numbers.

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{SideEffect, ToolError, ToolKind};
use toolwright_core::{Tool, ToolContext};

use crate::reading::{self, FileToRead};

#[derive(Default)]
pub(super) struct ReadFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// The file to read, absolute or relative to the workspace.
    path: String,
    /// The first line to read, counted from 1.
    #[serde(default)]
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_u64))]
    start_line: Option<u64>,
    /// The last line to read.
    #[serde(default)]
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_u64))]
    end_line: Option<u64>,
}

impl Tool for ReadFile {
    type Input = Input;
    type Plan = FileToRead;

    const NAME: &'static str = "read_file";
    const TITLE: &'static str = "Read File";
    const DESCRIPTION: &'static str = include_str!("../description/read_file.md");
    const SIDE_EFFECT: SideEffect = SideEffect::None;
    const KIND: ToolKind = ToolKind::reads_files(&["path"]).twin_of("Read");

    fn plan(&self, input: Input, cx: &ToolContext) -> Result<FileToRead, ToolError> {
        reading::lines_of(&input.path, input.start_line, input.end_line, cx)
    }
}
