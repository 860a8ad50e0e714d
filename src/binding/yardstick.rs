//! The cheapest call there can be: what `bench/` measures the whole path against.

use napi_derive::napi;

/// Does nothing, on the async runtime.
#[napi]
#[allow(clippy::unused_async, reason = "crossing the runtime is what is measured")]
pub async fn yardstick() -> napi::Result<()> {
    Ok(())
}
