//! Functions of the host: handlers of tools and hooks.

use async_trait::async_trait;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::tool::ProgressSink;

/// A function of the host. It is kept until the last holder drops it, which can be later than its tool was
/// unregistered.
#[async_trait]
pub trait HostFunction: Send + Sync {
    /// Calls the function and waits for its answer, as JSON text. Nothing if the host cannot be reached any
    /// more. Dropping the future aborts the call.
    async fn call(&self, input: &Value, context: &Value, progress: ProgressSink) -> Option<String>;

    /// As [`Self::call`]. Once `stop` is cancelled, the function is told to end, and its answer is still
    /// waited for.
    async fn call_until_stopped(
        &self,
        input: &Value,
        context: &Value,
        progress: ProgressSink,
        stop: &CancellationToken,
    ) -> Option<String>;

    /// A key for what the host keeps between several calls of the function.
    fn new_key(&self) -> u32;

    /// Lets the host drop what it keeps under a key. The last word says how the call ended.
    fn release_key(&self, key: u32, last_word: &str);
}
