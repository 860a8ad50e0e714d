//! Searches the web with a search service.
//!
//! A [`SearchProvider`] knows the wire format of one service: the request for a query, and the results in a
//! response. [`SearchService`] sends the request and does what is common to all services: domains, limits and
//! errors. [`WebQuery::refined`] applies the same rules to the results of a host's own search function.
//!
//! This module must not know tools, policy or sessions. No error contains a key, or text of a service that
//! might contain one.

mod brave;
mod domains;
mod result_text;
mod searxng;
mod setup;
mod tavily;

use std::{collections::HashSet, sync::Arc};

pub use domains::Domain;
pub use setup::{SearchOptions, SearchSetup};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::{FetchError, FetchOutcome, FetchRequest, WebClient};

/// The maximum number of results of a search.
pub const MAX_RESULTS: usize = 20;
/// The maximum size of a response in bytes.
const MAX_ANSWER_BYTES: usize = 4 * 1024 * 1024;
/// The maximum length of a result's URL.
const MAX_ADDRESS_BYTES: usize = 2_000;

/// A query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebQuery {
    /// The search terms.
    pub words: String,
    /// The number of results wanted.
    pub count: usize,
    /// Only results of these domains and their subdomains; all if empty.
    pub allowed: Vec<Domain>,
    /// No results of these domains and their subdomains.
    pub blocked: Vec<Domain>,
}

/// A search result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundPage {
    /// Its title.
    pub title: String,
    /// Its URL.
    pub url: String,
    /// A short excerpt.
    pub snippet: String,
}

/// The wire format of one search service.
pub trait SearchProvider: Send + Sync {
    /// The name of the service, for messages.
    fn name(&self) -> &'static str;

    /// The request for a query.
    fn request(&self, query: &WebQuery) -> FetchRequest;

    /// The unfiltered results in a response.
    fn results(&self, answer: &str) -> Result<Vec<FoundPage>, serde_json::Error>;

    /// Why a response has no results, if the service reports that it could not search.
    fn trouble(&self, _answer: &str) -> Option<String> {
        None
    }

    /// Advice for an error status.
    fn advice(&self, status: u16) -> Option<&'static str>;
}

/// Why a search failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WebSearchError {
    /// The service refused.
    #[error("{provider} refused the search with HTTP {status}{}", advised(*advice))]
    Refused {
        /// The service.
        provider: &'static str,
        /// The status.
        status: u16,
        /// What to do about it.
        advice: Option<&'static str>,
    },
    /// There were too many searches in a short time, or the plan is used up.
    #[error("{provider} allows no more searches for now (HTTP {status}){}", retry(after.as_deref()))]
    RateLimited {
        /// The service.
        provider: &'static str,
        /// The status.
        status: u16,
        /// When to try again, as the service states it.
        after: Option<String>,
    },
    /// The service could not be reached, or failed.
    #[error("{provider} could not be asked: {cause}")]
    Failed {
        /// The service.
        provider: &'static str,
        /// Why.
        cause: String,
    },
    /// The response is not a list of results.
    #[error("{provider} gave an answer without readable results: {cause}")]
    Unreadable {
        /// The service.
        provider: &'static str,
        /// What was wrong.
        cause: String,
    },
    /// The caller gave up.
    #[error("the search was cancelled")]
    Cancelled,
}

fn advised(advice: Option<&str>) -> String {
    advice.map_or_else(String::new, |it| format!("; {it}"))
}

fn retry(after: Option<&str>) -> String {
    let seconds = after.filter(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()));
    seconds.map_or_else(|| "; try again later".to_owned(), |it| format!("; try again in {it} s"))
}

/// A search service and the client that connects to it.
#[derive(Clone)]
pub struct SearchService {
    provider: Arc<dyn SearchProvider>,
    client: WebClient,
}

impl std::fmt::Debug for SearchService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SearchService")
            .field("provider", &self.provider.name())
            .finish_non_exhaustive()
    }
}

impl SearchService {
    /// A service with the client that connects to it. The client must permit the service's address.
    pub fn new(provider: Arc<dyn SearchProvider>, client: WebClient) -> Self {
        Self { provider, client }
    }

