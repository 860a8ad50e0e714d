//! What is asked of the web client, and what it answers.

use bytes::Bytes;
use url::Url;

/// What a request does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchMethod {
    /// Gets a page.
    Get,
    /// Sends JSON text. Such requests are never cached.
    Post(String),
    /// Puts JSON text in a place. Such requests are never cached.
    Put(String),
}

/// Whether an answer may come from the cache, and go into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheUse {
    /// It may.
    Allowed,
    /// The server is asked, and its answer is not kept.
    Bypassed,
}

/// A request of the web client.
#[derive(Clone, Debug)]
pub struct FetchRequest {
    /// Where to; see [`super::parse_web_url`].
    pub url: Url,
    /// The header `Accept`: the types of content that are understood, best first.
    pub accept: String,
    /// What the request does.
    pub method: FetchMethod,
    /// Further headers, such as a key. They are sent to the origin of `url` alone, also after redirects, and
    /// requests that have any are never cached.
    pub headers: Vec<(String, String)>,
    /// At most so many bytes of the unpacked body are kept; the client's own limit holds as well.
    pub max_bytes: Option<usize>,
    /// Whether the cache is used.
    pub cache: CacheUse,
}

impl FetchRequest {
    /// A request for a page, from the cache if it is there.
    pub fn get(url: Url, accept: &str) -> Self {
        Self {
            url,
            accept: accept.to_owned(),
            method: FetchMethod::Get,
            headers: Vec::new(),
            max_bytes: None,
            cache: CacheUse::Allowed,
        }
    }

    /// A request that sends JSON text and wants JSON back.
    pub fn post_json(url: Url, json: String) -> Self {
        Self {
            method: FetchMethod::Post(json),
            cache: CacheUse::Bypassed,
            ..Self::get(url, "application/json")
        }
    }

    /// The same request with another header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// How a fetch ended that did not fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchOutcome {
    /// The server gave a page.
    Page(FetchedPage),
    /// The server pointed somewhere the client does not follow by itself.
    CrossHostRedirect(CrossHostRedirect),
}

/// A page as the server gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedPage {
    /// Where it came from, after all redirects.
    pub url: Url,
    /// The status, 200 to 299.
    pub status: u16,
    /// The header `Content-Type`.
    pub content_type: Option<String>,
    /// The body, unpacked.
    pub body: Bytes,
    /// True when the body is only the beginning of what the server had.
    pub was_cut: bool,
    /// True when the server was not asked.
    pub from_cache: bool,
    /// How many redirects led to the page.
    pub hops: usize,
}

impl FetchedPage {
    /// The type of the content in lower case and without parameters, such as `text/html`; empty if the
    /// server named none.
    pub fn media_type(&self) -> String {
        let named = self.content_type.as_deref().unwrap_or_default();
        named.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }

    /// The body as text, and the name of the encoding it was in.
    pub fn text(&self) -> (String, &'static str) {
        super::decode_text(&self.body, self.content_type.as_deref())
    }
}

/// A redirect to another host, or from https back to http. Its target was checked and not contacted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrossHostRedirect {
    /// The URL that answered with it.
    pub from: Url,
    /// Where it leads.
    pub to: Url,
    /// The status, such as 301.
    pub status: u16,
}
