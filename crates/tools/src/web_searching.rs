//! Searches the web for the tools `WebSearch` and `web_search`: with the host's own function, or with the
//! configured search service.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolwright_base::{Access, ErrorKind, ToolError};
use toolwright_core::{CallPlan, HandlerName, Handlers, ToolContext, ToolOutput};
use toolwright_web::{Domain, FoundPage, SearchSetup, WebQuery};

use super::failures::{FailedWebSearch, InvalidParameter, NoSearchService};

/// The data of a search.
#[derive(Serialize, JsonSchema)]
pub(super) struct SearchFacts {
    /// What was searched for.
    query: String,
    /// The pages that were found, best first.
    results: Vec<ResultFacts>,
}

/// A page that was found.
#[derive(Serialize, JsonSchema)]
struct ResultFacts {
    title: String,
    url: String,
    /// A few words of the page.
    snippet: String,
}

/// The answer of the host's function.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a list of results, each with `url`, `title` and `snippet`")]
enum HostResults {
    List(Vec<HostResult>),
    Wrapped { results: Vec<HostResult> },
}

#[derive(Deserialize)]
struct HostResult {
    url: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    snippet: Option<String>,
}

/// Reads a list of domains.
pub(super) fn domains(
    name: &'static str,
    texts: Option<Vec<String>>,
) -> Result<Vec<Domain>, ToolError> {
    let read = |text: &String| {
        let domain = text.parse();
        domain.map_err(|error| InvalidParameter { name, error })
    };
    let domains: Result<_, _> = texts.unwrap_or_default().iter().map(read).collect();
    Ok(domains?)
}

/// Refuses a blank query.
pub(super) fn checked_words(words: String) -> Result<String, ToolError> {
    if words.trim().is_empty() {
        return Err(ToolError::new(
            ErrorKind::Validation,
            "parameter `query`: expected words to search for, got an empty text",
        ));
    }
    Ok(words)
}

/// A checked call.
pub(super) struct WebSearchPlan(pub(super) WebQuery);

impl CallPlan for WebSearchPlan {
    type Output = SearchFacts;

    fn accesses(&self) -> Vec<Access> {
        Vec::new()
    }

    fn describe(&self) -> String {
        format!("Search for \"{}\"", self.0.words)
    }

    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<SearchFacts>, ToolError> {
        let query = self.0;
        let found = match (cx.handlers.get(HandlerName::Search), &cx.session.shared.search) {
            (Some(handler), _) => {
                let names = |domains: &[Domain]| {
                    domains.iter().map(ToString::to_string).collect::<Vec<_>>()
                };
                let input = json!({
                    "query": query.words,
                    "numResults": query.count,
                    "allowedDomains": names(&query.allowed),
                    "blockedDomains": names(&query.blocked),
                });
                let answer: HostResults =
                    Handlers::call(handler, HandlerName::Search, &input, json!({}), cx)
                        .await
                        .map_err(failed)?;
                let (HostResults::List(results) | HostResults::Wrapped { results }) = answer;
                let found = results.into_iter().map(|it| FoundPage {
                    title: it.title.unwrap_or_default(),
                    url: it.url,
                    snippet: it.snippet.unwrap_or_default(),
                });
                query.refined(found.collect())
            }
            (None, SearchSetup::Service(service)) => service
                .search(&query, &cx.cancel)
                .await
                .map_err(|error| FailedWebSearch { error })?,
            (None, SearchSetup::Unusable(cause)) => {
                return Err(NoSearchService { cause: Some(cause.clone()) }.into());
            }
            (None, SearchSetup::Missing) => return Err(NoSearchService { cause: None }.into()),
        };
        Ok(present(&query, found))
    }
}

/// Converts an error of the host's function to an error of a search.
fn failed(error: ToolError) -> ToolError {
    match error.kind {
        ErrorKind::ToolFailed => ToolError { kind: ErrorKind::Search, ..error },
        _ => error,
    }
}

fn present(query: &WebQuery, found: Vec<FoundPage>) -> ToolOutput<SearchFacts> {
    let display = match found.len() {
        1 => "Found 1 result".to_owned(),
        count => format!("Found {count} results"),
    };
    let text = if found.is_empty() {
        let is_limited = !query.allowed.is_empty() || !query.blocked.is_empty();
        let beside = if is_limited { " in these domains" } else { "" };
        format!("No results found for `{}`{beside}; try other words", query.words)
    } else {
        let entries = found.iter().enumerate().map(|(at, page)| {
            let entry = format!("{}. {}\n   {}\n   {}", at + 1, page.title, page.url, page.snippet);
            entry.trim_end().to_owned()
        });
        entries.collect::<Vec<_>>().join("\n\n")
    };
    let results = found.into_iter().map(|it| ResultFacts {
        title: it.title,
        url: it.url,
        snippet: it.snippet,
    });
    let facts = SearchFacts { query: query.words.clone(), results: results.collect() };
    ToolOutput::text(text).with_display(display).with_data(facts)
}
