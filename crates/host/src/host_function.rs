//! Functions of the host: handlers of tools, and hooks.

use async_trait::async_trait;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use toolwright_core::ProgressSink;

/// A function of the host. The host keeps it until the last reference is dropped, which can be after its tool was
/// unregistered.
#[async_trait]
pub trait HostFunction: Send + Sync {
    /// Calls the function and waits for its answer, as JSON text. Returns `None` if the host cannot be reached any
    /// more. Dropping the future aborts the call.
    async fn call(&self, input: &Value, context: &Value, progress: ProgressSink) -> Option<String>;

    /// Like [`Self::call`]. Once `stop` is cancelled, the function is asked to end, but its answer is still awaited.
    async fn call_until_stopped(
        &self,
        input: &Value,
        context: &Value,
        progress: ProgressSink,
        stop: &CancellationToken,
    ) -> Option<String>;

    /// A key for an object that the host keeps between several calls of the function.
    fn new_key(&self) -> u32;

    /// Lets the host drop the object of a key. `outcome` says how the question about the call ended.
    fn release_key(&self, key: u32, outcome: &str);
}
