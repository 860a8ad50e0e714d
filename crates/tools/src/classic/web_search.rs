//! `web_search`: searches the web.

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{SideEffect, ToolError, ToolKind};
use toolwright_core::{Tool, ToolContext};
use toolwright_web::{MAX_RESULTS, WebQuery};

use crate::web_searching::{WebSearchPlan, checked_words};

#[derive(Default)]
pub(super) struct ClassicWebSearch;

/// The default number of results.
const DEFAULT_COUNT: usize = 5;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// The words to search for.
    #[schemars(length(min = 1, max = 1_000))]
    query: String,
    /// How many results to show at most. Default: 5.
    #[serde(default)]
    #[schemars(range(min = 1, max = MAX_RESULTS))]
    num_results: Option<usize>,
}

impl Tool for ClassicWebSearch {
    type Input = Input;
    type Plan = WebSearchPlan;

    const NAME: &'static str = "web_search";
    const TITLE: &'static str = "Search the Web";
    const DESCRIPTION: &'static str = include_str!("../description/classic_web_search.md");
    const SIDE_EFFECT: SideEffect = SideEffect::Network;
    const KIND: ToolKind = ToolKind::PLAIN.twin_of("WebSearch");

    fn plan(&self, input: Input, _cx: &ToolContext) -> Result<WebSearchPlan, ToolError> {
        Ok(WebSearchPlan(WebQuery {
            words: checked_words(input.query)?,
            count: input.num_results.unwrap_or(DEFAULT_COUNT),
            allowed: Vec::new(),
            blocked: Vec::new(),
        }))
    }
}
