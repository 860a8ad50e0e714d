//! Tavily, a search service for agents.

use serde::{Deserialize, Serialize};
use url::Url;

use super::{FoundPage, SearchProvider, WebQuery};
use crate::FetchRequest;

pub(super) struct Tavily {
    /// The address of `/search`.
    pub(super) endpoint: Url,
    pub(super) key: String,
}

#[derive(Serialize)]
struct TavilyQuery<'a> {
    query: &'a str,
    max_results: usize,
    search_depth: &'static str,
    include_domains: Vec<String>,
    exclude_domains: Vec<String>,
}

#[derive(Deserialize)]
struct TavilyAnswer {
    results: Vec<TavilyResult>,
}

#[derive(Deserialize)]
struct TavilyResult {
    url: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    content: Option<String>,
}

impl SearchProvider for Tavily {
    fn name(&self) -> &'static str {
        "Tavily"
    }

    fn request(&self, query: &WebQuery) -> FetchRequest {
        let asked = TavilyQuery {
            query: query.words.trim(),
            max_results: query.asked(),
            search_depth: "basic",
            include_domains: query.allowed.iter().map(ToString::to_string).collect(),
            exclude_domains: query.blocked.iter().map(ToString::to_string).collect(),
        };
        let json = serde_json::to_string(&asked).unwrap_or_default();
        FetchRequest::post_json(self.endpoint.clone(), json)
            .header("Authorization", &format!("Bearer {}", self.key))
    }

    fn results(&self, answer: &str) -> Result<Vec<FoundPage>, serde_json::Error> {
        let answer: TavilyAnswer = serde_json::from_str(answer)?;
        let found = answer.results.into_iter().map(|it| FoundPage {
            title: it.title.unwrap_or_default(),
            url: it.url,
            snippet: it.content.unwrap_or_default(),
        });
        Ok(found.collect())
    }

    fn advice(&self, status: u16) -> Option<&'static str> {
        match status {
            401 | 403 => Some("its key is not valid"),
            400 => Some("the query may be longer than 400 characters"),
            _ => None,
        }
    }
}
