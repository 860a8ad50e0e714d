//! `WebFetch`: fetches a page as Markdown, and lets the host's model answer a prompt about it.

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{ErrorKind, SideEffect, ToolError, ToolKind};
use toolwright_core::{Tool, ToolContext};
use toolwright_page::PageStyle;

use crate::fetching::PageToFetch;

#[derive(Default)]
pub(super) struct WebFetch;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The URL to fetch, with `http://` or `https://`.
    url: String,
    /// What to find out about the page.
    prompt: String,
    /// How many characters of a long page to skip.
    #[serde(default)]
    #[schemars(range(max = 9_007_199_254_740_991_u64))]
    offset: Option<usize>,
}

impl Tool for WebFetch {
    type Input = Input;
    type Plan = PageToFetch;

    const NAME: &'static str = "WebFetch";
    const TITLE: &'static str = "Fetch Web Page";
    const DESCRIPTION: &'static str = include_str!("../description/web_fetch.md");
    const SIDE_EFFECT: SideEffect = SideEffect::Network;
    const KIND: ToolKind = ToolKind::fetches(&["url"]).naming_its_family();

    fn plan(&self, input: Input, _cx: &ToolContext) -> Result<PageToFetch, ToolError> {
        if input.prompt.trim().is_empty() {
            return Err(ToolError::new(
                ErrorKind::Validation,
                "parameter `prompt`: expected a question about the page, got an empty text",
            ));
        }
        let mut page = PageToFetch::at(&input.url, PageStyle::Markdown)?;
        page.prompt = Some(input.prompt);
        Ok(page.from(input.offset, None))
    }
}
