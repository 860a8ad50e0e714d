//! Requests to the web client, and their results.

use bytes::Bytes;
use url::Url;

/// The method of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchMethod {
    /// Gets a page.
    Get,
    /// Sends JSON text. Such requests are never cached.
    Post(String),
    /// Stores JSON text at the URL. Such requests are never cached.
    Put(String),
}

/// Whether the cache is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheUse {
    /// The response may come from the cache and be stored in it.
    Allowed,
    /// The server is asked, and its response is not stored.
    Bypassed,
}

/// A request of the web client.
#[derive(Clone, Debug)]
pub struct FetchRequest {
    /// The URL; see [`super::parse_web_url`].
    pub url: Url,
    /// The header `Accept`: the types of content that are understood, best first.
    pub accept: String,
    /// The method.
    pub method: FetchMethod,
    /// Further headers, such as a key. They are sent only to the origin of `url`, even after redirects.
    /// Requests with such headers are never cached.
    pub headers: Vec<(String, String)>,
    /// The maximum number of bytes of the decompressed body that are kept, if less than the client's own
    /// limit.
    pub max_bytes: Option<usize>,
    /// Whether the cache is used.
    pub cache: CacheUse,
}

impl FetchRequest {
    /// A request for a page, which may come from the cache.
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

    /// A request that sends JSON text and expects JSON.
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

/// The result of a successful fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchOutcome {
    /// The server returned a page.
    Page(FetchedPage),
    /// The server redirected to a target that the client does not follow.
    CrossHostRedirect(CrossHostRedirect),
}

/// A page as the server returned it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedPage {
    /// Its URL, after all redirects.
    pub url: Url,
    /// The status, 200 to 299.
    pub status: u16,
    /// The header `Content-Type`.
    pub content_type: Option<String>,
    /// The decompressed body.
    pub body: Bytes,
    /// True if the body was cut at the size limit.
    pub was_cut: bool,
    /// True if it came from the cache.
    pub from_cache: bool,
    /// The number of redirects that led to the page.
    pub hops: usize,
}

impl FetchedPage {
    /// The content type in lower case and without parameters, such as `text/html`; empty if the server sent
    /// none.
    pub fn media_type(&self) -> String {
        let named = self.content_type.as_deref().unwrap_or_default();
        named.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }

    /// The body as text, and the name of its encoding.
    pub fn text(&self) -> (String, &'static str) {
        super::decode_text(&self.body, self.content_type.as_deref())
    }
}

/// A redirect to another host, or from https to http. The target was checked but not contacted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrossHostRedirect {
    /// The URL that answered with it.
    pub from: Url,
    /// The target.
    pub to: Url,
    /// The status, such as 301.
    pub status: u16,
}
