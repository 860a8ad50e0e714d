//! `WebSearch`: searches the web, optionally limited to some domains or without some.

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{ErrorKind, SideEffect, ToolError, ToolKind};
use toolwright_core::{Tool, ToolContext};
use toolwright_web::WebQuery;

use crate::web_searching::{WebSearchPlan, checked_words, domains};

#[derive(Default)]
pub(super) struct WebSearch;

/// The number of results.
const COUNT: usize = 10;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The words to search for.
    #[schemars(length(min = 2, max = 1_000))]
    query: String,
    /// Only results of these domains, such as `docs.rs`, and of those below them.
    #[serde(default)]
    #[schemars(length(max = 100))]
    allowed_domains: Option<Vec<String>>,
    /// No results of these domains and of those below them.
    #[serde(default)]
    #[schemars(length(max = 100))]
    blocked_domains: Option<Vec<String>>,
}

impl Tool for WebSearch {
    type Input = Input;
    type Plan = WebSearchPlan;

    const NAME: &'static str = "WebSearch";
    const TITLE: &'static str = "Search the Web";
    const DESCRIPTION: &'static str = include_str!("../description/web_search.md");
    const SIDE_EFFECT: SideEffect = SideEffect::Network;
    const KIND: ToolKind = ToolKind::PLAIN;

    fn plan(&self, input: Input, _cx: &ToolContext) -> Result<WebSearchPlan, ToolError> {
        let query = WebQuery {
            words: checked_words(input.query)?,
            count: COUNT,
            allowed: domains("allowed_domains", input.allowed_domains)?,
            blocked: domains("blocked_domains", input.blocked_domains)?,
        };
        if !query.allowed.is_empty() && !query.blocked.is_empty() {
            return Err(ToolError::new(
                ErrorKind::Validation,
                "parameter `blocked_domains`: cannot be used together with `allowed_domains`; leave one out",
            ));
        }
        Ok(WebSearchPlan(query))
    }
}
