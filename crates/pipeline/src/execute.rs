//! Runs the work of a call with cancellation, a time limit and the panic fence.

use std::{future::Future, panic::AssertUnwindSafe, pin::pin, time::Duration};

use futures_util::FutureExt as _;
use tokio_util::sync::CancellationToken;
use toolwright_base::{ErrorKind, ToolError};
use toolwright_core::{Commitment, ToolContext};

use super::panic_fence::panic_error;

/// How long to wait for a started effect after the call was cancelled or timed out.
const SETTLING: Duration = Duration::from_secs(5);

/// The conditions that end a call early: cancellation, closing of the registry, and the time limit.
pub(super) struct BoundedCall<'a> {
    cancel: &'a CancellationToken,
    closed: &'a CancellationToken,
    commitment: &'a Commitment,
    timeout: Duration,
}

impl<'a> BoundedCall<'a> {
    pub(super) fn new(
        cx: &'a ToolContext,
        closed: &'a CancellationToken,
        timeout: Duration,
    ) -> Self {
        Self { cancel: &cx.cancel, closed, commitment: &cx.commitment, timeout }
    }

    pub(super) async fn run<T>(
        self,
        work: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        let fenced = AssertUnwindSafe(work).catch_unwind();
        let mut work =
            pin!(fenced.map(|ended| {
                ended.unwrap_or_else(|payload| Err(panic_error(payload.as_ref())))
            }));
        let stopped = tokio::select! {
            biased;
            () = self.cancel.cancelled() => ToolError::cancelled(),
            () = self.closed.cancelled() => closed_while_running(),
            // Both may happen in the same instant.
            ended = &mut work => match ended {
                _ if self.cancel.is_cancelled() && self.commitment.withdraw() => {
                    return Err(ToolError::cancelled());
                }
                ended => return ended,
            },
            () = tokio::time::sleep(self.timeout) => ToolError::new(
                ErrorKind::Timeout,
                format!("the call was stopped after its limit of {} ms", self.timeout.as_millis()),
            ),
        };
        if self.commitment.withdraw() {
            return Err(stopped);
        }
        if let Ok(ended) = tokio::time::timeout(SETTLING, work).await {
            return ended;
        }
        let message =
            format!("{}; what it had begun to write may still take effect", stopped.message);
        Err(stopped.reworded(message))
    }
}

/// The error of a call that was running when its registry was closed.
pub(super) fn closed_while_running() -> ToolError {
    ToolError::new(ErrorKind::RegistryClosed, "the registry was closed while the call ran")
}
