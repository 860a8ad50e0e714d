//! The web client of a registry.

use tokio_util::sync::CancellationToken;

use super::{FetchError, FetchOutcome, FetchRequest, WebSettings};

/// Fetches pages. Clones share cache, connections and limits.
#[derive(Clone, Debug)]
pub struct WebClient {
    settings: WebSettings,
}

impl WebClient {
    /// A client. Nothing is read or connected before the first fetch.
    pub fn new(settings: WebSettings) -> Self {
        Self { settings }
    }

    /// Fetches a page, or says why not. Ends as soon as `cancel` is cancelled or the client is closed.
    pub async fn fetch(
        &self,
        request: FetchRequest,
        cancel: &CancellationToken,
    ) -> Result<FetchOutcome, FetchError> {
        let _ = (&self.settings, request, cancel);
        Err(FetchError::Closed)
    }

    /// Ends all fetches and closes all connections.
    pub fn close(&self) {}
}
