//! The option `search`: the service that web search uses.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    error::{ErrorKind, ToolError},
    net::{
        WebSettings,
        search::{SearchOptions, SearchSetup},
    },
    session::Environment,
};

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

/// The search that the host asks for, or else its environment.
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
