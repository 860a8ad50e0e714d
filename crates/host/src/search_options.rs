//! The option `search`: the service that web search uses.

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{ErrorKind, ToolError};
use toolwright_core::Environment;
use toolwright_web::{SearchOptions, SearchSetup, WebSettings};

/// A search service.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SearchServiceOptions {
    provider: String,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    api_key: Option<String>,
}

/// The search service of the host's options, or else of its environment.
pub(super) fn search_setup(
    options: Option<SearchServiceOptions>,
    environment: &Environment,
    web: &WebSettings,
) -> Result<SearchSetup, ToolError> {
    let variable = |name: &str| environment.text_of(name);
    let Some(SearchServiceOptions { provider, url, api_key }) = options else {
        return Ok(SearchSetup::from_environment(&variable, web));
    };
    let options = SearchOptions { provider, url, api_key };
    SearchSetup::from_options(&options, &variable, web)
        .map_err(|cause| ToolError::new(ErrorKind::InvalidOptions, cause))
}
