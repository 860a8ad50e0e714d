//! Runs a part of a call within its time, until it is cancelled, behind the panic fence.

use std::{future::Future, panic::AssertUnwindSafe, time::Duration};

use futures_util::FutureExt as _;
use tokio_util::sync::CancellationToken;

use super::panic_fence::panic_error;
use crate::error::{ErrorKind, ToolError};

/// What can end a call from outside.
pub(super) struct Within<'a> {
    pub(super) cancel: &'a CancellationToken,
    pub(super) closed: &'a CancellationToken,
    pub(super) timeout: Duration,
}

impl Within<'_> {
    pub(super) async fn run<T>(
        self,
        work: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        let work = AssertUnwindSafe(work).catch_unwind();
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(ToolError::cancelled()),
            () = self.closed.cancelled() => Err(ToolError::new(
                ErrorKind::RegistryClosed,
                "the registry was closed while the call ran",
            )),
            ended = work => ended.unwrap_or_else(|payload| Err(panic_error(payload.as_ref()))),
            () = tokio::time::sleep(self.timeout) => Err(ToolError::new(
                ErrorKind::Timeout,
                format!("the call was stopped after its limit of {} ms", self.timeout.as_millis()),
            )),
        }
    }
}
