//! Chooses the search service: the one that the host configures, or one that the environment has a key for.

use std::{fmt, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use url::Url;

use super::{SearchProvider, SearchService, brave::Brave, searxng::SearXng, tavily::Tavily};
use crate::{WebClient, WebSettings};

const BRAVE: &str = "https://api.search.brave.com";
const TAVILY: &str = "https://api.tavily.com";

/// The host's options for searching.
#[derive(Clone, Default)]
pub struct SearchOptions {
    /// `searxng`, `brave` or `tavily`.
    pub provider: String,
    /// The URL of the service, if it is not the default.
    pub url: Option<String>,
    /// The key.
    pub api_key: Option<String>,
}

impl fmt::Debug for SearchOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SearchOptions").field("provider", &self.provider).finish_non_exhaustive()
    }
}

/// The search of a registry.
#[derive(Clone, Debug, Default)]
pub enum SearchSetup {
    /// No search service is configured.
    #[default]
    Missing,
    /// A service.
    Service(SearchService),
    /// The environment configures a service that cannot be used, for this reason.
    Unusable(String),
}

impl SearchSetup {
    /// The service that the environment configures.
    pub fn from_environment(variable: &dyn Fn(&str) -> Option<String>, web: &WebSettings) -> Self {
        let has = |name: &str| variable(name).is_some_and(|it| !it.trim().is_empty());
        let named =
            [("SEARXNG_URL", "searxng"), ("BRAVE_API_KEY", "brave"), ("TAVILY_API_KEY", "tavily")];
        let Some((_, provider)) = named.into_iter().find(|(name, _)| has(name)) else {
            return Self::Missing;
        };
        let options = SearchOptions { provider: provider.to_owned(), ..SearchOptions::default() };
        Self::from_options(&options, variable, web).unwrap_or_else(Self::Unusable)
    }

    /// The service that the host configures. Missing values are taken from the environment.
    pub fn from_options(
        options: &SearchOptions,
        variable: &dyn Fn(&str) -> Option<String>,
        web: &WebSettings,
    ) -> Result<Self, String> {
        let given = |option: &Option<String>, name: &str| {
            let value = option.clone().or_else(|| variable(name)).unwrap_or_default();
            Some(value.trim().to_owned()).filter(|it| !it.is_empty())
        };
        let key = |name: &str| {
            let key = given(&options.api_key, name)
                .ok_or_else(|| format!("`search.apiKey` is missing; set it, or `{name}`"))?;
            checked_key(key)
        };
        let base = |usual: &str| base_url(options.url.as_deref().unwrap_or(usual));
        let (provider, base): (Arc<dyn SearchProvider>, Url) = match options.provider.as_str() {
            "searxng" => {
                let url = given(&options.url, "SEARXNG_URL")
                    .ok_or("`search.url` is missing; set it, or `SEARXNG_URL`")?;
                let mut base = base_url(&url)?;
                let key = options.api_key.clone().map(checked_key).transpose()?;
                let authorization = key.map(|it| format!("Bearer {it}")).or_else(|| basic(&base));
                // The credentials are in the header now.
                let _ = base.set_username("");
                let _ = base.set_password(None);
                (Arc::new(SearXng { endpoint: below(&base, "search")?, authorization }), base)
            }
            "brave" => {
                let base = base(BRAVE)?;
                let endpoint = below(&base, "res/v1/web/search")?;
                (Arc::new(Brave { endpoint, key: key("BRAVE_API_KEY")? }), base)
            }
            "tavily" => {
                let base = base(TAVILY)?;
                let endpoint = below(&base, "search")?;
                (Arc::new(Tavily { endpoint, key: key("TAVILY_API_KEY")? }), base)
            }
            other => {
                return Err(format!(
                    "`search.provider`: no provider is named `{other}`; there are `searxng`, `brave`, `tavily`"
                ));
            }
        };
        Ok(Self::Service(SearchService::new(provider, client_for(&base, web))))
    }
}

/// A client that permits the service even on a private address, because the host configured it. The client
/// for pages does not.
fn client_for(base: &Url, web: &WebSettings) -> WebClient {
    let mut settings = web.clone();
    if let (Some(host), Some(port)) = (base.host_str(), base.port_or_known_default())
        && let Ok(allowed) = format!("{host}:{port}").parse()
    {
        settings.allow.push(allowed);
    }
    WebClient::new(settings)
}

fn base_url(text: &str) -> Result<Url, String> {
    // The text may contain a password, so it is not repeated.
    let url = Url::parse(text).map_err(|cause| format!("`search.url` is not a URL: {cause}"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err("`search.url` has to begin with `http://` or `https://`".to_owned());
    }
    Ok(url)
}

/// The URL of a path below the base, which may itself have a path.
fn below(base: &Url, path: &str) -> Result<Url, String> {
    let mut folder = base.clone();
    folder.set_query(None);
    folder.set_fragment(None);
    if !folder.path().ends_with('/') {
        folder.set_path(&format!("{}/", base.path()));
    }
    folder.join(path).map_err(|cause| format!("`search.url` cannot be used: {cause}"))
}

fn basic(url: &Url) -> Option<String> {
    let password = url.password()?;
    let pair = format!("{}:{password}", url.username());
    Some(format!("Basic {}", STANDARD.encode(pair)))
}

fn checked_key(key: String) -> Result<String, String> {
    if key.bytes().all(|it| it.is_ascii_graphic()) {
        Ok(key)
    } else {
        Err("`search.apiKey` has characters that no key has; check that it is complete".to_owned())
    }
}
