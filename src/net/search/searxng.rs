//! `SearXNG`, a search engine that people run themselves. Its JSON format has to be switched on.

use serde::Deserialize;
use url::Url;

use super::{FoundPage, SearchProvider, WebQuery};
use crate::net::{CacheUse, FetchRequest};

pub(super) struct SearXng {
    /// The address of `/search`.
    pub(super) endpoint: Url,
    /// The header `Authorization`, for instances that want one.
    pub(super) authorization: Option<String>,
}

#[derive(Deserialize)]
struct SearXngAnswer {
    results: Vec<SearXngResult>,
}

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

    fn advice(&self, status: u16) -> Option<&'static str> {
        match status {
            401 => Some("it wants a key or a password"),
            403 => Some("its settings have to list `json` under `search.formats`"),
            404 => Some("its address has to be the one that `/search` is below"),
            _ => None,
        }
    }
}
