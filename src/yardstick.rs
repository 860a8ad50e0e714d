//! The cheapest possible call. `bench/` compares the full path with it.

use napi_derive::napi;

/// Does nothing, on the async runtime.
#[napi]
#[allow(clippy::unused_async, reason = "the benchmark measures the way through the runtime")]
pub async fn yardstick() -> napi::Result<()> {
    Ok(())
}
