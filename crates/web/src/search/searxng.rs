//! `SearXNG`, a self-hosted search engine. Its JSON format must be enabled.

use serde::Deserialize;
use url::Url;

use super::{FoundPage, SearchProvider, WebQuery};
use crate::{CacheUse, FetchRequest};

pub(super) struct SearXng {
    /// The address of `/search`.
    pub(super) endpoint: Url,
    /// The header `Authorization`, for instances that require one.
    pub(super) authorization: Option<String>,
}

#[derive(Deserialize)]
struct SearXngAnswer {
    results: Vec<SearXngResult>,
}

/// The engines that did not respond to `SearXNG`, each with a reason.
#[derive(Deserialize)]
struct SilentEngines {
    #[serde(default)]
    unresponsive_engines: Vec<(String, String)>,
}

/// The maximum number of engines in an error, and the maximum length of the text about each.
const NAMED_ENGINES: usize = 5;
const ENGINE_CHARACTERS: usize = 80;

#[derive(Deserialize)]
struct SearXngResult {
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    content: Option<String>,
}

impl SearchProvider for SearXng {
    fn name(&self) -> &'static str {
        "SearXNG"
    }

    fn request(&self, query: &WebQuery) -> FetchRequest {
        let mut url = self.endpoint.clone();
        url.query_pairs_mut()
            .append_pair("q", &query.words_with_operators())
            .append_pair("format", "json");
        let mut request = FetchRequest::get(url, "application/json");
        request.cache = CacheUse::Bypassed;
        match &self.authorization {
            Some(value) => request.header("Authorization", value),
            None => request,
        }
    }

    fn results(&self, answer: &str) -> Result<Vec<FoundPage>, serde_json::Error> {
        let answer: SearXngAnswer = serde_json::from_str(answer)?;
        let found = answer.results.into_iter().map(|it| FoundPage {
            title: it.title.unwrap_or_default(),
            url: it.url.unwrap_or_default(),
            snippet: it.content.unwrap_or_default(),
        });
        Ok(found.collect())
    }

    fn trouble(&self, answer: &str) -> Option<String> {
        let SilentEngines { unresponsive_engines: silent } = serde_json::from_str(answer).ok()?;
        let named = silent.iter().take(NAMED_ENGINES).map(|(engine, reason)| {
            let words = format!("{engine}: {reason}");
            words.chars().filter(|it| !it.is_control()).take(ENGINE_CHARACTERS).collect()
        });
        let named: Vec<String> = named.collect();
        let more = silent.len().saturating_sub(NAMED_ENGINES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let is_silent = !silent.is_empty();
        is_silent.then(|| format!("its engines gave no results (`{}`{more})", named.join("`, `")))
    }

    fn advice(&self, status: u16) -> Option<&'static str> {
        match status {
            401 => Some("it wants a key or a password"),
            403 => Some("its settings have to list `json` under `search.formats`"),
            404 => Some("its address has to be the one that `/search` is below"),
            _ => None,
        }
    }
}
