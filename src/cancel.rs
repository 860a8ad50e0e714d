//! The native counterpart of an `AbortSignal`.

use napi_derive::napi;
use tokio_util::sync::CancellationToken;

/// Cancels the calls that it was passed to.
#[napi]
#[derive(Default)]
pub struct CancelHandle(pub(super) CancellationToken);

#[napi]
impl CancelHandle {
    /// A handle that is not cancelled.
    #[napi(constructor, catch_unwind)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels the calls.
    #[napi(catch_unwind)]
    pub fn cancel(&self) {
        self.0.cancel();
    }
}
