//! `Read`: shows a file with line numbers, or as what it is: an image, a PDF, a notebook.

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{SideEffect, ToolError, ToolKind};
use toolwright_core::{ForModel as _, Tool, ToolContext};
use toolwright_documents::PageRange;
use toolwright_files::RelativePaths;

use crate::{
    failures::InvalidParameter,
    reading::{self, FileToRead},
};

#[derive(Default)]
pub(super) struct Read;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The absolute path of the file to read.
    file_path: String,
    /// The first line to read, counted from 1.
    #[serde(default)]
    #[schemars(range(max = 9_007_199_254_740_991_u64))]
    offset: Option<u64>,
    /// How many lines to read. Default: 2,000.
    #[serde(default)]
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_u64))]
    limit: Option<u64>,
    /// The pages of a PDF file, such as `3` or `1-5`: at most 20, needed if it has more than 10.
    #[serde(default)]
    pages: Option<String>,
}

impl Tool for Read {
    type Input = Input;
    type Plan = FileToRead;

    const NAME: &'static str = "Read";
    const TITLE: &'static str = "Read File";
    const DESCRIPTION: &'static str = include_str!("../description/read.md");
    const SIDE_EFFECT: SideEffect = SideEffect::None;
    const KIND: ToolKind = ToolKind::reads_files(&["file_path"]).naming_its_family();
    const ALIASES: &'static [&'static str] = &["FileRead"];

    fn plan(&self, input: Input, cx: &ToolContext) -> Result<FileToRead, ToolError> {
        let path = cx
            .session
            .resolve_for_reading(&input.file_path, RelativePaths::Refused(&cx.visibility))
            .for_model()?;
        let is_pdf = path.absolute().extension().is_some_and(|it| it.eq_ignore_ascii_case("pdf"));
        let pages = match input.pages.as_deref().map(PageRange::parse) {
            Some(Ok(range)) => Some(range),
            Some(Err(error)) if is_pdf => {
                return Err(InvalidParameter { name: "pages", error }.into());
            }
            // Models set `pages` for all kinds of files. It is ignored unless the file is a PDF.
            Some(Err(_)) | None => None,
        };
        let first = input.offset.map(|offset| offset.max(1));
        let last = input.limit.map(|limit| first.unwrap_or(1).saturating_add(limit - 1));
        Ok(FileToRead { path, first, last, pages, wording: reading::NUMBERED })
    }
}
