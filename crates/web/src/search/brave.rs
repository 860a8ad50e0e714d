//! The Brave Search API.

use serde::Deserialize;
use url::Url;

use super::{FoundPage, SearchProvider, WebQuery};
use crate::{CacheUse, FetchRequest};

pub(super) struct Brave {
    /// The address of `/res/v1/web/search`.
    pub(super) endpoint: Url,
    pub(super) key: String,
}

#[derive(Deserialize)]
struct BraveAnswer {
    /// Missing if nothing was found.
    #[serde(default)]
    web: Option<BraveWeb>,
    /// Present in every response to a search.
    #[serde(rename = "type")]
    _type: String,
}

#[derive(Deserialize)]
struct BraveWeb {
    #[serde(default)]
    results: Vec<BraveResult>,
}

#[derive(Deserialize)]
struct BraveResult {
    url: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    description: Option<String>,
}

impl SearchProvider for Brave {
    fn name(&self) -> &'static str {
        "Brave Search"
    }

    fn request(&self, query: &WebQuery) -> FetchRequest {
        let mut url = self.endpoint.clone();
        url.query_pairs_mut()
            .append_pair("q", &query.words_with_operators())
            .append_pair("count", &query.asked().to_string())
            .append_pair("result_filter", "web")
            .append_pair("text_decorations", "false");
        let mut request = FetchRequest::get(url, "application/json");
        request.cache = CacheUse::Bypassed;
        request.header("X-Subscription-Token", &self.key)
    }

    fn results(&self, answer: &str) -> Result<Vec<FoundPage>, serde_json::Error> {
        let answer: BraveAnswer = serde_json::from_str(answer)?;
        let results = answer.web.map(|it| it.results).unwrap_or_default();
        let found = results.into_iter().map(|it| FoundPage {
            title: it.title.unwrap_or_default(),
            url: it.url,
            snippet: it.description.unwrap_or_default(),
        });
        Ok(found.collect())
    }

    fn advice(&self, status: u16) -> Option<&'static str> {
        match status {
            401 | 403 => Some("its key is not valid"),
            422 => {
                Some("its key is not valid, or the query is longer than 400 characters or 50 words")
            }
            _ => None,
        }
    }
}
