//! `web_fetch`: fetches a page as plain text, or the part of it that a selector chooses.

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{SideEffect, ToolError, ToolKind};
use toolwright_core::{Tool, ToolContext};
use toolwright_page::{PageSelector, PageStyle};

use crate::{
    failures::InvalidParameter,
    fetching::{MAX_LENGTH, PageToFetch},
};

#[derive(Default)]
pub(super) struct ClassicWebFetch;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// The URL to fetch, with `http://` or `https://`.
    url: String,
    /// A CSS selector: only the text of the elements that it matches is shown.
    #[serde(default)]
    selector: Option<String>,
    /// How many characters to show. Default: 100000.
    #[serde(default)]
    #[schemars(range(min = 1, max = MAX_LENGTH))]
    max_length: Option<usize>,
    /// How many characters to skip.
    #[serde(default)]
    #[schemars(range(max = 9_007_199_254_740_991_u64))]
    offset: Option<usize>,
}

impl Tool for ClassicWebFetch {
    type Input = Input;
    type Plan = PageToFetch;

    const NAME: &'static str = "web_fetch";
    const TITLE: &'static str = "Fetch Web Content";
    const DESCRIPTION: &'static str = include_str!("../description/classic_web_fetch.md");
    const SIDE_EFFECT: SideEffect = SideEffect::Network;
    const KIND: ToolKind = ToolKind::fetches(&["url"]).twin_of("WebFetch");

    fn plan(&self, input: Input, _cx: &ToolContext) -> Result<PageToFetch, ToolError> {
        let selector = input.selector.as_deref().map(PageSelector::parse).transpose();
        let selector = selector.map_err(|error| InvalidParameter { name: "selector", error })?;
        let mut page = PageToFetch::at(&input.url, PageStyle::Text)?;
        page.selector = selector;
        Ok(page.from(input.offset, input.max_length))
    }
}
