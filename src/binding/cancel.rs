//! The native end of an `AbortSignal`.

use napi_derive::napi;
use tokio_util::sync::CancellationToken;

/// Ends the calls it was given to.
#[napi]
#[derive(Default)]
pub struct CancelHandle(pub(super) CancellationToken);

#[napi]
impl CancelHandle {
    /// A handle that has not been used.
    #[napi(constructor, catch_unwind)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the calls.
    #[napi(catch_unwind)]
    pub fn cancel(&self) {
        self.0.cancel();
    }
}