    /// The name of the service.
    pub fn name(&self) -> &'static str {
        self.provider.name()
    }

    /// Searches.
    pub async fn search(
        &self,
        query: &WebQuery,
        cancel: &CancellationToken,
    ) -> Result<Vec<FoundPage>, WebSearchError> {
        let provider = self.provider.name();
        let mut request = self.provider.request(query);
        request.max_bytes = Some(MAX_ANSWER_BYTES);
        let page = match self.client.fetch(request, cancel).await {
            Ok(FetchOutcome::Page(page)) => page,
            Ok(FetchOutcome::CrossHostRedirect(redirect)) => {
                let host = redirect.to.host_str().unwrap_or_default();
                let cause = format!("it redirects to `{host}`, which does not get the key");
                return Err(WebSearchError::Failed { provider, cause });
            }
            Err(error) => return Err(self.failure(&error)),
        };
        let unreadable = |cause: String| WebSearchError::Unreadable { provider, cause };
        if page.was_cut {
            return Err(unreadable(format!("it is longer than {MAX_ANSWER_BYTES} bytes")));
        }
        let (answer, _) = page.text();
        let is_json = page.media_type().contains("json") || answer.trim_start().starts_with('{');
        if !is_json {
            return Err(unreadable(format!("it is `{}`, not JSON", page.media_type())));
        }
        // The parser's message may quote the response, so only the position is reported.
        let found = self.provider.results(&answer).map_err(|cause| {
            let what = if cause.is_data() { "it has another form" } else { "it is not JSON" };
            unreadable(format!("{what} (line {}, column {})", cause.line(), cause.column()))
        })?;
        if found.is_empty()
            && let Some(cause) = self.provider.trouble(&answer)
        {
            return Err(WebSearchError::Failed { provider, cause });
        }
        Ok(query.refined(found))
    }

    /// Closes the connections.
    pub fn close(&self) {
        self.client.close();
    }

    fn failure(&self, error: &FetchError) -> WebSearchError {
        let provider = self.provider.name();
        match error {
            FetchError::Cancelled => WebSearchError::Cancelled,
            // Tavily uses 432 and 433 if a plan or budget is used up.
            FetchError::Http { status: status @ (429 | 432 | 433), retry_after, .. } => {
                let after = retry_after.clone();
                WebSearchError::RateLimited { provider, status: *status, after }
            }
            FetchError::Http { status, .. } => {
                let advice = self.provider.advice(*status);
                WebSearchError::Refused { provider, status: *status, advice }
            }
            FetchError::BadUrl { .. } => {
                let cause = "its address or its key cannot be used".to_owned();
                WebSearchError::Failed { provider, cause }
            }
            other => WebSearchError::Failed { provider, cause: other.to_string() },
        }
    }
}

impl WebQuery {
    /// The number of results to request: more than wanted if some may be filtered out.
    fn asked(&self) -> usize {
        if self.allowed.is_empty() && self.blocked.is_empty() { self.count } else { MAX_RESULTS }
    }

    /// The search terms with the domains as operators, which most search engines understand.
    fn words_with_operators(&self) -> String {
        /// Search engines do not accept more operators.
        const MAX_OPERATORS: usize = 8;
        let mut words = self.words.trim().to_owned();
        if !self.allowed.is_empty() && self.allowed.len() <= MAX_OPERATORS {
            let sites: Vec<_> = self.allowed.iter().map(|it| format!("site:{it}")).collect();
            let sites = sites.join(" OR ");
            let sites = if self.allowed.len() > 1 { format!("({sites})") } else { sites };
            words = format!("{words} {sites}");
        }
        if self.blocked.len() <= MAX_OPERATORS {
            for domain in &self.blocked {
                words.push_str(&format!(" -site:{domain}"));
            }
        }
        words
    }

    /// The results that match the query: of the right domains, without duplicates, cleaned and limited.
    pub fn refined(&self, found: Vec<FoundPage>) -> Vec<FoundPage> {
        let mut seen = HashSet::new();
        let pages = found.into_iter().filter_map(|page| {
            let url = Url::parse(page.url.trim()).ok()?;
            let is_page =
                matches!(url.scheme(), "http" | "https") && url.as_str().len() <= MAX_ADDRESS_BYTES;
            let host = url.host_str()?;
            let is_wanted = (self.allowed.is_empty()
                || self.allowed.iter().any(|it| it.holds(host)))
                && !self.blocked.iter().any(|it| it.holds(host));
            if !is_page || !is_wanted || !seen.insert(url.clone()) {
                return None;
            }
            let title = result_text::title(&page.title);
            Some(FoundPage {
                title: if title.is_empty() { host.to_owned() } else { title },
                url: url.into(),
                snippet: result_text::snippet(&page.snippet),
            })
        });
        pages.take(self.count.min(MAX_RESULTS)).collect()
    }
}

#[cfg(test)]
mod tests;
